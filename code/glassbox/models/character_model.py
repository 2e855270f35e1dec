"""A language model whose tokens are characters."""

from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from glassbox.checks import check_at_least
from glassbox.files import StrPath, atomic_update, read_json, write_json
from glassbox.generation import generate
from glassbox.models.gpt2 import GPT2
from glassbox.models.language_model import LanguageModel
from glassbox.models.llama import Llama
from glassbox.tokenization.checks import check_ids, check_text
from glassbox.weights import find_model

LANGUAGE_MODEL_FILE = "language_model.json"
#: The language models of this package, by their ``model_type`` in ``config.json``.
KINDS: dict[str, type[GPT2] | type[Llama]] = {"gpt2": GPT2, "llama": Llama}


class CharacterModel:
    """A language model together with the characters that are its tokens.

    Parameters
    ----------
    model : LanguageModel
        The model.
    characters : str
        The character of each token id, without duplicates.

    Raises
    ------
    ValueError
        If the characters are not a string, or not one for each token of the model.

    Notes
    -----
    Chapter 10.
    """

    def __init__(self, model: LanguageModel, characters: str) -> None:
        if not isinstance(characters, str):
            raise ValueError(f"characters={characters!r:.60}; expected one string of all")
        size = model.config.vocab_size
        if len({*characters}) != len(characters) or len(characters) != size:
            raise ValueError(
                f"{len(characters)} characters, {len({*characters})} different ones, for a model "
                f"of {size} tokens; expected one for each"
            )
        self.model, self.characters = model, characters
        self._ids = {character: number for number, character in enumerate(characters)}

    @classmethod
    def from_pretrained(cls, source: StrPath = "shakespeare") -> "CharacterModel":
        """Load what :meth:`save_pretrained` wrote, in eval mode, on the CPU, in float32.

        Parameters
        ----------
        source : str or path, optional
            A folder, or the name of a model in this package. Defaults to the book's own.

        Returns
        -------
        CharacterModel
            The model with its characters.

        Raises
        ------
        FileNotFoundError
            If there is no such model, or a file is missing.
        ValueError
            If a file is damaged or does not match the others.
        """
        path = find_model(source, LANGUAGE_MODEL_FILE)
        try:
            characters = read_json(path / LANGUAGE_MODEL_FILE)["characters"]
            kind = KINDS[str(read_json(path / "config.json")["model_type"])]
        except KeyError as error:
            raise ValueError(
                f"{path}: there is no {error}; expected 'characters' in {LANGUAGE_MODEL_FILE}, and "
                f"as 'model_type' in config.json one of {sorted(KINDS)}"
            ) from error
        model = kind.from_pretrained(path).float()
        try:
            return cls(model, characters)
        except ValueError as error:
            raise ValueError(f"{path / LANGUAGE_MODEL_FILE}: {error}") from error

    def save_pretrained(self, folder: StrPath, *, dtype: torch.dtype | None = None) -> None:
        """Write the model, in the reference library's layout, and its characters.

        Parameters
        ----------
        folder : str or path
            Created if it is missing.
        dtype : torch.dtype, optional
            Dtype of the stored weights. Defaults to their own.

        Raises
        ------
        FileExistsError, ValueError
            As for :meth:`~glassbox.pretrained.Pretrained.save_pretrained`.
        """
        with atomic_update(folder) as beside:
            self.model.save_pretrained(beside, dtype)
            write_json(beside / LANGUAGE_MODEL_FILE, {"characters": self.characters})

    def encode(self, text: str) -> Int[Tensor, " length"]:
        """Return the token ids of ``text``, ``(length,)``.

        Raises
        ------
        ValueError
            If the model does not know a character.
        TypeError
            If ``text`` is not a string.
        """
        check_text(text)
        if unknown := sorted({*text} - self._ids.keys()):
            raise ValueError(
                f"the text has {unknown[0]!r}, which is not among the {len(self.characters)} "
                "characters that this model knows: is it a model of another text?"
            )
        return torch.tensor([self._ids[character] for character in text], dtype=torch.long)

    def decode(self, token_ids: Iterable[int] | Tensor) -> str:
        """Return the text of ``token_ids``, a one-dimensional tensor or an iterable of integers.

        Raises
        ------
        ValueError
            If the model has no such token, or a tensor has more than one axis.
        TypeError
            If they are not whole numbers.
        """
        return "".join(self.characters[i] for i in check_ids(token_ids, len(self.characters)))

    def write(self, beginning: str, length: int, **options: Any) -> str:
        """Continue a text.

        The model sees all of the text while it is shorter than its context, and otherwise begins
        again from the last half of a context. Nothing ends the text but its length.

        Parameters
        ----------
        beginning : str
            At least one character.
        length : int
            Number of characters to write.
        **options
            As for :func:`glassbox.generation.generate`, for example ``sample=True``, except for
            what ends a text or asks for several.

        Returns
        -------
        str
            ``beginning`` and its continuation.

        Raises
        ------
        ValueError
            If ``beginning`` is empty, ``length`` is not a number of characters, the model does not
            know a character, or an option has no effect here.
        TypeError
            If ``beginning`` is not a string, or there is no such option.
        """
        check_at_least("length", length, 0)
        if not beginning:
            raise ValueError("beginning is empty: give at least one character, such as a new line")
        without = {"eos_id", "pad_id", "stop_strings", "max_new_tokens", "n_best"}
        if idle := without & options.keys():
            raise ValueError(f"{min(idle)}: write gives one text of its length; call generate")
        context = self.model.config.max_len
        device = next(self.model.parameters()).device
        written, end = self.encode(beginning).to(device), len(beginning) + length
        while len(written) < end:
            seen = written if len(written) < context else written[-max(1, context // 2) :]
            room = min(max(1, context - len(seen)), end - len(written))
            (longer,) = generate(self.model, seen[None], max_new_tokens=room, **options)
            written = torch.cat([written, longer[len(seen) :]])
        return self.decode(written)
