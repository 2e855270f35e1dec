"""A linear map: what learns in every layer (chapter 5)."""

from jaxtyping import Float
from torch import Tensor, nn

from glassbox.kernels import formula


@formula
def linear(
    x: Float[Tensor, "*batch d_in"],
    weight: Float[Tensor, "d_out d_in"],
    bias: Float[Tensor, " d_out"] | None = None,
) -> Float[Tensor, "*batch d_out"]:
    r"""Map each vector: :math:`xW^\top + b`.

    Parameters
    ----------
    x : Tensor
        ``(..., d_in)``.
    weight, bias : Tensor
        ``(d_out, d_in)``, as PyTorch keeps it, and ``(d_out,)``.

    Returns
    -------
    Tensor
        ``(..., d_out)``.
    """
    mapped = x @ weight.T
    return mapped if bias is None else mapped + bias


class Linear(nn.Linear):
    """:func:`linear` with its weight and bias as parameters, as ``torch.nn.Linear``."""

    def forward(self, input: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """Map ``input``, ``(..., d_in)``."""
        return linear(input, self.weight, self.bias)
