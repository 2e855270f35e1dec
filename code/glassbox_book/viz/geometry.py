"""The sizes of bertviz's drawings, which give a frame its height before anything is drawn.

Sizes are in CSS pixels. The numbers mirror the constants at the top of bertviz's three scripts; a
browser test compares them with the drawings.
"""

from dataclasses import dataclass
from math import ceil

_PADDING = 22  # the frame's border and padding, left and right or above and below together
_CONTROLS = 44  # a row of choices above a drawing, with the space below it
_UNDER = 14  # below a drawing: room for a scroll bar
_READOUT, _NARROW_READOUT = 68, 108  # the lines that state the numbers, with the space above
_LEGEND, _NARROW_LEGEND = 48, 128  # of the columns of the expanded neuron view
_SQUARE = 25.0  # a switch for a head
_SQUARES = 12  # at most in a row


@dataclass(frozen=True)
class Drawing:
    """Natural width and height of a drawing, and the scales it may be shown at."""

    width: float
    height: float
    smallest: float
    largest: float = 1.0
    top: float = 0.0  # where it begins; negative if something is added above
    widest: float = 0.0  # maximum distance of its two columns of tokens
    controls: bool = True
    legend: bool = False

    def as_data(self) -> list[float]:
        """Return the sizes that the scripts of a frame need."""
        return [self.width, self.height, self.smallest, self.largest, self.top, self.widest]


def squares_in_a_row(n_heads: int) -> int:
    """Return the number of head switches in a row that makes all rows about equally long."""
    return ceil(n_heads / ceil(n_heads / _SQUARES))


def head_drawing(q_len: int, k_len: int, n_heads: int) -> Drawing:
    """Return the size of the head view; rows of 22.5 grow to 24, a comfortable target."""
    squares = _SQUARE * ceil(n_heads / _SQUARES)
    height = squares + 30 + 22.5 * max(q_len, k_len) + 2
    return Drawing(300.0, height, 0.96, 16 / 15, top=-squares, widest=720.0)


def model_drawing(q_len: int, k_len: int, n_layers: int, n_heads: int) -> Drawing:
    """Return the size of the model view: rows of thumbnails, or the enlarged map if taller."""
    n_tokens = max(q_len, k_len)
    thumbnail = n_tokens * 7 * (12 / n_heads) + 10
    rows = n_layers * thumbnail + 38.0
    height = max(rows, rows / 2 + 51, n_tokens * 18 + 55.0)  # the word "Layers" is vertical
    return Drawing(970.0, round(height, 2), 0.65, controls=False)  # as wide as the text


def neuron_drawing(q_len: int, k_len: int, *, expanded: bool = False) -> Drawing:
    """Return the size of the neuron view, folded (tokens and lines) or expanded (vectors too)."""
    rows = 26 * max(q_len, k_len)
    if expanded:
        return Drawing(1004.0, 42.0 + rows + 4, 0.64, legend=True)
    return Drawing(340.0, rows + 28.0, 0.74, top=18.0, widest=800.0)


def frame_heights(drawing: Drawing, *, switch: bool = False) -> tuple[str, str]:
    """Return the CSS length a frame needs in a wide and in a narrow column.

    The wrapper of the frame is a size container. The drawing is as wide as its column, within its
    limits of scale, and the height follows. A comparison has a ``switch`` above the drawing.
    """
    smallest, largest = (drawing.height * scale for scale in (drawing.smallest, drawing.largest))
    fluid = drawing.height / drawing.width
    drawn = f"clamp({smallest:.2f}px,{fluid:.5f}*(100cqw - {_PADDING}px),{largest:.2f}px)"
    rest = _CONTROLS * (drawing.controls + switch) + _UNDER + _PADDING
    wide = rest + _READOUT + _LEGEND * drawing.legend
    narrow = rest + _NARROW_READOUT + _NARROW_LEGEND * drawing.legend
    return f"calc({drawn} + {wide}px)", f"calc({drawn} + {narrow}px)"
