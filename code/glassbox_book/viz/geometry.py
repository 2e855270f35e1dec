"""How large bertviz draws, so that a frame has its height before anything is drawn.

Sizes are in CSS pixels. The numbers mirror the constants at the top of bertviz's three scripts; a
browser test compares them with what was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

_PADDING = 22  # the frame's border and padding, left and right or above and below together
_GAP = 16  # between two drawings
_CONTROLS = 44  # the row of choices above a drawing, with the space below it
_NAME = 24  # the row that says whose drawing it is
_UNDER = 14  # below a drawing: room for a scroll bar
# The lines that say the numbers, with the space above them: in a wide column, for one drawing and
# for two in a narrow one.
_READOUT, _NARROW_READOUT, _NARROW_READOUT_OF_TWO = 68, 88, 108
_LEGEND, _NARROW_LEGEND = 48, 128  # what the columns of the expanded neuron view show


@dataclass(frozen=True)
class Drawing:
    """Natural width and height of a drawing, and the scales it may be shown at."""

    width: float
    height: float
    smallest: float
    largest: float = 1.0
    top: float = 0.0  # what is left out above
    beside: bool = False  # narrow enough for a wide column to have the numbers beside it
    controls: bool = True
    legend: bool = False

    def as_data(self) -> list[float]:
        """Return what the scripts of a frame need to know."""
        return [self.width, self.height, self.smallest, self.largest, self.top]


def head_drawing(q_len: int, k_len: int, n_heads: int) -> Drawing:
    """Size of the head view; rows of 22.5 are enlarged to 24, the smallest comfortable target."""
    width, height = max(335.0, 22.5 * n_heads), 30 + 22.5 * max(q_len, k_len) + 2
    return Drawing(width, height, 0.9, 16 / 15, beside=width < 380)


def model_drawing(q_len: int, k_len: int, n_layers: int, n_heads: int) -> Drawing:
    """Size of the model view: rows of thumbnails, or the enlarged map where that is higher."""
    n_tokens = max(q_len, k_len)
    thumbnail = n_tokens * 7 * (12 / n_heads) + 10
    height = max(n_layers * thumbnail + 38.0, n_tokens * 18 + 55.0)
    return Drawing(970.0, round(height, 2), 0.65, controls=False)  # as wide as the text


def neuron_drawing(q_len: int, k_len: int, *, expanded: bool = False) -> Drawing:
    """Size of the neuron view, folded (tokens and lines) or expanded (queries and keys too)."""
    rows = 26 * max(q_len, k_len)
    if expanded:
        return Drawing(1004.0, 42.0 + rows + 4, 0.64, legend=True)
    return Drawing(415.0, rows + 10.0, 0.74, top=36.0, beside=True)  # no headings above the columns


def frame_height(
    drawing: Drawing, *, panels: int = 1, narrow: bool = False, stacked: bool = False
) -> str:
    """Return the CSS length a frame needs, given that its wrapper is a size container.

    The drawing is as wide as its column but within its scales, and the height follows. In a narrow
    column, or where they are ``stacked`` anyhow, two drawings stand one below the other; in a
    narrow one the numbers stand below a drawing instead of beside it.
    """
    columns = 1 if narrow or stacked else panels
    rows = panels // columns
    padding = _PADDING + _GAP * (columns - 1)
    smallest, largest = (drawing.height * scale for scale in (drawing.smallest, drawing.largest))
    fluid = drawing.height / drawing.width / columns
    drawn = f"clamp({smallest:.2f}px,{fluid:.5f}*(100cqw - {padding}px),{largest:.2f}px)"
    row = _CONTROLS * drawing.controls + _NAME * (panels > 1) + _UNDER
    if narrow:
        said = _NARROW_READOUT if panels == 1 else _NARROW_READOUT_OF_TWO
    else:
        said = 0 if drawing.beside and panels == 1 else _READOUT
    if drawing.legend:
        said += _NARROW_LEGEND if narrow else _LEGEND
    return f"calc({rows}*{drawn} + {rows * row + (rows - 1) * _GAP + said + _PADDING}px)"
