"""What the tokenizers refuse, and in which words: what was given, and what was expected."""

import json
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from glassbox.tokenization import (
    BPE,
    SentencePieceBPE,
    Tokenizer,
    Unigram,
    WordPiece,
    byte_alphabet,
)
from glassbox.tokenization.normalize import CharacterMap
from glassbox.tokenization.sentencepiece_bpe import BYTE_TOKENS

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b"]
BYTES = {character: number for number, character in enumerate(byte_alphabet().values())}
PIECES = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("a", -1.0)]

PREPEND = {"type": "Prepend", "prepend": "▁"}
BERT = {"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]}
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
DECODERS = [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
]


def numbered(*tokens: str) -> dict[str, int]:
    return {token: number for number, token in enumerate(tokens)}


def wrong(kind) -> Any:
    return kind


def wordpiece() -> Any:  # what is given on purpose is not what the annotations ask for
    return WordPiece(numbered(*TOKENS))


LLAMA = numbered("<unk>", "<s>", "</s>", *BYTE_TOKENS, "▁", "a", "b")


def llama(**changes) -> Any:
    options: Any = {"vocabulary": LLAMA, "merges": []} | changes
    return SentencePieceBPE(**options)


def template(single: str, pair: str, second_type: int = 1) -> dict:
    """A post_processor that puts special tokens around A and B."""

    def steps(names: list[str], kind: int) -> list[dict]:
        types = {"type_id": kind}
        return [{"Sequence" if n in "AB" else "SpecialToken": {"id": n} | types} for n in names]

    place = pair.index("B")
    first, second = pair[:place].split(), pair[place:].split()
    both = steps(first, 0) + steps(second, second_type)
    return {"type": "TemplateProcessing", "single": steps(single.split(), 0), "pair": both}


def sentencepiece_model(
    pieces=("<unk>", "▁", "a"), kinds=(2, 1, 1), training=((3, 2),), normalizer=((4, 0),)
) -> bytes:
    """A tokenizer.model, in the wire format of protocol buffers."""

    def message(fields) -> bytes:
        parts = []
        for number, value in fields:
            if isinstance(value, int):
                parts.append(bytes([number << 3, value]))
            else:
                parts.append(bytes([number << 3 | 2, len(value)]) + value)
        return b"".join(parts)

    entries = [(1, message([(1, p.encode()), (3, k)])) for p, k in zip(pieces, kinds, strict=True)]
    return message([*entries, (2, message(training)), (3, message(normalizer))])


def bpe(**changes) -> Any:
    options: Any = {"vocabulary": BYTES, "merges": [], "special_tokens": ()} | changes
    return BPE(**options)


def in_folder(kind, **files):
    """Write files (the name's last underscore stands for the dot) and load a tokenizer."""

    def attempt(folder):
        for name, content in files.items():
            content = content if isinstance(content, str | bytes) else json.dumps(content)
            content = content.encode() if isinstance(content, str) else content
            (folder / ".".join(name.rsplit("_", 1))).write_bytes(content)
        return kind.load(folder)

    return attempt


def model(kind: str, **parts) -> dict:
    """A tokenizer.json with changes."""
    kinds: dict[str, dict[str, Any]] = {
        "WordPiece": {
            "normalizer": {"type": "BertNormalizer"},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": template("[CLS] A [SEP]", "[CLS] A [SEP] B [SEP]"),
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            "model": {"type": "WordPiece", "vocab": numbered(*TOKENS)},
        },
        "BPE": {
            "pre_tokenizer": {"type": "ByteLevel"},
            "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "vocab": BYTES, "merges": []},
        },
        "LLaMA": {
            "normalizer": {"type": "Sequence", "normalizers": [PREPEND, REPLACE]},
            "post_processor": template("<s> A", "<s> A <s> B"),
            "decoder": {"type": "Sequence", "decoders": DECODERS},
            "model": {"type": "BPE", "byte_fallback": True, "vocab": LLAMA, "merges": []},
        },
        "Unigram": {
            "pre_tokenizer": {"type": "Metaspace"},
            "decoder": {"type": "Metaspace"},
            "model": {"type": "Unigram", "unk_id": 2, "vocab": PIECES},
        },
    }
    content = kinds[kind]
    parts["model"] = content["model"] | parts.get("model", {})
    return content | parts


TEXT = {
    "bytes as text": (lambda: wordpiece().encode(b"a"), TypeError, ["bytes", "b'a'", "a string"]),
    "no text": (lambda: wordpiece().tokenize(None), TypeError, ["NoneType", "a string"]),
    "a list as text": (lambda: bpe().encode(["a"]), TypeError, ["list", "['a']", "a string"]),
    "a number as second text": (lambda: wordpiece().encode("a", 3), TypeError, ["int", "3"]),
    "half a surrogate pair": (
        lambda: bpe().encode("ab\ud83d"),
        ValueError,
        ["U+D83D", "position 2", "surrogate"],
    ),
    "a text that an unknown token would stand for": (
        lambda: wrong(Unigram)(PIECES, unknown_token=None).encode("b"),
        KeyError,
        ["'▁b'", "4"],
    ),
    "a batch that is one text": (
        lambda: wordpiece().encode_batch("a b"),
        TypeError,
        ["str", "'a b'", "[text]"],
    ),
    "a batch of numbers": (lambda: wordpiece().encode_batch([1, 2]), TypeError, ["int"]),
    "a batch with a text that is missing": (
        lambda: wordpiece().encode_batch(["a", None]),
        TypeError,
        ["NoneType", "a string"],
    ),
    "a batch with three texts for two": (
        lambda: wordpiece().encode_batch([("a", "b", "c")]),
        TypeError,
        ["tuple", "('a', 'b', 'c')", "a string"],
    ),
    **{
        f"a {type(pair).__name__} for two texts": (
            partial(wordpiece().encode_batch, [pair]),
            TypeError,
            [type(pair).__name__, "a string"],
        )
        for pair in ({"a": 1, "b": 2}, {"a", "b"}, ("a", None))
    },
    "a batch of nothing": (lambda: wordpiece().encode_batch([]), ValueError, ["0 texts"]),
    "a batch of empty texts": (lambda: bpe().encode_batch(["", ""]), ValueError, ["2 texts"]),
    "a batch without padding": (
        lambda: bpe().encode_batch(["a", "abc"]),
        ValueError,
        ["1 to 3 tokens", "pad_token"],
    ),
    "a side that is none": (
        lambda: wordpiece().encode_batch(["a"], padding_side="top"),
        ValueError,
        ["padding_side='top'", "['left', 'right']"],
    ),
}
IDS = {
    "an id past the end": (
        lambda: wordpiece().decode([5, 7]),
        ValueError,
        ["ids[1] is 7", "7 tokens", "0 to 6"],
    ),
    "a negative id": (lambda: bpe().decode([-1]), ValueError, ["ids[0] is -1", "0 to 255"]),
    "a fraction": (lambda: bpe().decode([1.0]), TypeError, ["ids[0] is of type float, 1.0"]),
    "a truth value": (lambda: bpe().decode([True]), TypeError, ["True", "bool"]),
    "a token for an id": (lambda: bpe().decode(["a"]), TypeError, ["'a'", "a whole number"]),
    "a text for ids": (lambda: bpe().decode("12"), TypeError, ["str", "'12'"]),
    "one number for ids": (lambda: bpe().decode(12), TypeError, ["int", "12"]),
    "a batch of ids": (
        lambda: bpe().decode(torch.zeros(2, 3, dtype=torch.int64)),
        ValueError,
        ["(2, 3)", "one axis"],
    ),
    "a batch of ids in an array": (
        lambda: bpe().decode(np.zeros((2, 3), dtype=np.int64)),
        ValueError,
        ["(2, 3)", "one axis"],
    ),
    "a batch of ids as a list of rows": (
        lambda: bpe().decode([*torch.zeros(2, 3, dtype=torch.int64)]),
        TypeError,
        ["ids[0] is of type list, [0, 0, 0]", "a whole number"],
    ),
    "fractions in a list of tensors": (
        lambda: bpe().decode([torch.tensor(1.5)]),
        TypeError,
        ["ids[0] is of type float, 1.5"],
    ),
    "fractions in a tensor": (lambda: bpe().decode(torch.ones(2)), TypeError, ["1.0", "float"]),
    "a token that is not there": (lambda: wordpiece().token_id("zz"), KeyError, ["'zz'", "7"]),
}
VOCABULARIES = {
    "an empty vocabulary": (lambda: WordPiece({}), ValueError, ["empty", "at least one token"]),
    "a word for a truth value, lowercase": (
        lambda: wrong(WordPiece)(numbered(*TOKENS), lowercase="false"),
        TypeError,
        ["lowercase is of type str, 'false'", "True or False"],
    ),
    "a word for a truth value, strip_accents": (
        lambda: wrong(WordPiece)(numbered(*TOKENS), strip_accents="no"),
        TypeError,
        ["strip_accents is of type str, 'no'", "True, False or None"],
    ),
    "a word for a truth value, add_prefix_space": (
        lambda: bpe(add_prefix_space="no"),
        TypeError,
        ["add_prefix_space is of type str, 'no'", "True or False"],
    ),
    "a word for a truth value, collapse": (
        lambda: wrong(Unigram)(PIECES, collapse="no"),
        TypeError,
        ["collapse is of type str, 'no'", "True or False"],
    ),
    "no mapping": (lambda: wrong(WordPiece)(TOKENS), TypeError, ["list", "mapping"]),
    "an id twice": (
        lambda: WordPiece({**numbered(*TOKENS), "c": 3}),
        ValueError,
        ["'[SEP]'", "'c'", "id 3"],
    ),
    "an id left out": (
        lambda: WordPiece({**numbered(*TOKENS), "c": 9}),
        ValueError,
        ["no token has the id 7", "0 to 7", "up to 9"],
    ),
    "an id that is no number": (lambda: bpe(vocabulary={"a": "0"}), TypeError, ["'a'", "'0'"]),
    "no unknown token": (
        lambda: WordPiece(numbered("a", "b"), special_tokens=()),
        ValueError,
        ["unknown_token='[UNK]'", "2 tokens"],
    ),
    "no separator": (
        lambda: WordPiece(numbered("[UNK]", "[PAD]", "[CLS]"), special_tokens=()),
        ValueError,
        ["end='[SEP]'", "3 tokens"],
    ),
    "a special token that is not there": (
        lambda: bpe(special_tokens=("<s>",)),
        ValueError,
        ["special token='<s>'", "256 tokens"],
    ),
    "an empty special token": (lambda: bpe(special_tokens=("",)), ValueError, ["('',)", "empty"]),
    "special tokens that are none": (
        lambda: bpe(special_tokens=(None,)),
        ValueError,
        ["(None,)", "sequence of tokens"],
    ),
    "special tokens that a generator yields": (
        lambda: bpe(special_tokens=(token for token in "ab")),
        ValueError,
        ["generator", "sequence of tokens"],
    ),
    "a special token that a byte is written as": (
        lambda: BPE.train(["a"], 300, special_tokens=("§",)),
        ValueError,
        ["the special token '§'", "bytes of other text", "'<|§|>'"],
    ),
    "a special token that a merge builds of other text": (
        lambda: BPE.train(["a a"], 300, special_tokens=("Ġa",)),
        ValueError,
        ["the special token 'Ġa'", "'<|Ġa|>'"],
    ),
    "special tokens in one string": (lambda: bpe(special_tokens="<s>"), ValueError, ["'<s>'"]),
    "padding that is not there": (
        lambda: bpe(pad_token="<pad>"),
        ValueError,
        ["pad_token='<pad>'", "256 tokens"],
    ),
    "a byte that is missing": (
        lambda: BPE(numbered("a", "b"), [], special_tokens=()),
        ValueError,
        ["lacks 254 of the 256 byte tokens", "'!'", "byte 33"],
    ),
    "a merge of an unknown token": (
        lambda: bpe(merges=[("a", "bc")]),
        ValueError,
        ["merge 0", "('a', 'bc')", "'bc'", "256"],
    ),
    "merges as lines of a file": (
        lambda: bpe(merges=["a b"]),
        ValueError,
        ["merge 0 is 'a b'", "two tokens"],
    ),
    "a merge into an unknown token": (
        lambda: bpe(merges=[("a", "b")]),
        ValueError,
        ["merge 0", "'ab'", "256"],
    ),
    "a merge twice": (
        lambda: bpe(vocabulary=BYTES | {"ab": 256}, merges=[("a", "b")] * 2),
        ValueError,
        ["('a', 'b')", "twice"],
    ),
    "a byte token that is missing": (
        lambda: llama(vocabulary=numbered(*(token for token in LLAMA if token != "<0x0A>"))),
        ValueError,
        ["lacks 1 of the 256 byte tokens", "'<0x0A>'"],
    ),
    "GPT-2's vocabulary for LLaMA's": (
        lambda: llama(vocabulary=BYTES, special_tokens=(), unknown_token=None, start=None),
        ValueError,
        ["lacks 256 of the 256 byte tokens", "its class is BPE"],
    ),
    "a vocabulary without a space": (
        lambda: llama(vocabulary=numbered(*(token for token in LLAMA if token != "▁"))),
        ValueError,
        ["261 tokens", "'▁' (U+2581)"],
    ),
    "a merge into no piece": (
        lambda: llama(merges=[("a", "b")]),
        ValueError,
        ["merge 0, ('a', 'b')", "'ab'", "262"],
    ),
    "a merge twice in LLaMA's": (
        lambda: llama(vocabulary=LLAMA | {"ab": 262}, merges=[("a", "b")] * 2),
        ValueError,
        ["('a', 'b')", "twice"],
    ),
    "a space at no known place": (
        lambda: llama(prepend="sometimes"),
        ValueError,
        ["prepend='sometimes'", "'always', 'first', 'missing', 'never'"],
    ),
    "a start that is not there": (
        lambda: llama(start="<bos>"),
        ValueError,
        ["start='<bos>'", "262 tokens"],
    ),
    "a piece twice": (lambda: Unigram([*PIECES, ("a", -1.0)]), ValueError, ["'a'", "2 times"]),
    "a piece with two scores": (lambda: Unigram([*PIECES, ("a", -2.0)]), ValueError, ["'a'"]),
    "an empty piece": (lambda: Unigram([*PIECES, ("", -2.0)]), ValueError, ["''", "empty"]),
    "a score that is no number": (
        lambda: Unigram([*PIECES, ("b", math.nan)]),
        ValueError,
        ["'b'", "nan"],
    ),
    "pieces in a mapping": (lambda: wrong(Unigram)(dict(PIECES)), TypeError, ["dict", "score"]),
    "an endless score": (lambda: Unigram([*PIECES, ("b", -math.inf)]), ValueError, ["-inf"]),
    "pieces without an unknown one": (
        lambda: Unigram(PIECES[:2], special_tokens=()),
        ValueError,
        ["unknown_token='<unk>'", "2 tokens"],
    ),
    "no pieces": (lambda: Unigram([]), ValueError, ["empty"]),
    "a character map cut off": (
        lambda: CharacterMap(b"\x10\x00\x00\x00abc"),
        ValueError,
        ["7 bytes", "a trie of 16"],
    ),
    "a character map of nothing": (lambda: CharacterMap(b""), ValueError, ["0 bytes"]),
}
TRAINING = {
    "one text for many": (lambda: BPE.train("a b c", 300), TypeError, ["str", "'a b c'", "[text]"]),
    "a text that is none": (lambda: wrong(WordPiece).train(["a", 3], 50), TypeError, ["int", "3"]),
    "a surrogate in training": (lambda: Unigram.train(["\ud800"], 50), ValueError, ["U+D800"]),
    "nothing to learn from": (lambda: BPE.train([], 300), ValueError, ["no word"]),
    "white space alone": (lambda: WordPiece.train([" ", "\t"], 300), ValueError, ["no word"]),
    "no room for the bytes": (
        lambda: BPE.train(["a"], 256),
        ValueError,
        ["vocab_size=256", "257 tokens"],
    ),
    "no room for the characters": (
        lambda: WordPiece.train(["abc"], 7),
        ValueError,
        ["vocab_size=7", "10 tokens"],
    ),
    "no room for the pieces' characters": (
        lambda: Unigram.train(["abc"], 6),
        ValueError,
        ["vocab_size=6", "7 tokens"],
    ),
    "no room for the bytes and characters": (
        lambda: SentencePieceBPE.train(["ab a"], 261),
        ValueError,
        ["vocab_size=261", "262 tokens"],
    ),
    "a size with a fraction": (
        lambda: wrong(BPE).train(["a"], 300.5),
        TypeError,
        ["vocab_size is of type float, 300.5", "a whole number"],
    ),
    "a size in quotes": (
        lambda: wrong(Unigram).train(["a"], "300"),
        TypeError,
        ["vocab_size is of type str, '300'", "a whole number"],
    ),
    "a negative frequency": (
        lambda: BPE.train(["a"], 300, min_frequency=-3),
        ValueError,
        ["min_frequency=-3", "at least 0"],
    ),
    "a frequency in quotes": (
        lambda: wrong(WordPiece).train(["a"], 300, min_frequency="3"),
        ValueError,
        ["min_frequency='3'", "a number, at least 0"],
    ),
    "pieces of no character": (
        lambda: Unigram.train(["a"], 300, max_length=0),
        ValueError,
        ["max_length=0", "at least 1"],
    ),
    "a negative size": (lambda: BPE.train(["a"], -1), ValueError, ["vocab_size=-1", "257"]),
}
FILES = {
    "an empty folder, WordPiece": (
        in_folder(WordPiece),
        FileNotFoundError,
        ["tokenizer.json or vocab.txt"],
    ),
    "an empty folder, BPE": (in_folder(BPE), FileNotFoundError, ["tokenizer.json or vocab.json"]),
    "an empty folder, unigram": (in_folder(Unigram), FileNotFoundError, ["tokenizer.json"]),
    "no class of tokenizers": (
        lambda folder: Tokenizer.load(folder),
        ValueError,
        ["'Tokenizer'", "'BPE', 'SentencePieceBPE', 'Unigram', 'WordPiece'"],
    ),
    "a class of the user's own": (
        lambda folder: type("Mine", (WordPiece,), {})(numbered(*TOKENS)).save(folder),
        ValueError,
        ["'Mine'", "'WordPiece'"],
    ),
    "no folder": (
        lambda folder: BPE.load(folder / "nowhere"),
        FileNotFoundError,
        ["no folder", "nowhere", "vocab.json"],
    ),
    "a vocabulary without merges": (
        in_folder(BPE, vocab_json=BYTES),
        FileNotFoundError,
        ["merges.txt is missing"],
    ),
    "a vocabulary cut off": (
        in_folder(BPE, vocab_json=json.dumps(BYTES)[:500], merges_txt=""),
        ValueError,
        ["vocab.json is not JSON, or truncated"],
    ),
    "a list for a vocabulary": (
        in_folder(BPE, vocab_json=["a"], merges_txt=""),
        ValueError,
        ["holds a list", "JSON object"],
    ),
    "ids that are words": (
        in_folder(BPE, vocab_json={"a": "one"}, merges_txt=""),
        ValueError,
        ["vocab.json", "'a'", "'one'", "whole number"],
    ),
    "an added token without an id": (
        in_folder(BPE, tokenizer_json=model("BPE", added_tokens=[{"content": "a"}])),
        ValueError,
        ["tokenizer.json", "there is no 'id'"],
    ),
    "a piece without a score": (
        in_folder(Unigram, tokenizer_json=model("Unigram", model={"vocab": [["a"]]})),
        ValueError,
        ["tokenizer.json", "is damaged"],
    ),
    "a word for a part": (
        in_folder(BPE, tokenizer_json=model("BPE", pre_tokenizer="ByteLevel")),
        ValueError,
        ["tokenizer.json", "is damaged"],
    ),
    "a merge cut off": (
        in_folder(BPE, vocab_json=BYTES, merges_txt="#version: 0.2\na b\nc"),
        ValueError,
        ["line 3", "'c'", "two tokens"],
    ),
    "a merge of three": (
        in_folder(BPE, vocab_json=BYTES, merges_txt="a b c"),
        ValueError,
        ["line 1", "'a b c'"],
    ),
    "merges of another vocabulary": (
        in_folder(
            BPE,
            vocab_json=BYTES,
            merges_txt="a b\n",
            tokenizer_config_json={"added_tokens_decoder": {"0": {"content": "a"}}},
        ),
        ValueError,
        ["merge 0", "'ab'"],
    ),
    "merges cut off": (
        in_folder(
            BPE,
            vocab_json=BYTES | {"ab": 256, "abc": 257, "<|endoftext|>": 258},
            merges_txt="a b\n",
        ),
        ValueError,
        [
            "merges.txt: the 1 merges build 1 of the 2 tokens",
            "'abc'",
            "truncated",
            "special_tokens",
        ],
    ),
    "a merge of three in tokenizer.json": (
        in_folder(BPE, tokenizer_json=model("BPE", model={"merges": ["a b c"]})),
        ValueError,
        ["tokenizer.json", "merge 0 is ['a', 'b', 'c']", "two tokens"],
    ),
    "LLaMA's file as GPT-2's": (
        in_folder(BPE, tokenizer_json=model("LLaMA")),
        ValueError,
        ["byte_fallback=True", "SentencePieceBPE.load"],
    ),
    "GPT-2's file as LLaMA's": (
        in_folder(SentencePieceBPE, tokenizer_json=model("BPE")),
        ValueError,
        ["byte_fallback=False", "BPE.load"],
    ),
    "an empty folder, SentencePiece": (
        in_folder(SentencePieceBPE),
        FileNotFoundError,
        ["tokenizer.json or tokenizer.model"],
    ),
    "whole words before merges": (
        in_folder(SentencePieceBPE, tokenizer_json=model("LLaMA", model={"ignore_merges": True})),
        ValueError,
        ["ignore_merges=True", "False"],
    ),
    "another way to mark spaces": (
        in_folder(
            SentencePieceBPE,
            tokenizer_json=model("LLaMA", normalizer=None, pre_tokenizer={"type": "Whitespace"}),
        ),
        ValueError,
        ["the pre_tokenizer ['Whitespace']", "'Metaspace'"],
    ),
    "another normalizer in LLaMA's": (
        in_folder(SentencePieceBPE, tokenizer_json=model("LLaMA", normalizer={"type": "NFKC"})),
        ValueError,
        ["the normalizer ['NFKC']", "['Prepend', 'Replace']"],
    ),
    "a decoder that keeps the space in front": (
        in_folder(
            SentencePieceBPE,
            tokenizer_json=model("LLaMA", decoder={"type": "Sequence", "decoders": DECODERS[:-1]}),
        ),
        ValueError,
        ["['Replace', 'ByteFallback', 'Fuse']", "'Strip'", "remove one space in front"],
    ),
    "no decoder": (
        in_folder(SentencePieceBPE, tokenizer_json=model("LLaMA", decoder=None)),
        ValueError,
        ["['nothing']", "['Replace', 'ByteFallback', 'Fuse', 'Strip']"],
    ),
    "a special token that is normalized": (
        in_folder(
            SentencePieceBPE,
            tokenizer_json=model(
                "LLaMA", added_tokens=[{"id": 1, "content": "<s>", "normalized": True}]
            ),
        ),
        ValueError,
        ["'<s>'", "normalized=True", "set it to false"],
    ),
    "two tokens in front": (
        in_folder(
            SentencePieceBPE,
            tokenizer_json=model(
                "LLaMA", post_processor=template("<s> <s> A", "<s> <s> A <s> <s> B")
            ),
        ),
        ValueError,
        ["'<s> <s> A'", "at most one token"],
    ),
    "two tokens at the end": (
        in_folder(
            SentencePieceBPE,
            tokenizer_json=model(
                "LLaMA", post_processor=template("A <s> <s>", "A <s> <s> B <s> <s>")
            ),
        ),
        ValueError,
        ["'A <s> <s>'", "at most one token"],
    ),
    "a pair framed in another way": (
        in_folder(
            SentencePieceBPE,
            tokenizer_json=model("LLaMA", post_processor=template("<s> A", "<s> A B")),
        ),
        ValueError,
        ["'<s> A'", "'<s> A B'"],
    ),
    "a unigram with a start": (
        in_folder(
            Unigram,
            tokenizer_json=model("Unigram", post_processor=template("<s> A", "<s> A <s> B")),
        ),
        ValueError,
        ["'<s>'", "in front of a text"],
    ),
    "a pair that ends in another way": (
        in_folder(
            Unigram,
            tokenizer_json=model("Unigram", post_processor=template("A </s>", "A B </s>")),
        ),
        ValueError,
        ["'A </s>'", "'A B </s>'", "at most one token"],
    ),
    "a model of sentencepiece that is none": (
        in_folder(SentencePieceBPE, tokenizer_model='{"vocab": {}}'),
        ValueError,
        ["tokenizer.model is not a SentencePiece model, or truncated"],
    ),
    "a unigram of sentencepiece": (
        in_folder(SentencePieceBPE, tokenizer_model=sentencepiece_model(training=[(3, 1)])),
        ValueError,
        ["tokenizer.model", "kind UNIGRAM", "expected BPE"],
    ),
    "a model that changes text": (
        in_folder(
            SentencePieceBPE,
            tokenizer_model=sentencepiece_model(normalizer=[(2, b"map")], kinds=(2, 1, 4)),
        ),
        ValueError,
        ["a character map, remove_extra_whitespaces=True, user-defined pieces"],
    ),
    "a model without byte pieces": (
        in_folder(SentencePieceBPE, tokenizer_model=sentencepiece_model()),
        ValueError,
        ["lacks 256 of the 256 byte tokens"],
    ),
    "weights for a vocabulary": (
        in_folder(WordPiece, vocab_txt=b"\x80\xff\x00\x01"),
        ValueError,
        ["vocab.txt is not UTF-8 text"],
    ),
    "an empty file": (in_folder(WordPiece, vocab_txt=""), ValueError, ["line 1 is empty"]),
    "an empty line": (
        in_folder(WordPiece, vocab_txt="[UNK]\n\na\n"),
        ValueError,
        ["line 2 is empty"],
    ),
    "a token on two lines": (
        in_folder(WordPiece, vocab_txt="[UNK]\na\nb\na\n"),
        ValueError,
        ["'a'", "line 2", "line 4"],
    ),
    "a vocabulary without unknown": (
        in_folder(WordPiece, vocab_txt="[PAD]\n[CLS]\n[SEP]\n[MASK]\na\n"),
        ValueError,
        ["'[UNK]'", "5 tokens"],
    ),
    "a damaged configuration": (
        in_folder(WordPiece, vocab_txt="\n".join(TOKENS), tokenizer_config_json="{"),
        ValueError,
        ["tokenizer_config.json is not JSON"],
    ),
    "Chinese not cut": (
        in_folder(
            WordPiece,
            vocab_txt="\n".join(TOKENS),
            tokenizer_config_json={"tokenize_chinese_chars": False},
        ),
        ValueError,
        ["tokenize_chinese_chars=False"],
    ),
    "a tokenizer.json cut off": (
        in_folder(Unigram, tokenizer_json=json.dumps(model("Unigram"))[:-20]),
        ValueError,
        ["tokenizer.json is not JSON, or truncated"],
    ),
    "a tokenizer.json of something else": (
        in_folder(Unigram, tokenizer_json={"hidden_size": 8}),
        ValueError,
        ["no model"],
    ),
    "another kind of model": (
        in_folder(Unigram, tokenizer_json=model("WordPiece")),
        ValueError,
        ["'WordPiece'", "expected 'Unigram'"],
    ),
    "a model that does not say its kind": (
        in_folder(WordPiece, tokenizer_json=model("BPE", model={"type": None})),
        ValueError,
        ["None", "expected 'WordPiece'"],
    ),
    "a unigram without unknown": (
        in_folder(Unigram, tokenizer_json=model("Unigram", model={"unk_id": None})),
        ValueError,
        ["unk_id is None", "4 pieces"],
    ),
    "an unknown token past the end": (
        in_folder(Unigram, tokenizer_json=model("Unigram", model={"unk_id": 4})),
        ValueError,
        ["unk_id is 4", "4 pieces"],
    ),
    "bytes for unknown characters": (
        in_folder(Unigram, tokenizer_json=model("Unigram", model={"byte_fallback": True})),
        ValueError,
        ["byte_fallback=True", "False"],
    ),
    "another normalizer": (
        in_folder(Unigram, tokenizer_json=model("Unigram", normalizer={"type": "NFKC"})),
        ValueError,
        ["normalizer", "'NFKC'", "None or 'Precompiled'"],
    ),
    "no way to cut words": (
        in_folder(Unigram, tokenizer_json=model("Unigram", pre_tokenizer=None)),
        ValueError,
        ["pre_tokenizer", "None", "'Metaspace'"],
    ),
    "other steps": (
        in_folder(
            Unigram,
            tokenizer_json=model(
                "Unigram",
                pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Digits"}]},
            ),
        ),
        ValueError,
        ["['Digits']", "['WhitespaceSplit', 'Metaspace']"],
    ),
    "a space before the first word only": (
        in_folder(
            Unigram,
            tokenizer_json=model(
                "Unigram", pre_tokenizer={"type": "Metaspace", "prepend_scheme": "first"}
            ),
        ),
        ValueError,
        ["prepend_scheme='first'", "'always'"],
    ),
    "no space before the first word, as older files say it": (
        in_folder(
            Unigram,
            tokenizer_json=model(
                "Unigram",
                pre_tokenizer={
                    "type": "Metaspace",
                    "prepend_scheme": "always",
                    "add_prefix_space": False,
                },
            ),
        ),
        ValueError,
        ["add_prefix_space=False", "True"],
    ),
    "spaces as underscores, as the last step": (
        in_folder(
            Unigram,
            tokenizer_json=model(
                "Unigram",
                pre_tokenizer={
                    "type": "Sequence",
                    "pretokenizers": [
                        {"type": "WhitespaceSplit"},
                        {"type": "Metaspace", "replacement": "_"},
                    ],
                },
            ),
        ),
        ValueError,
        ["replacement='_'", "'▁'"],
    ),
    "nothing around BERT's texts": (
        in_folder(WordPiece, tokenizer_json=model("WordPiece", post_processor=None)),
        ValueError,
        ["post_processor", "None", "'TemplateProcessing' or 'BertProcessing'"],
    ),
    "no token in front of BERT's texts": (
        in_folder(
            WordPiece,
            tokenizer_json=model(
                "WordPiece", post_processor=template("A [SEP]", "A [SEP] B [SEP]")
            ),
        ),
        ValueError,
        ["None in front of a text and '[SEP]' after it", "'[CLS]' and '[SEP]' only"],
    ),
    "other tokens around BERT's texts": (
        in_folder(
            WordPiece,
            tokenizer_json=model(
                "WordPiece",
                post_processor=BERT | {"cls": BERT["sep"], "sep": BERT["cls"]},
            ),
        ),
        ValueError,
        ["'[SEP]' in front of a text and '[CLS]' after it", "'[CLS]' and '[SEP]' only"],
    ),
    "a token in front of BERT's second text": (
        in_folder(
            WordPiece,
            tokenizer_json=model(
                "WordPiece",
                post_processor=template("[CLS] A [SEP]", "[CLS] A [SEP] [CLS] B [SEP]"),
            ),
        ),
        ValueError,
        ["'[CLS] A [SEP] [CLS] B [SEP]' of a pair", "the same after the second"],
    ),
    "one type for both of BERT's texts": (
        in_folder(
            WordPiece,
            tokenizer_json=model(
                "WordPiece",
                post_processor=template("[CLS] A [SEP]", "[CLS] A [SEP] B [SEP]", 0),
            ),
        ),
        ValueError,
        ["tokenizer.json", "type_ids [0, 0, 0, 0, 0] in 'pair'", "[0, 0, 0, 1, 1] only"],
    ),
    "a space before a full stop of BERT's": (
        in_folder(
            WordPiece,
            tokenizer_json=model("WordPiece", decoder={"type": "WordPiece", "cleanup": False}),
        ),
        ValueError,
        ["tokenizer.json: decoder has cleanup=False", "True only"],
    ),
    "BERT's pieces that are not joined": (
        in_folder(WordPiece, tokenizer_json=model("WordPiece", decoder=None)),
        ValueError,
        ["tokenizer.json: decoder has type=None", "'WordPiece' only"],
    ),
    "two ends of T5's text": (
        in_folder(
            Unigram,
            tokenizer_json=model("Unigram", post_processor=template("A </s>", "A </s> B </s>")),
            tokenizer_config_json={"eos_token": "<pad>"},
        ),
        ValueError,
        [
            "tokenizer.json: the post_processor puts '</s>' after a text",
            "'<pad>' as eos_token",
            "make the two the same",
        ],
    ),
    "another way to cut words": (
        in_folder(BPE, tokenizer_json=model("BPE", pre_tokenizer={"type": "Whitespace"})),
        ValueError,
        ["pre_tokenizer", "'Whitespace'", "'ByteLevel'"],
    ),
    "merges left out at random": (
        in_folder(BPE, tokenizer_json=model("BPE", model={"dropout": 0.1})),
        ValueError,
        ["dropout=0.1", "None"],
    ),
    "marks at the ends of words": (
        in_folder(BPE, tokenizer_json=model("BPE", model={"end_of_word_suffix": "</w>"})),
        ValueError,
        ["end_of_word_suffix='</w>'"],
    ),
    "a frame around the text": (
        in_folder(BPE, tokenizer_json=model("BPE", post_processor=template("<s> A", "<s> A B"))),
        ValueError,
        ["tokenizer.json: the post_processor puts '<s>' in front of a text", "None and None only"],
    ),
    "RoBERTa's frame around the text": (
        in_folder(BPE, tokenizer_json=model("BPE", post_processor={"type": "RobertaProcessing"})),
        ValueError,
        ["post_processor", "'RobertaProcessing'", "'ByteLevel' or 'TemplateProcessing'"],
    ),
    "another mark of continuation": (
        in_folder(
            WordPiece,
            tokenizer_json=model("WordPiece", model={"continuing_subword_prefix": "@@"}),
        ),
        ValueError,
        ["continuing_subword_prefix='@@'", "'##'"],
    ),
    "a special token with room around it": (
        in_folder(
            WordPiece,
            tokenizer_json=model(
                "WordPiece", added_tokens=[{"id": 4, "content": "[MASK]", "lstrip": True}]
            ),
        ),
        ValueError,
        ["'[MASK]'", "lstrip=True"],
    ),
    "a special token with room around it, in the configuration": (
        in_folder(
            WordPiece,
            vocab_txt="\n".join(TOKENS),
            tokenizer_config_json={
                "added_tokens_decoder": {"4": {"content": "[MASK]", "rstrip": True}}
            },
        ),
        ValueError,
        ["tokenizer_config.json", "'[MASK]'", "rstrip=True", "set it to false"],
    ),
    "a token that a file adds to BERT's vocabulary": (
        in_folder(WordPiece, vocab_txt="\n".join(TOKENS), added_tokens_json={"<ent>": 7}),
        ValueError,
        [
            "added_tokens.json names the token '<ent>'",
            "in additional_special_tokens of tokenizer_c",
        ],
    ),
    "a token that a file adds to GPT-2's vocabulary": (
        in_folder(
            BPE,
            vocab_json=BYTES | {"<|endoftext|>": 256},
            merges_txt="",
            added_tokens_json={"<ent>": 257},
        ),
        ValueError,
        ["added_tokens.json names the token '<ent>'", "not a special one"],
    ),
    "a token in the configuration that tokenizer.json lacks": (
        in_folder(
            Unigram,
            tokenizer_json=model("Unigram"),
            tokenizer_config_json={"additional_special_tokens": ["<extra_id_0>"]},
        ),
        ValueError,
        [
            "additional_special_tokens names the token '<extra_id_0>'",
            "added_tokens of tokenizer.js",
        ],
    ),
    "a role for an ordinary token": (
        in_folder(
            BPE,
            tokenizer_json=model("BPE"),
            special_tokens_map_json={"eos_token": {"content": "h"}},
        ),
        ValueError,
        ["eos_token names the token 'h'", "not a special one"],
    ),
    "another token in front of BERT's texts, in the configuration": (
        in_folder(
            WordPiece,
            vocab_txt="\n".join(TOKENS),
            tokenizer_config_json={"cls_token": {"content": "[SEP]"}},
        ),
        ValueError,
        ["tokenizer_config.json has cls_token='[SEP]'", "'[CLS]' only"],
    ),
    "another token after BERT's texts, in the map of special tokens": (
        in_folder(
            WordPiece,
            tokenizer_json=model("WordPiece"),
            special_tokens_map_json={"sep_token": "[CLS]"},
        ),
        ValueError,
        ["special_tokens_map.json has sep_token='[CLS]'", "'[SEP]' only"],
    ),
    "a token in front of GPT-2's texts": (
        in_folder(
            BPE, vocab_json=BYTES, merges_txt="", tokenizer_config_json={"add_bos_token": True}
        ),
        ValueError,
        ["tokenizer_config.json has add_bos_token=True", "False only"],
    ),
    "RoBERTa's tokens around GPT-2's texts": (
        in_folder(BPE, vocab_json=BYTES, merges_txt="", special_tokens_map_json={"cls_token": "a"}),
        ValueError,
        ["special_tokens_map.json has cls_token='a'", "None only"],
    ),
    "a token after LLaMA's texts": (
        in_folder(
            SentencePieceBPE,
            tokenizer_model=sentencepiece_model(),
            tokenizer_config_json={"add_eos_token": True},
        ),
        ValueError,
        ["tokenizer_config.json has add_eos_token=True", "False only"],
    ),
    "words for a truth value": (
        in_folder(
            WordPiece,
            vocab_txt="\n".join(TOKENS),
            tokenizer_config_json={"do_lower_case": "false"},
        ),
        ValueError,
        ["tokenizer_config.json: do_lower_case", "str, 'false'", "true or false"],
    ),
    "words for a truth value of GPT-2's": (
        in_folder(
            BPE,
            vocab_json=BYTES | {"<|endoftext|>": 256},
            merges_txt="",
            tokenizer_config_json={"add_prefix_space": "no"},
        ),
        ValueError,
        ["tokenizer_config.json: add_prefix_space", "str, 'no'", "true or false"],
    ),
    "a number for a truth value": (
        in_folder(
            WordPiece,
            tokenizer_json=model(
                "WordPiece", normalizer={"type": "BertNormalizer", "strip_accents": 1}
            ),
        ),
        ValueError,
        ["tokenizer.json: strip_accents", "int, 1", "true or false"],
    ),
    "bytes that are not decoded": (
        in_folder(BPE, tokenizer_json=model("BPE", decoder=None)),
        ValueError,
        ["decoder has type=None", "'ByteLevel' only"],
    ),
    "spaces that are not decoded": (
        in_folder(Unigram, tokenizer_json=model("Unigram", decoder=None)),
        ValueError,
        ["decoder has type=None", "'Metaspace' only"],
    ),
    "a space in front that is decoded": (
        in_folder(
            Unigram,
            tokenizer_json=model(
                "Unigram", decoder={"type": "Metaspace", "prepend_scheme": "never"}
            ),
        ),
        ValueError,
        ["decoder has prepend_scheme='never'", "'always' or 'first' only"],
    ),
    "underscores decoded as spaces": (
        in_folder(
            Unigram,
            tokenizer_json=model("Unigram", decoder={"type": "Metaspace", "replacement": "_"}),
        ),
        ValueError,
        ["decoder has replacement='_'", "'▁' only"],
    ),
    "a special token in the lower case of all text": (
        in_folder(
            WordPiece,
            tokenizer_json=model(
                "WordPiece", added_tokens=[{"id": 4, "content": "[MASK]", "normalized": True}]
            ),
        ),
        ValueError,
        ["'[MASK]'", "normalized=True", "set it to false"],
    ),
    "an added word that is not special": (
        in_folder(
            BPE,
            tokenizer_json=model(
                "BPE", added_tokens=[{"id": 256, "content": "Rex", "special": False}]
            ),
        ),
        ValueError,
        ["'Rex'", "special=False", "set it to true"],
    ),
    "a token that no merge builds": (
        lambda folder: bpe(vocabulary=BYTES | {"hello": 256}).save(folder),
        ValueError,
        ["merges.txt: the 0 merges build 0 of the 1 tokens", "'hello'", "special_tokens"],
    ),
    "a token that does not fit on a line": (
        lambda folder: WordPiece(numbered(*TOKENS, "a\nb")).save(folder),
        ValueError,
        ["'a\\nb'", "vocab.txt"],
    ),
}
CASES = TEXT | IDS | VOCABULARIES | TRAINING


def check(attempt, error, says):
    with pytest.raises(error) as caught:
        attempt()
    for part in says:
        assert part in str(caught.value)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "error", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, error, says):
    check(attempt, error, says)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "error", "says"), FILES.values(), ids=FILES)
