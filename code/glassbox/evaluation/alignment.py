"""Which source word a cross-attention head attends to, and how often it is the translated one."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassbox.checks import check_kind
from glassbox.data.alignments import AlignedPair, split_words
from glassbox.translation import Translator


def word_numbers(pieces: Sequence[str]) -> Int[Tensor, " length"]:
    """Number the words that tokens belong to.

    Parameters
    ----------
    pieces : sequence of str
        The tokens; a ``Ġ`` or one of ``.,?!`` begins a word; ``<…>`` belongs to none.

    Returns
    -------
    Tensor
        ``(length,)``: the word of each token, counted from 0, and -1 for special tokens.
    """
    numbers, word = [], -1
    for before, piece in pairwise(["", *pieces]):
        special = piece.startswith("<") and piece.endswith(">")
        mark = piece in ".,?!" and before != "Ġ"  # of that space, the mark is the word
        word += not special and (piece.startswith("Ġ") or mark)
        numbers.append(-1 if special else word)
    return torch.tensor(numbers)


def word_weights(
    weights: Float[Tensor, "*stack q_len k_len"],
    query_words: Int[Tensor, " q_len"],
    key_words: Int[Tensor, " k_len"],
) -> Float[Tensor, "*stack target_words source_words"]:
    """Combine the weights of tokens into weights of words.

    Parameters
    ----------
    weights : Tensor
        ``(…, q_len, k_len)``.
    query_words, key_words : Tensor
        The word of each token, as from :func:`word_numbers`; special tokens are left out.

    Returns
    -------
    Tensor
        ``(…, target_words, source_words)``: averaged over the tokens of the target word, summed
        over the tokens of the source word.

    Notes
    -----
    Chapter 8.
    """
    rows = (query_words == torch.arange(int(query_words.max()) + 1)[:, None]).to(weights)
    columns = (key_words[:, None] == torch.arange(int(key_words.max()) + 1)).to(weights)
    return (rows / rows.sum(dim=-1, keepdim=True)) @ weights @ columns


@torch.no_grad()
def word_attention(
    translator: Translator, pair: AlignedPair, when: str, to: str = "en"
) -> Float[Tensor, "layers heads target_words source_words"]:
    """Return the cross-attention between the words of a pair, given the correct target.

    Parameters
    ----------
    translator : Translator
        The model to examine, in eval mode during the call.
    pair : AlignedPair
        The sentences.
    when : {"writing", "reading"}
        Which positions belong to a word of the target: those at which its tokens are predicted, or
        those at which they are read, one position later.
    to : str, optional
        The language of the target.

    Returns
    -------
    Tensor
        ``(layers, heads, target_words, source_words)``.

    Raises
    ------
    ValueError
        If ``when`` is neither, or the tokens of a text, as of "3,5" or "p.m.", show other words
        than :func:`~glassbox.data.alignments.split_words`, whose words the links of a pair count.

    Notes
    -----
    Chapter 8.
    """
    check_kind("when", when, ("writing", "reading"))
    tokenizer = translator.tokenizer
    source, target = tokenizer.encode_source(pair.source, to), tokenizer.encode_target(pair.target)
    tape, _ = translator.reread(source, target[:-1])
    weights = torch.stack([run.weights[0] for name, run in tape.items() if "cross" in name])
    asking = target[1:] if when == "writing" else target[:-1]
    words = [word_numbers(tokenizer.tokens(ids)) for ids in (asking, source)]
    for text, numbers in zip((pair.target, pair.source), words, strict=True):
        expected, found = len(split_words(text)), int(numbers.max()) + 1
        if found != expected:
            raise ValueError(
                f"{text!r} has {expected} words, but its tokens show {found}: leave this pair out"
            )
    return word_weights(weights, *words)


@dataclass(frozen=True)
class AlignmentScores:
    """The quality of guesses, one source word for each target word.

    Parameters
    ----------
    right, words : int
        Number of right guesses, and of all guesses.
    moved_right, moved : int
        The same for words that do not translate the source word at their own position.
    links : int
        Number of links made by hand.
    """

    right: int
    words: int
    moved_right: int
    moved: int
    links: int

    @property
    def error_rate(self) -> float:
        """The alignment error rate (Och and Ney, 2003), equation ``eq-aer``."""
        return 1 - 2 * self.right / (self.words + self.links)


def score_alignment(
    guesses: Sequence[Sequence[int]], pairs: Sequence[AlignedPair]
) -> AlignmentScores:
    """Compare guesses with the links made by hand.

    Parameters
    ----------
    guesses : sequence of sequences of int
        For each pair and each word of its target, a word of the source.
    pairs : sequence of AlignedPair
        The pairs with their links.

    Returns
    -------
    AlignmentScores
        Counts over all pairs.

    Raises
    ------
    ValueError
        If there is not one guess for each word, or no pair.

    Notes
    -----
    Chapter 8.
    """
    if not pairs:
        raise ValueError("there are no pairs: the error rate of nothing is not defined")
    lengths = [len(g) for g in guesses], [len(p.links) for p in pairs]
    if lengths[0] != lengths[1]:
        raise ValueError(f"{lengths[0]} guesses for {lengths[1]} words; expected one for each")
    rows = [
        (int(guess) in links, place not in links, len(links))
        for row, pair in zip(guesses, pairs, strict=True)
        for place, (guess, links) in enumerate(zip(row, pair.links, strict=True))
    ]
    return AlignmentScores(
        right=sum(right for right, _, _ in rows),
        words=len(rows),
        moved_right=sum(right and moved for right, moved, _ in rows),
        moved=sum(moved for _, moved, _ in rows),
        links=sum(number for _, _, number in rows),
    )
