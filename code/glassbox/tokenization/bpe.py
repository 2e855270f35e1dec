"""Byte-level byte-pair encoding, the tokenizer of GPT-2 (chapter 2)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from glassbox.checks import check_flags
from glassbox.tokenization.checks import check_bytes, check_merges, check_training
from glassbox.tokenization.merges import bpe_word, learn_merges
from glassbox.tokenization.pre_tokenize import byte_alphabet, split_gpt2
from glassbox.tokenization.tokenizer import Tokenizer, numbered

END_OF_TEXT = "<|endoftext|>"
_TO_CHARACTER = byte_alphabet()
_TO_BYTE = {character: byte for byte, character in _TO_CHARACTER.items()}


class BPE(Tokenizer):
    """Byte-level byte-pair encoding, the tokenizer of GPT-2.

    Decoding restores an encoded text exactly, unless ``add_prefix_space`` put a space before it.
    Text is cut into words by GPT-2's pattern, words into bytes, and bytes are merged in the order
    in which the merges were learned. Because every byte is a token, no text is unknown.

    Parameters
    ----------
    vocabulary : mapping of str to int
        The id of each token, in the characters of
        :func:`~glassbox.tokenization.pre_tokenize.byte_alphabet`.
    merges : sequence of tuple of str
        The pairs in the order in which they were learned.
    special_tokens : sequence of str, optional
        Tokens of the vocabulary that are matched verbatim in raw text.
    pad_token : str, optional
        The padding token; GPT-2 has none.
    add_prefix_space : bool, optional
        Whether to put a space before the first word, and after each special token, as before the
        same word later in a text.

    Raises
    ------
    ValueError
        If a byte or a token of a merge is not in the vocabulary, a merge is listed twice, a special
        token also stands for other text, as ``§`` for the byte 167, or as in :class:`Tokenizer`.
    TypeError
        If ``add_prefix_space`` is not a bool.

    Notes
    -----
    Radford et al. (2019), section 2.2; Sennrich, Haddow and Birch (2016). Equal to GPT-2's
    tokenizer in ``transformers``. Chapter 2.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        merges: Sequence[tuple[str, str]],
        *,
        special_tokens: Sequence[str] = (END_OF_TEXT,),
        pad_token: str | None = None,
        add_prefix_space: bool = False,
    ) -> None:
        super().__init__(vocabulary, special_tokens, pad_token=pad_token)
        check_bytes(vocabulary, _TO_BYTE, "Is this the vocabulary of a byte-level BPE?")
        self.ranks = check_merges(merges, vocabulary)
        self.merges = list(self.ranks)
        built = {*_TO_BYTE, *map("".join, self.merges)}
        if shared := [t for t in self.special_tokens if t in built and _show(t) != t]:
            raise ValueError(
                f"the special token {shared[0]!r} is also how bytes of other text are written, "
                f"which would be decoded as it: choose another, such as {f'<|{shared[0]}|>'!r}"
            )
        self.add_prefix_space = add_prefix_space
        check_flags(self, "add_prefix_space")

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        *,
        special_tokens: Sequence[str] = (END_OF_TEXT,),
        min_frequency: int = 1,
        **options: Any,
    ) -> "BPE":
        """Learn a vocabulary from texts: the special tokens, the 256 bytes, then the merges.

        Parameters
        ----------
        texts : iterable of str
            The training texts.
        vocab_size : int
            Number of tokens, at least 256 plus the special tokens; fewer if the texts run out of
            pairs to merge.
        special_tokens : sequence of str, optional
            The first tokens of the vocabulary.
        min_frequency : int, optional
            Pairs that occur less often are not merged.
        **options
            Passed to the class.

        Returns
        -------
        BPE
            A tokenizer with that vocabulary.

        Raises
        ------
        ValueError
            If ``vocab_size`` is too small, ``min_frequency`` is negative, or there is no word.
        TypeError
            If a text is not a string, ``texts`` is a single string, or ``vocab_size`` is not an
            integer.

        Notes
        -----
        Sennrich, Haddow and Birch (2016), algorithm 1. Tokens, ids and merges equal those of the
        reference library's ``BpeTrainer``.
        """
        tokens = list(dict.fromkeys([*special_tokens, *sorted(_TO_BYTE)]))
        untrained = cls(numbered(tokens), [], special_tokens=special_tokens, **options)
        words = untrained._count_words(texts)
        check_training(words, vocab_size, len(tokens), "special tokens and the 256 bytes")
        shown = {tuple(_show(word)): count for word, count in words.items()}
        tokens, merges = learn_merges(shown, tokens, vocab_size, min_frequency=min_frequency)
        return cls(numbered(tokens), merges, special_tokens=special_tokens, **options)

    def _words(self, text: str) -> list[str]:
        if self.add_prefix_space and text and not text.startswith(" "):
            text = " " + text
        return split_gpt2(text)

    def _split(self, word: str) -> list[str]:
        return bpe_word(_show(word), self.ranks)

    def _join(self, tokens: list[str]) -> str:
        special = {*self.special_tokens}  # as written, even if its letters are in the alphabet
        text = bytearray()
        for token in tokens:
            shown = token not in special and _TO_BYTE.keys() >= {*token}
            text += bytes(map(_TO_BYTE.__getitem__, token)) if shown else token.encode()
        return text.decode(errors="replace")


def _show(word: str) -> str:
    return "".join(map(_TO_CHARACTER.__getitem__, word.encode()))
