"""The linear map, which holds most of a layer's parameters (chapter 5)."""

from jaxtyping import Float
from torch import Tensor, nn

from glassbox.kernels import formula


class Linear(nn.Linear):
    r"""Map each vector to :math:`xW^\top + b`: a ``torch.nn.Linear`` whose body is the formula.

    Notes
    -----
    Chapter 5. ``torch.ao.quantization.quantize_dynamic(model, {nn.Linear})`` does not find it,
    because PyTorch compares exact types.
    """

    @formula
    def forward(self, input: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """Map ``input``, ``(..., d_in)``, to ``(..., d_out)``."""
        mapped = input @ self.weight.T
        return mapped if self.bias is None else mapped + self.bias
