"""Model files of the library ``sentencepiece``: pieces and their scores (chapter 2)."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassbox.checks import need
from glassbox.tokenization.sentencepiece_bpe import START
from glassbox.tokenization.tokenizer import numbered


def merges_by_score(scores: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return every pair of pieces that joins into a piece, in descending order of score.

    SentencePiece merges the two neighbours that form the best-scoring piece, whichever two they
    are. Several pairs can form the same piece; these follow the order of the pieces.

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
    Kudo and Richardson (2018), section 3.2.
    """
    ids = numbered(scores)
    merges = []
    for piece in sorted(scores, key=lambda piece: -scores[piece]):
        cuts = ((piece[:cut], piece[cut:]) for cut in range(1, len(piece)))
        pairs = [(left, right) for left, right in cuts if left in ids and right in ids]
        merges += sorted(pairs, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
    return merges


def read_model(file: Path) -> dict[str, Any]:
    """Read the arguments of a :class:`SentencePieceBPE` from a ``tokenizer.model``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is truncated, is not a BPE model, or changes text in a way that this package does not
        implement.
    ModuleNotFoundError
        If ``sentencepiece`` is not installed.
    """
    layout = need("sentencepiece.sentencepiece_model_pb2", f"reading {file.name}", "models")
    from google.protobuf.message import DecodeError

    model = layout.ModelProto()
    try:
        model.ParseFromString(file.read_bytes())
        if not model.pieces or not all(map(model.HasField, ("trainer_spec", "normalizer_spec"))):
            raise ValueError("it lacks the pieces, or how they were trained, or the normalizer")
    except (DecodeError, ValueError) as error:
        raise ValueError(f"{file} is not a SentencePiece model, or truncated: {error}") from error
    training, normalizer = model.trainer_spec, model.normalizer_spec
    if training.model_type != training.BPE:
        kind = training.ModelType.Name(training.model_type)
        raise ValueError(f"{file} holds a model of the kind {kind}; expected BPE")
    kinds: dict[str, dict[str, float]] = defaultdict(dict)  # the scores of the pieces of each kind
    for piece in model.pieces:
        kinds[piece.Type.Name(piece.type)][piece.piece] = piece.score
    changes = {
        "a character map": normalizer.precompiled_charsmap,
        "remove_extra_whitespaces=True": normalizer.remove_extra_whitespaces,
        "escape_whitespaces=False": not normalizer.escape_whitespaces,
        "treat_whitespace_as_suffix=True": training.treat_whitespace_as_suffix,
        "user-defined pieces": kinds["USER_DEFINED"],
        "unused pieces": kinds["UNUSED"],
    }
    if found := [name for name, there in changes.items() if there]:
        raise ValueError(f"{file} has {', '.join(found)}, which this package does not implement")
    return {
        "vocabulary": numbered(piece.piece for piece in model.pieces),
        "merges": merges_by_score(kinds["NORMAL"]),
        "special_tokens": [*kinds["UNKNOWN"], *kinds["CONTROL"]],
        "unknown_token": next(iter(kinds["UNKNOWN"]), None),
        "start": START if START in kinds["CONTROL"] else None,
        "prepend": "always" if normalizer.add_dummy_prefix else "never",
    }
