"""The base class of the tokenizers: vocabulary, special tokens, texts, batches (chapter 2)."""

import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from glassbox.checks import check_kind
from glassbox.data.padding import pad
from glassbox.tokenization.checks import (
    check_ids,
    check_iterable,
    check_roles,
    check_text,
    check_texts,
    check_vocabulary,
)

Kind = TypeVar("Kind", bound="Tokenizer")

#: The number of words whose tokens are cached, and the maximum length of such a word.
REMEMBERED_WORDS, REMEMBERED_LENGTH = 2**16, 256


class Batch(NamedTuple):
    """Token ids of several texts, padded to one length: the input of a model.

    Attributes
    ----------
    token_ids : Tensor
        Integers, ``(batch, length)``.
    mask : Tensor
        Boolean, ``(batch, 1, 1, length)``: ``True`` at real tokens, ``False`` at padding.
    token_types : Tensor
        Integers, ``(batch, length)``: 1 in the second text of a pair, 0 elsewhere.
    """

    token_ids: Int[Tensor, "batch length"]
    mask: Bool[Tensor, "batch 1 1 length"]
    token_types: Int[Tensor, "batch length"]


class Tokenizer(ABC):
    """From text to token ids and back; subclasses define how a word is split.

    Parameters
    ----------
    vocabulary : mapping of str to int
        The id of each token: 0 to the number of tokens − 1, each once.
    special_tokens : sequence of str
        Tokens of the vocabulary that are matched verbatim in raw text, the longest first, and never
        split.
    unknown_token : str, optional
        The token for a word or character that the vocabulary cannot express.
    pad_token : str, optional
        The padding token.
    start, end : str, optional
        Tokens that :meth:`encode` puts around a text, such as BERT's ``[CLS]`` and ``[SEP]``.

    Raises
    ------
    ValueError
        If the vocabulary is empty, its ids are not 0 to n − 1, or a named token is not in it.

    Notes
    -----
    Chapter 2.
    """

    _starts_both = False  # whether `start` precedes the second text of a pair as well

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        special_tokens: Sequence[str] = (),
        *,
        unknown_token: str | None = None,
        pad_token: str | None = None,
        start: str | None = None,
        end: str | None = None,
    ) -> None:
        check_vocabulary(vocabulary)
        roles = {"unknown_token": unknown_token, "pad_token": pad_token, "start": start, "end": end}
        check_roles(vocabulary, special_tokens, **roles)
        self.vocabulary = dict(vocabulary)
        self.special_tokens = tuple(dict.fromkeys(special_tokens))
        self.tokens = sorted(self.vocabulary, key=self.vocabulary.__getitem__)
        self.unknown_token, self.pad_token = unknown_token, pad_token
        self.start, self.end = start, end
        longest_first = sorted(self.special_tokens, key=len, reverse=True)
        self._special = re.compile(f"({'|'.join(map(re.escape, longest_first)) or '(?!)'})")
        self._remembered: dict[str, list[str]] = {}

    @abstractmethod
    def _words(self, text: str) -> list[str]:
        """Cut text without special tokens into words."""

    @abstractmethod
    def _split(self, word: str) -> list[str]:
        """Split one word into tokens."""

    @abstractmethod
    def _join(self, tokens: list[str]) -> str:
        """Turn tokens into text."""

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the tokenizer in the layout of the reference library.

        A :class:`BPE` is written to ``vocab.json`` and ``merges.txt``, a :class:`WordPiece` to
        ``vocab.txt``, any other to ``tokenizer.json``; ``tokenizer_config.json`` holds the options.

        Parameters
        ----------
        folder : str or path
            Created if it is missing. Files already there stay until all new ones are written.

        Raises
        ------
        FileExistsError
            If ``folder`` is a file.
        ValueError
            If a token contains white space that the file's format cannot hold, or if no merge of a
            :class:`BPE` builds one of its longer tokens, which then could not be loaded.
        """
        from glassbox.tokenization.formats import layouts  # which imports every kind of tokenizer

        layouts.save(self, folder)

    @classmethod
    def load(cls: type[Kind], folder: str | os.PathLike[str]) -> Kind:
        """Read a tokenizer written by :meth:`save` or by the reference library.

        A tokenizer is read from ``tokenizer.json``. If that is missing, a :class:`BPE` is read from
        ``vocab.json`` and ``merges.txt``, a :class:`WordPiece` from ``vocab.txt``, and a
        :class:`SentencePieceBPE` from ``tokenizer.model``. Options such as ``do_lower_case`` in
        ``tokenizer_config.json`` take precedence. The special tokens that it names, or that
        ``special_tokens_map.json`` or ``added_tokens.json`` names, must be in ``tokenizer.json`` if
        there is one. The folder may be a published model's:
        ``WordPiece.load(glassbox.models.find_weights("minilm"))``.

        Parameters
        ----------
        folder : str or path
            The folder that holds the files.

        Returns
        -------
        Tokenizer
            An instance of this class.

        Raises
        ------
        FileNotFoundError
            If the folder or a file is missing.
        ValueError
            If a file is truncated, belongs to another kind of tokenizer, or asks for what this
            package does not implement. Lines missing at the end of a ``vocab.txt`` go unnoticed.
        """
        from glassbox.tokenization.formats import layouts

        return layouts.load(cls, folder)

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} tokens)"

    @property
    def pad_id(self) -> int | None:
        """The id of the padding token, if there is one."""
        return None if self.pad_token is None else self.vocabulary[self.pad_token]

    @property
    def special_ids(self) -> set[int]:
        """The ids of the special tokens."""
        return {self.vocabulary[token] for token in self.special_tokens}

    def token_id(self, token: str) -> int:
        """Return the id of a token.

        Raises
        ------
        KeyError
            If the vocabulary does not hold it.
        """
        if token not in self.vocabulary:
            raise KeyError(f"no token {token!r} in a vocabulary of {len(self)}")
        return self.vocabulary[token]

    def tokenize(self, text: str) -> list[str]:
        """Split text into tokens, without adding special tokens.

        Raises
        ------
        TypeError
            If ``text`` is not a string.
        ValueError
            If it holds half a surrogate pair, which is not a character.
        """
        check_text(text)
        tokens: list[str] = []
        for place, section in enumerate(self._sections(text)):
            if place % 2:  # a special token
                tokens.append(section)
                continue
            for word in self._words(section):
                tokens += self._remembered.get(word) or self._remember(word)
        return tokens

    def encode(
        self, text: str, pair: str | None = None, *, add_special_tokens: bool = True
    ) -> list[int]:
        """Turn a text, or a pair of texts, into token ids.

        Parameters
        ----------
        text : str
            Any text. Special tokens written in it are encoded as themselves.
        pair : str, optional
            A second text, which follows the first.
        add_special_tokens : bool, optional
            Whether to add :attr:`start` and :attr:`end`: ``start text end pair end``. A
            ``SentencePieceBPE`` puts them around each of the two texts.

        Returns
        -------
        list of int

        Raises
        ------
        TypeError
            If a text is not a string.
        ValueError
            If a text holds half a surrogate pair, which is not a character.
        KeyError
            If the vocabulary cannot express a text, and there is no :attr:`unknown_token`.
        """
        return [number for number, _ in self._encode(text, pair, add_special_tokens)]

    def decode(self, ids: Iterable[int] | Tensor, *, skip_special_tokens: bool = False) -> str:
        """Turn token ids into text.

        Parameters
        ----------
        ids : iterable of int, or Tensor
            Ids of this vocabulary; a tensor must have one axis.
        skip_special_tokens : bool, optional
            Whether to leave out the special tokens.

        Returns
        -------
        str
            The text.

        Raises
        ------
        ValueError
            If an id is not in the vocabulary, or a tensor has more than one axis.
        TypeError
            If ``ids`` are not whole numbers.
        """
        tokens = [self.tokens[number] for number in check_ids(ids, len(self))]
        skipped = {*self.special_tokens} if skip_special_tokens else ()
        return self._join([token for token in tokens if token not in skipped])

    def encode_batch(
        self,
        texts: Iterable[str | tuple[str, str]],
        *,
        add_special_tokens: bool = True,
        padding_side: str = "right",
        device: torch.device | str | None = None,
    ) -> Batch:
        """Turn texts into tensors, padded with :attr:`pad_token` to the longest of them.

        Parameters
        ----------
        texts : iterable of str or of pairs of str
            At least one text.
        add_special_tokens : bool, optional
            As for :meth:`encode`.
        padding_side : str, optional
            ``"right"``, or ``"left"`` for models that continue a text at its end.
        device : torch.device or str, optional
            Where to create the tensors.

        Returns
        -------
        Batch
            Token ids, mask and token types.

        Raises
        ------
        ValueError
            If there is no text, or none of them has a token; if lengths differ and there is no
            ``pad_token``; or if ``padding_side`` is neither.
        TypeError
            If ``texts`` is a single string, or contains anything but strings and pairs of strings.
        """
        check_kind("padding_side", padding_side, ("right", "left"))
        check_iterable(texts)
        rows = [self._encode(*_as_pair(text), add_special_tokens) for text in texts]
        lengths = [len(row) for row in rows]
        if not any(lengths):
            raise ValueError(f"{len(rows)} texts without a single token: there is no such batch")
        pad_id = self.pad_id
        if pad_id is None and len({*lengths}) > 1:
            raise ValueError(
                f"texts of {min(lengths)} to {max(lengths)} tokens need a pad_token to make a "
                "batch, and this tokenizer has none: give it one, such as "
                "pad_token='<|endoftext|>'"
            )
        ids = [[number for number, _ in row] for row in rows]
        types = [[kind for _, kind in row] for row in rows]
        token_ids, mask = pad(ids, pad_id or 0, side=padding_side, device=device)
        token_types, _ = pad(types, 0, side=padding_side, device=device)
        return Batch(token_ids, mask, token_types)

    def _encode(self, text: str, pair: str | None, framed: bool) -> list[tuple[int, int]]:
        """Return the ids of a text, or of a pair, each with its token type."""
        start = [self.start] if framed and self.start is not None else []
        end = [self.end] if framed and self.end is not None else []
        tokens = [(token, 0) for token in (*start, *self.tokenize(text), *end)]
        if pair is not None:
            again = start if self._starts_both else []
            tokens += [(token, 1) for token in (*again, *self.tokenize(pair), *end)]
        ids, unknown = self.vocabulary, self.unknown_token
        return [(ids[t] if t in ids else self.token_id(unknown or t), kind) for t, kind in tokens]

    def _count_words(self, texts: Iterable[str]) -> Counter[str]:
        """Count the words of the training texts, in which special tokens are ordinary text."""
        return Counter(word for text in check_texts(texts) for word in self._words(text))

    def _sections(self, text: str) -> list[str]:
        """Cut text at its special tokens, which have the odd places."""
        return self._special.split(text)

    def _remember(self, word: str) -> list[str]:
        tokens = self._split(word)
        if len(word) <= REMEMBERED_LENGTH:
            if len(self._remembered) >= REMEMBERED_WORDS:
                self._remembered.clear()
            self._remembered[word] = tokens
        return tokens


def _as_pair(text: Any) -> tuple[str, str | None]:
    """Return a pair as it is, and anything else as a single text, which is then checked."""
    two = isinstance(text, tuple | list) and len(text) == 2 and None not in text
    return tuple(text) if two else (text, None)


def numbered(tokens: Iterable[str]) -> dict[str, int]:
    """Return a vocabulary in which the id of each of the ``tokens`` is its index."""
    return {token: number for number, token in enumerate(tokens)}
