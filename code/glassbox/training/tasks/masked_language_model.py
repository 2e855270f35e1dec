"""Masked language modelling: predict hidden word pieces from both sides."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from glassbox.checks import check_at_least, check_counts, check_kind
from glassbox.data.english import english
from glassbox.data.padding import pad
from glassbox.models.bert import BertConfig
from glassbox.models.bert_heads import BertForMaskedLM
from glassbox.models.fill_mask import FillMask
from glassbox.tokenization import WordPiece
from glassbox.training.batches import LengthBatches, Step, stream
from glassbox.training.distributed import Processes
from glassbox.training.loss import Loss, cross_entropy
from glassbox.training.masking import IGNORE, check_masking, mask_tokens, n_chosen
from glassbox.training.task import check_reads, held_out_figures

Corpus = Literal["english"]


@dataclass(frozen=True)
class MaskedLanguageModelConfig:
    """The texts, what is hidden of them, and the sizes of a BERT.

    Parameters
    ----------
    corpus : {"english"}
        The texts: :func:`glassbox.data.english`.
    vocab_size : int
        Word pieces, learned from the training texts.
    max_len : int
        Longer texts are cut off after so many tokens.
    tokens : int
        Maximum number of tokens in a batch, including padding.
    accumulate : int
        Batches in a step.
    rate, masked, random : float
        As for :func:`~glassbox.training.mask_tokens`.
    model : mapping
        Sizes, as for :class:`~glassbox.models.BertConfig`.

    Raises
    ------
    ValueError
        If a number is out of its range or cannot be written to a file, or the corpus is unknown.
    TypeError
        If there is no such size of a model, or it is of a wrong type.
    """

    corpus: Corpus = "english"
    vocab_size: int = 6000
    max_len: int = 64
    tokens: int = 2048
    accumulate: int = 1
    rate: float = 0.15
    masked: float = 0.8
    random: float = 0.1
    model: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_kind("corpus", self.corpus, get_args(Corpus))
        check_masking(self.rate, self.masked, self.random)
        check_counts(self, "vocab_size", "tokens", "accumulate")
        check_at_least("max_len", self.max_len, 3, ", for [CLS], a word and [SEP]")
        sizes = BertConfig(**{"max_len": self.max_len, **self.model})
        sizes.to_reference()  # refuses before training, not after
        check_reads(sizes.max_len, "max_len", self.max_len)


class MaskedLanguageModelTask:
    """Learning to fill in hidden word pieces.

    An example is a text and the number of the epoch, because each epoch hides other tokens.

    Parameters
    ----------
    config : MaskedLanguageModelConfig
        The texts and the sizes of the model.
    seed : int, optional
        Determines the order of the texts and what is hidden.

    Attributes
    ----------
    tokenizer : WordPiece
        Learned from the training texts alone.
    texts, held_out : list of Tensor
        The token ids of each text, ``(length,)``, with [CLS] and [SEP].

    Notes
    -----
    Devlin et al. (2019), section 3.1, task 1, without the prediction of the next sentence. New
    tokens are hidden in each epoch, as in Liu et al. (2019), section 4.1.
    """

    def __init__(self, config: MaskedLanguageModelConfig, seed: int = 0) -> None:
        self.config, self.seed = config, seed
        texts = english("train")
        self.tokenizer = WordPiece.train(texts, config.vocab_size)
        special_ids = self.tokenizer.special_ids
        self._hide = partial(
            mask_tokens,
            mask_id=self.tokenizer.token_id("[MASK]"),
            vocab_size=len(self.tokenizer),
            special_ids=special_ids,
            rate=config.rate,
            masked=config.masked,
            random=config.random,
        )
        self.texts = encode_texts(self.tokenizer, texts, config.max_len)
        self.held_out = encode_texts(self.tokenizer, english("valid"), config.max_len)
        words = [sum(token not in special_ids for token in text.tolist()) for text in self.texts]
        self._predicted = [n_chosen(number, config.rate) for number in words]
        lengths = [len(text) for text in self.texts]
        self.batches = LengthBatches(lengths, config.tokens, config.accumulate, seed)
        self._held_out_batches = LengthBatches([*map(len, self.held_out)], config.tokens)

    def build(self) -> BertForMaskedLM:
        """Return the model with random weights.

        Raises
        ------
        ValueError
            If it has another number of tokens or another padding than the tokenizer.
        """
        tokenizer, config = self.tokenizer, self.config
        sizes = {
            "vocab_size": len(tokenizer),
            "max_len": config.max_len,
            "pad_id": tokenizer.pad_id,
        }
        model = BertForMaskedLM(BertConfig(**{**sizes, **config.model}))
        # refuses another vocabulary now instead of when the trained model is loaded
        return FillMask(model, tokenizer).model

    def epoch(self, number: int) -> list[Step]:
        """Return the steps of the epoch with a ``number``, which hold every text once."""
        first = number * len(self.texts)
        return [
            [[first + text for text in batch] for batch in step]
            for step in self.batches.epoch(number)
        ]

    def count(self, step: Step) -> int:
        """Return how many tokens a step learns to predict."""
        return sum(self._predicted[i % len(self.texts)] for batch in step for i in batch)

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        """Return the loss of ``model`` on the hidden tokens of a batch of ``examples``."""
        texts = [self.texts[i % len(self.texts)] for i in examples]
        return self._loss(model, texts, [stream(self.seed, 2, i) for i in examples])

    def validate(self, model: nn.Module, group: Processes) -> dict[str, float]:
        """Return the mean negative log-likelihood of hidden tokens of the held-out texts.

        What is hidden is the same at every call and for every seed.

        Parameters
        ----------
        model : nn.Module
            In eval mode.
        group : Processes
            The processes, each of which measures a part of the texts.

        Returns
        -------
        dict of str to float
            ``nll``, in nats, and ``perplexity``.
        """

        def loss(batch: list[int]) -> Loss:
            texts = [self.held_out[i] for i in batch]
            return self._loss(model, texts, [stream(0, 3, i) for i in batch])

        return held_out_figures(self._held_out_batches.epoch(0), loss, group)

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write the model and its tokenizer into a folder."""
        assert isinstance(model, BertForMaskedLM)
        FillMask(model, self.tokenizer).save_pretrained(folder)

    def _loss(self, model: nn.Module, texts: list[Tensor], seeds: list[int]) -> Loss:
        draw, device = torch.Generator(), next(model.parameters()).device
        hidden = [
            self._hide(text, generator=draw.manual_seed(seed))
            for text, seed in zip(texts, seeds, strict=True)
        ]
        # The mask comes from the lengths: a random token may be [PAD].
        inputs, mask = pad([inputs.tolist() for inputs, _ in hidden], self.tokenizer.pad_id or 0)
        labels, _ = pad([labels.tolist() for _, labels in hidden], IGNORE)
        predicted = labels != IGNORE
        logits = model(inputs.to(device), mask.to(device), at=predicted.to(device))
        return cross_entropy(logits, labels[predicted].to(device))


def encode_texts(tokenizer: WordPiece, texts: Iterable[str], max_len: int) -> list[Tensor]:
    """Turn texts into the ids that a BERT reads.

    Parameters
    ----------
    tokenizer : WordPiece
        The tokenizer.
    texts : iterable of str
        The texts; those without a word that the tokenizer knows are left out.
    max_len : int
        Maximum number of tokens: longer texts are cut off, and end with [SEP] all the same.

    Returns
    -------
    list of Tensor
        The ids of each text, ``(length,)``.
    """
    end = [tokenizer.token_id("[SEP]")]
    rows = (tokenizer.encode(text)[:-1][: max_len - 1] + end for text in texts)
    return [torch.tensor(row) for row in rows if not {*row} <= tokenizer.special_ids]
