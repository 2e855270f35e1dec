"""The files that a site serves for the machine: its scripts and the models they read."""

import hashlib
import shutil
from importlib.resources import files
from pathlib import Path

from glassbox.weights import find_model

#: The translator that the page runs, the language model, and the BERT.
MODEL, POET, BERT = "tatoeba-en-fr", "shakespeare", "bert-english"
#: The files that the scripts fetch for each model, and their folder on the site.
MODEL_FILES = ("config.json", "vocab.json", "merges.txt", "token_counts.json", "model.safetensors")
POET_FILES = ("config.json", "language_model.json", "model.safetensors")
BERT_FILES = ("config.json", "vocab.txt", "model.safetensors")
FOLDERS = {MODEL: ("model", MODEL_FILES), POET: ("poet", POET_FILES), BERT: ("bert", BERT_FILES)}


def model_files(model: str = MODEL) -> list[Path]:
    """Return the files of a model in the package."""
    _, names = FOLDERS[model]
    folder = find_model(model, *names)
    return [folder / name for name in names]


def size(model: str = MODEL) -> int:
    """Return the number of bytes a reader loads."""
    return sum(file.stat().st_size for file in model_files(model))


def version(model: str = MODEL) -> str:
    """Return a name that changes with the files of a model, for the browser's cache."""
    content = b"".join(file.read_bytes() for file in model_files(model))
    return hashlib.sha256(content).hexdigest()[:12]


def page_files() -> list[Path]:
    """Return the files that run in the page, and its template."""
    return sorted(Path(str(files("glassbox_book.machine"))).joinpath("page").iterdir())


def write_files(folder: str | Path) -> None:
    """Write scripts and models into ``folder``; each model byte for byte into its own folder.

    Parameters
    ----------
    folder : str or path
        Created if it is missing.
    """
    for model, (name, _) in FOLDERS.items():
        place = Path(folder, name)
        place.mkdir(parents=True, exist_ok=True)
        for file in model_files(model):
            shutil.copyfile(file, place / file.name)
    for file in page_files():
        if file.suffix != ".html":
            shutil.copyfile(file, Path(folder, file.name))
