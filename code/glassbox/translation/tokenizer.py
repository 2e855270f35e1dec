"""Texts of several languages as token ids: one vocabulary, and a token for the target language."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations

from torch import Tensor

from glassbox.checks import check_flags, check_kind
from glassbox.data import plain_spaces
from glassbox.files import atomic_update, read_json, write_json
from glassbox.tokenization import BPE
from glassbox.tokenization.checks import check_ids, check_text, check_texts
from glassbox.tokenization.formats.files import CONFIG_JSON, find_folder
from glassbox.translation.language import LanguageClassifier

PAD, BOS, EOS = "<pad>", "<s>", "</s>"
TRANSLATOR_FILE, COUNTS_FILE = "translator.json", "token_counts.json"
#: The entries of ``translator.json``.
ENTRIES = ("languages", "directions", "lowercase")
#: A text is unfamiliar if its tokens are shorter than this share of the training text's; with fewer
#: tokens than ``ENOUGH`` the lengths are not judged, because they vary too much.
SHORT, ENOUGH = 0.6, 10


def special_tokens(directions: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the special tokens of a translator, in the order of their ids.

    Parameters
    ----------
    directions : iterable of tuple of str
        Pairs of source and target language.

    Returns
    -------
    tuple of str
        ``<pad>``, ``<s>``, ``</s>``, and one such as ``<fr>`` for each target language.
    """
    targets = {target for _, target in directions}
    return (PAD, BOS, EOS, *(f"<{language}>" for language in sorted(targets)))


