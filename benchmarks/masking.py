"""Whether it matters what replaces the tokens that a BERT has to predict.

    python -m benchmarks.masking [--seeds 3]

trains small BERTs that differ in nothing else, and keeps in `glassbox/results/masking.json` how
well each fills blanks, how well it knows a token that it can see, and what it is worth on SST-2
after fine-tuning.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path

import torch

from benchmarks.finetuning import tune
from benchmarks.heads import score
from benchmarks.studies import measure_missing
from glassbox.models.fill_mask import FillMask
from glassbox.results import MASKING
from glassbox.training import (
    MaskedLanguageModelConfig,
    MaskedLanguageModelTask,
    Schedule,
    TrainingConfig,
    train,
)

#: What becomes of the chosen tokens: the shares that are hidden, and that become a random token.
RECIPES = {
    "80/10/10": (0.8, 0.1),
    "100/0/0": (1.0, 0.0),
    "80/20/0": (0.8, 0.2),
    "80/0/20": (0.8, 0.0),
}
#: The same network with its initial weights.
UNTRAINED = "untrained"
SIZES = {"d_model": 128, "n_heads": 4, "n_layers": 3, "d_ff": 512, "dropout": 0.0}
STEPS = 2000


def measure(recipe: str, seed: int) -> dict[str, float]:
    """Train a small BERT with a recipe, and return what it can do."""
    masked, replaced = RECIPES.get(recipe, (0.8, 0.1))
    task = MaskedLanguageModelTask(
        MaskedLanguageModelConfig(masked=masked, random=replaced, model=SIZES), seed
    )
    schedule = Schedule("linear", 2e-3, warmup=200, total=STEPS)
    config = TrainingConfig(
        schedule,
        STEPS,
        weight_decay=0.01,
        seed=seed,
        validate_every=STEPS,
        checkpoint_every=STEPS,
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if recipe == UNTRAINED:
            torch.manual_seed(seed)
            (folder / "model").mkdir()
            task.save(task.build().eval(), folder / "model")
        elif not train(task, config, folder):
            raise SystemExit("stopped")
        fill_mask = FillMask.from_pretrained(folder / "model")
        # The same tokens are guessed where they are hidden, and where they can be seen.
        blanks, visible = (score(fill_mask.predict, task, masked) for masked in (1.0, 0.0))
        tuned = tune("sst2", str(folder / "model"), 1e-3, seed)
    return {
        "blanks_loss": round(blanks.loss, 4),
        "blanks_accuracy": round(blanks.accuracy, 4),
        "visible_loss": round(visible.loss, 4),
        "visible_accuracy": round(visible.accuracy, 4),
        "sst2_valid": tuned["valid"],
        "sst2_test": tuned["test"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(1, parser.parse_args().seeds + 1)
    measure_missing(
        MASKING,
        (
            (("recipes", recipe, str(seed)), partial(measure, recipe, seed))
            for seed in seeds
            for recipe in (*RECIPES, UNTRAINED)
        ),
    )


if __name__ == "__main__":
    main()
