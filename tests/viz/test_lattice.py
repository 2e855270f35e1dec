"""The lattice of a word: every piece that fits is there, and the best way is heavy."""

import math
from functools import partial

import numpy as np
import pytest

from glassbox.tokenization import Pieces
from glassbox_book import viz
from glassbox_book.viz.style import TEAL
from tests.viz.conftest import as_on_a_telephone

PIECES = Pieces({p: math.log(q) for p, q in {"a": 0.1, "b": 0.2, "ab": 0.3, "ba": 0.4}.items()})


def test_every_piece_that_fits_is_drawn_with_its_probability() -> None:
    (ax,) = viz.lattice("aba", PIECES).axes
    written = [text.get_text() for text in ax.texts]
    assert sorted(written) == sorted(["0.100", "0.200", "0.100", "ab 0.300", "ba 0.400", *"aba"])


def test_the_most_probable_way_is_heavy() -> None:
    (ax,) = viz.lattice("aba", PIECES).axes  # a, ba is .04; ab, a is .03
    heavy = [line for line in ax.lines if line.get_color() == TEAL]
    drawn = [np.asarray(line.get_xdata()) for line in heavy]
    ends = sorted((x[0], x[-1]) for x in drawn)
    assert ends == [pytest.approx((0, 1)), pytest.approx((1, 3))]


def test_a_word_without_letters_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        viz.lattice("", PIECES)


@pytest.mark.usefixtures("book_style")
@pytest.mark.parametrize("narrow", [False, True])
def test_no_arc_runs_through_words(narrow: bool) -> None:
    words = ["slow", "low", "lo", "est", "st", *"slowest"]
    pieces = Pieces(dict.fromkeys(words, -1.5))
    draw = partial(viz.lattice, "slowest", pieces)
    fig = as_on_a_telephone(draw) if narrow else draw()
    fig.draw_without_rendering()
    (ax,) = fig.axes
    arcs = [np.array(ax.transData.transform(line.get_xydata())) for line in ax.lines]
    for box in (text.get_window_extent() for text in ax.texts):
        assert not any(box.contains(*place) for arc in arcs for place in arc)