@dataclass(frozen=True, eq=False)
class TranslationTokenizer:
    """Turns sentences into the sources and targets that a translator learns from.

    A source is the token of the target language, the tokens of the text, and the end token: ``<fr>
    ĠI Ġam . </s>``. A target is ``<s> ĠJe Ġsuis . </s>``. One vocabulary serves all languages.

    Parameters
    ----------
    bpe : BPE
        The tokenizer, whose first tokens are the :func:`special_tokens` of the directions.
    languages : sequence of str
        Two letters each, such as ``"en"``.
    directions : sequence of tuple of str
        Pairs of source and target language.
    lowercase : bool, optional
        Whether texts are lower-cased.
    classifier : LanguageClassifier, optional
        Identifies the language of texts for which it is not given.

    Raises
    ------
    ValueError
        If a language is not two letters, a direction is not a tuple of two of them or listed twice,
        there is none, or the vocabulary begins with other tokens or is not the classifier's.
    TypeError
        If ``lowercase`` is not a bool.

    Notes
    -----
    The token of the target language is from Johnson et al. (2017), section 3. Text is first
    normalized by :func:`glassbox.data.plain_spaces`, and any white space in it becomes one space.
    Special tokens written in it are treated as ordinary characters.
    """

    bpe: BPE
    languages: tuple[str, ...]
    directions: tuple[tuple[str, str], ...]
    lowercase: bool = False
    classifier: LanguageClassifier | None = None
    pad_id, bos_id, eos_id = range(3)  # the first special tokens, in every vocabulary

    def __post_init__(self) -> None:
        check_flags(self, "lowercase")
        _check_directions(self.languages, self.directions)
        special = special_tokens(self.directions)
        if (first := tuple(self.bpe.tokens[: len(special)])) != special:
            raise ValueError(
                f"the vocabulary begins with {first}; expected {special}: is it another model's?"
            )
        if self.bpe.pad_token != PAD:
            raise ValueError(f"the pad_token is {self.bpe.pad_token!r}; expected {PAD!r}")
        if self.classifier is not None:
            counted = {name: len(counts) for name, counts in self.classifier.counts.items()}
            if counted != (expected := dict.fromkeys(self.languages, len(self.bpe))):
                raise ValueError(f"the classifier counts the tokens {counted}; expected {expected}")

    @classmethod
    def train(
        cls,
        texts: Mapping[str, Iterable[str]],
        vocab_size: int,
        *,
        directions: Iterable[tuple[str, str]] | None = None,
        lowercase: bool = False,
    ) -> "TranslationTokenizer":
        """Learn a vocabulary, and a classifier of the languages.

        Parameters
        ----------
        texts : mapping of str to iterable of str
            The training texts of each language, and nothing else.
        vocab_size : int
            Number of tokens, at least 256 plus the special tokens.
        directions : iterable of tuple of str, optional
            Pairs of source and target language; every pair of languages if left out.
        lowercase : bool, optional
            Whether texts are lower-cased.

        Returns
        -------
        TranslationTokenizer
            A tokenizer with that vocabulary.

        Raises
        ------
        ValueError, TypeError
            As the class, and :meth:`glassbox.tokenization.BPE.train`.
        """
        texts = {language: list(check_texts(part)) for language, part in texts.items()}
        pairs = tuple(permutations(texts, 2) if directions is None else directions)
        _check_directions(tuple(texts), pairs)
        plain = [_plain_text(text, lowercase) for part in texts.values() for text in part]
        special = special_tokens(pairs)
        bpe = BPE.train(
            plain, vocab_size, special_tokens=special, pad_token=PAD, add_prefix_space=True
        )
        blank = cls(bpe, tuple(texts), pairs, lowercase)
        ids = {name: map(blank.encode_text, part) for name, part in texts.items()}
        return replace(blank, classifier=LanguageClassifier.fit(ids, len(bpe)))

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.bpe)

    @cached_property
    def _plain(self) -> BPE:
        """The same without special tokens: in a text, "</s>" is four characters and ends nothing.

        No merge builds the token from them, because in GPT-2's words letters and
        punctuation meet only after an apostrophe.
        """
        return BPE(self.bpe.vocabulary, self.bpe.merges, special_tokens=(), add_prefix_space=True)

    def encode_text(self, text: str) -> list[int]:
        """Return the ids of the tokens of ``text``, without special tokens.

        Raises
        ------
        TypeError
            If it is not a string.
        ValueError
            If it holds half a surrogate pair, which is not a character.
        """
        return self._plain.encode(_plain_text(text, self.lowercase))

    def is_blank(self, text: str) -> bool:
        """Return whether ``text`` has no tokens: only white space or invisible characters.

        Raises
        ------
        TypeError, ValueError
            As :meth:`encode_text`.
        """
        return not self.encode_text(text)

    def is_familiar(self, text: str) -> bool:
        """Return whether the tokens of ``text`` are those of the training text, and about as long.

        A word of the training text is one token or two. Another script and emoji need bytes that
        the training text does not have; another language, codes and rare names are split into many
        short tokens. The model's translations of them are mostly invented.

        The lengths of fewer than 10 tokens are not judged. Languages that share most of
        their syllables with the translator's, and nonsense in known words, are not detected.

        Parameters
        ----------
        text : str
            A text in any language.

        Returns
        -------
        bool
            ``False`` if a token never occurs in the training text, or if there are 10 or more and
            they have less than 0.6 times the usual number of bytes; always ``True`` without a
            classifier, which holds the token counts.

        Raises
        ------
        TypeError, ValueError
            As :meth:`encode_text`.
        """
        ids = self.encode_text(text)
        if self.classifier is None:
            return True
        lengths = [len(token) for token in self.tokens(ids)]
        usual = len(lengths) < ENOUGH or sum(lengths) >= SHORT * self._token_len * len(lengths)
        return usual and all(self._counts[i] for i in ids)

    @cached_property
    def _counts(self) -> list[int]:
        """How often each token occurs in the training text, in all languages together."""
        assert self.classifier is not None
        return [sum(counts) for counts in zip(*self.classifier.counts.values(), strict=True)]

    @cached_property
    def _token_len(self) -> float:
        """The mean number of bytes per token in the training text; each is one character."""
        counted = zip(self._counts, self.bpe.tokens, strict=True)
        return sum(n * len(token) for n, token in counted) / max(1, sum(self._counts))

    def encode_source(self, text: str, to: str) -> list[int]:
        """Return the encoder's input: the token of the language, the text, and the end.

        Parameters
        ----------
        text : str
            In one language.
        to : str
            The target language.

        Returns
        -------
        list of int
            Two more ids than the text has tokens.

        Raises
        ------
        ValueError
            If nothing is translated into this language, or as :meth:`encode_text`.
        TypeError
            As :meth:`encode_text`.
        """
        check_kind("to", to, tuple({target for _, target in self.directions}))
        return [self.bpe.token_id(f"<{to}>"), *self.encode_text(text), self.eos_id]

    def encode_target(self, text: str) -> list[int]:
        """Return the decoder's target: the beginning, the text, and the end.

        Parameters
        ----------
        text : str
            In one language.

        Returns
        -------
        list of int
            Two more ids than the text has tokens.

        Raises
        ------
        TypeError, ValueError
            As :meth:`encode_text`.
        """
        return [self.bos_id, *self.encode_text(text), self.eos_id]

    def decode(self, token_ids: Iterable[int] | Tensor) -> str:
        """Return the text of tokens, without special tokens and surrounding spaces.

        Parameters
        ----------
        token_ids : iterable of int, or Tensor
            Ids of this vocabulary; a tensor must have one axis.

        Returns
        -------
        str
            The text.

        Raises
        ------
        ValueError, TypeError
            If an id is not in the vocabulary, or not a whole number.
        """
        return self.bpe.decode(token_ids, skip_special_tokens=True).strip()

    def tokens(self, token_ids: Iterable[int] | Tensor) -> tuple[str, ...]:
        """Return the tokens with these ``token_ids`` as they are in the vocabulary.

        Raises
        ------
        ValueError, TypeError
            As :meth:`decode`.
        """
        return tuple(self.bpe.tokens[number] for number in check_ids(token_ids, len(self)))

    def piece(self, token_id: int) -> str:
        """Return the text of one token for display: spaces and special tokens stay.

        Part of a character, which ``token_id`` may be in a rare word, is shown as ``�``.

        Raises
        ------
        ValueError, TypeError
            As :meth:`decode`.
        """
        return self.bpe.decode([token_id])

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write vocabulary, merges and the settings of the languages into ``folder``.

        The files are ``vocab.json``, ``merges.txt``, ``tokenizer_config.json``, ``translator.json``
        and ``token_counts.json``; existing files are replaced only once all are written.

        Raises
        ------
        FileExistsError
            If ``folder`` is a file.
        """
        with atomic_update(folder) as beside:
            self.bpe.save(beside)
            write_json(beside / TRANSLATOR_FILE, {name: getattr(self, name) for name in ENTRIES})
            # Without a classifier an empty one, or an old file would stay.
            write_json(beside / COUNTS_FILE, self.classifier.counts if self.classifier else {})

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "TranslationTokenizer":
        """Read what :meth:`save` wrote into ``folder``.

        Raises
        ------
        FileNotFoundError
            If the folder or a file is missing.
        ValueError
            If a file is truncated or does not match the others.
        """
        for name in (CONFIG_JSON, COUNTS_FILE, TRANSLATOR_FILE):
            path = find_folder(folder, name)
        entries, counts = read_json(path / TRANSLATOR_FILE), read_json(path / COUNTS_FILE)
        try:
            if missing := sorted({*ENTRIES} - entries.keys()):
                raise ValueError(f"{TRANSLATOR_FILE} has no {missing}")
            languages = tuple(entries["languages"])
            directions = tuple((one, other) for one, other in entries["directions"])
            classifier = LanguageClassifier(counts) if counts else None
            return cls(BPE.load(path), languages, directions, entries["lowercase"], classifier)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} holds no translator's tokenizer: {error}") from error


def _plain_text(text: str, lowercase: bool) -> str:
    check_text(text)
    plain = " ".join(plain_spaces(text).split())
    return plain.lower() if lowercase else plain


def _check_directions(languages: tuple[str, ...], directions: tuple[tuple[str, str], ...]) -> None:
    for language in languages:
        if not isinstance(language, str) or not re.fullmatch("[a-z]{2}", language):
            raise ValueError(f"language {language!r}: expected two small letters, such as 'en'")
    if not directions:
        raise ValueError(f"no direction between {list(languages)}: expected one at least")
    for pair in directions:
        if not isinstance(pair, tuple) or len({*pair}) != 2 or not {*pair} <= {*languages}:
            expected = f"two different ones of {list(languages)}, in a tuple"
            raise ValueError(f"direction {pair}: expected {expected}")
    if len({*directions}) < len(directions) or len({*languages}) < len(languages):
        raise ValueError(f"a language of {languages}, or a direction of {directions}, stands twice")
