"""The file of the library ``sentencepiece``: pieces and scores, in protocol buffers."""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

# The numbers of sentencepiece_model.proto: the kinds of a model and of a piece.
_MODELS = {1: "Unigram", 2: "BPE", 3: "word", 4: "character"}
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)


class Model(NamedTuple):
    """What a file says of a BPE.

    Attributes
    ----------
    pieces : list of str
        All tokens, by their ids.
    merges : list of tuple of str
        As :func:`merges_by_score` returns them.
    special_tokens : list of str
        The unknown token and the control tokens.
    unknown_token : str or None
        What stands for unknown characters where there are no bytes.
    prepend : bool
        Whether a text gets a space in front.
    """

    pieces: list[str]
    merges: list[tuple[str, str]]
    special_tokens: list[str]
    unknown_token: str | None
    prepend: bool


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field of a message in the wire format of protocol buffers.

    A value is a whole number, a number as ``float``, or bytes: text, or another message.

    Raises
    ------
    ValueError
        If the message is cut off, or is none.
    """
    place, cut_off = 0, f"it ends within a field, after {len(message)} bytes"

    def number() -> int:
        nonlocal place
        value = shift = 0
        while True:  # seven bits a byte, the last ones first
            byte = message[place]
            value, shift, place = value | (byte & 127) << shift, shift + 7, place + 1
            if byte < 128:
                return value

    try:
        while place < len(message):
            field, kind = divmod(number(), 8)
            value: int | float | bytes
            if kind == 0:
                value = number()
            elif kind in (1, 5):
                value = struct.unpack_from("<d" if kind == 1 else "<f", message, place)[0]
                place += 8 if kind == 1 else 4
            elif kind == 2:
                size = number()
                value, place = message[place : place + size], place + size
            else:
                raise ValueError(f"a field of kind {kind} at byte {place}")
            if place > len(message):
                raise ValueError(cut_off)
            yield field, value
    except (IndexError, struct.error) as error:
        raise ValueError(cut_off) from error


def merges_by_score(scores: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return every pair of pieces that is a piece together, the best score first.

    SentencePiece merges the two neighbours that make the piece with the best score, whichever two
    they are. Several pairs can make one piece; among them, the order is that of the pieces.

    Parameters
    ----------
    scores : mapping of str to float
        The score of each piece, in the order of the pieces' ids.

    Returns
    -------
    list of tuple of str
        The merges of a byte-pair encoding.

    Notes
    -----
    Kudo and Richardson (2018), section 3.1.
    """
    ids = {piece: number for number, piece in enumerate(scores)}
    merges = []
    for piece in sorted(scores, key=lambda piece: -scores[piece]):
        cuts = ((piece[:cut], piece[cut:]) for cut in range(1, len(piece)))
        pairs = [(left, right) for left, right in cuts if left in ids and right in ids]
        merges += sorted(pairs, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
    return merges


def read_model(file: Path) -> Model:
    """Read a ``tokenizer.model``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is cut off, holds a model of another kind than BPE, or one that changes text in a way
        that this package does not implement.
    """
    try:
        content = list(fields(file.read_bytes()))
        entries = [dict(fields(value)) for number, value in content if number == 1]
        parts = dict(content)
        if not {1, 2, 3} <= parts.keys():
            raise ValueError("it lacks the pieces, or how they were trained, or the normalizer")
        training, normalizer = dict(fields(parts[2])), dict(fields(parts[3]))
        pieces = [(e[1].decode(), e.get(2, 0.0), e.get(3, _NORMAL)) for e in entries]
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{file} is missing") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{file} is no SentencePiece model, or cut off: {error}") from error
    if (kind := _MODELS.get(training.get(3, 1))) != "BPE":
        raise ValueError(f"{file} holds a model of the kind {kind}; expected BPE")
    changes = [
        name
        for name, wrong in (
            ("a character map", normalizer.get(2)),
            ("remove_extra_whitespaces=True", normalizer.get(4, 1)),
            ("escape_whitespaces=False", not normalizer.get(5, 1)),
            ("treat_whitespace_as_suffix=True", training.get(24)),
            ("user-defined pieces", any(kind == _USER_DEFINED for _, _, kind in pieces)),
            ("unused pieces", any(kind == _UNUSED for _, _, kind in pieces)),
        )
        if wrong
    ]
    if changes:
        raise ValueError(f"{file} has {', '.join(changes)}, which this package does not implement")
    named = {kind: [piece for piece, _, own in pieces if own == kind] for kind in range(1, 7)}
    return Model(
        [piece for piece, _, _ in pieces],
        merges_by_score({piece: score for piece, score, kind in pieces if kind == _NORMAL}),
        named[_UNKNOWN] + named[_CONTROL],
        named[_UNKNOWN][0] if named[_UNKNOWN] else None,
        bool(normalizer.get(3, 1)),
    )
