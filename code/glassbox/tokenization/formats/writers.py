"""Write a tokenizer of each class into its folder (chapter 2)."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

from glassbox.tokenization.bpe import BPE, END_OF_TEXT
from glassbox.tokenization.formats import files
from glassbox.tokenization.formats.tokenizer_json import tokenizer_json
from glassbox.tokenization.pre_tokenize import METASPACE
from glassbox.tokenization.tokenizer import Tokenizer
from glassbox.tokenization.unigram import Unigram
from glassbox.tokenization.wordpiece import WordPiece


def _write_bpe(tokenizer: BPE, path: Path) -> dict[str, Any]:
    files.write_merges(path / files.MERGES_TXT, tokenizer.merges)
    files.write_json(path / files.VOCAB_JSON, tokenizer.vocabulary)
    end = END_OF_TEXT if END_OF_TEXT in tokenizer.special_tokens else None
    config: dict[str, Any] = {"add_prefix_space": tokenizer.add_prefix_space}
    config["tokenizer_class"] = "GPT2Tokenizer"
    return config | dict.fromkeys(("unk_token", "bos_token", "eos_token"), end)


def _write_wordpiece(tokenizer: WordPiece, path: Path) -> dict[str, Any]:
    files.write_vocab_txt(path / files.VOCAB_TXT, tokenizer.tokens)
    return {
        "do_lower_case": tokenizer.lowercase,
        "strip_accents": tokenizer.strip_accents,
        "tokenizer_class": "BertTokenizer",
    }


def _write_unigram(tokenizer: Unigram, path: Path) -> dict[str, Any]:
    space: dict[str, Any] = {"type": "Metaspace", "replacement": METASPACE}
    space |= {"prepend_scheme": "always", "split": True}
    steps = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, space]}
    normalizer = None
    if tokenizer.character_map is not None:
        table = base64.b64encode(tokenizer.character_map.table).decode()
        normalizer = {"type": "Precompiled", "precompiled_charsmap": table}
    content = tokenizer_json(
        tokenizer,
        normalizer=normalizer,
        pre_tokenizer=steps if tokenizer.collapse else space,
        decoder=space,
        model={
            "type": "Unigram",
            "unk_id": tokenizer.token_id(str(tokenizer.unknown_token)),
            "vocab": [[token, tokenizer.pieces.scores[token]] for token in tokenizer.tokens],
            "byte_fallback": False,
        },
    )
    files.write_json(path / files.TOKENIZER_JSON, content)
    return {
        "unk_token": tokenizer.unknown_token,
        "eos_token": tokenizer.end,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }


#: The functions that write a tokenizer of each class and return its options.
WRITERS: dict[type[Tokenizer], Callable[[Any, Path], dict[str, Any]]] = {
    BPE: _write_bpe,
    Unigram: _write_unigram,
    WordPiece: _write_wordpiece,
}
