"""The same ids, tokens and texts as from the reference, for every text we could think of."""

import json
import unicodedata
from collections.abc import Iterator
from itertools import groupby, islice
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Reference
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from glassbox.models import find_weights
from glassbox.tokenization import (
    BPE,
    SentencePieceBPE,
    Unigram,
    WordPiece,
    normalize_bert,
    split_bert,
    split_gpt2,
)
from tests.tokenization.conftest import (
    CATEGORIES,
    CHARACTERS,
    HARD,
    bert_reference,
    llama_reference,
    pieces_of,
)

pytestmark = pytest.mark.slow

# Mostly what people write, often what nobody does.
TEXTS = st.text(
    st.one_of(
        st.sampled_from(list(" \t\n.,'-#ab1Éé▁Ġ\u0301\u00a0\u4e00\u200d🏽")),
        st.characters(max_codepoint=0x2FFF, **CATEGORIES),
        st.characters(**CATEGORIES),
    ),
    max_size=60,
)


def learned_unigram(texts: list[str], *, collapse: bool) -> SimpleNamespace:
    """A vocabulary that the reference learned, in both tokenizers."""
    reference = Reference(models.Unigram())
    space = pre_tokenizers.Metaspace()
    steps = [pre_tokenizers.WhitespaceSplit(), space]
    reference.pre_tokenizer = pre_tokenizers.Sequence(steps) if collapse else space
    reference.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=1000, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    reference.train_from_iterator(texts, trainer)
    reference.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B:1 </s>:1", special_tokens=[("</s>", 1)]
    )
    ours = Unigram(pieces_of(reference), collapse=collapse)
    return SimpleNamespace(ours=ours, reference=reference)


@pytest.fixture(scope="session")
def t5(captions) -> SimpleNamespace:
    """White space of any kind and number is one space."""
    return learned_unigram(captions[:2000], collapse=True)


@pytest.fixture(scope="session")
def sentencepiece(captions) -> SimpleNamespace:
    """White space is kept."""
    return learned_unigram(captions[:2000], collapse=False)


@pytest.fixture(params=["bert", "cased", "gpt2", "t5", "sentencepiece", "llama"])
def both(request) -> SimpleNamespace:
    return request.getfixturevalue(request.param)


def differences(both: SimpleNamespace, texts: list[str]) -> list[str]:
    """Return the texts of which something differs: ids, tokens, or the way back."""
    ours, reference = both.ours, both.reference
    result = []
    for text, expected in zip(texts, reference.encode_batch(texts), strict=True):
        frame = expected.special_tokens_mask
        tokens = [token for token, skip in zip(expected.tokens, frame, strict=True) if not skip]
        ids = ours.encode(text)
        if not (
            ids == expected.ids
            and ours.tokenize(text) == tokens
            and ours.decode(ids) == reference.decode(ids, skip_special_tokens=False)
        ):
            result.append(text)
    return result


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_ten_thousand_sentences_give_the_same_ids_tokens_and_texts(name, sentences, request):
    assert differences(request.getfixturevalue(name), sentences) == []


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("name", ["cased", "sentencepiece", "llama"])
def test_their_variants_give_the_same_ids_tokens_and_texts(name, sentences, request):
    assert differences(request.getfixturevalue(name), sentences[::5]) == []


@pytest.mark.parametrize("name", HARD)
def test_hard_texts_give_the_same_ids_tokens_and_texts(both, name):
    text = HARD[name]
    assert differences(both, [text]) == []
    bare = both.ours.encode(text, add_special_tokens=False)
    assert bare == both.reference.encode(text, add_special_tokens=False).ids
    ids = both.ours.encode(text)
    assert both.ours.decode(ids, skip_special_tokens=True) == both.reference.decode(ids)


def neighbours() -> Iterator[str]:
    """Go through the characters of Unicode: letters and digits together, all others one by one.

    One letter or digit that is taken for something else splits those around it.
    """
    for category, alike in groupby(CHARACTERS, unicodedata.category):
        together = 50 if category[0] in "LN" or category in ("Cn", "Co") else 1
        while run := "".join(islice(alike, together)):
            yield run


#: Every character between letters, digits, spaces and punctuation.
EVERY = "\n".join(f"a{run}1{run}! {run}" for run in neighbours())


def test_every_character_of_unicode_is_of_the_kind_that_gpt2_takes_it_for():
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    expected = [end - start for _, (start, end) in byte_level.pre_tokenize_str(EVERY)]
    assert [len(word) for word in split_gpt2(EVERY)] == expected


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_character_of_unicode_is_of_the_kind_that_bert_takes_it_for(lowercase):
    reference = normalizers.BertNormalizer(lowercase=lowercase)
    bert = pre_tokenizers.BertPreTokenizer()
    # One vowel sign, which the reference's Unicode does not decompose yet.
    text = EVERY.replace("\U00011938", "")
    clean = normalize_bert(text, lowercase=lowercase)
    assert clean == reference.normalize_str(text)
    assert split_bert(clean) == [word for word, _ in bert.pre_tokenize_str(clean)]


def test_every_code_of_two_planes_is_lowered_as_bert_lowers_it():
    """Those that are not assigned yet too; beyond the two planes are Chinese characters."""
    codes = (code for code in range(0x20000) if not 0xD800 <= code < 0xE000)
    text = " ".join(map(chr, codes)).replace("\U00011938", "")  # as above
    reference = normalizers.BertNormalizer(lowercase=True)
    assert normalize_bert(text) == reference.normalize_str(text)


