"""A softmax with a slider for its temperature."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from glassbox_book.templates import fill, fixed
from glassbox_book.widgets.checks import check_between, check_numbers, check_texts
from glassbox_book.widgets.widget import Widget

#: The ends of the slider. It moves on a logarithmic scale, with 1 in its middle.
LOWEST, HIGHEST = 0.05, 20.0
_STEPS = 177  # from the middle to either end; 0.1, 0.2 ... 1, 2, 3 ... are among them
_MARKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
_MOST = 12  # bars that can be seen at a glance
_WIDTH, _HEIGHT = 400, 100  # of the curve, in its own units


def softmax_temperature(
    scores: Any, labels: Sequence[str], *, temperature: float | int = 1.0
) -> Widget:
    r"""Show how the weights :math:`e^{s_i / T} / \sum_j e^{s_j / T}` depend on the temperature.

    A slider moves :math:`T` from 0.05 to 20. Each weight has a bar and its number, with a mark at
    either limit: all weight on the largest score, and equal weights. Above the slider is the
    entropy at every temperature.

    Parameters
    ----------
    scores : sequence of float, or Tensor
        Two to twelve scores in one row, rounded to four decimals.
    labels : sequence of str
        The name of each score.
    temperature : float or int, optional
        The initial temperature; the slider starts at the nearest possible value.

    Returns
    -------
    Widget
        A cell displays it.

    Raises
    ------
    TypeError
        If the scores are not numbers or the labels not strings.
    ValueError
        If the scores are not one row of two to twelve finite numbers, the labels differ from them
        in number, or the temperature is not between 0.05 and 20.

    Notes
    -----
    Chapter 3.
    """
    row = check_numbers("scores", scores)
    if row.ndim != 1 or not 2 <= len(row) <= _MOST:
        raise ValueError(f"scores has shape {row.shape}; pass one row of 2 to {_MOST} scores")
    row = row.round(4) + 0.0
    names = check_texts("labels", labels, len(row), "scores")
    check_between("temperature", temperature, LOWEST, HIGHEST)
    position = round(_STEPS * math.log(temperature) / math.log(HIGHEST))
    shown = float(written(HIGHEST ** (position / _STEPS)))  # rounded as displayed
    weights = softmax(row, shown)
    lines = [
        f"{name}: score {fixed(score)}, weight {fixed(weight, 3)}"
        for name, score, weight in zip(names, row, weights, strict=True)
    ]
    most, bits = math.log2(len(row)), entropy(weights)
    head = f"Softmax at temperature {written(shown)}, entropy {fixed(bits)} bits"
    largest = row == row.max()

    def point(place: int) -> tuple[float, float]:
        share = entropy(softmax(row, HIGHEST ** (place / _STEPS))) / most
        return _WIDTH * (place + _STEPS) / (2 * _STEPS), _HEIGHT * (1 - share)

    body = fill(
        "widgets/page/softmax_temperature.html",
        rows=list(zip(names, row, weights, largest / largest.sum(), strict=True)),
        temperature=shown,
        written=written(shown),
        bits=bits,
        most=most,
        curve=map(point, range(-_STEPS, _STEPS + 1, 3)),
        position=position,
        steps=_STEPS,
        places=[(0.5 + 0.5 * math.log(t) / math.log(HIGHEST), f"{t:g}") for t in _MARKS],
    )
    name = "Softmax with a slider for its temperature"
    return Widget("softmax_temperature", name, body, "\n".join([head, *lines]))


def written(temperature: float) -> str:
    """Return a temperature of the slider as text."""
    return fixed(temperature, 2 if temperature < 1 else 1)


def softmax(scores: np.ndarray, temperature: float) -> np.ndarray:
    """Return the weights of scores at a temperature."""
    return torch.tensor(scores / temperature).softmax(dim=-1).numpy()


def entropy(weights: np.ndarray) -> float:
    """Return the entropy of weights in bits."""
    return torch.special.entr(torch.tensor(weights)).sum().item() / math.log(2)
