"""All the ways to cut a word into pieces, and the most likely of them (chapter 2).

A word of n characters has n + 1 places: between them and at both ends. Each piece in the vocabulary
is an edge from one place to another, and a path from the first place to the last is a segmentation.
Its probability is the product of its pieces' probabilities, so logarithms add.
"""

import math
from collections.abc import Mapping, Sequence

#: An unknown character is less likely than the rarest piece by a factor of e to the power of 10.
UNKNOWN_PENALTY = 10.0


class Pieces:
    """The pieces of a unigram model.

    Parameters
    ----------
    scores : mapping of str to float
        The logarithm of each piece's probability.

    Attributes
    ----------
    longest : int
        Number of characters in the longest piece.
    unknown_score : float
        The score of a character that is not a piece.

    Notes
    -----
    Kudo (2018), section 3.2. Chapter 2.
    """

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = scores
        self.longest = max(map(len, scores))
        self.unknown_score = min(scores.values()) - UNKNOWN_PENALTY

    def edges(self, word: str) -> list[list[tuple[int, float]]]:
        """Return the ends of the pieces that begin at each place of ``word`` but the last.

        A character that is not a piece gets an edge with :attr:`unknown_score`, so a path always
        exists.

        Returns
        -------
        list of list of tuple
            For each place, pairs of end and score.

        Examples
        --------
        >>> Pieces({"a": -1.0, "ab": -1.5, "b": -2.0}).edges("ab")
        [[(1, -1.0), (2, -1.5)], [(2, -2.0)]]
        """
        known, result = self.scores, []
        for start, character in enumerate(word):
            ends = range(start + 2, min(start + self.longest, len(word)) + 1)
            found = [(start + 1, known.get(character, self.unknown_score))]
            found += [(end, known[piece]) for end in ends if (piece := word[start:end]) in known]
            result.append(found)
        return result


def viterbi(word: str, pieces: Pieces, *, whole: bool = True) -> list[str]:
    r"""Return the most likely segmentation, :math:`\arg\max_{x} \sum_i \log p(x_i)`.

    The best path to a place is the best over its last pieces, so one pass from left to right finds
    it among exponentially many.

    Parameters
    ----------
    word : str
        The word to cut.
    pieces : Pieces
        The pieces to cut it into.
    whole : bool, optional
        Whether the whole word may be one piece.

    Returns
    -------
    list of str
        The pieces. Among equally likely segmentations, the one with the longest last piece.

    Notes
    -----
    Kudo (2018), section 3.2. Chapter 2, equation ``eq-unigram``.
    """
    best = [0.0] + [-math.inf] * len(word)  # the score of the best way to each place
    came_from = [0] * (len(word) + 1)
    for start, edges in enumerate(pieces.edges(word)):
        for end, score in edges:
            if best[start] + score > best[end] and (whole or end - start < len(word)):
                best[end], came_from[end] = best[start] + score, start
    result, end = [], len(word)
    while end:
        result.append(word[came_from[end] : end])
        end = came_from[end]
    return result[::-1]


def forward(edges: Sequence[Sequence[tuple[int, float]]]) -> list[float]:
    """Return, for each place, the logarithm of the total probability of all paths to it.

    Parameters
    ----------
    edges : sequence of sequence of tuple
        As from :meth:`Pieces.edges`.

    Notes
    -----
    Kudo (2018), section 3.2; the forward half of the forward–backward algorithm.
    """
    totals = [0.0] + [-math.inf] * len(edges)
    for start, ways in enumerate(edges):
        for end, score in ways:
            totals[end] = _log_sum_exp([totals[end], totals[start] + score])
    return totals


def backward(edges: Sequence[Sequence[tuple[int, float]]]) -> list[float]:
    """Return, for each place, the logarithm of the total probability of all paths from it.

    Parameters
    ----------
    edges : sequence of sequence of tuple
        As from :meth:`Pieces.edges`.

    Notes
    -----
    Kudo (2018), section 3.2; the backward half of the forward–backward algorithm.
    """
    totals = [0.0] * (len(edges) + 1)
    for start in reversed(range(len(edges))):
        totals[start] = _log_sum_exp([score + totals[end] for end, score in edges[start]])
    return totals


def marginals(word: str, pieces: Pieces) -> tuple[dict[tuple[int, int], float], float]:
    """Return the probability of each piece at its place, over all segmentations.

    Parameters
    ----------
    word : str
        The word to cut.
    pieces : Pieces
        The pieces to cut it into.

    Returns
    -------
    dict of tuple of int to float
        For each edge, given by its start and end, the share of the segmentations that use it,
        weighted by their probabilities.
    float
        The logarithm of the word's probability, the sum over all its segmentations.

    Notes
    -----
    Kudo (2018), section 3.2. Chapter 2, equation ``eq-unigram``.
    """
    edges = pieces.edges(word)
    to, onward = forward(edges), backward(edges)
    shares = {
        (start, end): math.exp(to[start] + score + onward[end] - to[-1])
        for start, ways in enumerate(edges)
        for end, score in ways
    }
    return shares, to[-1]


def _log_sum_exp(values: Sequence[float]) -> float:
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))
