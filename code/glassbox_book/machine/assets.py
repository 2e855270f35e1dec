"""The files that a site serves for the machine: its scripts, and the model they read."""

import hashlib
import shutil
from importlib.resources import files
from pathlib import Path

from glassbox.translation.translator import find_model

#: The translator that the page runs.
MODEL = "tatoeba-en-fr"
#: What the scripts fetch of its folder.
MODEL_FILES = ("config.json", "vocab.json", "merges.txt", "token_counts.json", "model.safetensors")


def model_files() -> list[Path]:
    """Return the files of the model, as the package carries them."""
    folder = find_model(MODEL, *MODEL_FILES)
    return [folder / name for name in MODEL_FILES]


def size() -> int:
    """Return how many bytes a reader loads."""
    return sum(file.stat().st_size for file in model_files())


def version() -> str:
    """Return a name that changes with the files of the model, for the store of the browser."""
    digest = hashlib.sha256()
    for file in model_files():
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def scripts() -> dict[str, str]:
    """Return what runs and styles the page, by file name."""
    page = files("glassbox_book.machine").joinpath("page")
    return {file.name: file.read_text(encoding="utf-8") for file in page.iterdir()}


def write(folder: str | Path) -> None:
    """Write scripts and model into ``folder``; the model into ``model``, byte for byte.

    Parameters
    ----------
    folder : str or path
        Made if it is missing.
    """
    model = Path(folder) / "model"
    model.mkdir(parents=True, exist_ok=True)
    for name, text in scripts().items():
        (model.parent / name).write_text(text, encoding="utf-8")
    for file in model_files():
        shutil.copyfile(file, model / file.name)
