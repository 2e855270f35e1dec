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


def spaces(prepend: str) -> dict[str, Any]:
    """Return the decoder, and what marks the spaces, a normalizer or a pre_tokenizer.

    ``prepend`` is one of :data:`PREPEND`.
    """
    steps = [_BACK, {"type": "ByteFallback"}, {"type": "Fuse"}]
    steps += [_STRIP] if prepend != "never" else []
    decoder = {"type": "Sequence", "decoders": steps}
    if prepend == "always":
        normalizer = {"type": "Sequence", "normalizers": [_PREPEND, _REPLACE]}
        return {"normalizer": normalizer, "decoder": decoder}
    scheme = "always" if prepend == "missing" else prepend
    metaspace = _METASPACE | {"prepend_scheme": scheme, "split": False}
    return {"pre_tokenizer": metaspace, "decoder": decoder}


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
    given, expected = parts.part("decoder"), spaces(prepend)["decoder"]
    if given != expected:
        raise ValueError(
            f"{parts.name}: the decoder's steps are {_types(given.get('decoders', [given]))}; this "
            f"package implements {_types(expected['decoders'])} only, which turn {METASPACE} into "
            "a space" + ("" if prepend == "never" else " and remove one space in front")
        )
    return prepend


def _types(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    return [step.get("type", "nothing") for step in steps]
