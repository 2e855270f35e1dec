"""``tokenizer.json``, the reference library's file for a whole tokenizer (chapter 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassbox.files import read_json, write_json
from glassbox.tokenization.formats.files import TOKENIZER_JSON
from glassbox.tokenization.tokenizer import Tokenizer

_FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False) | {"special": True}


@dataclass(frozen=True)
class TokenizerFile:
    """The parts of a ``tokenizer.json``.

    Attributes
    ----------
    name : str
        The file's name, for messages.
    content : dict
        The whole file, parsed.
    """

    name: str
    content: dict[str, Any] = field(repr=False)

    def part(self, name: str) -> dict[str, Any]:
        """Return the part called ``name``, such as ``"normalizer"``; empty if there is none."""
        return self.content.get(name) or {}

    @property
    def vocabulary(self) -> dict[str, int]:
        """The id of each token, including those added to the model's vocabulary."""
        return self.part("model")["vocab"] | {token["content"]: token["id"] for token in self.added}

    @property
    def merges(self) -> list[Any]:
        """The merges of a BPE, in the order learned; its class rejects what is not a pair."""
        merges = self.part("model").get("merges") or []
        return [merge.split(" ") if isinstance(merge, str) else merge for merge in merges]

    @property
    def added(self) -> list[dict[str, Any]]:
        """The tokens that are matched in raw text, in the order of their ids."""
        return sorted(self.content.get("added_tokens") or [], key=lambda token: token["id"])

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The contents of :attr:`added`, as :func:`special`."""
        return special(self.name, self.added, normalizes=bool(self.part("normalizer")))

    def frame(self, *, again: bool) -> tuple[str | None, str | None]:
        """Return the special tokens before and after each text; ``None`` where there is none.

        ``again`` if the one before a text precedes the second text of a pair, too.

        Raises
        ------
        ValueError
            If there is more than one on a side, or the second text of a pair is framed differently.
        """
        processor = self.part("post_processor")
        if processor.get("type") == "BertProcessing":
            return processor["cls"][0], processor["sep"][0]
        if "single" not in processor:
            return None, None
        single, pair = (
            [part["id"] for step in processor[what] for part in step.values()]
            for what in ("single", "pair")
        )
        place = single.index("A")
        start, end = single[:place], single[place + 1 :]
        second = [*start, "B", *end] if again else ["B", *end]
        if len(start) > 1 or len(end) > 1 or pair != [*single, *second]:
            raise ValueError(
                f"{self.name}: the post_processor makes {' '.join(single)!r} of a text and "
                f"{' '.join(pair)!r} of a pair; this package implements at most one token on "
                f"each side of a text, and the same {'around' if again else 'after'} the second"
            )
        return (*start, None)[0], (*end, None)[0]

    def expect_frame(self, start: str | None, end: str | None, *, again: bool) -> None:
        """Reject a :meth:`frame` other than ``start`` and ``end``.

        Raises
        ------
        ValueError
            If there is another; the message names both.
        """
        if (given := self.frame(again=again)) != (start, end):
            raise ValueError(
                f"{self.name}: the post_processor puts {given[0]!r} in front of a text and "
                f"{given[1]!r} after it; this package implements {start!r} and {end!r} only"
            )

    def expect(self, part: str, **options: Any) -> None:
        """Reject a part with an option that this package does not implement.

        A tuple lists several accepted values. ``None``, an empty string and ``False`` are
        equivalent; an omitted option has its default, and an omitted part has no type.

        Raises
        ------
        ValueError
            If it has one; the message names the option, its value and the accepted values.
        """
        for option, expected in options.items():
            allowed = expected if isinstance(expected, tuple) else (expected,)
            value = self.part(part).get(option)
            given = value is not None or option == "type"
            if given and (value or None) not in [choice or None for choice in allowed]:
                raise ValueError(
                    f"{self.name}: {part} has {option}={value!r}; this package implements "
                    f"{' or '.join(map(repr, allowed))} only"
                )


def read_parts(file: Path, kind: str) -> TokenizerFile:
    """Read a ``tokenizer.json`` whose model is of the expected ``kind``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is truncated or holds another kind of model.
    """
    content = read_json(file)
    model = content.get("model")
    if not isinstance(model, dict) or "vocab" not in model:
        raise ValueError(f"{file} describes no model with a vocabulary: is it a tokenizer.json?")
    # The first releases did not write the kind.
    guess = "BPE" if "merges" in model else "Unigram" if isinstance(model["vocab"], list) else ""
    if (model.get("type") or guess or "WordPiece") != kind:
        raise ValueError(f"{file} holds a model of type {model.get('type')!r}; expected {kind!r}")
    return TokenizerFile(str(file), content)


def write_parts(
    folder: Path, tokenizer: Tokenizer, *, second_type: int, **parts: Any
) -> dict[str, Any]:
    """Write a ``tokenizer.json`` with these ``parts``; return the tokenizer's options.

    ``second_type`` is the token type of the second text of a pair.
    """
    ids, start, end = tokenizer.vocabulary, tokenizer.start, tokenizer.end

    def frame(text: str, kind: int) -> list[dict[str, Any]]:
        steps = [("SpecialToken", start), ("Sequence", text), ("SpecialToken", end)]
        return [{step: {"id": name, "type_id": kind}} for step, name in steps if name is not None]

    special = [token for token in (start, end) if token is not None]
    named = {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in special}
    template = {
        "type": "TemplateProcessing",
        "single": frame("A", 0),
        "pair": frame("A", 0) + frame("B", second_type),
        "special_tokens": named,
    }
    added = sorted(added_tokens(tokenizer).items())
    content = {
        "version": "1.0",
        "added_tokens": [{"id": number, **token} for number, token in added],
        "post_processor": template if special else None,
    }
    write_json(folder / TOKENIZER_JSON, content | parts)
    return {
        "unk_token": tokenizer.unknown_token,
        "bos_token": start,
        "eos_token": end,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }


def added_tokens(tokenizer: Tokenizer) -> dict[int, dict[str, Any]]:
    """Describe the special tokens, by id, as the reference library does: matched verbatim."""
    ids = tokenizer.vocabulary
    return {ids[token]: {"content": token, **_FLAGS} for token in tokenizer.special_tokens}


def special(file: str, added: Sequence[Mapping[str, Any]], *, normalizes: bool) -> tuple[str, ...]:
    """Return the contents of the tokens that a file adds; ``normalizes`` if it changes text.

    Raises
    ------
    ValueError
        If one is not matched verbatim, or is an ordinary token, which decoding would not skip.
    """
    for token in added:
        for option, value in _FLAGS.items():
            given = bool(token.get(option, value))
            if given != value and (normalizes or option != "normalized"):
                raise ValueError(
                    f"{file}: the token {token['content']!r} has {option}={given}; this package "
                    "finds the tokens of this list exactly as they stand, and skips them with "
                    f"the special ones. If that will do, set it to {str(value).lower()} in the file"
                )
    return tuple(token["content"] for token in added)
