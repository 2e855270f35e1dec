"""Texts to split, and the reference's tokenizers to compare with."""

import gzip
import json
import random
import sys
import unicodedata
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tokenizers import Tokenizer as Reference
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from glassbox.models import find_weights
from glassbox.tokenization import BPE, SentencePieceBPE, WordPiece

Find = Callable[[str], Path]

#: Every character of Unicode that is assigned, and of the other codes one in sixteen.
CHARACTERS = [
    character
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(character := chr(code)) not in ("Cn", "Co", "Cs") or code % 16 == 0
    if not 0xD800 <= code < 0xE000
]
CATEGORIES: Any = {"exclude_categories": ("Cs",)}  # half a surrogate pair is no character

#: What breaks tokenizers: one of each kind, by name.
HARD = {
    "nothing": "",
    "a space": " ",
    "spaces around": "  two  spaces  ",
    "every white space": "a\tb\nc\r\nd\x0be\x0cf\x85g\xa0h\u1680i\u2000j\u2009k\u2028l\u2029m"
    "\u202fn\u205fo\u3000p",
    "white space alone": "\t\n\x0b\x0c\r \x85\xa0\u2003\u3000",
    "information separators": "a\x1cb\x1dc\x1ed\x1fe",
    "accents, composed": "Crème brûlée à l'été, naïve Škoda",
    "accents, decomposed": "Cre\u0300me bru\u0302le\u0301e a\u0300 l'e\u0301te\u0301",
    "many marks": "Z\u0351\u036b\u0343\u036a\u0302\u0334\u0345a\u0317\u0356\u0353l\u034e\u0323g",
    "a mark alone": "\u0301",
    "Chinese": "我喜欢自然语言处理。你呢?",
    "Chinese outside the first plane": "\U00020000\U0002a6d6 \U0002b740\u3400\uf900",
    "Japanese": "吾輩は猫である。名前はまだ無い。カタカナ、ひらがな",
    "Korean": "안녕하세요 세계",
    "Korean, decomposed": "\u1112\u1161\u11ab\u1100\u1173\u11af",
    "Arabic": "مرحبا بالعالم، كيف الحال؟ ١٢٣",
    "Hebrew with points": "שָׁלוֹם עוֹלָם",
    "Devanagari": "नमस्ते दुनिया ।",
    "Thai": "สวัสดีชาวโลก",
    "emoji": "😀 🎉🎉",
    "emoji that are joined": "👨\u200d👩\u200d👧\u200d👦 👩🏽\u200d🚀",
    "emoji with modifiers": "👍🏿 ✌️ ☺︎",
    "flags": "🇫🇷🇩🇪 🏴\U000e0067\U000e0062\U000e007f",
    "control characters": "a\x00b\x01c\x07d\x1be\x7ff\x80g\x9fh",
    "the replacement character": "a\ufffdb \ufffd",
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\ufefff",
    "a soft hyphen": "Schiff\xadfahrt",
    "right to left marks": "\u202eabc\u202c \u200f\u200e",
    "a Turkish i": "İstanbul ısı I i",
    "a sharp s": "Straße STRASSE ẞ",
    "ligatures": "ﬁnance ﬂow ﬀ œuvre Ǆ",
    "a final sigma": "ΟΔΥΣΣΕΥΣ Σ",
    "letters on rings and full width": "Ångström ＦＵＬＬ　ｗｉｄｔｈ ①②③",
    "private use": "\ue000\U000f0000 x\U0010fffd",
    "not assigned": "\u0378 \U000e0080 \ufdd0 \uffff \U0010ffff",
    "newer than the reference": "\u0c5d\U00010ec2 a\u2e52b e\u1df6 x\u0890y \U00031350\u088f",
    "numbers": "1,234.56 ½ ² Ⅷ ٣ 10⁻⁵",
    "contractions": "I'm you're he'd we'll they've it's can't 'tis o'clock I'M",
    "curly quotes": "“It’s” ‘so’ – she said… — no",
    "punctuation": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "more punctuation": "¿Qué? ¡Sí! «guillemets» § ¶ † ‡ • ′ ″ ※",
    "symbols": "€ £ ¥ © ® ™ ° ± × ÷ ≠ ∞ ∑ √ ← →",
    "an address": "https://example.org/a_b?c=d&e=%20#f user@example.org",
    "code": "def f(x):\n\treturn x ** 2  # ok\n\n\nif __name__ == '__main__':\n    f(1)",
    "markup": "<script>alert('x')</script> &amp; <b>",
    "a word of 100": "a" * 100,
    "a word of 101": "a" * 101,
    "a word of 100 letters and marks": "e\u0301" * 100,
    "a word of 10,000": "supercalifragilistic" * 500,
    "10,000 letters": "".join(random.Random(1).choices("etaoinshrdlu", k=10_000)),
    "10,000 of one": "a" * 10_000,
    "10,000 spaces": " " * 10_000 + "x",
    "BERT's special tokens": "[CLS] a [MASK] b[SEP][PAD] [UNK] [mask] [ CLS ] [MASK",
    "GPT-2's special token": "a<|endoftext|>b <|endoftext|> <|endoftext|><|ENDOFTEXT|>",
    "T5's special tokens": "a</s>b <pad> <unk> </s></s> < /s>",
    "LLaMA's special tokens": "<s>a <s> b</s><s></s> <0x0A><0xE2> [INST]",
    "pieces' own signs": "##ing # # a##b ▁x▁▁y ĠGPT Ċ",
}


