"""The lowest of a run's estimated losses, and the weights that have it, as nanoGPT keeps them.

nanoGPT estimates the loss of its large run on Shakespeare every 250 steps, from 200 batches, and
reports the lowest estimate. Later the model learns its training text by heart. That choice is
made on the text that is reported, so it flatters.
"""

from pathlib import Path
from typing import Any

import torch

from benchmarks.snapshots import restored
from glassbox.data import tiny_shakespeare
from glassbox.evaluation import estimate_loss, load_model
from glassbox.models.character_model import CharacterModel
from glassbox.training import checkpoints
from glassbox.training.checkpoint import step_of

SIZES = {"batch_size": 64, "n_batches": 200}


def estimates(folder: Path, device: str = "cpu", seed: int = 0) -> list[dict[str, Any]]:
    """Estimate the loss at every checkpoint that a run has kept, each from batches of its own."""
    loaded = load_model(folder / "model")
    assert isinstance(loaded, CharacterModel)
    loaded.model.to(device)
    token_ids = loaded.encode(tiny_shakespeare("valid")).to(device)
    draw, found = torch.Generator().manual_seed(seed), []
    for path in checkpoints(folder / "checkpoints"):
        model = restored(loaded.model, path)
        estimate = estimate_loss(model, token_ids, generator=draw, **SIZES)
        found.append({"step": step_of(path), **estimate._asdict()})
    return found


def write(folder: Path, step: int) -> Path:
    """Write the checkpoint of a step as a model, beside the run's last, and return its path."""
    loaded = load_model(folder / "model")
    path = next(p for p in checkpoints(folder / "checkpoints") if step_of(p) == step)
    restored(loaded.model, path)
    loaded.save_pretrained(folder / "lowest")
    return folder / "lowest"
