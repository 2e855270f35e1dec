"""WordPiece, the tokenizer of BERT (chapter 2)."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from glassbox.checks import check_flags, check_type
from glassbox.tokenization.checks import check_training
from glassbox.tokenization.merges import learn_merges
from glassbox.tokenization.pre_tokenize import normalize_bert, split_bert
from glassbox.tokenization.tokenizer import Tokenizer, numbered

#: BERT's special tokens, in the order of its vocabulary.
PAD, UNKNOWN, CLASSIFY, SEPARATE, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
SPECIAL_TOKENS = (PAD, UNKNOWN, CLASSIFY, SEPARATE, MASK)
PREFIX = "##"
#: Longer words become the unknown token.
MAX_WORD_LENGTH = 100
#: The spaces that :meth:`WordPiece.decode` leaves out: before continuations and punctuation.
_NO_SPACE = re.compile(rf" (?:{PREFIX}|(?=[.?!,]|n't|'m|'s|'ve|'re))")


def longest_match_first(
    word: str, vocabulary: Container[str], *, prefix: str = PREFIX
) -> list[str] | None:
    """Split a word from left to right, taking the longest token that fits each time.

    Parameters
    ----------
    word : str
        A word of at least one character.
    vocabulary : container of str
        The tokens.
    prefix : str, optional
        The mark of a token that continues a word.

    Returns
    -------
    list of str, or None
        The tokens; ``None`` if no token fits at some point, even if a shorter earlier choice would
        have left one that does.

    Notes
    -----
    Wu et al. (2016), section 4.1; Schuster and Nakajima (2012). Chapter 2.

    Examples
    --------
    >>> longest_match_first("unaffable", {"un", "aff", "##aff", "##able"})
    ['un', '##aff', '##able']
    """
    tokens: list[str] = []
    start = 0
    while start < len(word):
        mark = prefix if start else ""
        for end in range(len(word), start, -1):
            if mark + word[start:end] in vocabulary:
                break
        else:
            return None
        tokens.append(mark + word[start:end])
        start = end
    return tokens


class WordPiece(Tokenizer):
    """WordPiece: words are split into the longest pieces that the vocabulary knows.

    Text is first cleaned, lower-cased and cut at white space and punctuation, so decoding returns
    readable text but not the original.

    Parameters
    ----------
    vocabulary : mapping of str to int
        The id of each token; those that continue a word begin with ``##``.
    lowercase : bool, optional
        ``False`` for the models called *cased*.
    strip_accents : bool, optional
        Whether ``é`` is read as ``e``; defaults to ``lowercase``.
    special_tokens : sequence of str, optional
        Tokens that are matched verbatim in raw text. ``[PAD]``, ``[UNK]``, ``[CLS]`` and ``[SEP]``
        have their roles by name.

    Raises
    ------
    ValueError
        If ``[PAD]``, ``[UNK]``, ``[CLS]``, ``[SEP]`` or a special token is not in the vocabulary,
        or as in :class:`Tokenizer`.
    TypeError
        If ``lowercase`` or ``strip_accents`` is not a bool.

    Notes
    -----
    Schuster and Nakajima (2012); Wu et al. (2016), section 4.1; Devlin et al. (2019), section 3.
    Equal to BERT's tokenizer in ``transformers``, except for rare marks that its tables lack and
    Python's have, and which may be decomposed or ordered differently. Chapter 2.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        special_tokens: Sequence[str] = SPECIAL_TOKENS,
    ) -> None:
        roles = {"unknown_token": UNKNOWN, "pad_token": PAD, "start": CLASSIFY, "end": SEPARATE}
        super().__init__(vocabulary, special_tokens, **roles)
        self.lowercase, self.strip_accents = lowercase, strip_accents
        check_flags(self, "lowercase")
        check_type("strip_accents", strip_accents, bool | None, "True, False or None")

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        *,
        special_tokens: Sequence[str] = SPECIAL_TOKENS,
        min_frequency: int = 1,
        **options: Any,
    ) -> "WordPiece":
        """Learn a vocabulary: special tokens, characters, continuing characters, then merges.

        Parameters
        ----------
        texts : iterable of str
            The training texts.
        vocab_size : int
            Number of tokens; fewer if the texts run out of pairs to merge.
        special_tokens : sequence of str, optional
            The first tokens of the vocabulary.
        min_frequency : int, optional
            Pairs that occur less often are not merged.
        **options
            Passed to the class.

        Returns
        -------
        WordPiece
            A tokenizer with that vocabulary.

        Raises
        ------
        ValueError
            If ``vocab_size`` is too small for the characters, ``min_frequency`` is negative, the
            texts hold no word, or one of the four tokens with a role is not among the special ones.
        TypeError
            If a text is not a string, ``texts`` is a single string, or ``vocab_size`` is not an
            integer.

        Notes
        -----
        Schuster and Nakajima (2012) merge the pair that raises the likelihood most; their program
        was never published. The reference library merges the most frequent pair, as byte-pair
        encoding does, and so does this. Equally frequent pairs go by their ids; because the
        reference numbers the continuing characters in no fixed order, each of its runs learns a
        different vocabulary, of which this is one.
        """
        options |= {"special_tokens": special_tokens}
        words = cls(numbered(dict.fromkeys(special_tokens)), **options)._count_words(texts)
        cut = {(word[0], *(PREFIX + c for c in word[1:])): n for word, n in words.items()}
        characters = sorted({character for word in words for character in word})
        continuing = sorted({symbol for symbols in cut for symbol in symbols[1:]})
        first = list(dict.fromkeys([*special_tokens, *characters, *continuing]))
        check_training(words, vocab_size, len(first), "special tokens and characters")
        tokens, _ = learn_merges(cut, first, vocab_size, min_frequency=min_frequency, prefix=PREFIX)
        return cls(numbered(tokens), **options)

    def _words(self, text: str) -> list[str]:
        text = normalize_bert(text, lowercase=self.lowercase, strip_accents=self.strip_accents)
        return split_bert(text)

    def _split(self, word: str) -> list[str]:
        if len(word) > MAX_WORD_LENGTH:
            return [UNKNOWN]
        return longest_match_first(word, self.vocabulary) or [UNKNOWN]

    def _join(self, tokens: list[str]) -> str:
        return _NO_SPACE.sub("", " ".join(tokens))
