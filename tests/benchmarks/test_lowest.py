"""The checkpoint with the lowest estimated loss is found, and written as a model."""

from pathlib import Path

import pytest
import torch

from benchmarks import keep, lowest
from benchmarks.snapshots import snapshots
from glassbox.evaluation import load_model
from glassbox.evaluation.language_models import LossEstimate
from glassbox.training import TrainingConfig, checkpoints, train
from glassbox.training.checkpoint import MODEL, read_checkpoint
from glassbox.training.tasks.language_model import LanguageModelTask, LanguageModelTaskConfig

TEXT = "to be or not to be, that is the question. " * 20
SIZES = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_ff": 8}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of three steps that keeps what it had after the first and the second."""
    (tmp_path / "text.txt").write_text(TEXT)
    monkeypatch.setattr(lowest, "tiny_shakespeare", lambda split: TEXT)
    monkeypatch.setattr(lowest, "SIZES", {"batch_size": 2, "n_batches": 2})
    config = LanguageModelTaskConfig(text=str(tmp_path / "text.txt"), block_len=8, model=SIZES)
    train(LanguageModelTask(config), TrainingConfig(steps=3, snapshots=(1, 2)), tmp_path / "run")
    return tmp_path / "run"


def test_every_checkpoint_has_an_estimate(run: Path) -> None:
    found = lowest.estimates(run)
    assert [one["step"] for one in found] == [1, 2, 3]
    assert found == lowest.estimates(run)
    assert len({one["loss"] for one in found}) == 3


def test_the_checkpoint_of_a_step_is_written_as_a_model(run: Path) -> None:
    written = load_model(lowest.write(run, 2)).model.state_dict()
    kept = read_checkpoint(checkpoints(run / "checkpoints")[1], [MODEL]).tensors[MODEL]
    for name, tensor in kept.items():
        assert torch.equal(written[name], tensor), name


def test_a_snapshot_is_the_model_as_it_was(run: Path) -> None:
    def build() -> torch.nn.Module:
        return load_model(run / "model").model.train()

    models = list(snapshots((2, 1), build, run))
    for model, place in zip(models, (1, 0), strict=True):
        kept = read_checkpoint(checkpoints(run / "checkpoints")[place], [MODEL]).tensors[MODEL]
        assert not model.training
        for name, tensor in kept.items():
            assert torch.equal(model.state_dict()[name], tensor), name


def test_a_snapshot_that_is_missing_is_named(run: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no snapshots of the steps \[4, 7\]: train it"):
        next(snapshots((7, 1, 4), lambda: None, run))


def test_what_is_shipped_has_the_lowest_loss_too(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter((0.1, 0.3, 0.2))
    monkeypatch.setattr(lowest, "estimate_loss", lambda *_, **__: LossEstimate(next(losses), 0.0))
    monkeypatch.setattr(keep, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(keep, "PACKAGED", tmp_path / "packaged")
    monkeypatch.setattr(keep, "SPLITS", {corpus: [] for corpus in keep.SPLITS})
    monkeypatch.setattr(keep.card, "compose", lambda run: "")
    monkeypatch.setattr(keep.page, "write", lambda: None)
    keep.keep("small", run, "small-en", best=True)
    shipped = load_model(tmp_path / "packaged" / "small-en").model.state_dict()
    kept = read_checkpoint(checkpoints(run / "checkpoints")[0], [MODEL]).tensors[MODEL]
    for name, tensor in kept.items():
        assert torch.equal(shipped[name].half(), tensor.half()), name
