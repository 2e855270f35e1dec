"""A model to be measured, from its folder: what the folder holds says what it is."""

import os
from importlib.resources import files
from pathlib import Path

from glassbox.models.character_model import LANGUAGE_MODEL_FILE, CharacterModel
from glassbox.translation import Translator
from glassbox.translation.tokenizer import TRANSLATOR_FILE


def load_model(source: str | os.PathLike[str]) -> Translator | CharacterModel:
    """Read a translator or a language model, in eval mode, on the CPU and in float32.

    Parameters
    ----------
    source : str or path
        The name of one that this package carries, or a folder with ``translator.json`` or
        ``language_model.json`` in it.

    Returns
    -------
    Translator or CharacterModel
        The model, with what turns text into its tokens.

    Raises
    ------
    FileNotFoundError
        If there is no such model, or a file is missing.
    ValueError
        If a file is damaged, or does not go with the others.
    """
    packaged = Path(str(files("glassbox"))) / "pretrained_weights"
    names = [folder.name for folder in packaged.glob("*") if folder.is_dir()]
    folder = packaged / str(source) if str(source) in names else Path(source).expanduser()
    if (folder / TRANSLATOR_FILE).is_file():
        return Translator.from_pretrained(folder)
    if not (folder / LANGUAGE_MODEL_FILE).is_file():
        there = "it holds none" if folder.is_dir() else "there is no such folder"
        raise FileNotFoundError(
            f"no model {os.fspath(source)!r}, {there}: expected a folder with {TRANSLATOR_FILE} or "
            f"{LANGUAGE_MODEL_FILE}, or what this package carries: {', '.join(names) or 'none'}"
        )
    return CharacterModel.from_pretrained(folder)
