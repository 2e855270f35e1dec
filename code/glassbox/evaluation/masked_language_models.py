"""How well hidden tokens are guessed: by a BERT, or by counting neighbours."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glassbox.checks import check_at_least
from glassbox.training.batches import stream
from glassbox.training.masking import IGNORE, mask_tokens

#: Returns the logits ``(predictions, vocab_size)`` at some positions of texts ``(texts, length)``,
#: on the CPU, such as :meth:`glassbox.models.fill_mask.FillMask.predict`.
Predict = Callable[[Tensor, Tensor], Tensor]

#: How many observations the less specific guess is worth, where pairs and triples are counted.
PAIRS, TRIPLES = 100.0, 15.0


class MaskedScores(NamedTuple):
    """How well hidden tokens were guessed.

    Attributes
    ----------
    loss : float
        The mean negative log-likelihood of a hidden token, in nats.
    accuracy : float
        The share of hidden tokens that were the most probable one.
    n_tokens : int
        Number of hidden tokens.
    """

    loss: float
    accuracy: float
    n_tokens: int


def evaluate_masked(
    predict: Predict,
    texts: Sequence[Tensor],
    *,
    mask_id: int,
    vocab_size: int,
    special_ids: Collection[int],
    rate: float = 0.15,
    masked: float = 1.0,
    batch_size: int = 64,
) -> MaskedScores:
    """Hide some tokens of each text, all as ``[MASK]``, and measure how well they are guessed.

    The same tokens are hidden at every call.

    Parameters
    ----------
    predict : callable
        What guesses, for several texts of one length at a time.
    texts : sequence of Tensor
        The token ids of each text, ``(length,)``.
    mask_id, vocab_size, special_ids, rate : int, int, collection of int, float
        As for :func:`~glassbox.training.mask_tokens`.
    masked : float, optional
        The share of these tokens that is hidden; with 0, all remain to be seen.
    batch_size : int, optional
        Texts at a time, at most.

    Returns
    -------
    MaskedScores
        The figures.

    Raises
    ------
    ValueError
        If there is no text, ``batch_size`` is less than 1, or as for
        :func:`~glassbox.training.mask_tokens`.
    """
    if not texts:
        raise ValueError("texts is empty: expected the token ids of one text at least")
    check_at_least("batch_size", batch_size, 1)
    hide = partial(mask_tokens, mask_id=mask_id, vocab_size=vocab_size, special_ids=special_ids)
    draw = torch.Generator()
    # Texts of one length need no padding.
    of_length = defaultdict[int, list[tuple[Tensor, Tensor]]](list)
    for i, ids in enumerate(texts):
        draw.manual_seed(stream(0, 3, i))
        pair = hide(ids, rate=rate, masked=masked, random=0.0, generator=draw)
        of_length[len(ids)].append(pair)
    nats, right, count = 0.0, 0, 0
    for _, alike in sorted(of_length.items()):
        batch = (torch.stack(rows).split(batch_size) for rows in zip(*alike, strict=True))
        for inputs, labels in zip(*batch, strict=True):
            at = labels != IGNORE
            logits, hidden = predict(inputs, at), labels[at]
            losses = -logits.double().log_softmax(-1).gather(-1, hidden[:, None])
            nats += losses.sum().item()
            right += int((logits.argmax(-1) == hidden).sum())
            count += len(hidden)
    return MaskedScores(nats / count, right / count, count)


class Neighbours:
    r"""Guess a hidden token from the one before and the one after it, by counting.

    .. math:: P(w \mid l, r) \propto \frac{P(w \mid l) \, P(w \mid r)}{P(w)}

    which would be exact if the two neighbours were independent given the token. Where the three
    tokens have been seen together, their count is mixed in. A neighbour that is hidden itself does
    not count. This is the baseline that a model which reads whole sentences has to beat.

    Parameters
    ----------
    texts : sequence of Tensor
        The token ids of each training text, ``(length,)``, with [CLS] and [SEP]: the first and the
        last are counted as neighbours alone.
    vocab_size : int
        Number of tokens.
    hidden_id : int
        The id of ``[MASK]``.

    Notes
    -----
    Chen and Goodman (1999) compare ways to mix counts of different orders.
    """

    def __init__(self, texts: Sequence[Tensor], vocab_size: int, hidden_id: int) -> None:
        self.hidden_id = hidden_id
        counts = torch.ones(vocab_size, dtype=torch.float64)
        self.after: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self.before: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self.between: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        for ids in texts:
            counts += torch.bincount(ids[1:-1], minlength=vocab_size)
            row = ids.tolist()
            for left, token, right in zip(row, row[1:], row[2:], strict=False):
                self.after[left][token] += 1
                self.before[right][token] += 1
                self.between[left, right][token] += 1
        self.frequency = counts / counts.sum()

    def predict(
        self, token_ids: Int[Tensor, "*texts length"], at: Bool[Tensor, "*texts length"]
    ) -> Float[Tensor, "predictions vocab"]:
        """Return the logarithms of the probabilities at some positions of texts.

        Parameters
        ----------
        token_ids : Tensor
            Integers, ``(texts, length)`` or, of one text, ``(length,)``, with [CLS] and [SEP].
        at : Tensor
            Boolean, of the same shape; neither the first nor the last position of a text.

        Returns
        -------
        Tensor
            ``(predictions, vocab_size)``.
        """
        places = torch.atleast_2d(at).nonzero().tolist()
        rows = torch.atleast_2d(token_ids).tolist()
        return torch.stack([self._guess(rows[t][i - 1], rows[t][i + 1]) for t, i in places]).log()

    def _guess(self, left: int, right: int) -> Tensor:
        guess = self.frequency
        for token, table in ((left, self.after), (right, self.before)):
            if token != self.hidden_id:
                guess = guess * _mix(table.get(token), self.frequency, PAIRS) / self.frequency
        guess = guess / guess.sum()
        if self.hidden_id not in (left, right):
            guess = _mix(self.between.get((left, right)), guess, TRIPLES)
        return guess


def _mix(counts: Counter[int] | None, guess: Tensor, worth: float) -> Tensor:
    """Add counts to a guess that is worth some observations, and normalise."""
    mixed = worth * guess
    if counts:
        mixed[torch.tensor([*counts])] += torch.tensor([*counts.values()], dtype=mixed.dtype)
    return mixed / mixed.sum()
