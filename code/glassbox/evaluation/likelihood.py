"""The likelihood of text: loss per token, perplexity, bits per byte."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassbox.checks import check_counts


@dataclass(frozen=True)
class Likelihood:
    r"""The likelihood that a model assigns to a text, and the length of the text.

    Parameters
    ----------
    nats : float
        The negative log-probability of the text, :math:`-\sum_i \ln P(t_i \mid t_{<i})`.
    n_tokens : int
        Number of tokens predicted.
    n_bytes : int
        Number of bytes of text in these tokens, in UTF-8.

    Raises
    ------
    ValueError
        If there is no token or no byte, or ``nats`` is not finite.
    """

    nats: float
    n_tokens: int
    n_bytes: int

    def __post_init__(self) -> None:
        check_counts(self, "n_tokens", "n_bytes")
        if not math.isfinite(self.nats):
            raise ValueError(
                f"nats={self.nats}: the model assigns the text probability 0 or NaN; are its "
                "weights finite?"
            )

    @property
    def loss(self) -> float:
        """The mean over tokens, in nats: the cross-entropy without smoothing."""
        return self.nats / self.n_tokens

    @property
    def perplexity(self) -> float:
        """The number of equally probable tokens among which the choice would be as hard.

        It compares only models with the same vocabulary: longer tokens are fewer and harder.
        """
        return torch.tensor(self.loss, dtype=torch.float64).exp().item()  # may be infinite

    @property
    def bits_per_byte(self) -> float:
        """Bits per byte of the text, which compares models with any vocabularies."""
        return self.nats / math.log(2) / self.n_bytes

    def figures(self) -> dict[str, float]:
        """Return all of these numbers by name."""
        names = ("loss", "perplexity", "bits_per_byte", "nats", "n_tokens", "n_bytes")
        return {name: getattr(self, name) for name in names}


def token_losses(
    logits: Float[Tensor, "batch length vocab"], labels: Int[Tensor, "batch length"]
) -> Float[Tensor, "batch length"]:
    r"""Return :math:`-\ln P` of each label.

    Parameters
    ----------
    logits : Tensor
        ``(batch, length, vocab)``, of any precision.
    labels : Tensor
        Integers, ``(batch, length)``.

    Returns
    -------
    Tensor
        ``(batch, length)``, in float64: a test set has many tokens to sum.
    """
    logs = logits.float().log_softmax(dim=-1)
    return -logs.gather(-1, labels[..., None])[..., 0].double()
