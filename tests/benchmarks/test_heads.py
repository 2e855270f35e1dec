"""What a head gives of its weight is counted for each question."""

from typing import Any

import torch

from benchmarks.heads import QUESTIONS, mean_shares, shares
from glassbox.models import BertConfig, BertForMaskedLM
from glassbox.models.fill_mask import FillMask
from glassbox.tokenization import WordPiece

TOKENS = ["[CLS]", "a", "cat", ",", "sat", ".", "[SEP]"]


def answers(weights):
    """The share of each question, of one head."""
    found = shares(weights[None, None], TOKENS)[:, 0, 0]
    return dict(zip(QUESTIONS, found.tolist(), strict=True))


def test_a_head_that_does_one_thing_gives_everything_to_it():
    size = len(TOKENS)
    for question, weights in {
        "the token before": torch.eye(size).roll(-1, dims=1),
        "itself": torch.eye(size),
        "the token after": torch.eye(size).roll(1, dims=1),
        "[CLS]": torch.eye(size)[[0] * size],
        "[SEP]": torch.eye(size)[[size - 1] * size],
        "punctuation": torch.eye(size)[[3] * size],
    }.items():
        assert answers(weights)[question] == 1.0, question


def test_an_even_head_gives_an_even_share():
    found = answers(torch.full((7, 7), 1 / 7))
    assert found["punctuation"] == torch.tensor(2 / 7).item()
    assert {found[question] for question in QUESTIONS if question != "punctuation"} == {
        torch.tensor(1 / 7).item()
    }


def test_sentences_count_alike():
    tokenizer = WordPiece.train(["the cat sat , on the mat ."], 40)
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"d_model": 16, "n_heads": 2, "n_layers": 3, "d_ff": 32}
    model = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **sizes)).eval()
    fill_mask = FillMask(model, tokenizer)
    one, other = (
        mean_shares(model.bert, fill_mask, [s]) for s in ("the cat .", "the mat sat , on")
    )
    both = mean_shares(model.bert, fill_mask, ["the cat .", "the mat sat , on"])
    torch.testing.assert_close(both, (one + other) / 2)
    assert both.shape == (len(QUESTIONS), 3, 2)
