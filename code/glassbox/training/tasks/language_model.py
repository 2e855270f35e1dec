"""Language modelling: predict the next character of a text."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from glassbox.checks import check_counts, check_kind
from glassbox.data import split_text, tiny_shakespeare
from glassbox.models.character_model import KINDS, CharacterModel
from glassbox.models.language_model import LanguageModel
from glassbox.training.batches import RandomBlocks, Step
from glassbox.training.distributed import Processes
from glassbox.training.loss import Loss, cross_entropy
from glassbox.training.task import check_reads, held_out_figures

Corpus = Literal["shakespeare"]
Architecture = Literal["gpt2", "llama"]


@dataclass(frozen=True)
class LanguageModelTaskConfig:
    """The text and the sizes of a language model of characters.

    Parameters
    ----------
    corpus : {"shakespeare"}
        The text, unless ``text`` names one.
    text : str, optional
        A file in UTF-8 to learn from instead; its last tenth is held out.
    architecture : {"gpt2", "llama"}
        The kind of model.
    block_len : int
        Characters that the model sees at a time.
    batch_size, accumulate : int
        Blocks of the text in a batch, and batches in a step.
    steps_per_epoch : int
        Steps between two draws of the blocks' positions.
    model : mapping
        Sizes, as for :class:`~glassbox.models.GPT2Config` or
        :class:`~glassbox.models.LlamaConfig`.

    Raises
    ------
    ValueError
        If a kind is not known, or a size is out of its range or cannot be written to a file.
    TypeError
        If there is no such size, or it is of a wrong type.
    """

    corpus: Corpus = "shakespeare"
    text: str | None = field(default=None, metadata={"file": True})
    architecture: Architecture = "gpt2"
    block_len: int = 64
    batch_size: int = 12
    accumulate: int = 1
    steps_per_epoch: int = 250
    model: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_kind("corpus", self.corpus, get_args(Corpus))
        check_kind("architecture", self.architecture, get_args(Architecture))
        check_counts(self, "block_len", "batch_size", "accumulate", "steps_per_epoch")
        kind: Any = KINDS[self.architecture]
        kind.config_class(**self.model).to_reference()  # refuses before training, not after


class LanguageModelTask:
    """Learning to predict one character after another.

    Parameters
    ----------
    config : LanguageModelTaskConfig
        The text and the sizes of the model.
    seed : int, optional
        Determines where the blocks begin.

    Attributes
    ----------
    characters : str
        The distinct characters of the whole text, sorted: the vocabulary.

    Raises
    ------
    FileNotFoundError
        If there is no such text.
    ValueError
        If it is not UTF-8, or too short for a block.

    Notes
    -----
    As in Karpathy's nanoGPT, trained on characters.
    """

    def __init__(self, config: LanguageModelTaskConfig, seed: int = 0) -> None:
        self.config = config
        train, valid = _read(config)
        # From both parts, as in the runs that we compare with; all 65 occur in the first.
        self.characters = "".join(sorted({*train, *valid}))
        ids = {character: number for number, character in enumerate(self.characters)}
        self.text = torch.tensor([ids[character] for character in train])
        self.held_out = torch.tensor([ids[character] for character in valid])
        sizes = (config.block_len, config.batch_size, config.steps_per_epoch, config.accumulate)
        self.batches = RandomBlocks(len(self.text), *sizes, seed)

    def build(self) -> LanguageModel:
        """Return the model with random weights.

        Raises
        ------
        ValueError
            If it has another number of tokens than the text has characters, or reads fewer of them
            than ``block_len``.
        """
        kind: Any = KINDS[self.config.architecture]
        given: dict[str, Any] = {"bos_id": None, "eos_id": None, "max_len": self.config.block_len}
        sizes = {"vocab_size": len(self.characters), **given, **self.config.model}
        # refuses another vocabulary now instead of when the trained model is written
        model = CharacterModel(kind(kind.config_class(**sizes)), self.characters).model
        check_reads(model.config.max_len, "block_len", self.config.block_len)
        return model

    def epoch(self, number: int) -> list[Step]:
        """Return the steps of the epoch with a ``number``: where their blocks begin."""
        return self.batches.epoch(number)

    def count(self, step: Step) -> int:
        """Return how many characters a step learns to predict."""
        return sum(map(len, step)) * self.config.block_len

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        """Return the loss of ``model`` on the next characters of a batch of ``examples``."""
        return self._loss(model, self.text, examples)

    def validate(self, model: nn.Module, group: Processes) -> dict[str, float]:
        """Return the mean negative log-likelihood of the held-out text's characters.

        Each block begins where the previous one ends, so its first characters are predicted from
        little context; a shorter remainder at the end is left out.

        Parameters
        ----------
        model : nn.Module
            In eval mode.
        group : Processes
            The processes, each of which measures a part of the text.

        Returns
        -------
        dict of str to float
            ``nll``, in nats, and ``perplexity``.
        """
        length = self.config.block_len
        starts = torch.arange(0, len(self.held_out) - length, length).split(VALIDATED_AT_ONCE)
        steps = ([batch.tolist()] for batch in starts)
        return held_out_figures(steps, partial(self._loss, model, self.held_out), group)

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write the model and its characters into a folder."""
        assert isinstance(model, LanguageModel)
        CharacterModel(model, self.characters).save_pretrained(folder)

    def _loss(self, model: nn.Module, text: Tensor, starts: list[int]) -> Loss:
        length = self.config.block_len + 1
        stretches = torch.stack([text[start : start + length] for start in starts])
        stretches = stretches.to(next(model.parameters()).device)
        return cross_entropy(model(stretches[:, :-1]), stretches[:, 1:])


def _read(config: LanguageModelTaskConfig) -> tuple[str, str]:
    """Return the text to learn from and the held-out text."""
    if config.text is None:
        return tiny_shakespeare("train"), tiny_shakespeare("valid")
    splits = split_text(Path(config.text))
    train, valid = splits["train"], splits["valid"]
    if len(valid) <= config.block_len:
        raise ValueError(
            f"{config.text} has {len(train) + len(valid)} characters: its last tenth, "
            f"{len(valid)}, is held out and has no block of block_len={config.block_len} and the "
            "character after it. Take a longer text or shorter blocks"
        )
    return train, valid


#: Blocks of the held-out text that are computed together.
VALIDATED_AT_ONCE = 128
