"""Vocabularies in files, as the reference library has them: read, checked, written (chapter 2)."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glassbox.tokenization.tokenizer import Tokenizer

VOCAB_TXT, VOCAB_JSON, MERGES_TXT = "vocab.txt", "vocab.json", "merges.txt"
TOKENIZER_JSON, CONFIG_JSON = "tokenizer.json", "tokenizer_config.json"


def find_folder(folder: str | os.PathLike[str], *names: str) -> Path:
    """Return the folder, in which at least one of the files named lies.

    Raises
    ------
    FileNotFoundError
        If the folder is missing, or holds none of them.
    """
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise FileNotFoundError(
            f"no folder {str(folder)!r}: expected one with {' or '.join(names)}"
        )
    if not any((path / name).is_file() for name in names):
        raise FileNotFoundError(
            f"{path} holds no {' or '.join(names)}: is a tokenizer saved there?"
        )
    return path


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """Make a folder to save in, if it is not there yet."""
    path = Path(folder).expanduser()
    path.mkdir(parents=True, exist_ok=True)
    return path


def read_text(file: Path) -> str:
    """Read a file as UTF-8.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not text.
    """
    try:
        return file.read_bytes().decode()  # not read_text, which takes \\r for an end of line
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{file} is missing") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 text ({error}): is it another file?") from error


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not JSON, is cut off, or holds something else than an object.
    """
    try:
        content = json.loads(read_text(file))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{file} is not JSON, or cut off: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{file} holds a {type(content).__name__}; expected a JSON object")
    return content


