"""Look inside the reference library's BERT in the same terms as inside ours (chapter 4)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from glassbox.looking.record import AttentionRecord, Tape


@contextmanager
def record_reference(model: nn.Module) -> Iterator[Tape]:
    """Record what every self-attention of a ``transformers.BertModel`` computes.

    The counterpart of :func:`glassbox.record`: the tensors are the reference's own, which hooks
    take from the forward pass.

    Parameters
    ----------
    model : nn.Module
        A BERT of ``transformers``, loaded with ``attn_implementation="eager"``: its fused
        kernels return no weights.

    Yields
    ------
    Tape
        The record, filled as the model runs, under the reference's module names.

    Raises
    ------
    ValueError
        If the model contains no BERT self-attention, or runs a fused kernel.
    """
    attentions = {
        name: module
        for name, module in model.named_modules()
        if all(hasattr(module, part) for part in ("query", "key", "value", "num_attention_heads"))
    }
    if not attentions:
        raise ValueError(f"{type(model).__name__} has no BERT self-attention inside")
    tape = Tape()
    projected: dict[tuple[str, str], Tensor] = {}

    def keep_projection(name: str, part: str) -> Any:
        def hook(_module: nn.Module, _inputs: Any, output: Tensor) -> None:
            projected[name, part] = output

        return hook

    def keep_attention(name: str, n_heads: int) -> Any:
        def split(x: Tensor) -> Tensor:
            return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)

        def hook(_module: nn.Module, _inputs: Any, output: tuple[Tensor, Tensor | None]) -> None:
            context, weights = output[:2]
            if weights is None:
                raise ValueError(
                    f"{name} returned no weights: load the reference with "
                    "attn_implementation='eager', its fused kernels keep none"
                )
            query, key, value = (split(projected[name, p]) for p in ("query", "key", "value"))
            tape.runs.setdefault(name, []).append(
                AttentionRecord(query, key, value, weights, split(context))
            )

        return hook

    hooks = []
    for name, module in attentions.items():
        for part in ("query", "key", "value"):
            hooks.append(getattr(module, part).register_forward_hook(keep_projection(name, part)))
        hooks.append(module.register_forward_hook(keep_attention(name, module.num_attention_heads)))
    try:
        yield tape
    finally:
        for hook in hooks:
            hook.remove()
