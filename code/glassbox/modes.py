"""Evaluation mode for the length of a ``with`` block."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode inside a ``with`` block, then restore its mode.

    Parameters
    ----------
    model : nn.Module
        Any model; afterwards all its submodules are in the mode the model itself was in.

    Yields
    ------
    None
        The model is in evaluation mode meanwhile.
    """
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
