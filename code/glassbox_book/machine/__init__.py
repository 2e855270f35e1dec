"""The machine in the page: the book's own translator, run by the reader's browser.

The modules of ``page`` repeat the forward pass in JavaScript, with the names and the order of the
package. They read the same ``model.safetensors`` and compute the same numbers, which
``tests/machine`` verifies.
"""

from pathlib import Path

from glassbox_book.machine.assets import write_files
from glassbox_book.machine.scene import write_scene

__all__ = ["write"]


def write(folder: str | Path) -> None:
    """Write everything a site serves for the machine: scripts, models and the computed sentence.

    Parameters
    ----------
    folder : str or path
        Created if it is missing.
    """
    write_files(folder)
    write_scene(folder)
