"""The parts of a ``tokenizer.json`` that turn a space into ``▁`` and back (chapter 2)."""

from collections.abc import Mapping, Sequence
from typing import Any

from glassbox.tokenization.formats.tokenizer_json import TokenizerFile
from glassbox.tokenization.pre_tokenize import METASPACE
from glassbox.tokenization.sentencepiece_bpe import PREPEND

_PREPEND = {"type": "Prepend", "prepend": METASPACE}
_REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}
_METASPACE = {"type": "Metaspace", "replacement": METASPACE}
_BACK = {"type": "Replace", "pattern": {"String": METASPACE}, "content": " "}
_STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}


def marks(prepend: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the normalizer and the pre_tokenizer that mark spaces; one of them is ``None``.

    ``prepend`` is one of :data:`PREPEND`.
    """
    if prepend == "always":
        return {"type": "Sequence", "normalizers": [_PREPEND, _REPLACE]}, None
    scheme = "always" if prepend == "missing" else prepend
    return None, _METASPACE | {"prepend_scheme": scheme, "split": False}


def decoder(prepend: str) -> dict[str, Any]:
    """Return the decoder that goes with the value of ``prepend``, one of :data:`PREPEND`."""
    steps = [_BACK, {"type": "ByteFallback"}, {"type": "Fuse"}]
    return {"type": "Sequence", "decoders": steps + ([_STRIP] if prepend != "never" else [])}


def read_prepend(parts: TokenizerFile) -> str:
    """Return the value of ``prepend`` that a file describes.

    Raises
    ------
    ValueError
        If it marks spaces, or decodes tokens, in a way that this package does not implement.
    """
    normalizer, space = parts.part("normalizer"), parts.part("pre_tokenizer")
    steps = normalizer.get("normalizers", [normalizer])
    scheme = space.get("prepend_scheme", "always")
    if not space and steps == [_PREPEND, _REPLACE]:
        prepend = "always"
    elif not space and steps == [_REPLACE]:
        prepend = "never"
    elif not normalizer and space.items() >= _METASPACE.items() and scheme in PREPEND:
        prepend = "missing" if scheme == "always" else scheme
    else:
        raise ValueError(
            f"{parts.name}: spaces become {METASPACE} by the normalizer {_types(steps)} and the "
            f"pre_tokenizer {_types([space])}; this package implements ['Prepend', 'Replace'] and "
            f"['Replace'] without a pre_tokenizer, and 'Metaspace' without a normalizer, with "
            f"{METASPACE} for a space"
        )
    given, expected = parts.part("decoder"), decoder(prepend)
    if given != expected:
        raise ValueError(
            f"{parts.name}: the decoder's steps are {_types(given.get('decoders', [given]))}; this "
            f"package implements {_types(expected['decoders'])} only, which turn {METASPACE} into "
            "a space" + ("" if prepend == "never" else " and remove one space in front")
        )
    return prepend


def _types(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    return [step.get("type", "nothing") for step in steps]
