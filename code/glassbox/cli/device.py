"""The device that a command computes on."""

import torch


def find_device(name: str) -> torch.device:
    """Return the :class:`torch.device` with this ``name``.

    Raises
    ------
    ValueError
        If PyTorch knows no such device, or this machine has none.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"--device {name}: expected cpu, or another device on this machine ({reason})"
        ) from error
    return device
