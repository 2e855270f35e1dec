"""All cosine similarities at once, and the gradient of a look-up."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _cosines(u: Tensor, v: Tensor, flaw: str = "") -> Tensor:
    def unit(x: Tensor) -> Tensor:
        lengths = x.norm(dim=1, keepdim=True)
        if flaw == "squared":
            lengths = lengths.square()
        return x / (lengths if flaw == "NaN" else lengths.clamp(min=1e-12))

    result = u @ v.T if flaw == "dot products" else unit(u) @ unit(v).T
    return result.T if flaw == "transposed" else result


def _rows(draw: Draw) -> Iterator[Case]:
    yield Case("two rows and three", u=draw(2, 4), v=draw(3, 4))
    yield Case("as many rows", u=draw(4, 3), v=draw(4, 3))
    yield Case("long and short rows", u=100 * draw(3, 5), v=0.01 * draw(2, 5))
    yield Case("opposite directions", u=torch.tensor([[1.0, 2.0]]), v=torch.tensor([[-2.0, -4.0]]))
    yield Case("a row of zeros", u=draw(2, 3) * torch.tensor([[1.0], [0.0]]), v=draw(3, 3))
    yield Case("a single row each", u=draw(1, 7), v=draw(1, 7))
    yield Case("double precision", u=draw(2, 3).double(), v=draw(4, 3).double())


cosines = Exercise("tokens_and_embeddings.cosines", _cosines, _rows, returns=("cosines",))


def _embedding_gradient(
    token_ids: Tensor, upstream: Tensor, vocab_size: int, flaw: str = ""
) -> Tensor:
    table = upstream.new_zeros(vocab_size, upstream.size(1))
    if flaw == "last":
        for row, token in enumerate(token_ids.tolist()):
            table[token] = upstream[row]
        return table
    table.index_add_(0, token_ids, upstream)
    counts = torch.bincount(token_ids, minlength=vocab_size)[:, None]
    flaws = {"mean": table / counts.clamp(min=1), "times": table * counts}
    return flaws.get(flaw, table)


def _lookups(draw: Draw) -> Iterator[Case]:
    def case(about: str, *ids: int, vocab_size: int = 6, d: int = 3) -> Case:
        upstream = draw(len(ids), d)
        return Case(about, token_ids=torch.tensor(ids), upstream=upstream, vocab_size=vocab_size)

    yield case("three different tokens", 4, 0, 2)
    yield case("one token", 5)
    yield case("a token that occurs twice", 1, 3, 1)
    yield case("the same token throughout", 2, 2, 2, 2)
    yield case("a larger vocabulary", 7, 40, 7, 99, vocab_size=100, d=8)
    yield case("all tokens, the last one first", 2, 1, 0, vocab_size=3)


embedding_gradient = Exercise(
    "tokens_and_embeddings.embedding_gradient",
    _embedding_gradient,
    _lookups,
    returns=("gradient",),
)
