"""Imitate a processor that rounds differently: perturb every result that may round differently.

Matrix products, sums and functions such as `exp` have different last bits on another make of
processor. Here they do on this one, reproducibly: how far a number moves depends on its own bits
and on a salt, so each salt imitates a processor. Numbers that need few bits, such as 0, 1 or 0.25,
stay unchanged: sums and products of such numbers are exact.
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

#: Sums of many products, whose order depends on the processor, by PyTorch's operator names.
SUMS = """
    mm bmm addmm baddbmm addbmm mv addmv dot vdot convolution convolution_backward sum mean var
    var_mean std std_mean cumsum linalg_vector_norm norm native_layer_norm
    native_layer_norm_backward _scaled_dot_product_flash_attention_for_cpu
    _scaled_dot_product_flash_attention_for_cpu_backward embedding_dense_backward index_add
    nll_loss_forward nll_loss2d_forward _linalg_eigh _linalg_svd linalg_qr logsumexp _cdist_forward
""".split()
#: Functions of one number, which processors approximate differently.
FUNCTIONS = """
    exp exp2 expm1 log log2 log10 log1p sin cos tan tanh sigmoid erf erfc erfinv rsqrt pow softplus
    gelu gelu_backward silu silu_backward tanh_backward sigmoid_backward _softmax _log_softmax
    _softmax_backward_data _log_softmax_backward_data
""".split()
#: For each dtype, the integers of its size, their number of bits, and how many low bits of a number
#: are zero only if nothing was rounded.
LAYOUTS = {torch.float32: (torch.int32, 32, 10), torch.float64: (torch.int64, 64, 36)}


def shake(x: Tensor, salt: int, most: int) -> None:
    """Move the numbers of `x` in place, each by -most - 1 to most units in its last place."""
    integers, size, low = LAYOUTS[x.dtype]
    bits = x.view(integers)
    mixed = (bits + salt) * 0x2545F491
    step = mixed >> (size - 1 - most.bit_length())
    rounded = (bits & ((1 << low) - 1)) != 0
    normal = x.abs() > torch.finfo(x.dtype).smallest_normal * 2  # below it, a step could leave 0
    bits += step * (rounded & normal)


class Shaken(TorchDispatchMode):
    """A mode in which PyTorch computes as the imitated processor does."""

    def __init__(self, salt: int) -> None:
        super().__init__()
        self.salt = salt

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether `torch.compile` traces in this mode, as on a processor, and not around it."""
        return True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Compute, then perturb what was rounded."""
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name not in SUMS and name not in FUNCTIONS:
            return result

        def move(x: Tensor) -> Tensor:
            if x.dtype in LAYOUTS and x.numel():
                shake(x, self.salt, 3 if name in SUMS else 1)
            return x

        return tree_map_only(Tensor, move, result)


def enter(salt: int) -> None:
    """Enter this mode for the rest of this thread."""
    Shaken(salt).__enter__()
