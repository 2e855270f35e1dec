"""A Transformer that translates: from text to text, with alternatives and their probabilities."""

import math
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby, islice
from typing import Any, NamedTuple, overload

import torch
from torch import Tensor

from glassbox.checks import check_at_least, check_type
from glassbox.data.padding import pad
from glassbox.files import atomic_update
from glassbox.generation import GenerationConfig, beam_search, generate
from glassbox.generation.config import configure
from glassbox.looking.record import Tape, record
from glassbox.modes import evaluating
from glassbox.tokenization.checks import check_texts
from glassbox.transformer import Transformer
from glassbox.translation.tokenizer import TRANSLATOR_FILE, TranslationTokenizer
from glassbox.weights import find_model

#: The default number of beams.
N_BEAMS = 5
#: Sources are batched by length, in steps of this many tokens.
BLOCK = 8
#: How probable a language must be to contradict the user.
SURE = 0.99


class Alternative(NamedTuple):
    """One of several translations.

    Attributes
    ----------
    text : str
        The translation.
    probability : float
        The model's own probability of its tokens, given the source, however they were chosen.
    log_probability : float
        Its natural logarithm, for probabilities too small for a float.
    tokens : tuple of str
        The tokens that the model wrote; the last one is ``</s>`` if the text ended.
    """

    text: str
    probability: float
    log_probability: float
    tokens: tuple[str, ...]


