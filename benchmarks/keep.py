"""Keep a finished training run: its numbers, its card, and its weights.

    python -m benchmarks.keep tatoeba runs/tatoeba
    python -m benchmarks.keep tatoeba runs/tatoeba --ship tatoeba-en-fr
    python -m benchmarks.keep shakespeare-large runs/shakespeare-large --lowest --device cuda

writes the log, the scores and the cost into `seed-N/` of the run's folder in
`glassbox/results/runs`, then the card of all seeds so far, and the book's page of results. With
`--ship`, the model goes into the package, in half precision, and the scores are those of that copy.
With `--lowest`, the model is the checkpoint of the lowest estimated loss (`benchmarks/lowest.py`).
"""

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks import card, lowest, machine, page
from glassbox.cli import main as glassbox
from glassbox.evaluation import load_model
from glassbox.results import RUNS
from glassbox.training import checkpoints, read_metrics

PACKAGED = Path(__file__).parent.parent / "code" / "glassbox" / "pretrained_weights"
EVERY = 10  # steps per line of the log that is kept
#: The splits to measure, of each corpus.
SPLITS = {
    "tatoeba": ["test"],
    "multi30k": ["valid", "test_2016", "test_2017", "test_2018"],
    "shakespeare": ["valid"],
    "english": ["valid"],
}


def thinned(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every tenth step of a log, the first and the last, and all validations."""
    last = entries[-1]["step"]
    return [
        entry
        for entry in entries
        if entry["split"] != "train" or entry["step"] % EVERY == 0 or entry["step"] in (1, last)
    ]


def cost(folder: Path, parameters: int) -> dict[str, Any]:
    """Return the cost of a training run, from its last checkpoint, and this machine."""
    state = json.loads((checkpoints(folder / "checkpoints")[-1] / "state.json").read_text())
    return {
        **state["progress"],
        "parameters": parameters,
        "machine": machine.describe(),
        "config": state["config"],
    }


def ship(model: Path, name: str) -> Path:
    """Put a model into the package, in half precision, and return its path."""
    place = PACKAGED / name
    load_model(model).save_pretrained(place, dtype=torch.float16)
    return place


def keep(
    name: str,
    folder: Path,
    shipped: str | None = None,
    *,
    best: bool = False,
    device: str = "cpu",
) -> None:
    """Keep the training run `name` that is in `folder`."""
    model = folder / "model"
    parameters = sum(parameter.numel() for parameter in load_model(model).model.parameters())
    spent = cost(folder, parameters)
    place = RUNS / name / f"seed-{spent['config']['seed']}"
    place.mkdir(parents=True, exist_ok=True)
    log = thinned(read_metrics(folder / "metrics.jsonl"))
    (place / "metrics.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in log))
    (place / "training.json").write_text(json.dumps(spent, indent=1) + "\n")
    if best:
        found = lowest.estimates(folder, device, seed=spent["config"]["seed"])
        least = min(found, key=lambda estimate: estimate["loss"])
        report = {"lowest": least, **lowest.SIZES, "estimates": found}
        (place / "scores-estimates.json").write_text(json.dumps(report, indent=1) + "\n")
        model = lowest.write(folder, least["step"])
    if shipped:
        model = ship(model, shipped)
    corpus = spent["config"]["corpus"]
    for split in SPLITS[corpus]:
        file = place / f"scores-{split}.json"
        asked = ["--data", corpus, "--split", split, "--json", str(file), "--device", device]
        if glassbox(["evaluate", str(model), *asked]):
            raise SystemExit(f"{name} is not kept: its scores on {split} could not be taken")
        scores = json.loads(file.read_text()) | {"model": shipped or name}  # not its path
        file.write_text(json.dumps(scores, indent=1, ensure_ascii=False) + "\n")
    written = card.write(RUNS / name, shipped)
    if shipped:
        shutil.copy(written, model / "CARD.md")
    page.write()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="of the run, a folder of glassbox/results/runs")
    parser.add_argument("folder", type=Path, help="where it was trained")
    parser.add_argument("--ship", metavar="NAME", help="what the package is to carry it as")
    parser.add_argument("--lowest", action="store_true", help="keep its best checkpoint")
    parser.add_argument("--device", default="cpu", help="where to measure it")
    arguments = parser.parse_args()
    keep(
        arguments.name,
        arguments.folder,
        arguments.ship,
        best=arguments.lowest,
        device=arguments.device,
    )


if __name__ == "__main__":
    main()
