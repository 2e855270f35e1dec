"""The look of every figure in the book: one palette, one size of text, one colour of text."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

import matplotlib.style
from cycler import cycler

#: The same thing has the same colour on every page (after Okabe and Ito, colour-blind safe).
QUERY = "#0072B2"
KEY = "#D55E00"
VALUE = "#009E73"
HIGHLIGHT = "#CC79A7"
AMBER = "#E69F00"

#: All text, ticks and axes. The site turns exactly this colour into that of the text around the
#: figure, so that it follows light and dark; nothing else may be drawn with it.
TEXT = "#333333"

#: Lines and points of several series differ by more than their colour.
SERIES: tuple[dict[str, Any], ...] = tuple(
    {"color": color, "linestyle": dashes, "marker": marker, "markersize": 5}
    for color, dashes, marker in (
        (QUERY, "-", "o"),
        (KEY, (0, (5, 2)), "s"),
        (VALUE, (0, (1.5, 1.5)), "^"),
        (HIGHLIGHT, (0, (5, 1.5, 1, 1.5)), "D"),
        (AMBER, (0, (8, 2)), "v"),
        (TEXT, (0, (3, 3)), "X"),
    )
)

#: Width in inches at which text of the base size is legible on a screen of 360 pixels.
FIGURE_WIDTH = 4.2

#: Width in inches of the column of the site on a large screen.
PAGE_WIDTH = 7.0

_SETTINGS: dict[str, Any] = {
    "figure.figsize": (FIGURE_WIDTH, 3.0),
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.08,
    "savefig.facecolor": "none",
    "savefig.edgecolor": "none",
    "axes.facecolor": "none",
    "legend.facecolor": "none",
    "legend.frameon": False,
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.labelsize": 11,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.titlecolor": TEXT,
    "axes.edgecolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "grid.color": TEXT,
    "grid.alpha": 0.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=[QUERY, KEY, VALUE, HIGHLIGHT, AMBER]),
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",  # text stays text: it can be found, read aloud and recoloured
    "svg.hashsalt": "glassbox",  # the same figure gets the same element ids
}

#: No date and no version of the drawing library: the same figure is the same file.
SVG_METADATA = {"Date": None, "Creator": None}


def use_book_style() -> None:
    """Draw all figures of this session in the style of the book, in notebooks as SVG alone.

    Call it once, in the first cell.
    """
    matplotlib.style.use(_SETTINGS)
    # A token may have characters that the font for measuring lacks; the reader's browser draws it.
    warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
    try:
        from IPython.core.getipython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # a plain Python session: figures are saved, not displayed
        return
    if get_ipython() is not None:
        set_matplotlib_formats("svg", metadata=SVG_METADATA)


def check_series(series: Collection[str]) -> None:
    """Refuse series that cannot be told apart.

    Parameters
    ----------
    series : collection of str
        Their names.

    Raises
    ------
    ValueError
        If there are none, or more than :data:`SERIES` has looks for.
    """
    if not 1 <= len(series) <= len(SERIES):
        raise ValueError(f"there are {len(series)} series; 1 to {len(SERIES)} can be told apart")
