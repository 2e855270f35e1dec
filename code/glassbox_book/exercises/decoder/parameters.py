"""How many parameters a Transformer has."""

from collections.abc import Iterator

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _count(
    d_model: int,
    d_ff: int,
    n_layers: int,
    vocab_size: int,
    *,
    attentions: int = 3,
    attention_biases: int = 4,
    feed_forward_bias: bool = True,
    norms: int = 5,
    shift: bool = True,
    tables: int = 1,
    stacks: int = 2,
) -> int:
    attention = 4 * d_model**2 + attention_biases * d_model
    feed_forward = 2 * d_model * d_ff + (d_ff + d_model) * feed_forward_bias
    norm = (2 if shift else 1) * d_model
    layer = attentions * attention + stacks * feed_forward + norms * norm
    return n_layers * layer + tables * vocab_size * d_model


def _sizes(draw: Draw) -> Iterator[Case]:
    yield Case("small numbers", d_model=2, d_ff=5, n_layers=1, vocab_size=7)
    yield Case("two layers", d_model=3, d_ff=4, n_layers=2, vocab_size=11)
    yield Case("the paper's base", d_model=512, d_ff=2048, n_layers=6, vocab_size=37_000)
    yield Case("the paper's big", d_model=1024, d_ff=4096, n_layers=6, vocab_size=37_000)


count_parameters = Exercise(
    "decoder.count_parameters",
    _count,
    _sizes,
    returns=("number",),
    mistakes=slips(
        _count,
        {
            "You left out the cross-attention: a decoder layer has two attentions.": {
                "attentions": 2
            },
            "Your attentions have no biases: there are four, of d_model each.": {
                "attention_biases": 0
            },
            "Your feed-forward networks have no biases: one of d_ff, one of d_model.": {
                "feed_forward_bias": False
            },
            "You left out the norms: two in an encoder layer, three in a decoder layer.": {
                "norms": 0
            },
            "Your decoder layers have two norms: cross-attention has one as well.": {"norms": 4},
            "A norm has a scale and a shift: you counted one of them.": {"shift": False},
            "You counted the table twice or more: it is shared by source, target and projection.": {
                "tables": 2
            },
            "You left out the embedding table.": {"tables": 0},
        },
    ),
)
