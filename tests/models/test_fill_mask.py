"""Blanks are filled with the most probable word pieces."""

import re
from typing import Any

import pytest
import torch

from glassbox.models import BertConfig, BertForMaskedLM
from glassbox.models.fill_mask import FillMask
from glassbox.tokenization import WordPiece

TEXTS = ["the cat sat on the mat", "a dog ran over the hill"]


@pytest.fixture
def fill_mask():
    tokenizer = WordPiece.train(TEXTS, 50)
    sizes: dict[str, Any] = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32, "max_len": 12}
    model = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    return FillMask(model.eval(), tokenizer)


def test_each_blank_gets_its_most_probable_pieces(fill_mask):
    guesses = fill_mask("the [MASK] sat [MASK]", top=4)
    tokenizer = fill_mask.tokenizer
    ids = torch.tensor([tokenizer.encode("the [MASK] sat [MASK]")])
    with torch.no_grad():
        probabilities = fill_mask.model(ids).softmax(-1)[0]
    places = (ids[0] == tokenizer.token_id("[MASK]")).nonzero()[:, 0].tolist()
    assert len(guesses) == len(places) == 2
    for row, place in zip(guesses, places, strict=True):
        best = probabilities[place].topk(4)
        assert [guess.token for guess in row] == [tokenizer.tokens[i] for i in best.indices]
        assert [guess.probability for guess in row] == pytest.approx(best.values.tolist())


def test_no_more_pieces_than_there_are(fill_mask):
    (row,) = fill_mask("[MASK]", top=10_000)
    assert len(row) == len(fill_mask.tokenizer)
    assert sum(guess.probability for guess in row) == pytest.approx(1.0)


def test_dropout_is_off_and_the_mode_stays(fill_mask):
    expected = fill_mask("a [MASK]")
    fill_mask.model.train()
    assert fill_mask("a [MASK]") == expected
    assert fill_mask.model.training


def test_predictions_may_be_changed_in_place(fill_mask):
    ids = torch.tensor(fill_mask.tokenizer.encode("a [MASK]"))
    logits = fill_mask.predict(ids, ids == fill_mask.mask_id)
    logits[:, 3] = -torch.inf
    assert logits.softmax(-1)[0, 3] == 0


def test_what_is_saved_fills_the_same(fill_mask, tmp_path):
    fill_mask.save_pretrained(tmp_path)
    assert FillMask.from_pretrained(tmp_path)("a [MASK] ran") == fill_mask("a [MASK] ran")
    fill_mask.save_pretrained(tmp_path, dtype=torch.float16)
    assert BertForMaskedLM.from_pretrained(tmp_path).output.weight.dtype == torch.float16
    loaded = FillMask.from_pretrained(tmp_path)
    assert loaded.model.output.weight.dtype == torch.float32
    assert fill_mask.model.output.weight.dtype == torch.float32


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("dtype", [torch.int8, torch.complex64, "float16"])
def test_weights_are_stored_as_floating_point_numbers(fill_mask, dtype, tmp_path):
    with pytest.raises(ValueError, match=f"dtype={dtype!r}: expected floating-point"):
        fill_mask.save_pretrained(tmp_path, dtype=dtype)
    assert [*tmp_path.iterdir()] == []


def test_it_is_saved_whole_or_not_at_all(fill_mask, tmp_path):
    tokens = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "two\nlines"])
    tokens |= dict.fromkeys(f"w{i}" for i in range(len(fill_mask.tokenizer) - len(tokens)))
    numbers = {token: number for number, token in enumerate(tokens)}
    other = FillMask(fill_mask.model, WordPiece(numbers, special_tokens=[*tokens][:5]))
    with pytest.raises(ValueError, match="does not fit on a line"):
        other.save_pretrained(tmp_path)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("the cat", {}, ValueError, "'the cat' has no blank: write [MASK] where a word is missing"),
        ("", {}, ValueError, "'' has no blank"),
        ("[MASK]", {"top": 0}, ValueError, "top=0"),
        (["[MASK]"], {}, TypeError, "list"),
        ("[MASK]" * 13, {}, ValueError, "15"),
    ],
)
def test_what_cannot_be_filled_is_refused(fill_mask, text, options, error, message, as_a_reader):
    with pytest.raises(error, match=re.escape(message)):
        fill_mask(text, **options)


def test_model_and_tokenizer_belong_together(fill_mask):
    other = WordPiece.train(TEXTS, 45)
    with pytest.raises(ValueError, match=f"a tokenizer of {len(other)} tokens for a model of"):
        FillMask(fill_mask.model, other)
    tokens = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
    tokens |= {f"w{i}": i for i in range(4, len(fill_mask.tokenizer))}
    without = WordPiece(tokens, special_tokens=[*tokens][:4])
    with pytest.raises(ValueError, match=re.escape("the tokenizer has no token [MASK]")):
        FillMask(fill_mask.model, without)
