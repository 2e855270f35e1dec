"""Training mode and evaluation mode of a model, for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode for a while, and leave it as it was.

    Parameters
    ----------
    model : nn.Module
        Any; afterwards its parts are in the mode that it was in itself.

    Yields
    ------
    None
        While the model is in evaluation mode.
    """
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
