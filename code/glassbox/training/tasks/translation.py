"""Learning to translate: pairs of sentences, in one direction or in both (chapter 9)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import nn

from glassbox.checks import check_counts, check_flags, check_kind, check_number
from glassbox.data import multi30k, phrases, plain_spaces, tatoeba
from glassbox.data.components import deal
from glassbox.data.padding import pad
from glassbox.data.reading import decoded, two_texts
from glassbox.training.batches import LengthBatches, Step, stream
from glassbox.training.distributed import Processes
from glassbox.training.loss import Loss, cross_entropy
from glassbox.training.task import check_reads, held_out_figures
from glassbox.transformer import Transformer, TransformerConfig
from glassbox.translation import TranslationTokenizer, Translator

Corpus = Literal["tatoeba", "multi30k", "phrases", "pairs"]
Example = tuple[list[int], list[int]]
Two = tuple[str, str]  # texts, or their languages


class Pair(NamedTuple):
    """A sentence in two languages: the source to read and the target to write."""

    source: str
    target: str
    language: str
    to: str


@dataclass(frozen=True)
class TranslationConfig:
    """The data and the sizes of a translator.

    Parameters
    ----------
    corpus : {"tatoeba", "multi30k", "phrases", "pairs"}
        The pairs of sentences; ``"phrases"`` come with the package, ``"pairs"`` are only the file
        ``pairs``, in any languages, with a twentieth held out.
    directions : tuple of (str, str)
        Source and target languages, such as ``(("fr", "en"),)``. One model can learn several: a
        token before the source tells it which language to write.
    vocab_size : int
        Tokens in the vocabulary, which all languages share; learned from the corpus's training
        pairs.
    lowercase : bool
        Whether all text is lowercased.
    plain : float
        The share of pairs that are added once more in lower case and without the full stop, so
        that the model understands carelessly typed text.
    smoothing : float
        Label smoothing.
    tokens, accumulate : int
        Maximum tokens in a batch on either side, including padding, and batches in a step.
    max_len : int
        Pairs with more tokens on a side are left out.
    model : mapping
        Sizes, as for :class:`~glassbox.transformer.TransformerConfig`.
    start : str, optional
        A translator to fine-tune, a name or a folder. Its vocabulary is kept, lower-cased or not,
        whatever ``vocab_size`` and ``lowercase`` are; ``directions`` are some of its own.
    pairs : str, optional
        A UTF-8 file with one pair per line, its sentences separated by a tab, in the order of the
        first direction's languages; lines that begin with ``#`` are skipped. With a corpus other
        than ``"pairs"``, these are further pairs, from which the vocabulary is not learned.
    repeat : int
        How many times each of the further pairs is used.

    Raises
    ------
    ValueError
        If a number is out of its range, the corpus is unknown, or its pairs are not given.
    TypeError
        If there is no such size of a model, or it is of a wrong type.

    Notes
    -----
    The token before the source is from Johnson et al. (2017). Chapter 9.
    """

    corpus: Corpus = "tatoeba"
    directions: tuple[Two, ...] = (("en", "fr"), ("fr", "en"))
    vocab_size: int = 6000
    lowercase: bool = False
    plain: float = 0.0
    smoothing: float = 0.1
    tokens: int = 2048
    accumulate: int = 1
    max_len: int = 128
    model: dict[str, Any] = field(default_factory=dict)
    start: str | None = None
    pairs: str | None = field(default=None, metadata={"file": True})
    repeat: int = 1

    def __post_init__(self) -> None:
        check_kind("corpus", self.corpus, get_args(Corpus))
        check_flags(self, "lowercase")
        if any(isinstance(pair, str) for pair in self.directions):
            raise TypeError(f"directions={self.directions!r}: expected pairs, as (('es', 'en'),)")
        directions = tuple((source, target) for source, target in self.directions)
        if not directions:
            raise ValueError("directions is empty: name at least one, such as (('fr', 'en'),)")
        object.__setattr__(self, "directions", directions)  # files know lists only
        check_number("plain", self.plain, "from 0 to 1", ": the share of the pairs")
        check_number("smoothing", self.smoothing, "at least 0 and less than 1")
        if self.corpus == "pairs" and self.pairs is None:
            raise ValueError("corpus='pairs' needs a file of them, such as pairs='pairs.tsv'")
        check_counts(self, "vocab_size", "tokens", "accumulate", "max_len", "repeat")
        if self.repeat > 1 and (self.corpus == "pairs" or self.pairs is None):
            raise ValueError(
                f"repeat={self.repeat} counts further pairs, and with corpus={self.corpus!r} and "
                f"pairs={self.pairs!r} there are none: leave it out"
            )
        sizes = TransformerConfig(**self.model)  # before the texts are read
        if self.start is None:
            check_reads(sizes.max_len, "max_len", self.max_len)


class TranslationTask:
    """Learning to translate.

    Parameters
    ----------
    config : TranslationConfig
        The data and the sizes of the model.
    seed : int, optional
        Determines the order of the examples.

    Attributes
    ----------
    tokenizer : TranslationTokenizer
        Learned from the training text alone, or that of the translator to fine-tune.
    examples, held_out : list of (list of int, list of int)
        Token ids of source and target, of the training and the validation pairs.

    Raises
    ------
    ValueError
        If the pairs cannot be read, are in other languages, or are all too long, or the translator
        to fine-tune does not translate in a direction.

    Notes
    -----
    Vaswani et al. (2017), section 5. Chapter 9.
    """

    def __init__(self, config: TranslationConfig, seed: int = 0) -> None:
        self.config = config
        pairs = _read(config, "train")
        texts, directions = _texts(pairs), config.directions
        if config.corpus != "pairs" and config.pairs is not None:
            # first, as the vocabulary takes minutes to learn
            rows = read_rows(Path(config.pairs), directions[0])
            pairs += _directed(rows, directions[0], directions) * config.repeat
        self.start = None if config.start is None else Translator.from_pretrained(config.start)
        if self.start is not None:
            self.tokenizer = self.start.tokenizer
            for source, to in directions:
                self.start.target_language("", source=source, to=to)  # refuses those it lacks
        else:
            self.tokenizer = TranslationTokenizer.train(
                texts, config.vocab_size, directions=directions, lowercase=config.lowercase
            )
        pairs += _plain(pairs, config.plain, seed)
        self.examples = self._encode(pairs, "training")
        self.held_out = self._encode(_read(config, "valid"), "held-out")
        lengths = _lengths(self.examples)
        self.batches = LengthBatches(lengths, config.tokens, config.accumulate, seed)
        self._held_out_batches = LengthBatches(_lengths(self.held_out), config.tokens, seed=seed)

    def build(self) -> Transformer:
        """Return the model, with random weights or those of the translator to fine-tune.

        Raises
        ------
        ValueError
            If its vocabulary or its special tokens are not those of the tokenizer, it reads fewer
            tokens than ``max_len``, or more than ``dropout`` differs from the translator to
            fine-tune.
        """
        tokenizer, sizes = self.tokenizer, self.config.model
        if self.start is not None:
            kept = self.start.model.config
            config = replace(kept, **sizes)
            # Most sizes have no tensor of their own, and would change what the weights compute.
            if replace(config, dropout=kept.dropout) != kept:
                start = f"start={self.config.start!r}"
                raise ValueError(f"model={sizes} differs from {start}: leave it out")
        else:
            ids = {name: getattr(tokenizer, name) for name in ("pad_id", "bos_id", "eos_id")}
            config = TransformerConfig(**{"vocab_size": len(tokenizer), **ids, **sizes})
        # refuses another vocabulary now instead of when the trained model is written
        model = Translator(Transformer(config), tokenizer).model
        check_reads(model.config.max_len, "max_len", self.config.max_len)
        if self.start is not None:
            model.load_state_dict(self.start.model.state_dict())
        return model

    def epoch(self, number: int) -> list[Step]:
        """Return the steps of the epoch with a ``number``, which hold every pair once."""
        return self.batches.epoch(number)

    def count(self, step: Step) -> int:
        """Return how many tokens a step learns to predict."""
        return sum(len(self.examples[i][1]) - 1 for batch in step for i in batch)

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        """Return the loss of ``model`` on each next token of ``examples``, given the true ones."""
        return self._loss(model, [self.examples[i] for i in examples], self.config.smoothing)

    def validate(self, model: nn.Module, group: Processes) -> dict[str, float]:
        """Return the held-out pairs' negative log-likelihood per token, and its exponential.

        Parameters
        ----------
        model : nn.Module
            In eval mode.
        group : Processes
            The processes, each of which measures a part of the pairs.

        Returns
        -------
        dict of str to float
            ``nll``, in nats, without smoothing, and ``perplexity``.
        """

        def loss(chosen: list[int]) -> Loss:
            return self._loss(model, [self.held_out[i] for i in chosen], 0.0)

        return held_out_figures(self._held_out_batches.epoch(0), loss, group)

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write a translator into a folder: model, tokenizer, languages."""
        assert isinstance(model, Transformer)
        Translator(model, self.tokenizer).save_pretrained(folder)

    def _encode(self, pairs: list[Pair], split: str) -> list[Example]:
        """Turn pairs into ids, leaving out those that are too long."""
        tokenizer, longest = self.tokenizer, self.config.max_len
        examples = [
            (tokenizer.encode_source(pair.source, pair.to), tokenizer.encode_target(pair.target))
            for pair in pairs
        ]
        kept = [pair for pair in examples if max(map(len, pair)) <= longest]
        if not kept:
            raise ValueError(
                f"all {len(pairs)} {split} pairs are longer than max_len={longest}: raise it"
            )
        return kept

    def _loss(self, model: nn.Module, pairs: list[Example], smoothing: float) -> Loss:
        device, pad_id = next(model.parameters()).device, self.tokenizer.pad_id
        sides = zip(*pairs, strict=True)
        (source, mask), (target, _) = (pad(side, pad_id, device=device) for side in sides)
        seen, labels = target[:, :-1], target[:, 1:]
        # The decoder's input is padded at the end alone: causality hides the padding from every
        # real token, and the loss leaves it out.
        logits = model(source, seen, mask)
        return cross_entropy(logits, labels, ignore_id=pad_id, smoothing=smoothing)