class Translator:
    """A model, its tokenizer, and the languages between which they translate.

    Parameters
    ----------
    model : Transformer
        The model, which keeps its device and its mode; while translating, it is in eval mode.
    tokenizer : TranslationTokenizer
        The tokenizer it was trained with.

    Raises
    ------
    ValueError
        If their vocabulary sizes, or their ids for start, end and padding, differ.

    Examples
    --------
    >>> translator = Translator.from_pretrained("tatoeba-en-fr")
    >>> translator.translate("J'aime les chiens.")
    'I like dogs.'

    Notes
    -----
    Vaswani et al. (2017). Chapters 1, 8 and 10.
    """

    def __init__(self, model: Transformer, tokenizer: TranslationTokenizer) -> None:
        sizes = {"vocab_size": len(tokenizer), "written_vocab_size": len(tokenizer)}
        ids = {name: getattr(tokenizer, name) for name in ("pad_id", "bos_id", "eos_id")}
        for name, expected in (sizes | ids).items():
            if (ours := getattr(model.config, name)) != expected:
                raise ValueError(
                    f"the model has {name}={ours}, the tokenizer {expected}: give the model the "
                    "tokenizer it was trained with"
                )
        self.model = model
        self.tokenizer = tokenizer

    @classmethod
    def from_pretrained(cls, source: str | os.PathLike[str]) -> "Translator":
        """Read a translator, in eval mode, on the CPU and in float32 however it is stored.

        Parameters
        ----------
        source : str or path
            The name of a translator in this package, such as ``"tatoeba-en-fr"``, or a folder.

        Returns
        -------
        Translator
            Ready to translate.

        Raises
        ------
        FileNotFoundError
            If there is no such translator, or one of its files is missing.
        ValueError
            If a file is damaged or does not match the others.
        """
        folder = find_model(source, TRANSLATOR_FILE)
        tokenizer = TranslationTokenizer.load(folder)
        return cls(Transformer.from_pretrained(folder).float(), tokenizer)

    def save_pretrained(
        self, folder: str | os.PathLike[str], dtype: torch.dtype | None = None
    ) -> None:
        """Write model and tokenizer into ``folder``; existing files stay until all is written.

        Parameters
        ----------
        folder : str or path
            Created if it is missing.
        dtype : torch.dtype, optional
            The type in which parameters are stored, such as ``torch.bfloat16`` for half the size;
            their own if left out.

        Raises
        ------
        FileExistsError
            If ``folder`` is a file.
        ValueError
            If ``dtype`` is not a floating-point type.
        """
        with atomic_update(folder) as beside:
            self.tokenizer.save(beside)
            self.model.save_pretrained(beside, dtype)

    @property
    def device(self) -> torch.device:
        """The device of the model; ``translator.model.to(device)`` moves it."""
        return next(self.model.parameters()).device

    def target_language(
        self, text: str, *, source: str | None = None, to: str | None = None
    ) -> str:
        """Return the target language for a text.

        If the arguments leave several, the language of the text is identified from its tokens.

        Parameters
        ----------
        text : str
            The text to translate.
        source, to : str, optional
            The known languages: that of the text, and the target language.

        Returns
        -------
        str
            One of the languages of this translator.

        Raises
        ------
        ValueError
            If there is no such direction, or the text leaves several possible.
        """
        directions = self._directions(source, to)
        languages, targets = map(set, zip(*directions, strict=True))
        classifier = self.tokenizer.classifier
        if len(languages) > 1 and len(targets) > 1 and classifier:
            probabilities = classifier.probabilities(self.tokenizer.encode_text(text))
            spoken = max(sorted(languages), key=probabilities.__getitem__)
            targets = {target for language, target in directions if language == spoken}
        if len(targets) > 1:
            raise ValueError(f"into which language? Give to=..., one of {sorted(targets)}")
        return targets.pop()

    def other_language(
        self, text: str, *, source: str | None = None, to: str | None = None
    ) -> str | None:
        """Return the language of a text that is almost certainly not in one that was asked for.

        Parameters
        ----------
        text, source, to : str, str or None, str or None
            As for :meth:`target_language`.

        Returns
        -------
        str or None
            The language, if no direction that fits ``source`` and ``to`` starts from it.

        Raises
        ------
        ValueError
            If there is no such direction.
        """
        sources = {one for one, _ in self._directions(source, to)}
        if (classifier := self.tokenizer.classifier) is None:
            return None
        probabilities = classifier.probabilities(self.tokenizer.encode_text(text))
        spoken = max(probabilities, key=probabilities.__getitem__)
        return spoken if probabilities[spoken] > SURE and spoken not in sources else None

    @overload
    def translate(self, text: str, to: str | None = ..., **options: Any) -> str: ...

    @overload
    def translate(self, text: Iterable[str], to: str | None = ..., **options: Any) -> list[str]: ...

    def translate(
        self,
        text: str | Iterable[str],
        to: str | None = None,
        *,
        source: str | None = None,
        batch_size: int = 64,
        generator: torch.Generator | None = None,
        **options: Any,
    ) -> str | list[str]:
        """Translate a text, or several.

        Each text is translated as a whole, so it is best to pass a longer text sentence by
        sentence. Blank texts stay blank. The translation of a text does not depend on the others,
        unless it is drawn (``sample=True``): one generator draws them all in turn.

        Parameters
        ----------
        text : str or iterable of str
            The text to translate.
        to : str, optional
            The target language; if left out, the one that has a direction from the language of each
            text, see :meth:`target_language`.
        source : str, optional
            The language of the texts.
        batch_size : int, optional
            Number of texts translated at a time.
        generator : torch.Generator, optional
            The source of randomness for sampling; PyTorch's own if left out.
        **options
            Fields of :class:`~glassbox.generation.GenerationConfig`, which say how to decode. If
            left out, with 5 beams, and a limit of 10 new tokens more than twice the source's
            length, which is first rounded up to a multiple of 8 and counts the language and the
            end; with learned positions, at most ``max_len``.

        Returns
        -------
        str or list of str
            One translation for one text, or a list of them in the order of the texts.

        Raises
        ------
        ValueError
            If a text is longer than the model's ``max_len``, a language is not one of the
            translator's, or options are out of their range or contradict one another.
        TypeError
            If anything but strings is given.
        """
        check_type("text", text, Iterable, "a string, or several")
        texts = list(check_texts([text] if isinstance(text, str) else text))
        check_at_least("batch_size", batch_size, 1)
        self._directions(source, to)  # blank texts would skip these checks
        if self._configure(1, options).n_best != 1:
            raise ValueError("n_best is not 1: translate gives one each; alternatives gives more")
        rows = {
            place: self._encode(text, source, to)
            for place, text in enumerate(texts)
            if not self.tokenizer.is_blank(text)
        }
        translations = [""] * len(texts)
        for places in _batches(rows, batch_size):
            settings = self._configure(len(rows[places[0]]), options)
            with self._reading([rows[place] for place in places]) as inputs:
                written = generate(self.model, config=settings, generator=generator, **inputs)
            for place, tokens in zip(places, written.tolist(), strict=True):
                ended = _until(tokens, settings.eos_ids)
                translations[place] = self.tokenizer.decode(ended)
        return translations[0] if isinstance(text, str) else translations

    def alternatives(
        self,
        text: str,
        to: str | None = None,
        n: int = 5,
        *,
        source: str | None = None,
        generator: torch.Generator | None = None,
        **options: Any,
    ) -> list[Alternative]:
        """Translate a text in several ways.

        Beam search finds probable ones; sampling (``sample=True``) draws them. The probability of
        each is computed from the finished sequence, without penalties, temperature or truncation.

        Parameters
        ----------
        text : str
            The text to translate.
        n : int, optional
            Number of translations to look for. There may be fewer: of those with the same text,
            only the most probable is kept.
        to, source, generator, **options
            As for :meth:`translate`; at least ``n`` beams are followed, and ``n`` replaces
            ``n_best``.

        Returns
        -------
        list of Alternative
            The most probable first.

        Raises
        ------
        ValueError, TypeError
            As :meth:`translate`; and if the text is blank, or ``n`` is less than 1.

        Notes
        -----
        Chapter 1, equation ``eq-sequence-probability``.
        """
        check_at_least("n", n, 1)
        if self.tokenizer.is_blank(text):
            raise ValueError(f"text={text!r} is blank: there is nothing to translate")
        row = self._encode(text, source, to)
        settings = self._configure(len(row), options | {"n_best": 1})
        drawn = n if settings.sample else 1
        if not settings.sample:
            settings = replace(settings, n_beams=max(n, settings.n_beams), n_best=n)
        with self._reading([row] * drawn) as inputs:
            if settings.n_beams == 1:
                rows = generate(self.model, config=settings, generator=generator, **inputs).tolist()
            else:
                beams = beam_search(self.model, config=settings, **inputs)
                rows = beams.token_ids[0][beams.scores[0].isfinite()].tolist()
        rows = [_until(ids, settings.eos_ids) for ids in rows]
        found: dict[str, Alternative] = {}  # the most probable translation with each text
        logs = self._log_probabilities(row, rows)
        for log, ids in sorted(zip(logs, rows, strict=True), key=lambda pair: -pair[0]):
            text, tokens = self.tokenizer.decode(ids), self.tokenizer.tokens(ids[1:])
            found.setdefault(text, Alternative(text, math.exp(log), log, tokens))
        return list(found.values())

    def reread(self, source_ids: list[int], target_ids: list[int]) -> tuple[Tape, Tensor]:
        """Let the model read a translation again, in eval mode, and record every attention.

        Parameters
        ----------
        source_ids, target_ids : list of int
            The tokens that the encoder reads, and those that the decoder reads.

        Returns
        -------
        Tape
            The recorded attentions.
        Tensor
            The decoder's logits, ``(target_len, vocab)``.
        """
        inputs = (torch.tensor([ids], device=self.device) for ids in (source_ids, target_ids))
        with evaluating(self.model), torch.inference_mode(), record(self.model) as tape:
            logits = self.model(*inputs)
        return tape, logits[0]

    def _directions(self, source: str | None, to: str | None) -> list[tuple[str, str]]:
        known = self.tokenizer.directions
        directions = [pair for pair in known if source in (None, pair[0]) and to in (None, pair[1])]
        if not directions:
            raise ValueError(
                f"source={source!r}, to={to!r}: this translator has no such direction, only "
                + ", ".join(f"{one} to {other}" for one, other in known)
            )
        return directions

    def _encode(self, text: str, source: str | None, to: str | None) -> list[int]:
        row = self.tokenizer.encode_source(text, self.target_language(text, source=source, to=to))
        if len(row) > (longest := self.model.config.max_len):
            raise ValueError(
                f"{text[:40]!r}... has {len(row)} tokens, the target language and the end "
                f"included; this translator reads {longest} at most: give it sentence by sentence"
            )
        return row

    def _configure(self, length: int, options: dict[str, Any]) -> GenerationConfig:
        """Return how to decode a source of this length."""
        room = 2 * BLOCK * math.ceil(length / BLOCK) + 10
        if self.model.config.positions == "learned":
            room = min(room, self.model.config.max_len)
        n_beams = 1 if options.get("sample") else N_BEAMS
        settings = configure(None, {"max_new_tokens": room, "n_beams": n_beams, **options})
        return settings.for_model(self.model.config)

    @contextmanager
    def _reading(self, rows: list[list[int]]) -> Iterator[dict[str, Any]]:
        """Yield the sources as tensors, with the model in eval mode meanwhile."""
        source_ids, mask = pad(rows, self.tokenizer.pad_id, device=self.device)
        with evaluating(self.model):
            yield {"source_ids": source_ids, "source_mask": mask}

    @torch.inference_mode()
    def _log_probabilities(self, source: list[int], targets: list[list[int]]) -> list[float]:
        """Return the log-probability of each finished translation, given the source."""
        target_ids, _ = pad(targets, self.tokenizer.pad_id, device=self.device)
        with self._reading([source]) as inputs:
            memory = self.model.encode(inputs["source_ids"]).expand(len(targets), -1, -1)
            # Padding comes after every token that counts: causality hides it.
            logits = self.model.decode(target_ids[:, :-1], memory)
        logs = logits.float().log_softmax(dim=-1).gather(-1, target_ids[:, 1:, None])[..., 0]
        pairs = zip(logs.tolist(), targets, strict=True)
        return [math.fsum(row[: len(target) - 1]) for row, target in pairs]


def _until(tokens: list[int], ends: Collection[int]) -> list[int]:
    """Cut tokens off after the first one, of those behind the beginning, that ends the target."""
    places = (place for place, token in enumerate(tokens[1:], 2) if token in ends)
    return tokens[: next(places, None)]


def _batches(rows: dict[int, list[int]], batch_size: int) -> Iterator[list[int]]:
    """Yield batches of texts with the same limit of new tokens, whatever the others are."""
    places = sorted(rows, key=lambda place: len(rows[place]))
    for _, group in groupby(places, key=lambda place: math.ceil(len(rows[place]) / BLOCK)):
        while batch := list(islice(group, batch_size)):
            yield batch
