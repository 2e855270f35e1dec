"""What is in the folder of a tokenizer of each class, read and written (chapter 2)."""

import base64
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from glassbox.checks import check_kind
from glassbox.files import atomic_update, read_json, write_json
from glassbox.tokenization import unigram, wordpiece
from glassbox.tokenization.bpe import BPE, END_OF_TEXT
from glassbox.tokenization.formats import files
from glassbox.tokenization.formats.spaces import read_prepend, spaces
from glassbox.tokenization.formats.tokenizer_json import (
    TokenizerFile,
    added_token,
    read_tokenizer_json,
    special,
    write_parts,
)
from glassbox.tokenization.pre_tokenize import METASPACE
from glassbox.tokenization.sentencepiece_bpe import SentencePieceBPE
from glassbox.tokenization.tokenizer import Tokenizer
from glassbox.tokenization.unigram import Unigram
from glassbox.tokenization.wordpiece import WordPiece

Config = Mapping[str, Any]
#: How the reference library writes spaces as ``▁``.
SPACE = {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": "always", "split": True}
#: How it first collapses any white space into one space.
COLLAPSE = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, SPACE]}


def _read_bpe_vocabulary(file: Path, config: Config) -> BPE:
    merges_file = file.with_name(files.MERGES_TXT)
    tokenizer = BPE(
        read_json(file),
        files.read_merges(merges_file),
        special_tokens=_special_tokens(file, config, (END_OF_TEXT,), normalizes=False),
        pad_token=_pad_token(config),
        add_prefix_space=bool(config.get("add_prefix_space", False)),
    )
    _check_merges(merges_file, tokenizer)
    return tokenizer


def _check_merges(file: Path, tokenizer: BPE) -> None:
    """Reject merges that do not build every token of several characters, except special tokens.

    A list of merges is a text file with one merge per line; truncated after any line, it is still
    valid. The vocabulary exposes the loss, because a merge built each of its longer tokens.
    """
    special, merges = tokenizer.special_tokens, tokenizer.merges
    longer = [token for token in tokenizer.tokens if len(token) > 1 and token not in special]
    built = {"".join(pair) for pair in merges}
    if missing := [token for token in longer if token not in built]:
        raise ValueError(
            f"{file}: the {len(merges)} merges build {len(longer) - len(missing)} of the "
            f"{len(longer)} tokens of several characters in the vocabulary; no merge builds "
            f"{missing[0]!r}. Is the list of merges truncated? If it is complete, name the tokens "
            "that no merge builds in special_tokens"
        )


def _read_bpe_json(file: Path, config: Config) -> BPE:
    parts = _bpe_parts(file, byte_fallback=False)
    parts.expect("normalizer", type=None)
    parts.expect("pre_tokenizer", type="ByteLevel", use_regex=True)
    parts.expect("post_processor", type=(None, "ByteLevel", "TemplateProcessing"))
    parts.expect_frame(None, None, again=False)
    return BPE(
        parts.vocabulary,
        parts.merges,
        special_tokens=parts.special_tokens,
        pad_token=_pad_token(config),
        add_prefix_space=bool(parts.part("pre_tokenizer").get("add_prefix_space", False)),
    )


def _bpe_parts(file: Path, *, byte_fallback: bool) -> TokenizerFile:
    """Read the file of a byte-pair encoding, either byte-level or with byte fallback."""
    parts = read_tokenizer_json(file, "BPE")
    given = bool(parts.part("model").get("byte_fallback"))
    if given != byte_fallback:
        loader = "SentencePieceBPE.load" if given else "BPE.load"
        raise ValueError(f"{file}: the model has byte_fallback={given}: load it with {loader}")
    parts.expect("model", dropout=None, ignore_merges=False)
    parts.expect("model", continuing_subword_prefix="", end_of_word_suffix="")
    return parts


def _write_bpe(tokenizer: BPE, path: Path) -> dict[str, Any]:
    files.write_merges(path / files.MERGES_TXT, tokenizer.merges)
    write_json(path / files.VOCAB_JSON, tokenizer.vocabulary)
    end = END_OF_TEXT if END_OF_TEXT in tokenizer.special_tokens else None
    config = {"add_prefix_space": tokenizer.add_prefix_space, "tokenizer_class": "GPT2Tokenizer"}
    return config | dict.fromkeys(("unk_token", "bos_token", "eos_token"), end)


def _read_wordpiece_txt(file: Path, config: Config) -> WordPiece:
    if not config.get("tokenize_chinese_chars", True):
        raise ValueError(
            f"{file.with_name(files.CONFIG_JSON)} has tokenize_chinese_chars=False; this class "
            "always takes Chinese characters one by one"
        )
    return WordPiece(
        files.read_vocab_txt(file),
        lowercase=bool(config.get("do_lower_case", True)),
        strip_accents=config.get("strip_accents"),
        special_tokens=_special_tokens(file, config, wordpiece.SPECIAL_TOKENS, normalizes=True),
    )


