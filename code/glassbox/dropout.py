"""Dropout: in training, values are left out at random, so that none is relied upon (chapter 7)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassbox.kernels import formula


@formula
def dropout(x: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    r"""Set a share of ``x`` to 0, each value for itself, and enlarge the rest to make up for it.

    .. math:: y_i = \frac{m_i}{1 - p}\, x_i, \qquad m_i \sim \operatorname{Bernoulli}(1 - p)

    so that the expectation of :math:`y_i` is :math:`x_i`.

    Parameters
    ----------
    x : Tensor
        Any shape, on a CPU or elsewhere.
    p : float
        The share that is set to 0, at least 0 and at most 1.

    Returns
    -------
    Tensor
        As ``x``, drawn with PyTorch's own generator of that device.

    Raises
    ------
    ValueError
        If ``p`` is no share.

    Notes
    -----
    Srivastava et al. (2014); Vaswani et al. (2017), section 5.4. Chapter 7.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p={p}: must be at least 0 and at most 1")
    kept = torch.rand_like(x, dtype=torch.float32) >= p
    return x * kept / (1 - p if p < 1 else 1)


class Dropout(nn.Dropout):
    """:func:`dropout` as a module: ``x`` itself while the model is not trained.

    Parameters
    ----------
    p : float, optional
        The share that is set to 0.

    Notes
    -----
    Srivastava et al. (2014). Chapter 7.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def forward(self, input: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Drop values of ``input`` in training, any shape."""
        return dropout(input, self.p) if self.training and self.p else input
