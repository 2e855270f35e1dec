"""Vocabularies in files, in the reference's layouts, read and written both ways."""

import json
import shutil
from typing import Any

import pytest
from tokenizers import Tokenizer as Reference
from tokenizers import models, normalizers, pre_tokenizers
from transformers import AutoTokenizer

from glassbox.models import find_weights
from glassbox.tokenization import BPE, SentencePieceBPE, Unigram, WordPiece
from tests.tokenization.conftest import HARD, llama_reference, pieces_of

TEXTS = [text for text in HARD.values() if len(text) < 1000]


def same(first, second, texts=TEXTS) -> bool:
    return (
        first.vocabulary == second.vocabulary
        and first.special_tokens == second.special_tokens
        and first.pad_token == second.pad_token
        and all(first.encode(text) == second.encode(text) for text in texts)
        and all(first.tokenize(text) == second.tokenize(text) for text in texts)
        and all(first.decode(first.encode(t)) == second.decode(second.encode(t)) for t in texts)
    )


NUMBERED = [f"<{number}>" for number in range(12)]
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@pytest.fixture(scope="module")
def learned(captions):
    texts = captions[:100]
    llama = SentencePieceBPE.train(texts, 600)
    again = llama.vocabulary, llama.merges
    return [
        WordPiece.train(texts, 300, lowercase=False, strip_accents=True),
        WordPiece.train(texts, 300, special_tokens=[*TOKENS, "[NEW]"]),
        WordPiece(WordPiece.train(texts, 300).vocabulary, special_tokens=()),
        BPE.train(texts, 300, special_tokens=()),
        BPE.train(texts, 300, special_tokens=["</s>", *NUMBERED], pad_token="</s>"),
        BPE.train(texts, 300, add_prefix_space=True),
        Unigram.train(texts, 300),
        Unigram.train(texts, 300, collapse=False, end=None, pad_token=None),
        llama,
        SentencePieceBPE(*again, prepend="first", end="</s>", pad_token="<unk>"),
        SentencePieceBPE(*again, prepend="missing", start=None),
        SentencePieceBPE(*again, prepend="never"),
    ]


def test_a_vocabulary_without_a_configuration_adds_no_space_in_front(captions, tmp_path):
    learned = BPE.train(captions[:20], 300, special_tokens=["<|endoftext|>"])
    (tmp_path / "vocab.json").write_text(json.dumps(learned.vocabulary))
    (tmp_path / "merges.txt").write_text("\n".join(map(" ".join, learned.merges)))
    loaded = BPE.load(tmp_path)
    assert not loaded.add_prefix_space
    assert loaded.encode("a dog") == learned.encode("a dog")


def test_a_vocabulary_without_a_configuration_is_that_of_a_lower_case_bert(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join([*TOKENS, "ete"]))
    assert WordPiece.load(tmp_path).tokenize("Été") == ["ete"]


@pytest.mark.slow
def test_what_is_saved_loads_as_it_was(learned, tmp_path):
    for number, tokenizer in enumerate(learned):
        folder = tmp_path / str(number)
        tokenizer.save(folder)
        loaded = type(tokenizer).load(folder)
        assert same(tokenizer, loaded)
        before = {file.name: file.read_bytes() for file in folder.iterdir()}
        loaded.save(folder)
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_write_that_fails_leaves_what_was_there(tmp_path):
    before = BPE.train(["a dog"], 260)
    before.save(tmp_path)
    half = "\ud800"  # half a character, which no file can hold
    other = BPE(before.vocabulary | {half: len(before)}, [], special_tokens=[half])
    with pytest.raises(UnicodeEncodeError):
        other.save(tmp_path)
    assert same(BPE.load(tmp_path), before)


def test_no_file_of_an_older_tokenizer_stays_beside_the_new_one(tmp_path, captions):
    shutil.copytree(find_weights(), tmp_path, dirs_exist_ok=True)
    new = WordPiece.train(captions[:20], 90)
    new.save(tmp_path)
    assert (tmp_path / "model.safetensors").is_file()
    reference = AutoTokenizer.from_pretrained(tmp_path)
    assert reference(captions[0]).input_ids == new.encode(captions[0])


def test_letters_are_written_as_themselves(tmp_path):
    SentencePieceBPE.train(["déjà vu"], 300).save(tmp_path)
    assert "é" in (tmp_path / "tokenizer.json").read_text(encoding="utf-8")


def test_the_reference_reads_what_we_save(learned, tmp_path):
    from transformers import BertTokenizer, GPT2Tokenizer

    wordpiece, _, _, _, _, bpe, *others = learned
    wordpiece.save(tmp_path / "wordpiece")
    theirs = BertTokenizer.from_pretrained(tmp_path / "wordpiece")
    bpe.save(tmp_path / "bpe")
    gpt2 = GPT2Tokenizer.from_pretrained(tmp_path / "bpe")
    for text in TEXTS:
        assert theirs(text)["input_ids"] == wordpiece.encode(text)
        assert gpt2(text)["input_ids"] == bpe.encode(text)
    for ours in others:
        ours.save(tmp_path / "other")
        reference = Reference.from_file(str(tmp_path / "other" / "tokenizer.json"))
        for text in TEXTS:
            assert reference.encode(text).ids == ours.encode(text)
            assert reference.encode(text, text).ids == ours.encode(text, text)
            ids = ours.encode(text)
            assert reference.decode(ids, skip_special_tokens=False) == ours.decode(ids)