def read_rows(path: Path, languages: Two) -> list[Two]:
    """Read the lines of a file of sentence pairs.

    Parameters
    ----------
    path : Path
        Lines of two texts separated by a tab; empty lines and lines that begin with ``#`` are
        skipped.
    languages : tuple of (str, str)
        The languages of the two columns, for messages.

    Returns
    -------
    list of (str, str)
        The two texts of each line.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a line does not have two texts or is not UTF-8, naming it.
    """
    expected = f"two texts, in {' and '.join(languages)}, with a tab between"
    text = plain_spaces(decoded(path.expanduser().read_bytes(), path))
    # not splitlines(), which also breaks at characters within a sentence, such as U+0085
    return [
        two_texts(path, number, line, expected)
        for number, line in enumerate(re.split("\r\n?|\n", text), 1)
        if line.strip() and not line.startswith("#")
    ]


def split_rows(path: Path, languages: Two) -> dict[str, list[Two]]:
    """Read sentence pairs from a file, and hold out a twentieth that shares no sentence.

    Parameters
    ----------
    path, languages : Path, tuple of (str, str)
        As for :func:`read_rows`.

    Returns
    -------
    dict of str to list of (str, str)
        The distinct pairs of ``"train"`` and ``"valid"``.

    Raises
    ------
    ValueError
        As :func:`read_rows`, or if there are too few pairs.
    """
    rows = read_rows(path, languages)
    splits = deal(rows, {"valid": max(1, len({*rows}) // 20)}, rest="train")
    if not all(splits.values()):
        raise ValueError(
            f"{path} has {len({*rows})} different pairs, too few to learn from and to hold out a "
            "twentieth that shares no sentence with the others: give more"
        )
    return splits


def _directed(
    rows: Iterable[tuple[str, ...]], languages: Sequence[str], directions: Sequence[Two]
) -> list[Pair]:
    """Return rows with a text in each of the languages as pairs, once for each direction."""
    for direction in directions:
        if not {*direction} <= {*languages}:
            raise ValueError(
                f"directions has {direction}; the pairs are in {' and '.join(languages)}"
            )
    texts = [dict(zip(languages, row, strict=True)) for row in rows]
    return [Pair(row[a], row[b], a, b) for a, b in directions for row in texts]


def _read(config: TranslationConfig, split: Literal["train", "valid"]) -> list[Pair]:
    directions = config.directions
    if config.corpus == "multi30k":
        languages = sorted({language for pair in directions for language in pair})
        return _directed(multi30k(split, *languages), languages, directions)
    if config.corpus == "pairs":
        assert config.pairs is not None  # the configuration ensures it
        rows = split_rows(Path(config.pairs), directions[0])[split]
        return _directed(rows, directions[0], directions)
    sentences = (phrases if config.corpus == "phrases" else tatoeba)(split)
    return _directed([row[:2] for row in sentences], ("en", "fr"), directions)


def _lengths(examples: list[Example]) -> list[int]:
    """Return the length of the longer side of each example, where the target loses a token."""
    return [max(len(source), len(target) - 1) for source, target in examples]


def _texts(pairs: list[Pair]) -> dict[str, list[str]]:
    """Return the distinct texts of each language, in order of appearance."""
    texts: dict[str, dict[str, None]] = {}
    for pair in pairs:
        texts.setdefault(pair.language, {})[pair.source] = None
        texts.setdefault(pair.to, {})[pair.target] = None
    return {language: list(texts[language]) for language in sorted(texts)}


def _plain(pairs: list[Pair], share: float, seed: int) -> list[Pair]:
    """Return a random share of the pairs, as typed in a hurry."""
    draw = torch.Generator().manual_seed(stream(seed, 2**31))
    drawn = (torch.rand(len(pairs), generator=draw) < share).tolist()
    return [
        pair._replace(source=hurried(pair.source), target=hurried(pair.target))
        for pair in compress(pairs, drawn)
    ]


def hurried(text: str) -> str:
    """Return a text in lower case and without the full stop."""
    return text.lower().removesuffix(".")
