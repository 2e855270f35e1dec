"""Learn a unigram vocabulary: start with far too many pieces, and drop the least useful.

Kudo (2018), section 3.2, as implemented by SentencePiece and the reference library. Chapter 2.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from operator import itemgetter

import torch

from glassbox.checks import check_at_least
from glassbox.tokenization.lattice import Pieces, marginals, viterbi

#: Pieces with a lower expected count over all texts are dropped.
RARE = 0.5
#: Represents all characters that are not pieces, or no longer are.
UNKNOWN = ""


def seed_pieces(words: Mapping[str, int], *, max_length: int = 16) -> dict[str, float]:
    """Return the characters, and the substrings that may be worth a piece, with initial scores.

    A substring qualifies if it occurs in more than one place and is followed by different
    characters: otherwise a longer one serves as well. Substrings are ranked by what they save,
    their count times their length.

    Parameters
    ----------
    words : mapping of str to int
        How often each word occurs.
    max_length : int, optional
        Number of characters in the longest piece.

    Returns
    -------
    dict of str to float
        The logarithm of each piece's share.

    Raises
    ------
    ValueError
        If ``max_length`` is not an integer, or less than 1.
    """
    check_at_least("max_length", max_length, 1)
    characters: Counter[str] = Counter()
    places: Counter[str] = Counter()
    followed_by: dict[str, str] = {}
    branching = set()
    for word, count in words.items():
        for start, character in enumerate(word):
            characters[character] += count
            for end in range(start + 2, min(start + max_length, len(word)) + 1):
                piece, follower = word[start:end], word[end : end + 1]
                places[piece] += 1
                if followed_by.setdefault(piece, follower) != follower:
                    branching.add(piece)
    saved = {piece: places[piece] * len(piece) for piece in branching}
    by_count = itemgetter(1, 0)
    ranked = sorted(characters.items(), key=by_count, reverse=True)
    ranked += sorted(saved.items(), key=by_count, reverse=True)
    total = math.log(sum(count for _, count in ranked))
    return {piece: math.log(count) - total for piece, count in ranked}


def expected_counts(words: Mapping[str, int], pieces: Pieces) -> dict[str, float]:
    """Count each piece in all segmentations of all words, weighted by their probabilities.

    The E-step of expectation maximisation.

    Notes
    -----
    Kudo (2018), section 3.2. Chapter 2; the probabilities are those of equation ``eq-unigram``.
    """
    expected: defaultdict[str, float] = defaultdict(float)
    for word, count in words.items():
        shares, _ = marginals(word, pieces)
        for (start, end), share in shares.items():
            expected[word[start:end]] += count * share
    return expected


def new_scores(scores: Mapping[str, float], expected: Mapping[str, float]) -> dict[str, float]:
    r"""Score pieces by their expected counts, :math:`\psi(c) - \psi(\sum c)`, and drop the rare.

    The M-step. Using the digamma function :math:`\psi` instead of the logarithm makes rare pieces
    rarer still, as a prior that favours few pieces would.

    Notes
    -----
    Liang and Klein (2007), as in SentencePiece. Chapter 2.
    """
    kept = [piece for piece in scores if expected.get(piece, 0.0) >= RARE]
    counts = torch.tensor([expected[piece] for piece in kept], dtype=torch.float64)
    return dict(zip(kept, (counts.digamma() - counts.sum().digamma()).tolist(), strict=True))


def prune(words: Mapping[str, int], scores: Mapping[str, float], size: int) -> dict[str, float]:
    r"""Keep the pieces whose loss would cost the texts the most likelihood.

    Without a piece, the words that use it would use its second-best segmentation instead. If
    :math:`c(x)` is how often a piece is used, and :math:`C` and :math:`C'` are the sums of all
    counts before and after, then a piece :math:`x` with the parts :math:`y` is worth

    .. math:: c(x) \left(\log \frac{c(x)}{C} - \sum_y \log \frac{c(y) + c(x)}{C'}\right)

    Parameters
    ----------
    words : mapping of str to int
        How often each word occurs.
    scores : mapping of str to float
        The score of each piece.
    size : int
        Number of pieces to keep. Those that cannot be cut further always stay.

    Returns
    -------
    dict of str to float
        The pieces that cannot be cut, then the others, the most valuable first.

    Notes
    -----
    Kudo (2018), section 3.2. For the growth of :math:`C'` see the comment in the code. Chapter 2.
    """
    pieces = Pieces(scores)
    used: Counter[str] = Counter()
    for word, count in words.items():
        for piece in viterbi(word, pieces):
            used[piece if piece in scores else UNKNOWN] += count
    all_used, all_words = sum(used.values()), sum(words.values())

    kept, losses = {}, {}
    for piece, score in scores.items():
        if len(piece) == 1:
            kept[piece] = score
        elif (count := used[piece]) and viterbi(piece, pieces) == [piece]:
            parts = viterbi(piece, pieces, whole=False)
            instead = [part if part in scores else UNKNOWN for part in parts]
            # The total grows by len(instead) - 1 for each use. SentencePiece, which learned the
            # published vocabularies, uses the vocabulary's size instead; so does this.
            total = math.log(all_used + count * len(scores))
            without = sum(math.log(used[part] + count) - total for part in instead)
            losses[piece] = count / all_words * (math.log(count) - math.log(all_used) - without)
    missed = sorted(losses, key=losses.__getitem__, reverse=True)
    return kept | {piece: scores[piece] for piece in missed[: max(size - len(kept), 0)]}


def learn_pieces(
    words: Mapping[str, int],
    vocab_size: int,
    n_special: int = 1,
    *,
    max_length: int = 16,
    shrink: float = 0.75,
    rounds: int = 2,
) -> list[tuple[str, float]]:
    """Learn pieces and their scores: seeds, then expectation maximisation and pruning in turn.

    Parameters
    ----------
    words : mapping of str to int
        How often each word occurs.
    vocab_size : int
        Number of tokens, the special ones included.
    n_special : int, optional
        Number of special tokens, the unknown one included, to leave room for.
    max_length : int, optional
        Number of characters in the longest piece.
    shrink : float, optional
        Share of the pieces that each pruning keeps.
    rounds : int, optional
        Rounds of expectation maximisation between prunings.

    Returns
    -------
    list of tuple of str and float
        Pieces and scores, the most likely first; all characters of the words are among them.

    Notes
    -----
    Kudo (2018), section 3.2. Chapter 2.
    """
    scores = seed_pieces(words, max_length=max_length)
    # A little more than wanted, because the last rounds drop some. The unknown token counts.
    enough = vocab_size * 11 // 10 - 1
    while True:
        for _ in range(rounds):
            scores = new_scores(scores, expected_counts(words, Pieces(scores)))
        if len(scores) <= enough:
            break
        scores = prune(words, scores, max(enough, int((len(scores) + 1) * shrink) - 1))

    # Restore characters that longer pieces made superfluous, as the rarest of all.
    characters = sorted({character for word in words for character in word})
    lost = [character for character in characters if character not in scores]
    rarest = min(scores.values())
    scores |= {character: rarest + 1e-4 * place for place, character in enumerate(lost)}
    order = [*characters, *(piece for piece in scores if len(piece) > 1)]
    order = order[: vocab_size - n_special]
    return sorted(((piece, scores[piece]) for piece in order), key=itemgetter(1), reverse=True)