def write_json(file: Path, content: Mapping[str, Any], *, indent: int | None = None) -> None:
    """Write a JSON object as UTF-8."""
    file.write_text(json.dumps(content, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8")


def read_vocab_json(file: Path) -> dict[str, int]:
    """Read a vocabulary that says the id of each token.

    Raises
    ------
    FileNotFoundError, ValueError
        As :func:`read_json`, or if an id is not a whole number.
    """
    content = read_json(file)
    for token, number in content.items():
        if not isinstance(number, int):
            raise ValueError(f"{file}: {token!r} has the id {number!r}; expected a whole number")
    return content


def read_vocab_txt(file: Path) -> dict[str, int]:
    """Read a vocabulary with a token on each line; the number of the line, from 0, is its id.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not text, empty, or a token stands on two lines or a line is empty.
    """
    lines = [line.removesuffix("\r") for line in read_text(file).removesuffix("\n").split("\n")]
    vocabulary: dict[str, int] = {}
    for number, token in enumerate(lines):
        if not token:
            raise ValueError(f"{file}: line {number + 1} is empty; expected a token on each line")
        if token in vocabulary:
            raise ValueError(
                f"{file}: the token {token!r} stands on line {vocabulary[token] + 1} and again on "
                f"line {number + 1}"
            )
        vocabulary[token] = number
    return vocabulary


def write_vocab_txt(file: Path, tokens: Sequence[str]) -> None:
    """Write a token on each line.

    Raises
    ------
    ValueError
        If a token is empty or holds the end of a line.
    """
    for token in tokens:
        if not token or "\n" in token or "\r" in token:
            raise ValueError(f"the token {token!r} does not fit on a line of {file.name}")
    file.write_text("\n".join(tokens) + "\n", encoding="utf-8", newline="\n")


def read_merges(file: Path) -> list[tuple[str, str]]:
    """Read the pairs of a byte-pair encoding, one on each line, in the order of learning.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not text, or a line is not a pair.
    """
    merges = []
    for number, line in enumerate(read_text(file).removesuffix("\n").split("\n"), 1):
        if line.startswith("#version") or (number == 1 and not line):
            continue
        pair = tuple(line.removesuffix("\r").split(" "))
        if len(pair) != 2 or not all(pair):
            raise ValueError(
                f"{file}: line {number} is {line!r}; expected two tokens with a space between"
            )
        merges.append(pair)
    return merges


def write_merges(file: Path, merges: Sequence[tuple[str, str]]) -> None:
    """Write the pairs of a byte-pair encoding, one on each line.

    Raises
    ------
    ValueError
        If a token holds white space.
    """
    for pair in merges:
        if any(part.split() != [part] for part in pair):
            raise ValueError(f"the merge {pair} holds white space, which {file.name} cannot hold")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def read_config(folder: Path) -> dict[str, Any]:
    """Read ``tokenizer_config.json``; empty if there is none."""
    file = folder / CONFIG_JSON
    return read_json(file) if file.is_file() else {}


def write_config(folder: Path, config: Mapping[str, Any], tokenizer: "Tokenizer") -> None:
    """Write ``tokenizer_config.json``: options, and which tokens are special."""
    added = {
        str(tokenizer.vocabulary[token]): added_token(token) for token in tokenizer.special_tokens
    }
    config = {**config, "pad_token": tokenizer.pad_token, "added_tokens_decoder": added}
    write_json(folder / CONFIG_JSON, config, indent=2)


def token_of(config: Mapping[str, Any], role: str) -> str | None:
    """Return the token that has a role, which is written as a string or as an object."""
    token = config.get(role)
    return token["content"] if isinstance(token, dict) else token


def special_tokens(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the special tokens that ``tokenizer_config.json`` lists, by their ids."""
    added = config.get("added_tokens_decoder") or {}
    return tuple(added[number]["content"] for number in sorted(added, key=int))


@dataclass(frozen=True)
class TokenizerFile:
    """The parts of a ``tokenizer.json``.

    Attributes
    ----------
    name : str
        The file, for messages.
    content : dict
        All of it.
    """

    name: str
    content: dict[str, Any] = field(repr=False)

    @property
    def model(self) -> dict[str, Any]:
        """The vocabulary, and what splits words into its tokens."""
        return self.content["model"]

    @property
    def pre_tokenizer(self) -> dict[str, Any]:
        """What splits text into words; empty if nothing does."""
        return self.content.get("pre_tokenizer") or {}

    @property
    def normalizer(self) -> dict[str, Any]:
        """What changes text first; empty if nothing does."""
        return self.content.get("normalizer") or {}

    @property
    def vocabulary(self) -> dict[str, int]:
        """Token to id, with the tokens that were added to the model's vocabulary."""
        vocabulary = self.model["vocab"]
        if not isinstance(vocabulary, dict):  # Unigram: a list of (token, score)
            vocabulary = {token: number for number, (token, _) in enumerate(vocabulary)}
        return vocabulary | {token["content"]: token["id"] for token in self.added}

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The merges of a BPE, those learned first in front.

        Raises
        ------
        ValueError
            If one is not a pair.
        """
        merges = []
        for number, merge in enumerate(self.model.get("merges") or []):
            pair = merge.split(" ") if isinstance(merge, str) else merge
            if len(pair) != 2:
                raise ValueError(f"{self.name}: merge {number} is {merge!r}; expected two tokens")
            merges.append((pair[0], pair[1]))
        return merges

    @property
    def added(self) -> list[dict[str, Any]]:
        """Tokens that are found in raw text, by their ids."""
        return sorted(self.content.get("added_tokens") or [], key=lambda token: token["id"])

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The contents of :attr:`added`.

        Raises
        ------
        ValueError
            If one is found in another way than exactly as it stands.
        """
        for token in self.added:
            for option in ("single_word", "lstrip", "rstrip"):
                if token.get(option):
                    raise ValueError(
                        f"{self.name}: the token {token['content']!r} has {option}=True; this "
                        "package finds special tokens exactly as they stand only"
                    )
        return tuple(token["content"] for token in self.added)

    @property
    def frame(self) -> tuple[str | None, str | None]:
        """The special tokens before and after each text; ``None`` if there is none.

        Raises
        ------
        ValueError
            If there is more than one on a side, or the second text of a pair is framed in another
            way than the first.
        """
        template = self.content.get("post_processor") or {"single": ["A"], "pair": ["A", "B"]}
        single, pair = (
            [next(iter(step.values()))["id"] if isinstance(step, dict) else step for step in steps]
            for steps in (template["single"], template["pair"])
        )
        place = single.index("A")
        second = [*single[:place], "B", *single[place + 1 :]]
        if place > 1 or len(single) > place + 2 or pair != single + second:
            raise ValueError(
                f"{self.name}: the post_processor makes {' '.join(single)!r} of a text and "
                f"{' '.join(pair)!r} of a pair; this package implements at most one token on "
                "each side of a text, and the same around the second"
            )
        return (single[0] if place else None), (single[-1] if len(single) > place + 1 else None)

    def expect(self, part: str, **options: Any) -> None:
        """Refuse a part with an option that this package does not implement.

        A tuple names several that are fine. ``None``, an empty string and ``False`` mean the same,
        and an option that is left out has its default; a part that is left out has no type.

        Raises
        ------
        ValueError
            Naming the option, what it is and what it should be.
        """
        given = self.content.get(part) or {}
        for option, expected in options.items():
            allowed = expected if isinstance(expected, tuple) else (expected,)
            value = given.get(option)
            if value is None and option != "type":
                continue
            if (value or None) not in [choice or None for choice in allowed]:
                raise ValueError(
                    f"{self.name}: {part} has {option}={value!r}; this package implements "
                    f"{' or '.join(map(repr, allowed))} only"
                )


def read_tokenizer_json(file: Path, kind: str) -> TokenizerFile:
    """Read a ``tokenizer.json`` with a model of the kind that is expected.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is cut off, or holds another kind of model.
    """
    content = read_json(file)
    model = content.get("model")
    if not isinstance(model, dict) or "vocab" not in model:
        raise ValueError(f"{file} describes no model with a vocabulary: is it a tokenizer.json?")
    # Files of the first releases do not say the kind.
    guess = "BPE" if "merges" in model else "Unigram" if isinstance(model["vocab"], list) else ""
    if (model.get("type") or guess or "WordPiece") != kind:
        raise ValueError(f"{file} holds a model of type {model.get('type')!r}; expected {kind!r}")
    return TokenizerFile(str(file), content)


def tokenizer_json(
    tokenizer: "Tokenizer", second_type: int = 0, **parts: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return what a ``tokenizer.json`` holds: the given parts, and those that all have.

    Parameters
    ----------
    tokenizer : Tokenizer
        Special tokens, and those before and after each text, are its own.
    second_type : int, optional
        The token type of the second text of a pair.
    **parts : mapping
        ``model``, and what else there is of ``normalizer``, ``pre_tokenizer`` and ``decoder``.
    """
    around = [token for token in (tokenizer.start, tokenizer.end) if token is not None]
    ids = {token: tokenizer.vocabulary[token] for token in around}

    def text(name: str, kind: int) -> list[dict[str, Any]]:
        steps = [
            tokenizer.start and {"SpecialToken": {"id": tokenizer.start, "type_id": kind}},
            {"Sequence": {"id": name, "type_id": kind}},
            tokenizer.end and {"SpecialToken": {"id": tokenizer.end, "type_id": kind}},
        ]
        return [step for step in steps if step]

    template = {
        "type": "TemplateProcessing",
        "single": text("A", 0),
        "pair": text("A", 0) + text("B", second_type),
        "special_tokens": {
            token: {"id": token, "ids": [number], "tokens": [token]}
            for token, number in ids.items()
        },
    }
    added = [
        {"id": tokenizer.vocabulary[token], **added_token(token)}
        for token in sorted(tokenizer.special_tokens, key=tokenizer.vocabulary.__getitem__)
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": parts.get("normalizer"),
        "pre_tokenizer": parts.get("pre_tokenizer"),
        "post_processor": template if around else None,
        "decoder": parts.get("decoder"),
        "model": parts["model"],
    }


def added_token(content: str) -> dict[str, Any]:
    """Describe a special token as the reference library does: found exactly as it stands."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"content": content, **flags, "special": True}
