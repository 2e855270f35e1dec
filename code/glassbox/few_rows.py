"""A linear map of a few vectors, with all cores reading its matrix.

The time of such a product is that of reading the matrix once. PyTorch reads it with one core when
there are few vectors; cut into one piece for each core, all of them read.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

#: From here on PyTorch divides the work itself.
MANY = 8


def few_rows(
    x: Float[Tensor, "batch length d_in"],
    weight: Float[Tensor, "d_out d_in"],
    bias: Float[Tensor, " d_out"] | None = None,
) -> Float[Tensor, "batch length d_out"]:
    r"""Compute the linear map of a few vectors: :math:`xW^\top + b`.

    Parameters
    ----------
    x : Tensor
        ``(batch, length, d_in)``.
    weight, bias : Tensor
        ``(d_out, d_in)``, as PyTorch keeps it, and ``(d_out,)``.

    Returns
    -------
    Tensor
        ``(batch, length, d_out)``. On a GPU, for many vectors and in half precision it comes from
        PyTorch's own linear map.

    Notes
    -----
    Pope et al. (2023), section 2.1, on reading the parameters as the limit of decoding.
    """
    pieces, rows = torch.get_num_threads(), x.size(0) * x.size(1)
    share = weight.size(0) // pieces
    single = x.dtype in (torch.float32, torch.float64)
    if pieces == 1 or not share or rows > MANY or x.device.type != "cpu" or not single:
        return F.linear(x, weight, bias)
    even = pieces * share  # what is left over is less than one row for each core
    vectors = x.reshape(1, rows, -1).expand(pieces, -1, -1)
    matrix = weight[:even].view(pieces, share, -1).mT
    if bias is None:
        products = torch.bmm(vectors, matrix)
    else:
        products = torch.baddbmm(bias[:even].view(pieces, 1, share), vectors, matrix)
    out = products.transpose(0, 1).reshape(*x.shape[:-1], even)
    if even == weight.size(0):
        return out
    rest = F.linear(x, weight[even:], None if bias is None else bias[even:])
    return torch.cat([out, rest], dim=-1)


def project(
    linear: nn.Linear, x: Float[Tensor, "batch length d_in"]
) -> Float[Tensor, "batch length d_out"]:
    """Call a linear map; with :func:`few_rows` where nobody would miss the call.

    Parameters
    ----------
    linear : nn.Linear
        The map.
    x : Tensor
        ``(batch, length, d_in)``.

    Returns
    -------
    Tensor
        ``(batch, length, d_out)``.

    Notes
    -----
    Somebody would where a gradient is wanted, in compiled code, or if a hook waits.
    """
    everywhere = nn.modules.module
    if (
        type(linear) is not nn.Linear
        or torch.is_grad_enabled()
        or torch.compiler.is_compiling()
        or linear._forward_hooks
        or linear._forward_pre_hooks
        or everywhere._global_forward_hooks
        or everywhere._global_forward_pre_hooks
    ):
        return linear(x)
    return few_rows(x, linear.weight, linear.bias)
