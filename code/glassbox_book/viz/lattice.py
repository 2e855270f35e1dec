"""All segmentations of a word, as arcs over its letters."""

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from glassbox.tokenization.lattice import Pieces, viterbi
from glassbox_book.viz.paper import in_two_widths, width
from glassbox_book.viz.style import SLATE, TEAL, TEXT
from glassbox_book.viz.tokens import visible


@in_two_widths
def lattice(word: str, pieces: Pieces) -> Figure:
    r"""Draw every piece that fits into a word as an arc from its start to its end.

    A segmentation is a path from left to right, and the most probable path is drawn heavy. Above
    each arc are its piece and the piece's probability; the probability of a single letter is below
    the letter.

    Parameters
    ----------
    word : str
        The word to segment.
    pieces : Pieces
        The pieces and the logarithms of their probabilities.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If the word is empty.

    Notes
    -----
    Chapter 2, equation ``eq-unigram``.
    """
    if not word:
        raise ValueError("word is empty; pass what to cut")
    ends = np.cumsum([len(piece) for piece in viterbi(word, pieces)]).tolist()
    best = set(zip([0, *ends[:-1]], ends, strict=True))
    edges = [(start, end, s) for start, ways in enumerate(pieces.edges(word)) for end, s in ways]
    longest = max(end - start for start, end, _ in edges)
    fig, ax = plt.subplots(figsize=(width(), 1.3 + 0.42 * longest))
    turn = np.linspace(0, math.pi, 60)
    for start, end, score in edges:
        size = end - start
        chosen = (start, end) in best
        look: dict[str, Any] = {"color": SLATE, "lw": 1.1, "alpha": 0.7}
        if chosen:
            look = {"color": TEAL, "lw": 3.2}
        middle = (start + end) / 2
        if size > 1:
            ax.plot(middle - size / 2 * np.cos(turn), 0.62 * size * np.sin(turn), **look)
            said, y = f"{visible(word[start:end])} {math.exp(score):.3f}", 0.62 * size + 0.08
            half = 0.04 * len(said) * (len(word) + 0.6) / width()
            for a, b, _ in edges:  # the words keep clear of the arcs around this one
                if a <= start and end <= b and size < b - a:
                    room = (b - a) / 2 * math.sqrt(1 - ((y + 0.25) / 0.62 / (b - a)) ** 2) - half
                    middle = float(np.clip(middle, (a + b) / 2 - room, (a + b) / 2 + room))
        else:
            ax.plot([start, end], [0, 0], **look)
            said, y = f"{math.exp(score):.3f}", -0.72
        weight = "bold" if chosen else "normal"
        ax.text(middle, y, said, ha="center", va="bottom", color=TEXT, weight=weight, size=10)
    for place, letter in enumerate(word):
        ax.text(place + 0.5, -0.42, visible(letter), ha="center", size=13, color=TEXT)
    ax.plot(range(len(word) + 1), [0] * (len(word) + 1), "o", color=TEXT, ms=5)
    ax.set(xlim=(-0.3, len(word) + 0.3), ylim=(-0.8, 0.62 * longest + 0.5))
    ax.axis("off")
    return fig
