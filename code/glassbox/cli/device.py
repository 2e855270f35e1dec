"""The device that a command computes on."""

from typing import Any


def find_device(name: str) -> Any:
    """Return the device of this ``name``, a :class:`torch.device`.

    Raises
    ------
    ValueError
        If PyTorch knows no such device, or there is none here.
    """
    import torch

    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"--device {name}: expected cpu, or what is here ({reason})") from error
    return device
