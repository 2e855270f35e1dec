"""The machine in the page: the book's own translator, run by the reader's browser.

The modules of ``page`` are the forward pass once more, in JavaScript, with the names and the order
of the package: they read the same ``model.safetensors`` and give the same numbers, which
``tests/machine`` holds them to.
"""

from pathlib import Path

from glassbox_book.machine.assets import write_files
from glassbox_book.machine.scene import write_scene

__all__ = ["write"]


def write(folder: str | Path) -> None:
    """Write all that a site serves for the machine: scripts, model, and the sentence worked out.

    Parameters
    ----------
    folder : str or path
        Made if it is missing.
    """
    write_files(folder)
    write_scene(folder)
