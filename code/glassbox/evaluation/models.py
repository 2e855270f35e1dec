"""Load a model to be measured from its folder, whose files show what it is."""

from glassbox.files import StrPath
from glassbox.models.character_model import LANGUAGE_MODEL_FILE, CharacterModel
from glassbox.models.fill_mask import FillMask
from glassbox.tokenization.formats.files import VOCAB_TXT
from glassbox.translation import Translator
from glassbox.translation.tokenizer import TRANSLATOR_FILE
from glassbox.weights import find_model


def load_model(source: StrPath) -> Translator | CharacterModel | FillMask:
    """Read a model with its tokenizer, in eval mode, on the CPU and in float32.

    Parameters
    ----------
    source : str or path
        The name of a model in this package, or a folder with ``translator.json``,
        ``language_model.json`` or the ``vocab.txt`` of a BERT in it.

    Returns
    -------
    Translator, CharacterModel or FillMask
        The model with its tokenizer.

    Raises
    ------
    FileNotFoundError
        If there is no such model, or a file is missing.
    ValueError
        If a file is damaged or does not match the others.
    """
    folder = find_model(source, TRANSLATOR_FILE, LANGUAGE_MODEL_FILE, VOCAB_TXT)
    if (folder / TRANSLATOR_FILE).is_file():
        return Translator.from_pretrained(folder)
    if (folder / LANGUAGE_MODEL_FILE).is_file():
        return CharacterModel.from_pretrained(folder)
    return FillMask.from_pretrained(folder)
