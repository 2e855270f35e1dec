"""The machine in the page: the book's own translator, run by the reader's browser.

The modules of ``page`` repeat the forward pass in JavaScript, with the names and the order of the
package. They read the same ``model.safetensors`` and compute the same numbers, which
``tests/machine`` verifies.
"""

from pathlib import Path

from glassbox_book.machine import assets, blank, poet, scene

#: The pieces with a model of their own; the others show the translator.
MODELS = {"blank": blank, "poet": poet}


def html(name: str = "") -> str:
    """Return the HTML of a piece, or of the whole machine, in its initial state.

    Parameters
    ----------
    name : str, optional
        ``poet``, ``blank`` or one of ``scene.PIECES``. Defaults to the whole machine.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If there is no such piece.
    """
    return MODELS[name].html() if name in MODELS else scene.html(name)


def write(folder: str | Path) -> None:
    """Write everything a site serves for the machine: scripts, models and the computed sentence.

    Parameters
    ----------
    folder : str or path
        Created if it is missing.
    """
    assets.write_files(folder)
    Path(folder, scene.SCENE_FILE).write_bytes(scene.scene_file(scene.first_scene()))
