"""Which examples a step learns from: batches of like lengths, drawn anew in every epoch."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

#: What one step of the optimiser learns from: batches that are computed one after another, each a
#: list of the examples' numbers.
Step = list[list[int]]


@dataclass(frozen=True)
class LengthBatches:
    """Batches by tokens: texts of like lengths stand together, so that little is filled up.

    Which examples meet in a step, and in what order, is a function of the seed and the epoch
    alone. So training that stops goes on where it was, and the order is the same however many
    processes share the work.

    Parameters
    ----------
    lengths : sequence of int
        How long each example is, in tokens; the longer of its sides where it has two.
    tokens : int
        The most tokens in a batch on either side, padding counted.
    accumulate : int, optional
        Batches in a step, whose gradients are added up.
    seed : int, optional
        What the order follows from.

    Raises
    ------
    ValueError
        If there is no example, one is empty or longer than a batch may be, or a number is not
        positive.

    Notes
    -----
    Vaswani et al. (2017), section 5.1, batch sentence pairs by approximate length. Chapter 9.
    """

    lengths: Sequence[int]
    tokens: int
    accumulate: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("tokens", "accumulate"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1")
        if not self.lengths:
            raise ValueError("there is no example to learn from: lengths is empty")
        if min(self.lengths) < 1:
            raise ValueError(f"example {self.lengths.index(min(self.lengths))} has no token")
        if (longest := max(self.lengths)) > self.tokens:
            raise ValueError(
                f"example {self.lengths.index(longest)} has {longest} tokens, a batch at most "
                f"tokens={self.tokens}: leave the example out, or allow more tokens"
            )

    def epoch(self, number: int) -> list[Step]:
        """Return the steps of an epoch; together they hold every example once.

        Parameters
        ----------
        number : int
            Which epoch, from 0.

        Returns
        -------
        list of list of list of int
            For each step its batches, for each batch its examples.
        """
        draw = torch.Generator().manual_seed(stream(self.seed, number))
        order = torch.randperm(len(self.lengths), generator=draw)
        # Among equal lengths the order stays random: a batch is a different one in every epoch.
        by_length = torch.tensor(self.lengths)[order].argsort(stable=True)
        batches: Step = []
        for example in order[by_length].tolist():
            if not batches or self.lengths[example] * (len(batches[-1]) + 1) > self.tokens:
                batches.append([])
            batches[-1].append(example)
        mixed = [batches[i] for i in torch.randperm(len(batches), generator=draw).tolist()]
        return [mixed[i : i + self.accumulate] for i in range(0, len(mixed), self.accumulate)]


@dataclass(frozen=True)
class RandomBlocks:
    """Batches of stretches of one long text that begin anywhere, drawn with replacement.

    Parameters
    ----------
    text_len : int
        Tokens in the text.
    block_len : int
        Tokens in a stretch; the token behind each is needed as the last label.
    batch_size : int
        Stretches in a batch.
    steps : int
        Steps in what is called an epoch.
    accumulate : int, optional
        Batches in a step, whose gradients are added up.
    seed : int, optional
        What is drawn follows from it.

    Raises
    ------
    ValueError
        If the text is too short for a stretch and its last label, or a number is not positive.

    Notes
    -----
    As Karpathy's nanoGPT does. Chapter 9.
    """

    text_len: int
    block_len: int
    batch_size: int
    steps: int
    accumulate: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("block_len", "batch_size", "steps", "accumulate"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1")
        if self.text_len <= self.block_len:
            raise ValueError(
                f"a text of {self.text_len} tokens is too short for block_len={self.block_len} "
                "and the label behind it: take shorter blocks or more text"
            )

    def epoch(self, number: int) -> list[Step]:
        """Return the steps of an epoch: for each batch, where its stretches begin.

        Parameters
        ----------
        number : int
            Which epoch, from 0.

        Returns
        -------
        list of list of list of int
            For each step its batches, for each batch the stretches' first positions.
        """
        draw = torch.Generator().manual_seed(stream(self.seed, number))
        shape = (self.steps, self.accumulate, self.batch_size)
        starts = self.text_len - self.block_len
        return torch.randint(starts, shape, generator=draw).tolist()


def stream(*numbers: int) -> int:
    """Mix numbers into the seed of a random stream of its own, such as of an epoch or a step.

    Streams of neighbouring seeds or steps have nothing in common, as they would in
    ``seed + step``, where step 1 of seed 1 is step 0 of seed 2.

    Parameters
    ----------
    *numbers : int
        Not negative, less than 2 to the 32nd each.

    Returns
    -------
    int
        Less than 2 to the 63rd.

    Raises
    ------
    ValueError
        If a number is negative or too large.
    """
    mixed = 0
    for number in numbers:
        if not 0 <= number < 2**32:
            raise ValueError(f"{number} is no seed: expected 0 to {2**32 - 1}")
        mixed = _scramble(mixed ^ number)
    return mixed >> 1


def _scramble(z: int) -> int:
    """Turn 64 bits into others, one to one (Steele, Lea and Flood 2014, SplitMix64)."""
    z = (z + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31
