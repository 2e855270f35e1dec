"""How many parameters an encoder has."""

from collections.abc import Iterator

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _parameters(d_model: int, n_heads: int, d_ff: int, n_layers: int, flaw: str = "") -> int:
    matrices = 3 if flaw == "three matrices" else 4
    biases = flaw != "no biases"
    norms = {"one norm": 1, "no norms": 0}.get(flaw, 2)
    attention = matrices * (d_model * d_model + biases * d_model)
    if flaw == "times heads":
        attention *= n_heads
    feed_forward = 2 * d_model * d_ff + biases * (d_ff + d_model)
    layer = attention + feed_forward + norms * 2 * d_model
    return layer if flaw == "one layer" else layer * n_layers


def _encoders(draw: Draw) -> Iterator[Case]:
    yield Case("a small one", d_model=4, n_heads=2, d_ff=6, n_layers=2)
    yield Case("MiniLM's", d_model=384, n_heads=12, d_ff=1536, n_layers=6)
    yield Case("BERT-base's", d_model=768, n_heads=12, d_ff=3072, n_layers=12)
    yield Case("narrow inside", d_model=64, n_heads=4, d_ff=32, n_layers=3)


parameters = Exercise(
    "encoder.parameters", _parameters, _encoders, returns=("number",), tolerance=0.0
)
