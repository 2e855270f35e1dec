"""The sinusoidal encoding of a position, with sliders for the position and for a shift."""

import math

import torch

from glassbox.positional import sinusoidal_encoding
from glassbox_book.templates import fill, fixed
from glassbox_book.widgets.checks import check_integer
from glassbox_book.widgets.widget import Widget

_WIDTH, _WAVE, _DIAL = 640, 50, 40  # the drawings, the longest bar and a dial, in their own units

#: The pairs of sine and cosine at two positions.
Both = list[tuple[list[float], list[float]]]


def positional_encoding(
    d_model: int = 32,
    n_positions: int = 64,
    *,
    base: float = 10_000.0,
    position: int = 10,
    shift: int = 5,
) -> Widget:
    r"""Show the sinusoidal encoding of a position, and the effect of a shift.

    One slider sets a position :math:`p`, a second a shift :math:`k`. Bars show the components at
    :math:`p`; each pair of sine and cosine is also a dial, whose hand the shift turns by the same
    angle at every position. A curve shows the dot product with every other position.

    Parameters
    ----------
    d_model : int, optional
        Width of the encoding, even, 4 to 128.
    n_positions : int, optional
        Number of positions to choose from, 8 to 512.
    base : float, optional
        As for :func:`sinusoidal_encoding`.
    position, shift : int, optional
        Initial positions of the sliders; the shift goes up to half the number of positions.

    Returns
    -------
    Widget
        A cell displays it.

    Raises
    ------
    ValueError
        If the width is odd, or a number is outside its range.

    Notes
    -----
    Vaswani et al. (2017), section 3.5. Chapter 6, equation ``eq-sinusoidal``.
    """
    check_integer("d_model", d_model, 4, 128)
    check_integer("n_positions", n_positions, 8, 512)
    check_integer("position", position, 0, n_positions - 1)
    check_integer("shift", shift, 0, n_positions // 2)
    two = torch.tensor([position, position + shift])
    here, there = sinusoidal_encoding(two, d_model, base=base).double()
    every = sinusoidal_encoding(torch.arange(n_positions), d_model, base=base).double()
    pairs = d_model // 2
    # The dot products of position 0 include those of all distances.
    low = math.floor(4 * (every[0] @ every.T).min().item() / pairs) / 4
    products = (every @ here).numpy()
    said = _said(position, shift, (here @ there).item(), d_model, n_positions)
    quarters = [*(quarter * n_positions // 4 for quarter in range(4)), n_positions - 1]
    both = list(zip(here.view(-1, 2).tolist(), there.view(-1, 2).tolist(), strict=True))
    body = fill(
        "widgets/page/positional_encoding.html",
        d_model=d_model,
        base=base,
        n_positions=n_positions,
        position=position,
        shift=shift,
        low=low,
        bars=_bars(both),
        dials=_dials(both),
        products=products / products[position],
        top=round(products[position]),
        places=[(p / (n_positions - 1), p) for p in quarters],
        said=said,
        rows=[(2 * math.pi * base ** (i / pairs), one + two) for i, (one, two) in enumerate(both)],
    )
    return Widget("positional_encoding", "Sinusoidal encoding of a position", body, said)


def _said(position: int, shift: int, product: float, d_model: int, n_positions: int) -> str:
    """Describe the sliders' positions, in the words of the script."""
    other = position + shift
    beyond = f" The curve ends before position {other}." if other >= n_positions else ""
    return (
        f"Positions {position} and {other}: dot product {fixed(product)} of at most "
        f"{d_model // 2}, as for any two positions {shift} apart.{beyond}"
    )


def _bars(both: Both) -> list[tuple[str, float, float, float, float]]:
    """Return a bar for each component: its kind, left edge, width and height in both encodings."""
    step = _WIDTH / len(both)
    return [
        (kind, step * (i + 0.08 + 0.42 * c), 0.4 * step, _WAVE * here[c], _WAVE * there[c])
        for i, (here, there) in enumerate(both)
        for c, kind in enumerate(("sine", "cosine"))
    ]


def _dials(both: Both) -> list[tuple[float, float, list[tuple[float, float]]]]:
    """Return a dial for each pair: its middle and radius, and the ends of its two hands."""
    step = _WIDTH / len(both)
    radius = min(_DIAL / 2 - 1, 0.42 * step)
    dials = []
    for i, (here, there) in enumerate(both):
        middle = step * (i + 0.5)
        tips = [(middle + radius * sin, _DIAL / 2 - radius * cos) for sin, cos in (there, here)]
        dials.append((middle, radius, tips))
    return dials
