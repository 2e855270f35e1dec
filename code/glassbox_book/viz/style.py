"""The style of every figure in the book: one palette, one text size, one text colour."""

import warnings
from collections.abc import Collection
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, fontManager

#: For the projections of self-attention only (after Okabe and Ito, colour-blind safe).
QUERY = "#0072b2"
KEY = "#d55e00"
VALUE = "#009e73"

#: For all other lines, bars and points. The site replaces exactly these colours, and those above,
#: by its own of the same name, which follow light and dark.
TEAL, PLUM, OCHRE, SLATE, ROSE = "#0f7076", "#8a4a86", "#a8720a", "#546571", "#b8456c"

#: Ochre letters must be darker than ochre lines to be legible on white.
INKS = {OCHRE: "#7d5600"}

#: All text, ticks and axes. The site replaces exactly this colour by that of the surrounding text,
#: which follows light and dark; nothing else may be drawn in it.
TEXT = "#333333"

#: The colour of the page, for lines inside areas; the site's own follows light and dark.
PAPER = "#fdfdfb"

#: Lines and points of several series differ by more than their colour.
SERIES: tuple[dict[str, Any], ...] = tuple(
    {"color": color, "linestyle": dashes, "marker": marker, "markersize": 5}
    for color, dashes, marker in (
        (TEAL, "-", "o"),
        (PLUM, (0, (5, 2)), "s"),
        (OCHRE, (0, (1.5, 1.5)), "^"),
        (SLATE, (0, (5, 1.5, 1, 1.5)), "D"),
        (ROSE, (0, (8, 2)), "v"),
        (TEXT, (0, (3, 3)), "X"),
    )
)

#: The colours of vectors and of groups of points; none is that of a query, a key or a value.
COLOURS = [look["color"] for look in SERIES[:5]]

#: Width in inches of the site's column, on a large screen and on a phone.
PAGE_WIDTH, PHONE_WIDTH = 7.0, 358 / 96

#: The fonts of a figure outside the site, which has its own.
FONTS = "Book Sans, Source Sans Pro, Source Sans 3, Segoe UI, Arial, sans-serif"

#: No date and no version of the drawing library, so the same figure is the same file.
SVG_METADATA = {"Date": None, "Creator": None}


def use_book_style() -> None:
    """Draw all figures of this session in the style of the book, in notebooks as SVG alone.

    Call it once, in the first cell.
    """
    matplotlib.style.use(str(files("glassbox_book.viz") / "book.mplstyle"))
    _measure_with_the_site_s_font()
    # The font for measuring may lack a token's characters; the reader's browser draws them.
    warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
    try:
        from IPython.core.getipython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # a plain Python session: figures are saved, not displayed
        return
    shell: Any = get_ipython()
    if shell is not None:
        from glassbox_book.viz.paper import svg

        set_matplotlib_formats("svg")
        shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, svg)


def _measure_with_the_site_s_font() -> None:
    """Lay out text with the site's font, if its package is installed."""
    if find_spec("font_source_sans_pro") is None:
        return
    for weight, name in ((400, "Regular"), (700, "Semibold")):
        file = files("font_source_sans_pro").joinpath(f"files/SourceSansPro-{name}.ttf")
        entry = FontEntry(
            fname=str(file), name="Book Sans", weight=weight, stretch="normal", size="scalable"
        )
        if entry not in fontManager.ttflist:
            fontManager.ttflist.append(entry)
    # Characters it lacks, such as the sign for a space, are measured in matplotlib's own font.
    matplotlib.rcParams["font.family"] = ["Book Sans", "DejaVu Sans"]


def check_series(series: Collection[str]) -> None:
    """Reject more series than can be distinguished.

    Parameters
    ----------
    series : collection of str
        Their names.

    Raises
    ------
    ValueError
        If there are none, or more than :data:`SERIES` has styles.
    """
    if not 1 <= len(series) <= len(SERIES):
        raise ValueError(f"there are {len(series)} series; 1 to {len(SERIES)} can be told apart")


def check_length(what: str, given: Any, unit: str, count: int, of: str) -> None:
    """Check that there is one value for each of some things.

    Parameters
    ----------
    what : str
        What has the values, as worded in the message.
    given : sequence
        The values.
    unit : str
        What the values are.
    count : int
        The number of things.
    of : str
        What the things are.

    Raises
    ------
    ValueError
        If the numbers differ, or the values are not in one row; the message names both.
    """
    shape = np.shape(given)
    if shape != (count,):
        found = f"{shape[0]} {unit}" if len(shape) == 1 else f"{unit} of shape {shape}"
        raise ValueError(f"{what} has {found} for {count} {of}")
