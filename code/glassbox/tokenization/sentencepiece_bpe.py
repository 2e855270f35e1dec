"""Byte-pair encoding of characters, the tokenizer of LLaMA and Mistral (chapter 2)."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from glassbox.checks import check_kind
from glassbox.tokenization.characters import compile_pattern
from glassbox.tokenization.checks import check_bytes, check_merges, check_texts, check_training
from glassbox.tokenization.merges import bpe_word, learn_merges
from glassbox.tokenization.pre_tokenize import METASPACE, METASPACE_PATTERN
from glassbox.tokenization.tokenizer import Tokenizer, numbered

#: LLaMA's special tokens, in the order of its vocabulary.
UNKNOWN, START, END = "<unk>", "<s>", "</s>"
SPECIAL_TOKENS = (UNKNOWN, START, END)

#: When a space is put before a text.
PREPEND = ("always", "missing", "first", "never")

#: The token of each byte, for characters that are not in the vocabulary.
BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))
_TO_BYTE = {token: byte for byte, token in enumerate(BYTE_TOKENS)}

_WORD = re.compile(f"{METASPACE}*[^{METASPACE}]+|{METASPACE}+")


class SentencePieceBPE(Tokenizer):
    """Byte-pair encoding of characters, with bytes for unknown characters.

    A space is a character like any other, written ``▁``. A character that is not in the vocabulary
    becomes the tokens of its bytes, ``<0xE2> <0x98> <0x83>`` for a snowman, so no text is unknown.
    :meth:`encode` puts ``start`` and ``end`` around each text, including the second of a pair.

    Parameters
    ----------
    vocabulary : mapping of str to int
        The id of each token: ``▁``, the 256 of :data:`BYTE_TOKENS`, characters, and the results of
        the merges.
    merges : sequence of tuple of str
        The pairs, best first.
    special_tokens : sequence of str, optional
        Tokens of the vocabulary that are matched verbatim in raw text.
    unknown_token : str, optional
        A token of the vocabulary that stands for no character, because bytes do; published files
        name one.
    pad_token : str, optional
        The padding token; LLaMA has none.
    start, end : str, optional
        Tokens that :meth:`encode` puts around a text.
    prepend : str, optional
        When to put a space before a text, or before the part after a special token, so that its
        first word looks like the same word later on: ``"always"``, as in LLaMA 1 and 2;
        ``"missing"``, unless there is a space; ``"first"``, like ``"missing"`` but only at the
        beginning of the text; or ``"never"``.

    Raises
    ------
    ValueError
        If ``▁``, a byte or a token of a merge is not in the vocabulary, a merge is listed twice,
        ``prepend`` is none of these, or as in :class:`Tokenizer`.

    Notes
    -----
    Kudo and Richardson (2018), section 3; Touvron, Lavril et al. (2023), section 2.1. Equal to
    the reference library's ``BPE`` model with ``byte_fallback``. Chapter 2.
    """

    _starts_both = True

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        merges: Sequence[tuple[str, str]],
        *,
        special_tokens: Sequence[str] = SPECIAL_TOKENS,
        unknown_token: str | None = UNKNOWN,
        pad_token: str | None = None,
        start: str | None = START,
        end: str | None = None,
        prepend: str = "always",
    ) -> None:
        roles = {"unknown_token": unknown_token, "pad_token": pad_token, "start": start, "end": end}
        super().__init__(vocabulary, special_tokens, **roles)
        check_kind("prepend", prepend, PREPEND)
        check_bytes(vocabulary, _TO_BYTE, "A byte-level BPE, as GPT-2 has it: its class is BPE")
        if METASPACE not in vocabulary:
            raise ValueError(
                f"the vocabulary of {len(vocabulary)} tokens lacks {METASPACE!r} (U+2581), the "
                "character of a space: is it the vocabulary of a SentencePiece BPE?"
            )
        self.ranks = check_merges(merges, vocabulary)
        self.merges = list(self.ranks)
        self.prepend = prepend
        # If no token spans two words, text can be cut into words, whose tokens are cached.
        self._spans_words = any(METASPACE in "".join(pair).lstrip(METASPACE) for pair in self.ranks)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        *,
        special_tokens: Sequence[str] = SPECIAL_TOKENS,
        min_frequency: int = 1,
        **options: Any,
    ) -> "SentencePieceBPE":
        """Learn a vocabulary from texts: special tokens, 256 bytes, characters, then merges.

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
        SentencePieceBPE
            A tokenizer with that vocabulary.

        Raises
        ------
        ValueError
            If ``vocab_size`` is too small for all characters, ``min_frequency`` is negative, or the
            texts hold no character.
        TypeError
            If a text is not a string, ``texts`` is a single string, or ``vocab_size`` is not an
            integer.

        Notes
        -----
        Sennrich, Haddow and Birch (2016), algorithm 1, as in
        :meth:`glassbox.tokenization.BPE.train`.
        """
        first = list(dict.fromkeys([*special_tokens, *BYTE_TOKENS, METASPACE]))
        untrained = cls(numbered(first), [], special_tokens=special_tokens, **options)
        marked = (untrained._mark_spaces(text, at_start=True) for text in check_texts(texts))
        pattern = compile_pattern(METASPACE_PATTERN)
        words = Counter(word for text in marked for word in pattern.findall(text))
        tokens = first + sorted({c for word in words for c in word}.difference(first))
        check_training(words, vocab_size, len(tokens), "special tokens, bytes and characters")
        cut = {tuple(word): count for word, count in words.items()}
        tokens, merges = learn_merges(
            cut, tokens, vocab_size, min_frequency=min_frequency, avoid=first
        )
        return cls(numbered(tokens), merges, special_tokens=special_tokens, **options)

    def _mark_spaces(self, text: str, *, at_start: bool) -> str:
        text = text.replace(" ", METASPACE)
        bare = text and not text.startswith(METASPACE)
        wanted = {"always": text, "missing": bare, "first": bare and at_start, "never": False}
        return METASPACE + text if wanted[self.prepend] else text

    def _sections(self, text: str) -> list[str]:
        return [
            section if place % 2 else self._mark_spaces(section, at_start=place == 0)
            for place, section in enumerate(super()._sections(text))
        ]

    def _words(self, text: str) -> list[str]:
        return [text] if self._spans_words else _WORD.findall(text)

    def _split(self, word: str) -> list[str]:
        symbols: list[str] = []
        for c in word:
            symbols += [c] if c in self.vocabulary else [BYTE_TOKENS[byte] for byte in c.encode()]
        return bpe_word(symbols, self.ranks)

    def _join(self, tokens: list[str]) -> str:
        text = ""
        for is_bytes, run in groupby(tokens, key=_TO_BYTE.__contains__):
            same = list(run)
            text += _decode_bytes(same) if is_bytes else "".join(same).replace(METASPACE, " ")
        return text if self.prepend == "never" else text.removeprefix(" ")

    @classmethod
    def from_model(
        cls, file: str | os.PathLike[str], *, pad_token: str | None = None
    ) -> "SentencePieceBPE":
        """Read a model file of the library ``sentencepiece``, such as LLaMA's ``tokenizer.model``.

        Its control tokens become special tokens, and ``<s>`` is put before a text.

        Parameters
        ----------
        file : str or path
            The file.
        pad_token : str, optional
            As for the class.

        Returns
        -------
        SentencePieceBPE
            A tokenizer with its pieces, and with merges in the order of their scores.

        Raises
        ------
        FileNotFoundError
            If the file is missing.
        ValueError
            If it is truncated or holds another kind of model.
        """
        from glassbox.tokenization.formats.sentencepiece import read_model

        return cls(**read_model(Path(file).expanduser()), pad_token=pad_token)


def _decode_bytes(tokens: Iterable[str]) -> str:
    raw = bytes(_TO_BYTE[token] for token in tokens)
    try:
        return raw.decode()
    except UnicodeDecodeError:  # the reference replaces the whole run, valid bytes too
        return "\ufffd" * len(raw)
