"""Switch heads off, to measure what they contribute (chapter 5)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from torch import Tensor, nn

from glassbox.attention.multi_head import MultiHeadAttention
from glassbox.checks import check_whole
from glassbox.looking.record import named_modules, uncompiled


@contextmanager
def without_heads(model: nn.Module, heads: Iterable[tuple[int | str, int]]) -> Iterator[None]:
    r"""Switch some heads of ``model`` off inside the ``with`` block.

    A head contributes :math:`C_i W_O^{(i)}` to the output, its context times its own rows of the
    output matrix. Here :math:`C_i` is replaced by zeros, which is equivalent to zeros in those
    rows. No parameter changes, and the bias of the output is kept. A compiled model runs uncompiled
    meanwhile.

    Parameters
    ----------
    model : nn.Module
        A model, layer or attention of this package.
    heads : iterable of (int or str, int)
        Pairs of an attention and one of its heads, counted from 0. The attention is given by its
        name or its number, in the order in which :func:`glassbox.record` lists an encoder's.

    Yields
    ------
    None
        The heads are switched on again after the block.

    Raises
    ------
    ValueError
        If the model has no such attention, or the attention no such head.
    TypeError
        If one of ``heads`` is not a pair, or its head not a whole number.

    Notes
    -----
    Michel, Levy and Neubig (2019). Chapter 5, equation ``eq-head-sum``.

    Examples
    --------
    >>> with without_heads(model, [(0, 2), (5, 11)]):
    ...     hidden = model(token_ids)
    """
    named = named_modules(model).items()
    attentions = {name: part for name, part in named if isinstance(part, MultiHeadAttention)}
    either = dict[int | str, MultiHeadAttention](enumerate(attentions.values())) | attentions
    switched_off = defaultdict[MultiHeadAttention, set[int]](set)
    for pair in heads:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"{pair!r} is not an attention and a head: pass pairs, as in [(0, 1)]")
        which, head = pair
        if which not in either:
            known = f"{len(attentions)}: {list(attentions)}, in this {type(model).__name__}"
            raise ValueError(f"there is no attention {which!r}; there are {known}")
        part = either[which]
        check_whole("head", head)
        if not 0 <= head < part.n_heads:
            raise ValueError(f"attention {which!r} has heads 0 to {part.n_heads - 1}; got {head}")
        switched_off[part].add(head)
    with ExitStack() as hooks:
        for part, off in switched_off.items():
            silence = partial(_silence, sorted(off), part.n_heads)
            hooks.enter_context(part.output.register_forward_pre_hook(silence))
        hooks.enter_context(uncompiled())
        yield


def _silence(off: list[int], n_heads: int, _output: nn.Module, inputs: tuple[Tensor]) -> Tensor:
    (merged,) = inputs  # (batch, q_len, heads * d_k)
    of_heads = merged.unflatten(-1, (n_heads, -1)).clone()
    of_heads[..., off, :] = 0.0  # not multiplied by 0: a head that is switched off may hold NaN
    return of_heads.flatten(-2)
