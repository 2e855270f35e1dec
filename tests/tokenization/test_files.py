"""Vocabularies in files, in the reference's layouts, read and written both ways."""

import json
import shutil

import pytest
from tokenizers import Tokenizer as Reference
from tokenizers import models

from glassbox.models import find_weights
from glassbox.tokenization import BPE, Unigram, WordPiece
from tests.tokenization.conftest import HARD

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
    return [
        WordPiece.train(texts, 300, lowercase=False, strip_accents=True),
        WordPiece.train(texts, 300, special_tokens=[*TOKENS, "[NEW]"]),
        BPE.train(texts, 300, special_tokens=["</s>", *NUMBERED], pad_token="</s>"),
        BPE.train(texts, 300, add_prefix_space=True),
        Unigram.train(texts, 300),
        Unigram.train(texts, 300, collapse=False, end=None, pad_token=None),
    ]


def test_a_vocabulary_without_a_configuration_adds_no_space_in_front(captions, tmp_path):
    learned = BPE.train(captions[:20], 300, special_tokens=["<|endoftext|>"])
    (tmp_path / "vocab.json").write_text(json.dumps(learned.vocabulary))
    (tmp_path / "merges.txt").write_text("\n".join(map(" ".join, learned.merges)))
    loaded = BPE.load(tmp_path)
    assert not loaded.add_prefix_space
    assert loaded.encode("a dog") == learned.encode("a dog")


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


def test_letters_are_written_as_themselves(tmp_path):
    Unigram.train(["déjà vu"], 20).save(tmp_path)
    assert "é" in (tmp_path / "tokenizer.json").read_text(encoding="utf-8")


def test_the_reference_reads_what_we_save(learned, tmp_path):
    from transformers import BertTokenizer, GPT2Tokenizer

    wordpiece, _, _, bpe, *others = learned
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


def test_merges_that_are_cut_off_anywhere_do_not_load(tmp_path):
    BPE.train(["the cat sat on the mat"], 265).save(tmp_path)
    file = tmp_path / "merges.txt"
    content = file.read_text(encoding="utf-8")
    assert content.count("\n") == 9
    for end in range(len(content) - 1):  # the last character is the end of the last line
        file.write_text(content[:end], encoding="utf-8")
        with pytest.raises(ValueError, match=r"merge"):
            BPE.load(tmp_path)


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


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_may_end_in_either_way(bert, tmp_path, end, last):
    tokens = [*TOKENS, "a", "\u2028", "\x0b", "b"]
    content = end.join(tokens) + (end if last else "")
    (tmp_path / "vocab.txt").write_bytes(content.encode())
    assert WordPiece.load(tmp_path).tokens == tokens
