"""A BERT learns to fill in what was hidden, something else in every epoch."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from glassbox.models import BertForMaskedLM
from glassbox.tokenization import WordPiece
from glassbox.training import (
    MaskedLanguageModelConfig,
    MaskedLanguageModelTask,
    Processes,
    TrainingConfig,
    mask_tokens,
    stream,
    train,
)
from glassbox.training.schedule import Schedule
from glassbox.training.tasks import masked_language_model

TRAIN = [
    "The cat sat on the mat.",
    "A dog ran over the hill, and the cat saw it.",
    "Go!",
    "The dog sat on the cat's mat, and the cat ran up the hill to the other dog.",
]
VALID = ["The dog ran.", "A cat sat on the hill and saw the dog."]
CONFIG = MaskedLanguageModelConfig(
    vocab_size=70,
    max_len=16,
    tokens=40,
    model={"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32, "dropout": 0.0},
)
ALONE = Processes(0, 1, torch.device("cpu"))


@pytest.fixture(autouse=True)
def corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few sentences in place of the real texts."""
    splits = {"train": TRAIN, "valid": VALID}
    monkeypatch.setattr(masked_language_model, "english", splits.__getitem__)


def one_by_one(task, model, texts, seeds):
    """The definition: each text alone, and the loss at its hidden tokens."""
    tokenizer, total = task.tokenizer, torch.zeros((), dtype=torch.float64)
    special_ids = {tokenizer.token_id(token) for token in tokenizer.special_tokens}
    for ids, seed in zip(texts, seeds, strict=True):
        inputs, labels = mask_tokens(
            ids,
            mask_id=tokenizer.token_id("[MASK]"),
            vocab_size=len(tokenizer),
            special_ids=special_ids,
            generator=torch.Generator().manual_seed(seed),
        )
        total += F.cross_entropy(model(inputs[None])[0], labels, reduction="sum")
    return total


def test_the_loss_is_that_of_the_hidden_tokens_alone() -> None:
    task = MaskedLanguageModelTask(CONFIG, seed=3)
    torch.manual_seed(0)
    model = task.build().double().eval()
    examples = [0, 1, 6]  # the last is the third text in the second epoch
    seeds = [stream(3, 2, example) for example in examples]
    expected = one_by_one(task, model, [task.texts[i] for i in (0, 1, 2)], seeds)
    loss = task.loss(model, examples)
    torch.testing.assert_close(loss.total, expected)
    assert loss.count == task.count([examples])


def test_an_epoch_has_every_text_once_and_hides_anew() -> None:
    task = MaskedLanguageModelTask(CONFIG)
    for number in (0, 1, 5):
        examples = [example for step in task.epoch(number) for batch in step for example in batch]
        assert sorted(examples) == list(range(4 * number, 4 * number + 4))
    assert task.epoch(2) == task.epoch(2)
    model = task.build().double().eval()
    assert task.loss(model, [3]).total != task.loss(model, [7]).total


def test_validation_hides_the_same_for_every_seed() -> None:
    tasks = [MaskedLanguageModelTask(CONFIG, seed) for seed in (0, 1)]
    torch.manual_seed(0)
    model = tasks[0].build().double().eval()
    with torch.no_grad():
        first, other = (task.validate(model, ALONE) for task in tasks)
        seeds = [stream(0, 3, i) for i in range(len(VALID))]
        total = one_by_one(tasks[0], model, tasks[0].held_out, seeds)
    assert first == other
    count = sum(max(1, round(0.15 * (len(text) - 2))) for text in tasks[0].held_out)
    assert first["nll"] == pytest.approx(total.item() / count)
    assert first["perplexity"] == pytest.approx(math.exp(first["nll"]))


def test_a_long_text_is_cut_off_and_keeps_its_end() -> None:
    task = MaskedLanguageModelTask(CONFIG)
    assert max(map(len, task.texts)) == CONFIG.max_len
    first, last = task.tokenizer.token_id("[CLS]"), task.tokenizer.token_id("[SEP]")
    assert all(text[0] == first and text[-1] == last for text in task.texts)


def test_a_text_without_a_word_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    splits = {"train": [*TRAIN, " ", "[MASK]", "[PAD] [UNK] [MASK]"], "valid": VALID}
    monkeypatch.setattr(masked_language_model, "english", splits.__getitem__)
    assert len(MaskedLanguageModelTask(CONFIG).texts) == len(TRAIN)


def test_another_vocabulary_than_that_of_the_texts_is_refused_before_training() -> None:
    task = MaskedLanguageModelTask(replace(CONFIG, model={**CONFIG.model, "vocab_size": 400}))
    with pytest.raises(ValueError, match=r"a tokenizer of \d+ tokens for a model of 400"):
        task.build()


def test_a_model_that_does_not_fit_the_texts_is_refused_before_training() -> None:
    task = MaskedLanguageModelTask(replace(CONFIG, model=CONFIG.model | {"pad_id": 3}))
    with pytest.raises(ValueError, match="the model has pad_id=3, the tokenizer 0"):
        task.build()
    with pytest.raises(ValueError, match="max_len=16: this model reads 15 tokens at most; lower"):
        replace(CONFIG, model=CONFIG.model | {"max_len": 15})


def test_what_is_saved_is_what_was_trained(tmp_path: Path) -> None:
    schedule = Schedule(kind="constant", peak=1e-2, warmup=0)
    config = TrainingConfig(schedule, steps=30, validate_every=30, checkpoint_every=30)
    assert train(MaskedLanguageModelTask(CONFIG), config, tmp_path)
    model = BertForMaskedLM.from_pretrained(tmp_path / "model")
    tokenizer = WordPiece.load(tmp_path / "model")
    task = MaskedLanguageModelTask(CONFIG)
    assert tokenizer.vocabulary == task.tokenizer.vocabulary
    torch.manual_seed(0)
    with torch.no_grad():
        before = task.validate(task.build().eval(), ALONE)["nll"]
        assert task.validate(model, ALONE)["nll"] < before - 0.3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": "goethe"}, "corpus='goethe'"),
        ({"rate": 0.0}, "rate=0.0: expected a number"),
        ({"masked": 0.95}, "masked=0.95 and random=0.1 are shares"),
        ({"max_len": 2}, "max_len=2: expected an int, at least 3, for [CLS], a word and"),
        ({"vocab_size": 0}, "vocab_size=0: expected an int, at least 1"),
        ({"tokens": 0}, "tokens=0: expected an int, at least 1"),
        ({"accumulate": 0}, "accumulate=0: expected an int, at least 1"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(
    changes: dict, message: str, as_a_reader: None
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(CONFIG, **changes)