@pytest.fixture(scope="session")
def sentences(data: Find) -> list[str]:
    """Return 10,000 real sentences: four languages, plays, reviews and messages."""

    def lines(name: str) -> list[str]:
        content = data(name).read_bytes()
        content = gzip.decompress(content) if name.endswith(".gz") else content
        return content.decode().split("\n")

    with zipfile.ZipFile(data("tatoeba_eng_fra/fra-eng.zip")) as archive:
        tatoeba = archive.read("fra.txt").decode().split("\n")
    words = [line.split("\t")[0] for line in lines("ner_wnut17/wnut17train.conll")]
    sources = [
        [line.split("\t")[0] for line in tatoeba[::50]],
        [line.split("\t")[1] for line in tatoeba[25::50] if line],
        *(lines(f"multi30k/val.{language}.gz") for language in ("en", "de", "fr")),
        [line for line in lines("tinyshakespeare/input.txt") if line],
        lines("classification_sst2/dev.tsv"),
        " ".join(word or "\n" for word in words).split("\n"),
    ]
    result = [line for source in sources for line in source[:1250]]
    result += [line for source in sources[:1] for line in source[1250:]]
    result += sources[5][1250:]
    assert len(result) >= 10_000
    return result[:10_000]


@pytest.fixture(scope="session")
def captions(data: Find) -> list[str]:
    """Return the first 5,000 English captions of Multi30k: what vocabularies are learned from."""
    return gzip.decompress(data("multi30k/train.en.gz").read_bytes()).decode().split("\n")[:5000]


def bert_reference(vocabulary: dict[str, int], *, lowercase: bool) -> Reference:
    """Put BERT's tokenizer together from the reference's parts."""
    reference = Reference(models.WordPiece(vocabulary, unk_token="[UNK]"))
    reference.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    reference.decoder = decoders.WordPiece()
    reference.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    reference.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    return reference


@pytest.fixture(scope="session")
def bert() -> SimpleNamespace:
    """BERT's tokenizer with its real vocabulary: ours and the published file."""
    folder = find_weights("minilm")
    reference = Reference.from_file(str(folder / "tokenizer.json"))
    reference.no_truncation()
    reference.no_padding()
    return SimpleNamespace(ours=WordPiece.load(folder), reference=reference)


@pytest.fixture(scope="session")
def cased(bert: SimpleNamespace) -> SimpleNamespace:
    """The same vocabulary, with case and accents kept."""
    ours = WordPiece(bert.ours.vocabulary, lowercase=False)
    reference = bert_reference(bert.ours.vocabulary, lowercase=False)
    return SimpleNamespace(ours=ours, reference=reference)


def gpt2_s(vocabulary: Path, merges: Path) -> BPE:
    """Read the two files of GPT-2 from the names that they have here."""
    lines = merges.read_text(encoding="utf-8").split("\n")[1:-1]
    pairs = [(left, right) for left, right in map(str.split, lines)]
    return BPE(json.loads(vocabulary.read_text(encoding="utf-8")), pairs)


@pytest.fixture(scope="session")
def gpt2(data: Find) -> SimpleNamespace:
    """GPT-2's tokenizer with its real vocabulary."""
    vocabulary = data("tokenizers/gpt2_vocab.json")
    merges = data("tokenizers/gpt2_merges.txt")
    reference = Reference(models.BPE.from_file(str(vocabulary), str(merges)))
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    reference.decoder = decoders.ByteLevel()
    reference.add_special_tokens(["<|endoftext|>"])
    return SimpleNamespace(ours=gpt2_s(vocabulary, merges), reference=reference)


def pieces_of(reference: Reference) -> list[tuple[str, float]]:
    """Return the pieces and scores of a unigram model of the reference."""
    return [(token, score) for token, score in json.loads(reference.to_str())["model"]["vocab"]]


@pytest.fixture(scope="session")
def character_map(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table that SentencePiece, and with it T5, normalizes with."""
    import sentencepiece

    folder = tmp_path_factory.mktemp("sentencepiece")
    (folder / "text").write_text("a b c ab bc abc\n" * 20)
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / "model"),
        vocab_size=9,
        minloglevel=2,
        normalization_rule_name="nmt_nfkc",
    )
    model = import_module("sentencepiece.sentencepiece_model_pb2").ModelProto()
    model.ParseFromString((folder / "model.model").read_bytes())
    return model.normalizer_spec.precompiled_charsmap


@pytest.fixture(scope="session")
def llama(captions: list[str], tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A vocabulary that SentencePiece learned with LLaMA's options, in three tokenizers."""
    import sentencepiece

    folder = tmp_path_factory.mktemp("llama")
    indented = ["    if x:", "        return"] * 20
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*captions[:2000], *indented]),
        model_prefix=str(folder / "tokenizer"),
        model_type="bpe",
        vocab_size=1000,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
        minloglevel=2,
    )
    file = folder / "tokenizer.model"
    ours = SentencePieceBPE.from_model(file)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(file))
    return SimpleNamespace(
        ours=ours, reference=llama_reference(ours), sentencepiece=processor, folder=folder
    )


def llama_reference(ours: SentencePieceBPE, scheme: str | None = None) -> Reference:
    """Put LLaMA's tokenizer together from the reference's parts, with two ways to mark spaces."""
    reference = Reference(
        models.BPE(
            ours.vocabulary, ours.merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True
        )
    )
    strip = [decoders.Strip(" ", 1, 0)] if scheme != "never" else []
    reference.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *strip]
    )
    if scheme is None:
        steps = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        reference.normalizer = normalizers.Sequence(steps)
    else:
        reference.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    reference.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    reference.add_special_tokens(["<unk>", "<s>", "</s>"])
    return reference
