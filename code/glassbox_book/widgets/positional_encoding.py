"""The sinusoidal encoding of a position, with sliders for the position and for a shift."""

from __future__ import annotations

import math

import numpy as np
import torch

from glassbox.positional import sinusoidal_encoding
from glassbox_book.widgets.checks import check_whole
from glassbox_book.widgets.parts import at, fixed, marks, path, plot, slider
from glassbox_book.widgets.widget import Widget

_WIDTH, _WAVE, _CURVE = 640, 50, 100  # of the drawings, in their own units; a bar is 50 high
_DIAL = 40  # height of the row of dials


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
    check_whole("d_model", d_model, 4, 128)
    check_whole("n_positions", n_positions, 8, 512)
    check_whole("position", position, 0, n_positions - 1)
    check_whole("shift", shift, 0, n_positions // 2)
    here, there = sinusoidal_encoding(
        torch.tensor([position, position + shift]), d_model, base=base
    ).double()
    every = sinusoidal_encoding(torch.arange(n_positions), d_model, base=base).double()
    products = (every @ here).numpy()
    product = (here @ there).item()
    said = _said(position, shift, product, d_model, n_positions)
    controls = slider(
        "position", "position <i>p</i>", 0, n_positions - 1, position, shown=str(position)
    ) + slider("shift", "shift <i>k</i>", 0, n_positions // 2, shift, shown=str(shift))
    # The dot products of position 0 include those of all distances.
    low = math.floor(4 * (every[0] @ every.T).min().item() / (d_model / 2)) / 4
    body = (
        f'<div data-part="numbers" data-d-model="{d_model}" data-base="{base:g}" '
        f'data-positions="{n_positions}" data-low="{low:g}">'
        f'<div class="gb-controls" hidden>{controls}</div>'
        f"{_waves(here.numpy(), there.numpy())}"
        f"{_curve(products, position, shift, min(low, 0.0))}"
        f'<p aria-live="polite" data-part="said">{said}</p>'
        f"{_table(here.numpy(), there.numpy(), base)}</div>"
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


def _waves(here: np.ndarray, there: np.ndarray) -> str:
    """Draw both encodings: their components as bars, and their pairs as hands of dials."""
    pairs = len(here) // 2
    step = _WIDTH / pairs
    radius = min(_DIAL / 2 - 1, 0.42 * step)
    bars, dials = [], []
    for i in range(pairs):
        for c, kind in enumerate(("sine", "cosine")):
            x, width = at(step * (i + 0.08 + 0.42 * c)), at(0.4 * step)
            one, two = _WAVE * here[2 * i + c], _WAVE * there[2 * i + c]
            bars.append(
                f'<rect class="gb-{kind}" x="{x}" y="{at(_WAVE - max(one, 0))}" '
                f'width="{width}" height="{at(abs(one))}"/>'
                f'<path class="gb-there" d="M{x} {at(_WAVE - two)}h{width}"/>'
            )
        middle = step * (i + 0.5)
        dials.append(f'<circle cx="{at(middle)}" cy="{_DIAL // 2}" r="{at(radius)}"/>')
        for kind, vector in (("there", there), ("here", here)):
            tip = middle + radius * vector[2 * i], _DIAL / 2 - radius * vector[2 * i + 1]
            dials.append(f'<path class="gb-{kind}" d="{path([(middle, _DIAL / 2), tip])}"/>')
    axis = f'<path class="gb-axis" d="M0 {_WAVE}H{_WIDTH}"/>'
    return (
        '<p class="gb-legend"><span class="gb-sine">sine</span> and '
        '<span class="gb-cosine">cosine</span> of each pair at <i>p</i>, and '
        '<span class="gb-there">at <i>p</i> + <i>k</i></span></p>'
        + plot("".join(bars) + axis, _WIDTH, 2 * _WAVE, attributes=' data-part="waves"')
        + f'<svg class="gb-dials" viewBox="0 0 {_WIDTH} {_DIAL}" role="img" data-part="dials" '
        'aria-label="Each pair as the hand of a clock; the numbers are in the table below">'
        f"{''.join(dials)}</svg>"
        + marks(
            [(0.0, "short waves"), (0.5, "each pair as the hand of a clock"), (1, "long waves")]
        )
    )


def _curve(products: np.ndarray, position: int, shift: int, low: float) -> str:
    """Draw the dot products of one position with all of them."""
    most, last = products[position], len(products) - 1
    heights = [1 - (product / most - low) / (1 - low) for product in products]
    points = [(_WIDTH * p / last, _CURVE * height) for p, height in enumerate(heights)]
    dots = "".join(
        f'<span class="gb-dot gb-{kind}" '
        + (
            f'style="left:{at(100 * p / last)}%;top:{at(100 * heights[p])}%"></span>'
            if p <= last
            else "hidden></span>"
        )
        for kind, p in (("here", position), ("there", position + shift))
    )
    zero = at(_CURVE * (1 + low / (1 - low)))
    lines = (
        f'<path class="gb-axis" d="M0 {zero}H{_WIDTH}"/><path class="gb-line" d="{path(points)}"/>'
    )
    ends = f'<span class="gb-top">{round(most)}</span>'
    ends += f' <span class="gb-bottom" style="top:{zero}%">0</span>'
    quarters = [*(quarter * (last + 1) // 4 for quarter in range(4)), last]
    return (
        '<p class="gb-legend">Dot product of position <i>p</i> with every position</p>'
        + plot(lines, _WIDTH, _CURVE, ends + dots, ' data-part="products"')
        + marks((p / last, str(p)) for p in quarters)
    )


def _table(here: np.ndarray, there: np.ndarray, base: float) -> str:
    pairs = len(here) // 2
    rows = ""
    for i in range(pairs):
        numbers = [vector[2 * i + c] for vector in (here, there) for c in range(2)]
        cells = "".join(f'<td data-part="component">{fixed(number)}</td>' for number in numbers)
        wave = fixed(2 * math.pi * base ** (i / pairs), 1)
        rows += f'<tr><th scope="row">{i}</th><td>{wave}</td>{cells}</tr>'
    heads = "".join(
        f'<th scope="col">{wave} at {place}</th>'
        for place in ("<i>p</i>", "<i>p</i> + <i>k</i>")
        for wave in ("sine", "cosine")
    )
    return (
        "<details><summary>The numbers as a table</summary><table><thead><tr>"
        '<th scope="col">pair</th><th scope="col">wave\N{SOFT HYPHEN}length</th>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></details>"
    )
