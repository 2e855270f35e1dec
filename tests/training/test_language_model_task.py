"""A language model of characters learns the next character, everywhere in the text."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from glassbox.evaluation import evaluate_language_model
from glassbox.models.character_model import CharacterModel
from glassbox.training import LanguageModelTask, LanguageModelTaskConfig, Processes
from glassbox.training.tasks import language_model
from glassbox.training.tasks.language_model import Architecture

TRAIN = "To be, or not to be, that is the question:\nWhether 'tis nobler in the mind.\n" * 3
VALID = "that is the mind, or not\nTo be nobler than the question:\n"
CONFIG = LanguageModelTaskConfig(
    block_len=8,
    batch_size=4,
    steps_per_epoch=3,
    model={"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32},
)
ALONE = Processes(0, 1, torch.device("cpu"))


@pytest.fixture(autouse=True)
def corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few lines in place of the real text."""
    splits = {"train": TRAIN, "valid": VALID}
    monkeypatch.setattr(language_model, "tiny_shakespeare", splits.__getitem__)


@pytest.mark.parametrize("architecture", ["gpt2", "llama"])
def test_each_position_learns_the_next_character(architecture: Architecture) -> None:
    task = LanguageModelTask(replace(CONFIG, architecture=architecture))
    torch.manual_seed(0)
    model = task.build().double().eval()
    ids = torch.tensor([task.characters.index(character) for character in TRAIN])
    starts = [0, 5, 30]
    expected = sum(
        F.cross_entropy(model(ids[None, i : i + 8])[0], ids[i + 1 : i + 9], reduction="sum")
        for i in starts
    )
    loss = task.loss(model, starts)
    torch.testing.assert_close(loss.total, expected)
    assert loss.count == task.count([starts]) == 24


def test_stretches_begin_anywhere_and_never_run_over_the_end() -> None:
    task = LanguageModelTask(replace(CONFIG, steps_per_epoch=2000), seed=1)
    starts = {start for step in task.epoch(0) for batch in step for start in batch}
    assert (min(starts), max(starts)) == (0, len(TRAIN) - 9)
    assert task.epoch(0) == task.epoch(0)
    assert task.epoch(0) != task.epoch(1)


def test_the_vocabulary_is_every_character_once_in_order() -> None:
    assert LanguageModelTask(CONFIG).characters == "".join(sorted({*TRAIN, *VALID}))


def test_validation_is_the_loss_of_the_held_out_text() -> None:
    task = LanguageModelTask(CONFIG)
    torch.manual_seed(0)
    model = task.build().eval()
    whole = (len(VALID) - 1) // 8 * 8 + 1  # what is over at the end is left out
    expected = evaluate_language_model(model, task.held_out[:whole], whole - 1)
    with torch.no_grad():
        assert task.validate(model, ALONE)["nll"] == pytest.approx(expected.loss, rel=1e-6)


def test_the_model_sees_a_block_at_most() -> None:
    model = LanguageModelTask(CONFIG).build()
    assert model.config.max_len == 8
    assert model.config.vocab_size == len({*TRAIN, *VALID})


def test_another_vocabulary_than_that_of_the_text_is_refused_before_training() -> None:
    task = LanguageModelTask(replace(CONFIG, model={**CONFIG.model, "vocab_size": 100}))
    with pytest.raises(ValueError, match="different ones, for a model of 100 tokens; expected one"):
        task.build()


def test_a_model_that_reads_less_than_a_block_is_refused_before_training() -> None:
    task = LanguageModelTask(replace(CONFIG, model=CONFIG.model | {"max_len": 7}))
    with pytest.raises(ValueError, match="block_len=8: this model reads 7 tokens at most; lower"):
        task.build()


def test_what_is_saved_is_what_was_trained(tmp_path: Path) -> None:
    task = LanguageModelTask(CONFIG)
    torch.manual_seed(0)
    model = task.build().eval()
    task.save(model, tmp_path / "model")
    read = CharacterModel.from_pretrained(tmp_path / "model")
    assert read.characters == task.characters
    ids = read.encode("To be, o")[None]
    torch.testing.assert_close(read.model(ids), model(ids), rtol=0, atol=0)


def test_a_text_of_ones_own_is_learned_but_for_its_last_tenth(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_bytes("Où est-ce ?\r\n".encode() * 10)
    task = LanguageModelTask(replace(CONFIG, text=str(tmp_path / "mine.txt")))
    assert task.characters == "".join(sorted({*"Où est-ce ?\n"}))
    learned, held_out = (
        "".join(task.characters[i] for i in text) for text in (task.text, task.held_out)
    )
    assert learned == "Où est-ce ?\n" * 9
    assert held_out == "Où est-ce ?\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"twelve chars" * 6,
            r"mine\.txt has 72 characters: its last tenth, 8, is held out and has",
        ),
        (b"one\n\xff", r"mine\.txt, line 2: expected UTF-8, got b'\\xff'"),
        (None, r"No such file or directory: .*mine\.txt"),
    ],
)
def test_a_text_that_cannot_be_learned_from_is_named(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "mine.txt").write_bytes(content)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        LanguageModelTask(replace(CONFIG, text=str(tmp_path / "mine.txt")))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": "goethe"}, "corpus='goethe'"),
        ({"architecture": "rnn"}, "architecture='rnn'"),
        ({"block_len": 0}, "block_len=0: expected an int, at least 1"),
        ({"batch_size": -1}, "batch_size=-1: expected an int, at least 1"),
        ({"accumulate": 0}, "accumulate=0: expected an int, at least 1"),
        ({"steps_per_epoch": 0}, "steps_per_epoch=0: expected an int, at least 1"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(
    changes: dict, message: str, as_a_reader: None
) -> None:
    with pytest.raises(ValueError, match=message):
        replace(CONFIG, **changes)


def test_a_model_that_is_very_wrong_is_measured_too() -> None:
    task = LanguageModelTask(CONFIG)
    model = task.build().eval()
    with torch.no_grad():
        model.output.weight.mul_(1e6)
        measured = task.validate(model, ALONE)
    assert 1000 < measured["nll"] < math.inf
    assert measured["perplexity"] == math.inf
