"""The examples of each step: batches of similar lengths, drawn anew in every epoch."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index

import torch

from glassbox.checks import check_counts

#: The examples of one step of the optimiser: batches that are computed one after another, each a
#: list of the examples' indices.
Step = list[list[int]]


@dataclass(frozen=True)
class LengthBatches:
    """Batches of a limited number of tokens, of texts of similar lengths to reduce padding.

    The batches and their order depend only on the seed and the epoch. Training therefore resumes
    exactly where it stopped, and the order is the same for any number of processes.

    Parameters
    ----------
    lengths : sequence of int
        The length of each example in tokens; of its longer side if it has two.
    tokens : int
        Maximum number of tokens in a batch on either side, including padding.
    accumulate : int, optional
        Batches in a step, whose gradients are summed.
    seed : int, optional
        Determines the order.

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
        check_counts(self, "tokens", "accumulate")
        object.__setattr__(self, "lengths", [*map(index, self.lengths)])  # of arrays, too
        if not self.lengths:
            raise ValueError("there is no example to learn from: lengths is empty")
        if min(self.lengths) < 1:
            raise ValueError(f"example {self.lengths.index(min(self.lengths))} has no token")
        if (longest := max(self.lengths)) > self.tokens:
            raise ValueError(
                f"example {self.lengths.index(longest)} has {longest} tokens, a batch at most "
                f"tokens={self.tokens}: allow more tokens, or leave out or cut such examples "
                "(with max_len, where there is one)"
            )

    def epoch(self, number: int) -> list[Step]:
        """Return the steps of an epoch; together they hold every example once.

        Parameters
        ----------
        number : int
            Index of the epoch, from 0.

        Returns
        -------
        list of list of list of int
            The examples in each batch of each step.
        """
        draw = torch.Generator().manual_seed(stream(self.seed, number))
        order = torch.randperm(len(self.lengths), generator=draw)
        # Examples of equal lengths stay in random order, so each epoch has different batches.
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
    """Batches of blocks of one long text, which begin anywhere and are drawn with replacement.

    Parameters
    ----------
    text_len : int
        Tokens in the text.
    block_len : int
        Tokens in a block; the token after each block is needed as the last label.
    batch_size : int
        Blocks in a batch.
    steps : int
        Steps in an epoch.
    accumulate : int, optional
        Batches in a step, whose gradients are summed.
    seed : int, optional
        Determines what is drawn.

    Raises
    ------
    ValueError
        If the text is too short for a block and its last label, or a number is not positive.

    Notes
    -----
    As in Karpathy's nanoGPT. Chapter 9.
    """

    text_len: int
    block_len: int
    batch_size: int
    steps: int
    accumulate: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_counts(self, "block_len", "batch_size", "steps", "accumulate")
        if self.text_len <= self.block_len:
            raise ValueError(
                f"a text of {self.text_len} tokens is too short for block_len={self.block_len} "
                "and the label after it: take shorter blocks or more text"
            )

    def epoch(self, number: int) -> list[Step]:
        """Return the steps of an epoch: for each batch, where its blocks begin.

        Parameters
        ----------
        number : int
            Index of the epoch, from 0.

        Returns
        -------
        list of list of list of int
            The first positions of the blocks in each batch of each step.
        """
        draw = torch.Generator().manual_seed(stream(self.seed, number))
        shape = (self.steps, self.accumulate, self.batch_size)
        starts = self.text_len - self.block_len
        return torch.randint(starts, shape, generator=draw).tolist()


def stream(*numbers: int) -> int:
    """Hash numbers, such as a seed and a step, into the seed of an independent random stream.

    Streams of neighbouring seeds and steps are unrelated. With ``seed + step``, step 1 of seed 1
    would be step 0 of seed 2.

    Parameters
    ----------
    *numbers : int
        Each at least 0 and less than 2 to the power of 32.

    Returns
    -------
    int
        Less than 2 to the power of 63.

    Raises
    ------
    ValueError
        If a number is negative or too large.
    TypeError
        If it is not a whole number.
    """
    mixed = 0
    for number in numbers:
        if not 0 <= number < 2**32:
            raise ValueError(f"{number} is not a seed: expected 0 to {2**32 - 1}")
        mixed = _scramble(mixed ^ index(number))
    return mixed >> 1


def _scramble(z: int) -> int:
    """Map 64 bits to 64 bits, one to one (Steele, Lea and Flood 2014, SplitMix64)."""
    z = (z + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31
