"""Read a tokenizer of each class from the files in its folder (chapter 2)."""

import base64
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from glassbox.tokenization import unigram, wordpiece
from glassbox.tokenization.bpe import BPE, END_OF_TEXT
from glassbox.tokenization.checks import check_all_merges
from glassbox.tokenization.formats import files
from glassbox.tokenization.formats.tokenizer_json import read_tokenizer_json
from glassbox.tokenization.tokenizer import Tokenizer
from glassbox.tokenization.unigram import Unigram
from glassbox.tokenization.wordpiece import WordPiece

Config = Mapping[str, Any]
#: The pre_tokenizers of a Unigram that collapses any white space into one space.
UNIGRAM_STEPS = ["WhitespaceSplit", "Metaspace"]


def read_bpe(
    vocabulary: str | os.PathLike[str], merges: str | os.PathLike[str], **options: Any
) -> BPE:
    """Read a vocabulary and merges, as :meth:`BPE.from_files` describes.

    Raises
    ------
    FileNotFoundError, ValueError
        As :meth:`BPE.from_files`.
    """
    pairs = files.read_merges(Path(merges))
    tokenizer = BPE(files.read_vocab_json(Path(vocabulary)), pairs, **options)
    try:
        check_all_merges(pairs, tokenizer.vocabulary, tokenizer.special_tokens)
    except ValueError as error:
        raise ValueError(f"{merges}: {error}") from error
    return tokenizer


def _read_bpe_vocabulary(file: Path, config: Config) -> BPE:
    return read_bpe(
        file,
        file.with_name(files.MERGES_TXT),
        special_tokens=_special_tokens(config) or (END_OF_TEXT,),
        pad_token=_pad_token(config),
        add_prefix_space=bool(config.get("add_prefix_space", False)),
    )


def _read_bpe_json(file: Path, config: Config) -> BPE:
    parts = read_tokenizer_json(file, "BPE")
    parts.expect("model", byte_fallback=False, dropout=None, ignore_merges=False)
    parts.expect("model", continuing_subword_prefix="", end_of_word_suffix="")
    parts.expect("normalizer", type=None)
    parts.expect("pre_tokenizer", type="ByteLevel", use_regex=True)
    parts.expect("post_processor", type=(None, "ByteLevel"))
    return BPE(
        parts.vocabulary,
        parts.merges,
        special_tokens=parts.special_tokens,
        pad_token=_pad_token(config),
        add_prefix_space=bool(parts.part("pre_tokenizer").get("add_prefix_space", False)),
    )


def _read_wordpiece_vocabulary(file: Path, config: Config) -> WordPiece:
    if not config.get("tokenize_chinese_chars", True):
        raise ValueError(
            f"{file.with_name(files.CONFIG_JSON)} has tokenize_chinese_chars=False; this class "
            "always takes Chinese characters one by one"
        )
    return WordPiece(
        files.read_vocab_txt(file),
        lowercase=bool(config.get("do_lower_case", True)),
        strip_accents=config.get("strip_accents"),
        special_tokens=_special_tokens(config) or wordpiece.SPECIAL_TOKENS,
    )


def _read_wordpiece_json(file: Path, config: Config) -> WordPiece:
    parts = read_tokenizer_json(file, "WordPiece")
    parts.expect("model", unk_token=wordpiece.UNKNOWN, continuing_subword_prefix=wordpiece.PREFIX)
    parts.expect("model", max_input_chars_per_word=wordpiece.MAX_WORD_LENGTH)
    parts.expect("normalizer", type="BertNormalizer", clean_text=True, handle_chinese_chars=True)
    parts.expect("pre_tokenizer", type="BertPreTokenizer")
    normalizer = parts.part("normalizer")
    return WordPiece(
        parts.vocabulary,
        lowercase=bool(normalizer.get("lowercase", True)),
        strip_accents=normalizer.get("strip_accents"),
        special_tokens=parts.special_tokens,
    )


def _read_unigram_json(file: Path, config: Config) -> Unigram:
    parts = read_tokenizer_json(file, "Unigram")
    parts.expect("model", byte_fallback=False)
    parts.expect("normalizer", type=(None, "Precompiled"))
    parts.expect("pre_tokenizer", type=("Metaspace", "Sequence"))
    parts.expect("post_processor", type=(None, "TemplateProcessing"))
    collapse = parts.part("pre_tokenizer")["type"] == "Sequence"
    steps = [step.get("type") for step in parts.part("pre_tokenizer").get("pretokenizers", ())]
    if collapse and steps != UNIGRAM_STEPS:
        raise ValueError(
            f"{file}: the pre_tokenizer's steps are {steps}; this package implements "
            f"{UNIGRAM_STEPS} only"
        )
    model = parts.part("model")
    pieces = [(token, score) for token, score in model["vocab"]]
    unknown = model.get("unk_id")
    if unknown is None or not 0 <= unknown < len(pieces):
        raise ValueError(
            f"{file}: unk_id is {unknown} with {len(pieces)} pieces; without an unknown token, "
            "text with a new character could not be encoded"
        )
    start, end = parts.frame
    if start is not None:
        raise ValueError(
            f"{file}: the post_processor puts {start!r} in front of a text; a Unigram puts "
            "nothing there"
        )
    known = {token for token, _ in pieces}
    pieces += [(t["content"], 0.0) for t in parts.added if t["content"] not in known]
    table = parts.part("normalizer").get("precompiled_charsmap")
    return Unigram(
        pieces,
        special_tokens=parts.special_tokens,
        unknown_token=pieces[unknown][0],
        pad_token=_pad_token(
            config or {"pad_token": unigram.PAD if unigram.PAD in known else None}
        ),
        end=end,
        collapse=collapse,
        character_map=base64.b64decode(table) if table else None,
    )


def _pad_token(config: Config) -> str | None:
    """Return the padding token, which is written as a string or as an object."""
    token = config.get("pad_token")
    return token["content"] if isinstance(token, dict) else token


def _special_tokens(config: Config) -> tuple[str, ...]:
    """Return the special tokens in ``tokenizer_config.json``, in the order of their ids."""
    added = config.get("added_tokens_decoder") or {}
    return tuple(added[number]["content"] for number in sorted(added, key=int))


#: The functions that read each class, by file; the first file that exists is read.
READERS: dict[type[Tokenizer], dict[str, Callable[[Path, Config], Any]]] = {
    BPE: {files.VOCAB_JSON: _read_bpe_vocabulary, files.TOKENIZER_JSON: _read_bpe_json},
    Unigram: {files.TOKENIZER_JSON: _read_unigram_json},
    WordPiece: {
        files.VOCAB_TXT: _read_wordpiece_vocabulary,
        files.TOKENIZER_JSON: _read_wordpiece_json,
    },
}