def test_what_the_reference_saves_is_read(learned, tmp_path):
    for number in (0, 5, 6, 8):
        ours = learned[number]
        ours.save(tmp_path)
        AutoTokenizer.from_pretrained(tmp_path).save_pretrained(tmp_path / "theirs")
        assert not (tmp_path / "theirs" / "vocab.json").exists()
        assert same(type(ours).load(tmp_path / "theirs"), ours)


def test_tokens_in_the_files_beside_a_vocabulary_are_those_of_the_reference(captions, tmp_path):
    from transformers import BertTokenizer, GPT2Tokenizer

    text, flags = "a <ent>dogs [MASK]<|endoftext|> dog", {"lstrip": False, "normalized": False}
    for kind, reference in ((WordPiece, BertTokenizer), (BPE, GPT2Tokenizer)):
        kind.train([*captions[:20], *["dog"] * 20], 300).save(tmp_path)
        options = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
        listed = options.pop("added_tokens_decoder")
        listed["300"] = {"content": "<ent>", "special": True, **flags}
        added = {"added_tokens": {"<ent>": 300}}
        for files in (
            {"tokenizer_config": {**options, "added_tokens_decoder": listed}},
            {"tokenizer_config": {**options, "additional_special_tokens": ["<ent>"]}, **added},
            {"special_tokens_map": {"mask_token": {"content": "<ent>", **flags}}, **added},
            {"special_tokens_map": {"mask_token": "dog"}},
            {"tokenizer_config": {**options, "extra_special_tokens": {"animal": "dog"}}},
        ):
            for name in ("tokenizer_config", "special_tokens_map", "added_tokens"):
                content = json.dumps(files.get(name, {}))
                (tmp_path / f"{name}.json").write_text(content, encoding="utf-8")
            loaded = kind.load(tmp_path)
            assert loaded.encode(text) == reference.from_pretrained(tmp_path)(text)["input_ids"]
            assert loaded.special_tokens[-1] == ("<ent>" if "300" in str(files) else "dog")


def test_a_token_that_only_tokenizer_json_adds_is_found_beside_older_files(captions, tmp_path):
    from transformers import BertTokenizer, GPT2Tokenizer

    for kind, reference in ((WordPiece, BertTokenizer), (BPE, GPT2Tokenizer)):
        folder = tmp_path / kind.__name__
        kind.train(captions[:20], 300).save(folder)
        theirs = reference.from_pretrained(folder)
        theirs.add_tokens(["<x>"], special_tokens=True)
        theirs.save_pretrained(folder)
        assert any(folder.glob("vocab.*"))
        assert kind.load(folder).encode("a <x> b") == theirs("a <x> b")["input_ids"]


@pytest.mark.parametrize(
    ("number", "options"),
    [
        (0, {"do_lower_case": True}),
        (0, {"strip_accents": False}),
        (0, {"strip_accents": None}),
        (4, {"add_prefix_space": True}),
        (5, {"add_prefix_space": False}),
        (9, {"add_prefix_space": False}),
        (9, {"add_prefix_space": None}),
    ],
)
def test_options_beside_tokenizer_json_are_those_of_the_reference(
    learned, number, options, tmp_path
):
    from transformers import BertTokenizer, GPT2Tokenizer, LlamaTokenizer

    kinds: Any = {WordPiece: BertTokenizer, BPE: GPT2Tokenizer, SentencePieceBPE: LlamaTokenizer}
    ours = learned[number]
    kind = kinds[type(ours)]
    ours.save(tmp_path / "ours")
    kind.from_pretrained(tmp_path / "ours").save_pretrained(tmp_path)
    file = tmp_path / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | options))
    loaded, reference = type(ours).load(tmp_path), kind.from_pretrained(tmp_path)
    for text in ("A dog", " à la Été"):
        ids = loaded.encode(text)
        assert ids == reference(text)["input_ids"]
        assert loaded.decode(ids) == reference.decode(ids)


def test_bert_s_two_files_say_the_same(bert, tmp_path):
    shutil.copy(find_weights("minilm") / "tokenizer.json", tmp_path)
    assert same(WordPiece.load(tmp_path), bert.ours)


@pytest.mark.slow
def test_gpt2_s_two_layouts_say_the_same(gpt2, tmp_path):
    gpt2.reference.save(str(tmp_path / "tokenizer.json"))
    loaded = BPE.load(tmp_path)
    assert same(loaded, gpt2.ours)
    assert loaded.merges == gpt2.ours.merges
    content = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    content["model"]["merges"] = [" ".join(pair) for pair in content["model"]["merges"]]  # as once
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    assert same(BPE.load(tmp_path), gpt2.ours)
    gpt2.ours.save(tmp_path / "saved")
    model = models.BPE.from_file(
        str(tmp_path / "saved" / "vocab.json"), str(tmp_path / "saved" / "merges.txt")
    )
    text = "The quick brown fox"
    assert [t.id for t in model.tokenize("ThequickbrownfoxĠ")] == [
        gpt2.ours.token_id(token) for token in gpt2.ours._split("Thequickbrownfox ")
    ]
    assert BPE.load(tmp_path / "saved").encode(text) == gpt2.ours.encode(text)


