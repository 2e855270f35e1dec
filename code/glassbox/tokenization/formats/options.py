"""The options beside a vocabulary, and the special tokens that they name (chapter 2)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassbox.checks import check_type
from glassbox.files import read_json
from glassbox.tokenization.formats import files
from glassbox.tokenization.formats.tokenizer_json import TokenizerFile, special
from glassbox.tokenization.tokenizer import Tokenizer

Config = Mapping[str, Any]
#: How the reference library lists special tokens: all with their ids, or by role and the rest.
ADDED = "added_tokens_decoder"
ROLES = ("pad_token", "unk_token", "bos_token", "eos_token", "cls_token", "sep_token", "mask_token")
EXTRA = ("extra_special_tokens", "additional_special_tokens")


def content(token: Any) -> Any:
    """Return a token, which is written as a string or as an object."""
    return token.get("content") if isinstance(token, dict) else token


def flag(file: Path, options: Config, name: str, default: bool | None) -> Any:
    """Return an option that is true or false, or its ``default``."""
    if (given := options.get(name)) is None:
        return default
    check_type(f"{file}: {name}", given, bool, "true or false")  # "false" would count as true
    return given


def read_options(folder: Path, fixed: Config) -> dict[str, Any]:
    """Read the options; those in ``fixed`` may have no other value than there.

    Older releases of the reference library did not list every special token there: they named them
    in a second file, which is read too.
    """
    config: dict[str, Any] = {}
    for name in (files.CONFIG_JSON, files.MAP_JSON):
        if (file := folder / name).is_file() and config.get(ADDED) is None:
            config |= read_json(file)
            options = {option: content(value) for option, value in config.items()}
            TokenizerFile(str(folder), {name: options}).expect(name, **fixed)
    return config


def added_ids(folder: Path, config: Config) -> dict[str, int]:
    """Return the tokens that the files beside a vocabulary may add to it, with their ids."""
    if (added := config.get(ADDED)) is not None:
        return {token["content"]: int(number) for number, token in added.items()}
    file = folder / files.ADDED_JSON
    return read_json(file) if file.is_file() else {}


def _named(config: Config) -> list[tuple[str, Any]]:
    """Return the special tokens that :data:`ADDED` need not list, each with its option."""
    roles = ROLES if config.get(ADDED) is None else ()
    named = [(role, config[role]) for role in roles if config.get(role)]
    for option in EXTRA:
        extra = config.get(option) or []
        tokens = extra.values() if isinstance(extra, dict) else extra
        named += [(option, token) for token in tokens]
    return named


def special_tokens(
    file: Path, config: Config, default: Config, *, normalizes: bool
) -> tuple[str, ...]:
    """Return the special tokens in the options, in the order of their ids.

    An empty list means none; the ``default`` holds for options without a list.
    """
    added = config.get(ADDED) or {}
    tokens = [added[number] for number in sorted(added, key=int)]
    named = [token for _, token in _named({**default, **config})]
    tokens += [token if isinstance(token, dict) else {"content": token} for token in named]
    name = f"{file.with_name(files.CONFIG_JSON)} or {files.MAP_JSON}"
    return special(name, tokens, normalizes=normalizes)


def check_added(folder: Path, config: Config, tokenizer: Tokenizer) -> None:
    """Reject a token that a file beside the vocabulary names and the tokenizer does not find.

    Raises
    ------
    ValueError
        If there is one; the message names its file or option.
    """
    source = files.ADDED_JSON if config.get(ADDED) is None else ADDED
    named = [*((source, token) for token in added_ids(folder, config)), *_named(config)]
    for option, token in named:
        if (name := content(token)) not in tokenizer.special_tokens:
            raise ValueError(
                f"{folder}: {option} names the token {name!r}, which is not a special one; this "
                "package finds added tokens exactly as they stand, and skips them with the special "
                f"ones. If that will do, list it in added_tokens of {files.TOKENIZER_JSON} or, if "
                f"there is none, in {EXTRA[1]} of {files.CONFIG_JSON}"
            )
