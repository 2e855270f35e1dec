"""How many parameters a Transformer has."""

from collections.abc import Iterator

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _count(d_model: int, d_ff: int, n_layers: int, vocab_size: int, flaw: str = "") -> int:
    attentions = 2 if flaw == "no cross-attention" else 3
    norms = {"no norms": 0, "one norm fewer": 4}.get(flaw, 5)
    tables = {"two tables": 2, "no table": 0}.get(flaw, 1)
    attention = 4 * d_model**2 + (0 if flaw == "attention biases" else 4 * d_model)
    feed_forward = 2 * d_model * d_ff + (0 if flaw == "other biases" else d_ff + d_model)
    norm = d_model if flaw == "half a norm" else 2 * d_model
    layer = attentions * attention + 2 * feed_forward + norms * norm
    return n_layers * layer + tables * vocab_size * d_model


def _sizes(draw: Draw) -> Iterator[Case]:
    yield Case("small numbers", d_model=2, d_ff=5, n_layers=1, vocab_size=7)
    yield Case("two layers", d_model=3, d_ff=4, n_layers=2, vocab_size=11)
    yield Case("the paper's base", d_model=512, d_ff=2048, n_layers=6, vocab_size=37_000)
    yield Case("the paper's big", d_model=1024, d_ff=4096, n_layers=6, vocab_size=37_000)


count_parameters = Exercise("decoder.count_parameters", _count, _sizes, returns=("number",))