@pytest.mark.parametrize("scheme", [None, "always", "first", "never"])
def test_llama_s_two_files_say_the_same(llama, tmp_path, scheme):
    reference = llama_reference(llama.ours, scheme)
    reference.save(str(tmp_path / "tokenizer.json"))
    loaded = SentencePieceBPE.load(tmp_path)
    assert loaded.merges == llama.ours.merges
    for text in TEXTS:
        assert loaded.encode(text, text) == reference.encode(text, text).ids
    assert scheme or same(loaded, SentencePieceBPE.load(llama.folder))


def test_a_model_file_is_found_from_the_home_folder_too(llama, monkeypatch):
    monkeypatch.setenv("HOME", str(llama.folder))
    assert SentencePieceBPE.from_model("~/tokenizer.model").vocabulary == llama.ours.vocabulary


def test_words_may_be_cut_first_where_no_token_spans_two(captions, llama, tmp_path):
    ours = SentencePieceBPE.train(captions[:100], 600, prepend="missing")
    for tokenizer in (ours, llama.ours):
        reference = llama_reference(tokenizer, "always")
        reference.pre_tokenizer = pre_tokenizers.Metaspace(split=True)
        reference.save(str(tmp_path / "tokenizer.json"))
        if tokenizer is ours:
            assert same(SentencePieceBPE.load(tmp_path), ours)
            assert all(ours.encode(text) == reference.encode(text).ids for text in TEXTS)
    with pytest.raises(ValueError, match="split=True, but a merge builds '▁▁'"):
        SentencePieceBPE.load(tmp_path)


def test_merges_that_are_cut_off_anywhere_do_not_load(tmp_path):
    BPE.train(["the cat sat on the mat"], 265).save(tmp_path)
    file = tmp_path / "merges.txt"
    content = file.read_text(encoding="utf-8")
    assert content.count("\n") == 9
    for end in range(len(content) - 1):  # the last character is the end of the last line
        file.write_text(content[:end], encoding="utf-8")
        with pytest.raises(ValueError, match=r"merge"):
            BPE.load(tmp_path)


def test_a_model_of_sentencepiece_that_is_cut_off_anywhere_does_not_load(llama, tmp_path):
    content = (llama.folder / "tokenizer.model").read_bytes()
    for end in (0, 1, 9, len(content) // 2, *range(len(content) - 90, len(content) - 20, 13)):
        (tmp_path / "tokenizer.model").write_bytes(content[:end])
        with pytest.raises(ValueError, match="or truncated"):
            SentencePieceBPE.load(tmp_path)


@pytest.mark.slow
def test_tokens_that_were_added_to_the_model_s_are_read(gpt2, tmp_path):
    reference = Reference.from_str(gpt2.reference.to_str())
    reference.add_special_tokens(["<pad>", "<s>"])
    reference.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text('{"pad_token": {"content": "<pad>"}}')
    loaded = BPE.load(tmp_path)
    assert loaded.pad_id == 50_257
    text = "a<s>b<pad>"
    assert loaded.encode(text) == reference.encode(text).ids


@pytest.mark.parametrize(
    ("options", "token"),
    [("{}", "<pad>"), ('{"model_max_length": 512}', "<pad>"), ('{"pad_token": null}', None)],
)
def test_a_padding_token_that_no_option_names_is_the_usual_one(options, token, captions, tmp_path):
    Unigram.train(captions[:20], 60).save(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(options)
    assert Unigram.load(tmp_path).pad_token == token


@pytest.mark.slow
def test_t5_s_file_is_read_with_its_character_map(character_map, captions, tmp_path):
    tokenizer = Unigram.train(captions[:100], 300, character_map=character_map)
    tokenizer.save(tmp_path)
    reference = Reference.from_file(str(tmp_path / "tokenizer.json"))
    assert isinstance(reference.normalizer, normalizers.Precompiled)
    loaded = Unigram.load(tmp_path)
    assert same(tokenizer, loaded)
    for text in TEXTS:
        assert loaded.encode(text) == reference.encode(text).ids
        assert loaded.tokenize(text) == reference.encode(text, add_special_tokens=False).tokens
    assert dict(pieces_of(reference)) == pytest.approx(tokenizer.pieces.scores)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_may_end_in_either_way(bert, tmp_path, end, last):
    tokens = [*TOKENS, "a", "\u2028", "\x0b", "b"]
    content = end.join(tokens) + (end if last else "")
    (tmp_path / "vocab.txt").write_bytes(content.encode())
    assert WordPiece.load(tmp_path).tokens == tokens
