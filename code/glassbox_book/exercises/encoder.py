"""Chapter 7: two senses of a word, the number of parameters, and the parts of a layer."""

import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox.layers import gelu, gelu_tanh
from glassbox.layers import layer_norm as reference_norm
from glassbox_book.exercises.exercise import Cases, Draw, Given, cases_of


def _sense_gap(first: Tensor, second: Tensor, flaw: str) -> float:
    vectors = torch.cat([first, second])
    unit = vectors if flaw == "dot products" else F.normalize(vectors, dim=-1)
    similarity = unit @ unit.mT
    sense = torch.tensor([0] * len(first) + [1] * len(second))
    same = sense[:, None] == sense
    pairs = same if flaw == "itself" else same & ~torch.eye(len(sense), dtype=torch.bool)
    between, within = similarity[~same].mean(), similarity[pairs].mean()
    if flaw == "each sense":
        within = torch.stack([similarity[pairs & (sense == s)].mean() for s in (0, 1)]).mean()
    flaws = {"within": within, "sign": between - within}
    return float(flaws.get(flaw, within - between))


# Where the senses are one, the two means nearly cancel: the last digits of the gap are rounding.
@cases_of(_sense_gap, returns=("gap",), tolerance=1e-3)
def _words(draw: Draw) -> Cases:
    def case(about: str, n: int, m: int, d: int, apart: float = 1.0, size: float = 1.0) -> Given:
        middle, way = draw(d), draw(d)
        first, second = middle + 0.3 * draw(n, d), middle + apart * way + 0.3 * draw(m, d)
        return about, first, second * (1 + size * torch.arange(m)[:, None])

    yield case("two vectors of each sense", 2, 2, 5)
    yield case("senses of unequal number", 2, 6, 8)
    yield case("vectors of unequal length", 4, 3, 6, size=3.0)
    yield case("two senses that are one", 5, 4, 8, apart=0.0)
    yield case("a sense with one vector", 1, 3, 5)
    one, other = torch.tensor([[1.0, 0.0], [2.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 1.0]])
    yield "two parallel vectors", one, other


def _parameters(d_model: int, n_heads: int, d_ff: int, n_layers: int, flaw: str) -> int:
    matrices = 3 if flaw == "three matrices" else 4
    biases = flaw != "no biases"
    norms = {"one norm": 1, "no norms": 0}.get(flaw, 2)
    times = n_heads if flaw == "times heads" else 1
    attention = times * matrices * (d_model * d_model + biases * d_model)
    feed_forward = 2 * d_model * d_ff + biases * (d_ff + d_model)
    layer = attention + feed_forward + norms * 2 * d_model
    return layer if flaw == "one layer" else layer * n_layers


@cases_of(_parameters, returns=("number",), tolerance=0.0)
def _encoders(draw: Draw) -> Cases:
    yield "a small one", 4, 2, 6, 2
    yield "MiniLM's", 384, 12, 1536, 6
    yield "BERT-base's", 768, 12, 3072, 12
    yield "narrow inside", 64, 4, 32, 3


def _feed_forward(
    x: Tensor, W_1: Tensor, b_1: Tensor, W_2: Tensor, b_2: Tensor, flaw: str
) -> Tensor:
    inner = x @ W_1 + (0.0 if flaw == "no first bias" else b_1)
    bends = {"relu": inner.relu(), "tanh": gelu_tanh(inner), "no bend": inner}
    outer = bends.get(flaw, gelu(inner)) @ W_2 + (0.0 if flaw == "no second bias" else b_2)
    flaws = {"two bends": gelu(outer), "residual": x + outer}
    return flaws.get(flaw, outer)


@cases_of(_feed_forward, gradients=True)
def _networks(draw: Draw) -> Cases:
    def case(about: str, *shape: int, d_ff: int, dtype: torch.dtype = torch.float32) -> Given:
        d = shape[-1]
        sizes = shape, (d, d_ff), (d_ff,), (d_ff, d), (d,)
        return about, *(draw(*size).to(dtype) for size in sizes)

    yield case("three positions", 3, 4, d_ff=8)
    yield case("one vector without other axes", 4, d_ff=6)
    yield case("a batch of sequences", 2, 5, 6, d_ff=24)
    yield case("a network that is narrow inside", 3, 6, d_ff=2)
    yield case("double precision", 3, 4, d_ff=8, dtype=torch.float64)
    yield case("a batch of one", 1, 4, d_ff=6)


def _layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float, flaw: str) -> Tensor:
    dim = 0 if flaw == "positions" else -1
    mean = x.mean(dim, keepdim=True)
    variance = x.var(dim, keepdim=True, correction=1 if flaw == "d - 1" else 0)
    sizes = {
        "epsilon outside": variance.sqrt() + eps,
        "no epsilon": variance.sqrt(),
        "no root": variance + eps,
    }
    size = sizes.get(flaw, (variance + eps).sqrt())
    y = (x if flaw == "no mean" else x - mean) / size
    flaws = {"no scale": y + bias, "no shift": y * weight}
    return flaws.get(flaw, y * weight + bias)


@cases_of(_layer_norm, reference=reference_norm, gradients=True)
def _vectors(draw: Draw) -> Cases:
    def case(about: str, x: Tensor, eps: float = 1e-5) -> Given:
        weight, bias = (draw(x.size(-1)).to(x.dtype) for _ in range(2))
        return about, x, weight, bias, eps

    yield case("two positions", draw(2, 4))
    yield case("as many positions as components", 3 * draw(5, 5) + 2)
    yield case("one vector without other axes", draw(6) - 4)
    yield case("a batch of sequences", draw(2, 3, 8))
    yield case("numbers so small that epsilon counts", 1e-3 * draw(3, 8), eps=1e-6)
    yield case("equal components, which have no variance", torch.full((2, 4), 3.0))
    yield case("double precision", draw(3, 6).double())
    yield case("a single position", draw(1, 4))


def _residual(
    x: Tensor, W: Tensor, weight: Tensor, bias: Tensor, norm_first: bool, flaw: str
) -> Tensor:
    def norm(y: Tensor) -> Tensor:
        return reference_norm(y, weight, bias)

    def sublayer(y: Tensor) -> Tensor:
        return torch.relu(y @ W)

    twice = flaw == "two norms"
    kept = torch.zeros_like(x) if flaw == "no residual" else x
    if norm_first != (flaw == "exchanged"):
        y = (norm(x) if flaw == "normed" else kept) + sublayer(norm(x))
        return norm(y) if twice else y
    return norm(kept + sublayer(norm(x) if twice else x))


@cases_of(_residual, gradients=True)
def _steps(draw: Draw) -> Cases:
    for norm_first, name in ((False, "post-norm"), (True, "pre-norm")):
        for about, shape in ((", two positions", (2, 4)), (", a batch", (2, 3, 6))):
            d = shape[-1]
            yield name + about, draw(*shape), draw(d, d), draw(d), draw(d), norm_first
