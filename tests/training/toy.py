"""A task that is learned in a second: what follows what, with all that a loop has to keep."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from glassbox.training import Processes, Schedule, TrainingConfig, cross_entropy, train
from glassbox.training.batches import LengthBatches, Step
from glassbox.training.loss import Loss

VOCAB, PAD = 40, 0
MODEL = "model.safetensors"
TRAINING = TrainingConfig(
    schedule=Schedule("inverse_sqrt", peak=1e-2, warmup=4),
    steps=9,
    weight_decay=0.1,
    clip=1.0,
    seed=3,
    validate_every=3,
    checkpoint_every=2,
    average=2,
)


@dataclass(frozen=True)
class ToyConfig:
    """Sizes of the toy."""

    width: int = 8
    dropout: float = 0.2
    smoothing: float = 0.1
    tokens: int = 24
    accumulate: int = 2


class Follows(nn.Module):
    """What comes next, from what stands here: matrices, gains, biases, dropout, and a count."""

    def __init__(self, config: ToyConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.norm = nn.LayerNorm(config.width)
        self.out = nn.Linear(config.width, VOCAB)
        self.seen: Tensor
        self.register_buffer("seen", torch.tensor(0))  # batches: what only a buffer remembers

    def forward(self, ids: Tensor) -> Tensor:
        if self.training:
            self.seen += 1
        x: Tensor = self.out(self.norm(self.dropout(self.embedding(ids))))
        return x


class Toy:
    """Sequences of different lengths, in which each number is followed by its double, mostly."""

    def __init__(self, config: ToyConfig = ToyConfig(), seed: int = 3) -> None:
        self.config = config
        draw = random.Random(0)
        self.examples = [
            [1 + (start * 2**i + (draw.random() < 0.2)) % (VOCAB - 1) for i in range(length)]
            for start, length in ((draw.randrange(VOCAB), draw.randint(2, 12)) for _ in range(30))
        ]
        self.batches = LengthBatches(
            [len(example) - 1 for example in self.examples], config.tokens, config.accumulate, seed
        )
        self.validated: list[tuple[bool, bool]] = []

    def build(self) -> nn.Module:
        return Follows(self.config)

    def epoch(self, number: int) -> list[Step]:
        return self.batches.epoch(number)

    def count(self, step: Step) -> int:
        return sum(len(self.examples[i]) - 1 for batch in step for i in batch)

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        rows = [self.examples[i] for i in examples]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
        smoothing = self.config.smoothing if model.training else 0.0
        return cross_entropy(model(ids[:, :-1]), ids[:, 1:], ignore_id=PAD, smoothing=smoothing)

    def validate(self, model: nn.Module, group: Processes) -> dict[str, float]:
        """Measure, and use up random numbers, as nobody should."""
        torch.rand(7)
        self.validated.append((model.training, torch.is_grad_enabled()))
        loss = self.loss(model, [0, 1, 2])
        return {"nll": (loss.nll / loss.count).item()}

    def save(self, model: nn.Module, folder: Path) -> None:
        assert not model.training
        save_file(model.state_dict(), folder / MODEL)


class Interrupted(Toy):
    """The toy, in which something happens in the middle of a step.

    Parameters
    ----------
    step : int
        In which step, counted from the beginning of the run: in its last batch.
    event : callable
        What happens; it is given the loss, and returns the one to learn from.
    seed : int, optional
        As for the toy.
    """

    def __init__(self, step: int, event: Callable[[Loss], Loss], seed: int = 3) -> None:
        super().__init__(seed=seed)
        steps = [step for epoch in range(step) for step in self.epoch(epoch)]
        self.batch, self.event = sum(map(len, steps[:step])), event

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        loss = super().loss(model, examples)
        if model.training and model.seen == self.batch:
            return self.event(loss)
        return loss


def spoil(loss: Loss) -> Loss:
    """Let a loss be no number."""
    return Loss(loss.total * math.nan, loss.nll, loss.count)


def weights(folder: Path) -> dict[str, Tensor]:
    """Return the trained model's weights."""
    return load_file(folder / "model" / MODEL)


def learn(folder: Path, task: Toy | None = None, **changes: Any) -> bool:
    """Train in a folder, with some entries of the configuration changed."""
    return train(task or Toy(), replace(TRAINING, **changes), folder)
