"""PyTorch's own layers and ours with the same weights, masks of every kind, and how to compare."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from glassbox import causal_mask

#: Largest difference allowed, relative to the largest number expected where that is more than 1.
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}
HALF = (torch.bfloat16, torch.float16)

#: Options of a layer in five ways, in which any two options meet in all four combinations.
WAYS: list[dict[str, Any]] = [
    {"norm_first": False, "activation": "relu", "bias": False, "train": False},
    {"norm_first": False, "activation": "gelu", "bias": True, "train": True},
    {"norm_first": True, "activation": "relu", "bias": True, "train": True},
    {"norm_first": True, "activation": "gelu", "bias": False, "train": True},
    {"norm_first": True, "activation": "gelu", "bias": True, "train": False},
]

NAMES = {  # the reference's, ours
    "self_attn": "self_attention",
    "multihead_attn": "cross_attention",
    "out_proj": "output",
    "linear1": "feed_forward.expand",
    "linear2": "feed_forward.contract",
    "norm1": "attention_norm",
    "norm2": "feed_forward_norm",
}
DECODER_NAMES = NAMES | {"norm2": "cross_attention_norm", "norm3": "feed_forward_norm"}


def translate(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Give the weights, or gradients, of PyTorch's layers and stacks our names.

    Queries, keys and values are stacked in one matrix there.
    """
    decoders = {name.split("multihead_attn")[0] for name in weights if "multihead_attn" in name}
    ours = {}
    for name, tensor in weights.items():
        layer = "".join(re.findall(r"^.*layers\.\d+\.", name))
        for theirs, our in (DECODER_NAMES if layer in decoders else NAMES).items():
            name = re.sub(rf"\b{theirs}\b", our, name)
        if "in_proj_" in name:
            for part, rows in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
                ours[name.replace("in_proj_", f"{part}.")] = rows
        else:
            ours[name] = tensor
    return ours


def randomize(module: nn.Module) -> None:
    """Draw all parameters: biases that are 0 and scales that are 1 would prove nothing."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.normal_(float("norm" in name and name.endswith("weight")), 0.2)


def assert_same(
    ours: Tensor, theirs: Tensor, what: str = "output", beside: Tensor | None = None
) -> None:
    """Compare to the tolerance of the dtype, relative to the largest number of the two tensors."""
    given = [x.abs().max().item() for x in (theirs, beside) if x is not None and x.numel()]
    size = max(1.0, *given, 0.0)
    tolerance = TOLERANCE[theirs.dtype] * size
    torch.testing.assert_close(
        ours, theirs, atol=tolerance, rtol=0, msg=lambda said: f"{what}: {said}"
    )


def assert_as_exact_as(ours: Tensor, theirs: Tensor, exact: Tensor, factor: float = 2.0) -> None:
    """Compare both with a result in double precision; ours may not be off by much more."""
    assert ours.dtype == theirs.dtype
    our_error, their_error = ((x.double() - exact).norm() for x in (ours, theirs))
    assert our_error.isfinite()
    step = torch.finfo(ours.dtype).eps
    assert our_error <= factor * their_error + step * exact.norm() / 4
    size = max(1.0, exact.abs().max().item())
    torch.testing.assert_close(ours, theirs, atol=8 * step * size, rtol=0)


def gradients(
    out: Tensor, tensors: Iterable[Tensor], generator: torch.Generator | None = None
) -> list[Tensor]:
    """Return the gradients of a sum of ``out`` in random proportions."""
    generator = torch.Generator().manual_seed(1) if generator is None else generator
    direction = torch.randn(out.shape, generator=generator, dtype=torch.float64).to(out)
    return list(torch.autograd.grad(out, list(tensors), direction))


def assert_same_gradients(
    ours: nn.Module,
    reference: nn.Module,
    out: Tensor,
    expected: Tensor,
    our_inputs: Iterable[Tensor],
    their_inputs: Iterable[Tensor],
) -> None:
    """Compare the gradients of all inputs and of all parameters."""
    our_inputs, their_inputs = list(our_inputs), list(their_inputs)
    our_parameters, their_parameters = (dict(m.named_parameters()) for m in (ours, reference))
    given = gradients(out, (*our_inputs, *our_parameters.values()))
    wanted = gradients(expected, (*their_inputs, *their_parameters.values()))
    for i in range(len(our_inputs)):
        assert_same(given[i], wanted[i], f"gradient of input {i}")
    theirs = translate(dict(zip(their_parameters, wanted[len(their_inputs) :], strict=True)))
    mine = dict(zip(our_parameters, given[len(our_inputs) :], strict=True))
    assert set(theirs) <= set(mine)  # without biases the reference's norms have none either
    for name, gradient in theirs.items():
        # A bias of the keys has a gradient of 0: what there is comes of rounding in its summands.
        weight = theirs[name.replace("bias", "weight")] if name.endswith("key.bias") else None
        assert_same(mine[name], gradient, f"gradient of {name}", beside=weight)


def load(ours: nn.Module, reference: nn.Module) -> None:
    """Copy the reference's weights; norms keep a shift of 0 where the reference has none."""
    like = next(reference.parameters())
    missing, unexpected = ours.to(like).load_state_dict(
        translate(reference.state_dict()), strict=False
    )
    assert not unexpected
    assert all(re.search(r"norm\.bias$", name) for name in missing)


def _padding(batch: int, heads: int, q_len: int, k_len: int) -> Tensor:
    lengths = 1 + torch.arange(batch) * 2 % k_len
    return (torch.arange(k_len) < lengths[:, None])[:, None, None]


def _left_padding(batch: int, heads: int, q_len: int, k_len: int) -> Tensor:
    return _padding(batch, heads, q_len, k_len).flip(-1)


def _per_head(batch: int, heads: int, q_len: int, k_len: int) -> Tensor:
    return torch.rand(heads, q_len, k_len) < 0.6


def _fully_masked_rows(batch: int, heads: int, q_len: int, k_len: int) -> Tensor:
    mask = torch.rand(batch, heads, q_len, k_len) < 0.7
    mask[0, :, -1] = False
    mask[-1, 0] = False
    return mask


#: Masks that broadcast to (batch, heads, q_len, k_len); True = may attend.
MASKS: dict[str, Callable[[int, int, int, int], Tensor | None]] = {
    "none": lambda *shape: None,
    "causal": lambda batch, heads, q_len, k_len: causal_mask(q_len, max(q_len, k_len))[:, -k_len:],
    "boolean": lambda *shape: torch.rand(shape[2:]) < 0.6,
    "padding": _padding,
    "left padding": _left_padding,
    "padding and boolean": lambda *shape: _padding(*shape) & (torch.rand(shape[2:]) < 0.7),
    "per head": _per_head,
    "fully masked rows": _fully_masked_rows,
}


def blocked(mask: Tensor | None, shape: tuple[int, int, int, int]) -> Tensor | None:
    """Say the same to PyTorch's layers: who may *not* attend, one matrix for each text and head."""
    return None if mask is None else ~mask.expand(shape).flatten(0, 1)