@given(text=TEXTS, other=TEXTS)
def test_any_text_and_pair_gives_the_same(text, other, bert, cased, gpt2, llama):
    for both in (bert, cased, gpt2, llama):
        assert differences(both, [text]) == []
        expected = both.reference.encode(text, other)
        assert both.ours.encode(text, other) == expected.ids
        if both is not gpt2:
            batch = both.ours.encode_batch([(text, other)])
            assert batch.token_types[0].tolist() == expected.type_ids


@given(ids=st.lists(st.integers(0, 30_521), max_size=30))
def test_any_ids_give_the_same_text(ids, bert, gpt2):
    for both in (bert, gpt2):
        for skip in (False, True):
            expected = both.reference.decode(ids, skip_special_tokens=skip)
            assert both.ours.decode(ids, skip_special_tokens=skip) == expected


@given(ids=st.lists(st.integers(0, 999) | st.integers(3, 258), max_size=30))
def test_any_ids_give_llama_s_text_the_halves_of_characters_too(ids, llama):
    for skip in (False, True):
        expected = llama.reference.decode(ids, skip_special_tokens=skip)
        assert llama.ours.decode(ids, skip_special_tokens=skip) == expected


@given(text=TEXTS)
def test_sentencepiece_gives_llama_s_ids_for_any_text(text, llama):
    assert llama.ours.encode(text) == [1, *llama.sentencepiece.encode(text)]


@pytest.mark.parametrize("prepend", ["missing", "first", "never"])
def test_a_space_is_put_in_front_of_llama_s_texts_as_the_reference_puts_it(
    llama, sentences, prepend
):
    ours = SentencePieceBPE(llama.ours.vocabulary, llama.ours.merges, prepend=prepend)
    scheme = "always" if prepend == "missing" else prepend
    reference = llama_reference(ours, scheme)
    texts = [*sentences[::100], *HARD.values()]
    assert differences(SimpleNamespace(ours=ours, reference=reference), texts) == []


def test_a_merge_of_two_words_is_made_as_the_reference_makes_it(llama, sentences):
    vocabulary = llama.ours.vocabulary | {"▁of▁the": len(llama.ours)}
    ours = SentencePieceBPE(vocabulary, [*llama.ours.merges, ("▁of", "▁the")])
    texts = [text for text in sentences if " of the " in text][:20]
    assert len(texts) == 20
    assert all("▁of▁the" in ours.tokenize(text) for text in texts)
    both = SimpleNamespace(ours=ours, reference=llama_reference(ours, "always"))
    assert differences(both, texts) == []


def test_transformers_gives_the_same(bert, gpt2, llama, data, sentences):
    from transformers import BertTokenizer, GPT2Tokenizer, LlamaTokenizer

    theirs = BertTokenizer.from_pretrained(find_weights("minilm"))
    vocabulary = json.loads(data("tokenizers/gpt2_vocab.json").read_text(encoding="utf-8"))
    lines = data("tokenizers/gpt2_merges.txt").read_text(encoding="utf-8").split("\n")[1:-1]
    merges: Any = [tuple(line.split(" ")) for line in lines]
    texts = [*sentences[::25], *(text for text in HARD.values() if len(text) < 1000)]
    for ours, reference in (
        (bert.ours, theirs),
        (gpt2.ours, GPT2Tokenizer(vocab=vocabulary, merges=merges)),
        (
            SentencePieceBPE(llama.ours.vocabulary, llama.ours.merges, prepend="first"),
            LlamaTokenizer(
                vocab=llama.ours.vocabulary, merges=llama.ours.merges, add_bos_token=True
            ),
        ),
    ):
        for text in texts:
            ids = ours.encode(text)
            assert ids == reference(text, truncation=False)["input_ids"]
            assert ours.tokenize(text) == reference.tokenize(text)
            assert ours.decode(ids) == reference.decode(ids)
            assert ours.decode(ids, skip_special_tokens=True) == reference.decode(
                ids, skip_special_tokens=True
            )


def test_accents_and_case_are_chosen_apart(bert, sentences):
    texts = [*sentences[1250:2500:25], *HARD.values()]
    for lowercase in (True, False):
        for strip in (True, False):
            reference = bert_reference(bert.ours.vocabulary, lowercase=lowercase)
            reference.normalizer = normalizers.BertNormalizer(
                lowercase=lowercase, strip_accents=strip
            )
            ours = WordPiece(bert.ours.vocabulary, lowercase=lowercase, strip_accents=strip)
            assert differences(SimpleNamespace(ours=ours, reference=reference), texts) == []


def test_a_space_in_front_is_put_as_the_reference_puts_it(gpt2, sentences):
    ours = BPE(gpt2.ours.vocabulary, gpt2.ours.merges, add_prefix_space=True)
    reference = Reference.from_str(gpt2.reference.to_str())
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    texts = [*sentences[::50], *HARD.values()]
    assert differences(SimpleNamespace(ours=ours, reference=reference), texts) == []


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_batch_is_filled_up_as_by_the_reference(bert, gpt2, sentences, side, device):
    padded = BPE(gpt2.ours.vocabulary, gpt2.ours.merges, pad_token="<|endoftext|>")
    texts = sentences[:20]
    for ours, source, pad in ((bert.ours, bert, "[PAD]"), (padded, gpt2, "<|endoftext|>")):
        reference = Reference.from_str(source.reference.to_str())
        reference.enable_padding(direction=side, pad_id=ours.pad_id, pad_token=pad)
        expected = reference.encode_batch(texts)
        batch = ours.encode_batch(texts, padding_side=side, device=device)
        assert batch.token_ids.tolist() == [row.ids for row in expected]
        assert batch.mask[:, 0, 0].long().tolist() == [row.attention_mask for row in expected]
        assert batch.token_types.tolist() == [row.type_ids for row in expected]
        assert batch.token_ids.dtype == torch.int64
        assert {tensor.device.type for tensor in batch} == {device}
