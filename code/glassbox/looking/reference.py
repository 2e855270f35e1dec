"""Look inside the reference library's BERT in the same terms as inside ours (chapter 4)."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn

from glassbox.looking.record import AttentionRecord, Tape, named_modules, uncompiled


@contextmanager
def record_reference(model: nn.Module) -> Iterator[Tape]:
    """Record what every self-attention of a ``transformers.BertModel`` computes.

    The counterpart of :func:`glassbox.record`: hooks take weights and context from the
    reference's forward pass, and repeat its projections. The mask is not recorded (``mask`` is
    None even if there was one), and ``tape.outputs`` stays empty. A compiled model runs uncompiled.

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
    named, parts = named_modules(model), ("query", "key", "value", "num_attention_heads")
    attentions = {name: x for name, x in named.items() if all(hasattr(x, part) for part in parts)}
    if not attentions:
        raise ValueError(f"{type(model).__name__} has no BERT self-attention inside")
    tape = Tape()
    with ExitStack() as hooks:
        for name, module in attentions.items():
            keep = partial(_keep, tape, name)
            hooks.enter_context(module.register_forward_hook(keep))
        hooks.enter_context(uncompiled())
        yield tape


def _keep(tape: Tape, name: str, attention: Any, inputs: tuple[Tensor, ...], output: Any) -> None:
    def split(x: Tensor) -> Tensor:
        return x.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)

    context, weights = output[:2]
    if weights is None:
        raise ValueError(
            f"{name} returned no weights: load the reference with "
            "attn_implementation='eager', its fused kernels keep none"
        )
    projections = (attention.query, attention.key, attention.value)
    query, key, value = (split(project(inputs[0])) for project in projections)
    record = AttentionRecord(query, key, value, weights, split(context))
    tape.runs.setdefault(name, []).append(record)
