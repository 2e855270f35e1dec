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


def page_files() -> list[Path]:
    """Return the files that run in the page, and its template."""
    return sorted(Path(str(files("glassbox_book.machine"))).joinpath("page").iterdir())


def page_file(name: str) -> str:
    """Return what one of these files holds."""
    return next(file for file in page_files() if file.name == name).read_text(encoding="utf-8")


def write_files(folder: str | Path) -> None:
    """Write scripts and model into ``folder``; the model into ``model``, byte for byte.

    Parameters
    ----------
    folder : str or path
        Made if it is missing.
    """
    model = Path(folder) / "model"
    model.mkdir(parents=True, exist_ok=True)
    for file in page_files():
        if file.suffix != ".html":
            shutil.copyfile(file, model.parent / file.name)
    for file in model_files():
        shutil.copyfile(file, model / file.name)
