"""WordPiece: the longest match, what is unknown, and BERT's frame around a text."""

from hypothesis import given
from hypothesis import strategies as st

from glassbox.tokenization import WordPiece, longest_match_first, normalize_bert, split_bert

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tokenizer(*tokens: str) -> WordPiece:
    return WordPiece({token: number for number, token in enumerate([*TOKENS, *tokens])})


def test_the_longest_match_goes_first_and_nothing_is_taken_back():
    known = {"un", "una", "##ff", "##affable", "##able", "##a"}
    assert longest_match_first("unaffable", known) == ["una", "##ff", "##able"]
    assert longest_match_first("unaffable", known - {"una"}) == ["un", "##affable"]
    assert longest_match_first("unaffable", known - {"##able"}) is None  # un ##affable would fit
    assert longest_match_first("able", known) is None  # only as the end of a word
    assert longest_match_first("ab", {"a", "@b"}, prefix="@") == ["a", "@b"]


@given(word=st.text("ab", min_size=1, max_size=12), tokens=st.sets(st.text("ab", min_size=1)))
def test_the_pieces_are_the_word(word, tokens):
    known = tokens | {"##" + token for token in tokens}
    pieces = longest_match_first(word, known)
    if pieces is not None:
        assert pieces[0] + "".join(piece[2:] for piece in pieces[1:]) == word
        assert set(pieces) <= known
    elif {"a", "b"} <= tokens:
        raise AssertionError("with all characters known, every word can be split")


def test_one_character_too_strange_makes_the_whole_word_unknown():
    ours = tokenizer("play", "##ing", "the")
    assert ours.tokenize("the playing") == ["the", "play", "##ing"]
    assert ours.tokenize("the playing☃") == ["the", "[UNK]"]


def test_words_of_more_than_a_hundred_characters_are_unknown():
    ours = tokenizer("a", "##a")
    assert ours.tokenize("a" * 100) == ["a"] + ["##a"] * 99
    assert ours.tokenize("a" * 101) == ["[UNK]"]


def test_cleaning_does_what_it_says():
    assert normalize_bert("Ünïcode\x00\u200b\tÉtÉ\ufffd") == "unicode ete"
    assert normalize_bert("É中a", lowercase=False) == "É 中 a"
    assert normalize_bert("Éa", lowercase=True, strip_accents=False) == "éa"
    assert normalize_bert("Éa", lowercase=False, strip_accents=True) == "Ea"
    assert split_bert("it's $5, ok") == ["it", "'", "s", "$", "5", ",", "ok"]


def test_a_text_and_a_pair_are_framed():
    ours = tokenizer("a", "b")
    assert ours.encode("a") == [2, 5, 3]
    assert ours.encode("a", "b b") == [2, 5, 3, 6, 6, 3]
    assert ours.encode("a", "b", add_special_tokens=False) == [5, 6]
    batch = ours.encode_batch([("a", "b b"), "a"])
    assert batch.token_ids.tolist() == [[2, 5, 3, 6, 6, 3], [2, 5, 3, 0, 0, 0]]
    assert batch.token_types.tolist() == [[0, 0, 0, 1, 1, 1], [0] * 6]
    assert batch.mask.shape == (2, 1, 1, 6)
    assert batch.mask[1, 0, 0].tolist() == [True] * 3 + [False] * 3


def test_decoding_attaches_pieces_and_punctuation():
    ours = tokenizer("we", "play", "##ing", ".", ",", "'", "s", "do", "n't", "##s")
    ids = [ours.token_id(token) for token in ["##s", "we", "do", "n't", ",", "play", "##ing", "."]]
    assert ours.decode(ids) == "##s we don't, playing."
    assert ours.decode([2, *ids[1:3], 3]) == "[CLS] we do [SEP]"
    assert ours.decode([2, *ids[1:3], 3], skip_special_tokens=True) == "we do"


def test_a_batch_is_what_a_bert_takes(bert):
    import torch

    from glassbox.models import Bert

    model = Bert.from_pretrained("minilm")
    batch = bert.ours.encode_batch(["A dog runs.", "A cat sits on the mat."])
    with torch.no_grad():
        hidden = model(*batch)
        alone = model(*bert.ours.encode_batch(["A dog runs."]))
    torch.testing.assert_close(hidden[:1, : alone.size(1)], alone)
