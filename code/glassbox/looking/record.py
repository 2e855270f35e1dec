"""Look inside any model: the tensors of one forward pass, by name (chapter 4)."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook

from glassbox.attention import dot_product_scores
from glassbox.attention.multi_head import MultiHeadAttention
from glassbox.kernels import observers


@dataclass(frozen=True)
class AttentionRecord:
    """What one attention computed, in the order of computation.

    Attributes
    ----------
    query, key : Tensor
        ``(batch, heads, q_len, d_k)`` and ``(batch, heads, k_len, d_k)``, after projection and
        rotation, if any. Keys that heads share are repeated for each of them.
    value : Tensor
        ``(batch, heads, k_len, d_v)``, repeated likewise.
    scores : Tensor
        ``(batch, heads, q_len, k_len)``, scaled, with the bias, before the mask. The masked scores
        are ``scores.masked_fill(~mask, -math.inf)``, if there is a mask.
    weights : Tensor
        ``(batch, heads, q_len, k_len)``, after mask and softmax.
    context : Tensor
        ``(batch, heads, q_len, d_v)``, before the heads are merged.
    bias : Tensor or None
        The bias added to the scores.
    scale : float or None
        The factor that multiplied the scores, if not one over the square root of ``d_k``.
    mask : Tensor or None
        The keys each query was allowed to attend to, causality included; broadcasts to the
        scores.
    """

    query: Float[Tensor, "batch heads q_len d_k"]
    key: Float[Tensor, "batch heads k_len d_k"]
    value: Float[Tensor, "batch heads k_len d_v"]
    weights: Float[Tensor, "batch heads q_len k_len"]
    context: Float[Tensor, "batch heads q_len d_v"]
    bias: Float[Tensor, "..."] | None = None
    scale: float | None = None
    mask: Bool[Tensor, "..."] | None = None

    @property
    def scores(self) -> Float[Tensor, "batch heads q_len k_len"]:
        """``(batch, heads, q_len, k_len)``, before mask and softmax."""
        # The forward pass calls the same function on the same tensors, with the same result.
        scores = dot_product_scores(self.query, self.key, self.scale)
        return scores if self.bias is None else scores + self.bias.to(scores.dtype)


class _Outputs(dict[str, Tensor]):
    """Outputs by the names of their modules; the error for a wrong name suggests similar ones."""

    def __missing__(self, name: str) -> Tensor:
        known = ", ".join(get_close_matches(str(name), self, n=5))
        known = known or f"{len(self)} outputs, whose names are list(tape.outputs)"
        if not self:
            known = "none; run the model inside the with block"
        raise KeyError(f"no module called {name!r} was recorded. Recorded: {known}")


class Tape(Mapping[str, AttentionRecord]):
    """The recorded attentions by the names of their modules, in the order they ran.

    ``tape["encoder.layers.0.self_attention"].weights[0, h]`` is the map of head ``h``;
    ``list(tape.values())`` is all attentions from first to last. For a module that ran more than
    once, ``tape[name]`` is its last run and ``tape.runs[name]`` lists them all.

    Attributes
    ----------
    runs : dict of str to list of AttentionRecord
        Every run of every attention.
    outputs : dict of str to Tensor
        The last output of every submodule that returned a tensor, by the submodule's name; the
        model itself has the empty name. Values that no module returns are missing: the activation
        in a feed-forward network, the sum of a residual connection.

    Notes
    -----
    Chapter 4.
    """

    def __init__(self) -> None:
        self.runs: dict[str, list[AttentionRecord]] = {}
        self.outputs: dict[str, Tensor] = _Outputs()

    def __getitem__(self, name: str) -> AttentionRecord:
        if name not in self.runs:
            known = ", ".join(self.runs) or "none; run the model inside the with block"
            raise KeyError(f"no attention called {name!r} was recorded. Recorded: {known}")
        return self.runs[name][-1]

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"Tape({', '.join(self.runs)})"


@contextmanager
def record(model: nn.Module) -> Iterator[Tape]:
    """Record what every attention of ``model`` computes inside the ``with`` block.

    The model does not change: nothing is stored on its modules, tensors keep their gradients, and
    outputs stay the same up to rounding (without a recording PyTorch's fused kernel computes
    them). Recordings may be nested, even of a model and one of its parts, and do not include what
    other threads compute. A compiled model, if it was compiled before the block, runs uncompiled
    while it is recorded. With activation checkpointing on a CPU, run the backward pass inside the
    block too: it computes the checkpointed attentions again, and they are recorded twice.

    Parameters
    ----------
    model : nn.Module
        A model, layer or attention of this package.

    Yields
    ------
    Tape
        The record, filled as the model runs.

    Raises
    ------
    ValueError
        If ``model`` contains no :class:`~glassbox.attention.multi_head.MultiHeadAttention`.

    Notes
    -----
    Chapter 4.

    Examples
    --------
    >>> with record(model) as tape:
    ...     hidden = model(token_ids)
    >>> tape["encoder.layers.0.self_attention"].weights.shape
    torch.Size([1, 12, 7, 7])
    """
    names = {module: name for name, module in named_modules(model).items()}
    if not any(isinstance(module, MultiHeadAttention) for module in names):
        raise ValueError(
            f"{type(model).__name__} has no glassbox.MultiHeadAttention inside: nothing to record. "
            "Give the model itself, such as translator.model. The reference library's models "
            "return their maps with output_attentions=True"
        )
    tape = Tape()

    def look(module: nn.Module, **seen: Any) -> None:
        if module in names:
            tape.runs.setdefault(names[module], []).append(AttentionRecord(**seen))

    def keep_output(module: nn.Module, _inputs: Any, output: Any) -> None:
        if module in names and look in observers.get() and isinstance(output, Tensor):
            tape.outputs[names[module]] = output

    token = observers.set((*observers.get(), look))
    # One global hook: a hook on each module would be copied along with the model.
    hook = register_module_forward_hook(keep_output)
    try:
        with uncompiled():
            yield tape
    finally:
        hook.remove()
        observers.reset(token)


def named_modules(model: object) -> dict[str, nn.Module]:
    """Return the modules inside a model by their names; anything else contains none."""
    model = getattr(model, "_orig_mod", model)  # the model that torch.compile wraps
    return dict(model.named_modules()) if isinstance(model, nn.Module) else {}


def uncompiled() -> AbstractContextManager[Any]:
    """Return a context in which compiled models run uncompiled: compiled code calls no hooks."""
    # If nothing was compiled, there is no need to load the compiler.
    compiler_loaded = "torch._dynamo" in sys.modules
    return torch.compiler.set_stance("force_eager") if compiler_loaded else nullcontext()
