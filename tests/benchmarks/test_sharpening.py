"""What is kept of a model's looks over its training is what its heads did."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from benchmarks.sharpening import cross_weights, entropy
from glassbox.results import RUNS
from glassbox.training.runs import read_run
from glassbox.transformer import Transformer, TransformerConfig

COMMITTED = sorted(RUNS.glob("*/seed-*/attention.json"))
PAIRS = [([5, 6, 7], [1, 8, 9, 2]), ([5, 4], [1, 9, 2]), ([7, 6, 5, 4, 3], [1, 4, 4, 4, 4, 2])]


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=10, d_model=8, n_heads=2, n_layers=3, d_ff=16)
    return Transformer(config).eval()


def test_a_row_is_a_token_that_is_written_and_looks_at_the_source(model: Transformer) -> None:
    weights = cross_weights(model, PAIRS[:1], pad_id=0)
    assert weights.shape == (3, 1, 2, 3, 3)  # layers, batch, heads, written, source
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 1, 2, 3))


def test_padding_changes_no_entropy(model: Transformer) -> None:
    """The mean over rows is that of the pairs one by one, each with as many rows as it writes."""
    alone = [entropy(model, [pair], pad_id=0) for pair in PAIRS]
    rows = [len(target) - 1 for _, target in PAIRS]
    expected = sum(row * mean for row, mean in zip(rows, alone, strict=True)) / sum(rows)
    torch.testing.assert_close(entropy(model, PAIRS, pad_id=0), expected)


def test_equal_weights_have_the_entropy_of_their_number(model: Transformer) -> None:
    for name, parameter in model.named_parameters():
        if "query" in name or "key" in name:
            torch.nn.init.zeros_(parameter)
    found = entropy(model, [([3] * 7, [1, 4, 2])], pad_id=0)
    torch.testing.assert_close(found, torch.full((3, 2), 7.0).log())


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parts[-3])
def test_kept_maps_belong_to_the_run_and_its_sentences(path: Path) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    run = read_run(path.parents[1] / "run.toml")
    sizes = run.task_config.model
    assert kept["steps"] == list(run.training.snapshots)
    assert torch.tensor(kept["entropy"]).shape == (
        len(kept["steps"]),
        sizes["n_layers"],
        sizes["n_heads"],
    )
    maps = load_file(path.with_suffix(".safetensors"))
    assert len(maps) == len(kept["steps"]) * len(kept["sentences"])
    for step in kept["steps"]:
        for number, sentence in enumerate(kept["sentences"]):
            weights = maps[f"step-{step}/sentence-{number}"].float()
            rows, columns = len(sentence["target"]), len(sentence["source"])
            assert weights.shape == (sizes["n_layers"], sizes["n_heads"], rows, columns)
            torch.testing.assert_close(
                weights.sum(-1), torch.ones(weights.shape[:3]), atol=5e-3, rtol=0
            )
