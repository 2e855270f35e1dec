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
        Any model; afterwards it and each of its submodules are in the mode they were in.

    Yields
    ------
    None
        The model is in evaluation mode meanwhile, for every thread that uses it.
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