def test_files_are_refused_by_name_and_value(attempt, error, says, tmp_path):
    check(lambda: attempt(tmp_path), error, says)


def test_there_are_many_ways_to_go_wrong():
    assert len(CASES) + len(FILES) >= 60


def test_the_smallest_that_fits_is_not_refused(tmp_path):
    assert WordPiece(numbered(*TOKENS)).encode("") == [2, 3]
    assert bpe().encode("") == []
    assert bpe().decode([]) == ""
    assert Unigram(PIECES).encode("") == [1]
    assert len(BPE.train(["a"], 257)) == 257
    assert len(WordPiece.train(["abc"], 10)) >= 8
    assert len(Unigram.train(["abc"], 7)) == 7
    assert in_folder(BPE, tokenizer_json=model("BPE"))(tmp_path).encode("a") == [BYTES["a"]]
    assert in_folder(Unigram, tokenizer_json=model("Unigram"))(tmp_path).tokens[3] == "a"
    loaded = in_folder(SentencePieceBPE, tokenizer_json=model("LLaMA"))(tmp_path)
    assert loaded.tokenize("a \n") == ["▁", "a", "▁", "<0x0A>"]
    for frame in ({}, {"post_processor": BERT}):
        loaded = in_folder(WordPiece, tokenizer_json=model("WordPiece", **frame))(tmp_path)
        assert loaded.encode("a") == [2, 5, 3]
