"""How many parameters an encoder has."""

from collections.abc import Iterator

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _parameters(
    d_model: int,
    n_heads: int,
    d_ff: int,
    n_layers: int,
    *,
    matrices: int = 4,
    biases: bool = True,
    norms: int = 2,
    per_head: bool = False,
    layers: bool = True,
) -> int:
    attention = matrices * (d_model * d_model + biases * d_model)
    if per_head:
        attention *= n_heads
    feed_forward = 2 * d_model * d_ff + biases * (d_ff + d_model)
    layer = attention + feed_forward + norms * 2 * d_model
    return layer * (n_layers if layers else 1)


def _encoders(draw: Draw) -> Iterator[Case]:
    yield Case("a small one", d_model=4, n_heads=2, d_ff=6, n_layers=2)
    yield Case("MiniLM's", d_model=384, n_heads=12, d_ff=1536, n_layers=6)
    yield Case("BERT-base's", d_model=768, n_heads=12, d_ff=3072, n_layers=12)
    yield Case("narrow inside", d_model=64, n_heads=4, d_ff=32, n_layers=3)


parameters = Exercise(
    "encoder.parameters",
    _parameters,
    _encoders,
    returns=("number",),
    tolerance=0.0,
    mistakes=slips(
        _parameters,
        {
            "You forgot a matrix of the attention: queries, keys, values, and the output.": {
                "matrices": 3
            },
            "You forgot the biases of the linear maps.": {"biases": False},
            "You forgot one of the two norms of a layer.": {"norms": 1},
            "You forgot the norms: each has a scale and a shift of width d_model.": {"norms": 0},
            "You multiplied by the number of heads, but they share the width out among them.": {
                "per_head": True
            },
            "That is one layer: multiply by their number.": {"layers": False},
        },
    ),
)
