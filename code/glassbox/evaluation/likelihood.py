"""The likelihood of text: loss per token, perplexity, bits per byte."""

import math
from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from glassbox.checks import check_at_least


@dataclass(frozen=True)
class Likelihood:
    r"""The likelihood that a model gives to a text, and the length of the text.

    Parameters
    ----------
    nats : float
        The negative logarithm of its probability, :math:`-\sum_i \ln P(t_i \mid t_{<i})`.
    n_tokens : int
        Tokens that were predicted.
    n_bytes : int
        Bytes of the text that these tokens stand for, in UTF-8.

    Raises
    ------
    ValueError
        If there is no token or no byte, or ``nats`` is no number.
    """

    nats: float
    n_tokens: int
    n_bytes: int

    def __post_init__(self) -> None:
        check_at_least("n_tokens", self.n_tokens, 1)
        check_at_least("n_bytes", self.n_bytes, 1)
        if not math.isfinite(self.nats):
            raise ValueError(
                f"nats={self.nats}: the model gives what is there no probability, or no number; "
                "are its weights finite?"
            )

    @property
    def loss(self) -> float:
        """The mean over tokens, in nats: the cross-entropy without smoothing."""
        return self.nats / self.n_tokens

    @property
    def perplexity(self) -> float:
        """Among how many tokens, all equally probable, the choice would be as hard.

        It compares models with one vocabulary only: the longer the tokens, the fewer and harder.
        """
        return math.exp(self.loss)

    @property
    def bits_per_byte(self) -> float:
        """Bits for each byte of the text, which compares models whatever their vocabulary."""
        return self.nats / math.log(2) / self.n_bytes


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
        ``(batch, length)``, in float64: a test set has many tokens to add up.
    """
    logs = logits.float().log_softmax(dim=-1)
    return -logs.gather(-1, labels[..., None])[..., 0].double()
