"""Fine-tuning: a BERT learns to classify texts (SST-2) or their words (WNUT 2017)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from torch import Tensor, nn

from glassbox.checks import check_at_least, check_counts, check_flags, check_kind
from glassbox.data.entities import score_entities
from glassbox.data.padding import pad
from glassbox.data.sentences import TAGS, sst2, wnut17
from glassbox.models import BertForSequenceClassification, BertForTokenClassification
from glassbox.models.bert_heads import BertWithHead
from glassbox.tokenization import WordPiece
from glassbox.training.batches import LengthBatches, Step
from glassbox.training.distributed import Processes
from glassbox.training.loss import Loss, cross_entropy
from glassbox.training.masking import IGNORE
from glassbox.training.task import check_reads, held_out_figures
from glassbox.weights import find_weights

Corpus = Literal["sst2", "wnut17"]
#: A text's token ids, and the number of its label, or of its tokens'; see :data:`IGNORE`.
Example = tuple[list[int], list[int]]


#: The labels of each corpus, and the kind of model that predicts them.
KINDS: dict[Corpus, tuple[tuple[str, ...], type[BertWithHead]]] = {
    "sst2": (("negative", "positive"), BertForSequenceClassification),
    "wnut17": (TAGS, BertForTokenClassification),
}


@dataclass(frozen=True)
class ClassificationConfig:
    """The corpus, and the BERT to begin with.

    Parameters
    ----------
    corpus : {"sst2", "wnut17"}
        Texts to classify (:func:`glassbox.data.sst2`), or texts whose words to classify
        (:func:`glassbox.data.wnut17`).
    encoder : str
        A name or a folder, as for :func:`~glassbox.models.find_weights`: the encoder and its
        tokenizer.
    scratch : bool
        Whether to draw the encoder's weights at random: the same network, untrained.
    max_len : int
        Longer texts to classify are cut off after so many tokens; longer ones whose words are to be
        classified are read in parts; an entity that fits into one part is not divided.
    tokens : int
        Maximum number of tokens in a batch, including padding.

    Raises
    ------
    ValueError
        If the corpus is unknown, ``max_len`` is less than 3, or ``tokens`` less than 1.
    TypeError
        If ``scratch`` is neither true nor false.
    """

    corpus: Corpus = "sst2"
    encoder: str = "bert-english"
    scratch: bool = False
    max_len: int = 64
    tokens: int = 1024

    def __post_init__(self) -> None:
        check_kind("corpus", self.corpus, get_args(Corpus))
        check_flags(self, "scratch")
        check_counts(self, "tokens")
        check_at_least("max_len", self.max_len, 3, ", for [CLS], a word and [SEP]")


class ClassificationTask:
    """Learning to classify texts, or the words of texts.

    Parameters
    ----------
    config : ClassificationConfig
        The corpus, and the BERT to begin with.
    seed : int, optional
        Determines the order of the texts.

    Attributes
    ----------
    tokenizer : WordPiece
        The encoder's.
    examples, held_out : list of (list of int, list of int)
        The token ids of each text, and its label, or a label for each token: that of a word at its
        first piece, and :data:`~glassbox.training.masking.IGNORE` at all others.

    Notes
    -----
    Devlin et al. (2019), sections 4.1 and 5.3.
    """

    def __init__(self, config: ClassificationConfig, seed: int = 0) -> None:
        self.config = config
        self.labels, self.kind = KINDS[config.corpus]
        self.folder = find_weights(config.encoder)
        self.tokenizer = WordPiece.load(self.folder)
        self.examples, self.held_out = self.read("train"), self.read("valid")
        self.batches = self._batches(self.examples, seed)
        self._held_out_batches = self._batches(self.held_out)

    def build(self) -> BertWithHead:
        """Return the encoder with a new head; from scratch, with new weights throughout.

        Raises
        ------
        ValueError
            If it reads fewer tokens than ``max_len``.
        """
        model = self.kind.from_encoder(self.folder, self.labels).float()
        check_reads(model.config.max_len, "max_len", self.config.max_len)
        return type(model)(model.config) if self.config.scratch else model

    def epoch(self, number: int) -> list[Step]:
        """Return the steps of the epoch with a ``number``, which hold every text once."""
        return self.batches.epoch(number)

    def count(self, step: Step) -> int:
        """Return how many labels a step learns."""
        labels = (label for batch in step for i in batch for label in self.examples[i][1])
        return sum(label != IGNORE for label in labels)

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        """Return the loss of ``model`` on the labels of a batch of ``examples``."""
        return self._loss(model, [self.examples[i] for i in examples])

    def validate(self, model: nn.Module, group: Processes) -> dict[str, float]:
        """Return figures of ``model`` on the validation split.

        Parameters
        ----------
        model : nn.Module
            In eval mode.
        group : Processes
            The processes, each of which measures a part of the texts for the loss.

        Returns
        -------
        dict of str to float
            ``nll``, in nats per label, ``perplexity``, and what :meth:`score` returns.
        """

        def loss(chosen: list[int]) -> Loss:
            return self._loss(model, [self.held_out[i] for i in chosen])

        figures = held_out_figures(self._held_out_batches.epoch(0), loss, group)
        return figures | self.score(model, self.held_out)

    def score(self, model: nn.Module, examples: Sequence[Example]) -> dict[str, float]:
        """Return how many labels of some examples are right.

        Parameters
        ----------
        model : nn.Module
            In eval mode.
        examples : sequence of (list of int, list of int)
            From :meth:`read`.

        Returns
        -------
        dict of str to float
            The ``accuracy`` of texts, or ``precision``, ``recall`` and ``f1`` of entities.
        """
        given, true = [], []
        for (batch,) in self._batches(examples).epoch(0):
            logits, labels = self._run(model, [examples[i] for i in batch])
            for row, expected in zip(logits.argmax(-1).cpu(), labels.cpu(), strict=True):
                counted = expected != IGNORE
                given.append([self.labels[i] for i in row[counted].tolist()])
                true.append([self.labels[i] for i in expected[counted].tolist()])
        if self.config.corpus == "wnut17":
            return score_entities(given, true)._asdict()
        right = sum(a == b for a, b in zip(given, true, strict=True))
        return {"accuracy": right / len(true)}

    def read(self, split: str) -> list[Example]:
        """Return the examples of a split of the corpus: ``"train"``, ``"valid"`` or ``"test"``."""
        longest = self.config.max_len - 1
        if self.config.corpus == "sst2":
            encode, end = self.tokenizer.encode, [self.tokenizer.token_id("[SEP]")]
            return [(encode(text)[:-1][:longest] + end, [label]) for text, label in sst2(split)]
        return [part for words, tags in wnut17(split) for part in self._tagged(words, tags)]

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write the classifier ``model`` and its tokenizer into a ``folder``."""
        assert isinstance(model, BertWithHead)
        model.save_pretrained(folder)
        self.tokenizer.save(folder)

    def _tagged(self, words: Sequence[str], tags: Sequence[str]) -> Iterator[Example]:
        """Cut words into pieces, each word with its label at the first, and long texts into parts.

        A part does not end within an entity, unless the entity fills it.
        """
        first, end, unknown = map(self.tokenizer.token_id, ("[CLS]", "[SEP]", "[UNK]"))
        room = self.config.max_len - 2
        ids: list[int] = []
        labels: list[int] = []
        begin = 0  # of the last word's entity, or of the word
        for word, tag in zip(words, tags, strict=True):
            pieces = (self.tokenizer.encode(word, add_special_tokens=False) or [unknown])[:room]
            begin = begin if tag.startswith("I-") else len(ids)
            while len(ids) + len(pieces) > room:
                cut = begin or len(ids)
                yield [first, *ids[:cut], end], [IGNORE, *labels[:cut], IGNORE]
                ids, labels, begin = ids[cut:], labels[cut:], 0
            ids += pieces
            labels += [TAGS.index(tag), *[IGNORE] * (len(pieces) - 1)]
        yield [first, *ids, end], [IGNORE, *labels, IGNORE]

    def _batches(self, examples: Sequence[Example], seed: int = 0) -> LengthBatches:
        return LengthBatches([len(ids) for ids, _ in examples], self.config.tokens, seed=seed)

    def _run(self, model: nn.Module, examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
        """Return logits and labels, ``(batch, labels, n_labels)`` and ``(batch, labels)``."""
        device = next(model.parameters()).device
        ids, mask = pad([ids for ids, _ in examples], self.tokenizer.pad_id or 0, device=device)
        labels, _ = pad([labels for _, labels in examples], IGNORE, device=device)
        logits = model(ids, mask)
        return logits.unflatten(0, (len(ids), -1)) if logits.dim() == 2 else logits, labels

    def _loss(self, model: nn.Module, examples: Sequence[Example]) -> Loss:
        return cross_entropy(*self._run(model, examples), ignore_id=IGNORE)