def _read_wordpiece_json(file: Path, config: Config) -> WordPiece:
    parts = read_tokenizer_json(file, "WordPiece")
    parts.expect("model", unk_token=wordpiece.UNKNOWN, continuing_subword_prefix=wordpiece.PREFIX)
    parts.expect("model", max_input_chars_per_word=wordpiece.MAX_WORD_LENGTH)
    parts.expect("normalizer", type="BertNormalizer", clean_text=True, handle_chinese_chars=True)
    parts.expect("pre_tokenizer", type="BertPreTokenizer")
    parts.expect("post_processor", type=("TemplateProcessing", "BertProcessing"))
    parts.expect_frame(wordpiece.CLASSIFY, wordpiece.SEPARATE, again=False)
    normalizer = parts.part("normalizer")
    return WordPiece(
        parts.vocabulary,
        lowercase=bool(normalizer.get("lowercase", True)),
        strip_accents=normalizer.get("strip_accents"),
        special_tokens=parts.special_tokens,
    )


def _write_wordpiece(tokenizer: WordPiece, path: Path) -> dict[str, Any]:
    files.write_vocab_txt(path / files.VOCAB_TXT, tokenizer.tokens)
    return {
        "do_lower_case": tokenizer.lowercase,
        "strip_accents": tokenizer.strip_accents,
        "tokenizer_class": "BertTokenizer",
    }


def _read_sentencepiece_json(file: Path, config: Config) -> SentencePieceBPE:
    parts = _bpe_parts(file, byte_fallback=True)
    parts.expect("post_processor", type=(None, "TemplateProcessing"))
    start, end = parts.frame(again=True)
    tokenizer = SentencePieceBPE(
        parts.vocabulary,
        parts.merges,
        special_tokens=parts.special_tokens,
        unknown_token=parts.part("model").get("unk_token"),
        pad_token=_pad_token(config),
        start=start,
        end=end,
        prepend=read_prepend(parts),
    )
    inner = next((token for token in map("".join, parts.merges) if METASPACE in token[1:]), None)
    pre_tokenizer = parts.part("pre_tokenizer")
    if inner and pre_tokenizer and pre_tokenizer.get("split", True):
        raise ValueError(
            f"{file}: the pre_tokenizer has split=True, but a merge builds {inner!r}, which spans "
            "two words; this package implements split=False only"
        )
    return tokenizer


def _read_sentencepiece_model(file: Path, config: Config) -> SentencePieceBPE:
    return SentencePieceBPE.from_model(file, pad_token=_pad_token(config))


def _write_sentencepiece(tokenizer: SentencePieceBPE, path: Path) -> dict[str, Any]:
    model = {
        "type": "BPE",
        "unk_token": tokenizer.unknown_token,
        "fuse_unk": True,
        "byte_fallback": True,
        "vocab": tokenizer.vocabulary,
        "merges": tokenizer.merges,
    }
    return write_parts(path, tokenizer, second_type=1, model=model, **spaces(tokenizer.prepend))


def _read_unigram_json(file: Path, config: Config) -> Unigram:
    parts = read_tokenizer_json(file, "Unigram")
    parts.expect("model", byte_fallback=False)
    parts.expect("normalizer", type=(None, "Precompiled"))
    parts.expect("post_processor", type=(None, "TemplateProcessing"))
    space = parts.part("pre_tokenizer")
    steps = space.get("pretokenizers", [space])
    types, known = [step.get("type") for step in steps], ["WhitespaceSplit", "Metaspace"]
    if types not in (known, known[1:]):
        raise ValueError(
            f"{file}: the pre_tokenizer's steps are {types}; this package implements {known} and "
            f"{known[1:]} only"
        )
    last = TokenizerFile(str(file), {"pre_tokenizer": steps[-1]})
    last.expect("pre_tokenizer", replacement=METASPACE, prepend_scheme="always")
    last.expect("pre_tokenizer", add_prefix_space=True, split=True)
    pieces = [(token, score) for token, score in parts.part("model")["vocab"]]
    unknown = parts.part("model").get("unk_id")
    if unknown is None or not 0 <= unknown < len(pieces):
        raise ValueError(
            f"{file}: unk_id is {unknown} with {len(pieces)} pieces; without an unknown token, "
            "text with a new character could not be encoded"
        )
    _, end = parts.frame(again=True)
    parts.expect_frame(None, end, again=True)
    scores = dict(pieces)
    pieces += [(token, 0.0) for token in parts.special_tokens if token not in scores]
    default = {"pad_token": unigram.PAD} if unigram.PAD in scores else {}
    table = parts.part("normalizer").get("precompiled_charsmap")
    return Unigram(
        pieces,
        special_tokens=parts.special_tokens,
        unknown_token=pieces[unknown][0],
        pad_token=_pad_token(config or default),
        end=end,
        collapse=types == known,
        character_map=base64.b64decode(table) if table else None,
    )


def _write_unigram(tokenizer: Unigram, path: Path) -> dict[str, Any]:
    normalizer = None
    if tokenizer.character_map is not None:
        table = base64.b64encode(tokenizer.character_map.table).decode()
        normalizer = {"type": "Precompiled", "precompiled_charsmap": table}
    model = {
        "type": "Unigram",
        "unk_id": tokenizer.token_id(str(tokenizer.unknown_token)),
        "vocab": list(tokenizer.pieces.scores.items()),
        "byte_fallback": False,
    }
    marks = {"pre_tokenizer": COLLAPSE if tokenizer.collapse else SPACE, "decoder": SPACE}
    return write_parts(path, tokenizer, second_type=0, model=model, normalizer=normalizer, **marks)


def _pad_token(config: Config) -> str | None:
    """Return the padding token, which is written as a string or as an object."""
    token = config.get("pad_token")
    return token["content"] if isinstance(token, dict) else token


def _special_tokens(
    file: Path, config: Config, default: tuple[str, ...], *, normalizes: bool
) -> tuple[str, ...]:
    """Return the special tokens in ``tokenizer_config.json``, in the order of their ids.

    An empty list means none; the ``default`` holds for a file without a list.
    """
    if (added := config.get("added_tokens_decoder")) is None:
        return default
    name = str(file.with_name(files.CONFIG_JSON))
    return special(name, [added[n] for n in sorted(added, key=int)], normalizes=normalizes)


#: The functions that read each class, by file; the first file that exists is read.
READERS: dict[type[Tokenizer], dict[str, Callable[[Path, Config], Any]]] = {
    BPE: {files.VOCAB_JSON: _read_bpe_vocabulary, files.TOKENIZER_JSON: _read_bpe_json},
    SentencePieceBPE: {
        files.TOKENIZER_JSON: _read_sentencepiece_json,
        files.TOKENIZER_MODEL: _read_sentencepiece_model,
    },
    Unigram: {files.TOKENIZER_JSON: _read_unigram_json},
    WordPiece: {files.VOCAB_TXT: _read_wordpiece_txt, files.TOKENIZER_JSON: _read_wordpiece_json},
}
#: The functions that write a tokenizer of each class and return its options.
WRITERS: dict[type[Tokenizer], Callable[[Any, Path], dict[str, Any]]] = {
    BPE: _write_bpe,
    SentencePieceBPE: _write_sentencepiece,
    Unigram: _write_unigram,
    WordPiece: _write_wordpiece,
}
#: The names of the classes.
KINDS = tuple(kind.__name__ for kind in READERS)


def save(tokenizer: Tokenizer, folder: str | os.PathLike[str]) -> None:
    """Write a tokenizer into a folder, whose old files stay until all new ones are written.

    Parameters
    ----------
    tokenizer : Tokenizer
        One of this package.
    folder : str or path
        Created if it is missing.

    Raises
    ------
    FileExistsError
        If ``folder`` is a file.
    ValueError
        If a file holds one token per line and a token does not fit on a line, or if the class of
        the tokenizer is not in :data:`WRITERS`.
    """
    check_kind("the class", type(tokenizer).__name__, KINDS)
    ids = tokenizer.vocabulary
    added = {str(ids[token]): added_token(token) for token in tokenizer.special_tokens}
    with atomic_update(folder) as beside:
        config = WRITERS[type(tokenizer)](tokenizer, beside)
        config |= {"pad_token": tokenizer.pad_token, "added_tokens_decoder": added}
        write_json(beside / files.CONFIG_JSON, config, indent=2)


def load(kind: type[Tokenizer], folder: str | os.PathLike[str]) -> Any:
    """Read a tokenizer from a folder.

    Parameters
    ----------
    kind : type
        The class of the tokenizer.
    folder : str or path
        Holds at least one of the files in :data:`READERS`, of which the first found is read.

    Returns
    -------
    Tokenizer
        An instance of ``kind``.

    Raises
    ------
    FileNotFoundError
        If the folder or a file is missing.
    ValueError
        If a file is truncated or belongs to another kind of tokenizer, or if ``kind`` is not in
        :data:`READERS`.
    """
    check_kind("the class", kind.__name__, KINDS)
    readers = READERS[kind]
    path = files.find_folder(folder, *readers)
    file = path / files.CONFIG_JSON
    config = read_json(file) if file.is_file() else {}
    name = next(name for name in readers if (path / name).is_file())
    return readers[name](path / name, config)
