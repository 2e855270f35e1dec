"""From GPT-2 to LLaMA, one difference at a time, on Shakespeare.

    python -m benchmarks.family [--seeds 3]

trains a small GPT-2 as `shakespeare-gpt2` is trained, then the same with each of the differences
between the two families alone, and with all of them. What each gave is kept in
`glassbox/results/family.json`; a training that is already there is not repeated.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from math import log
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.studies import measure_missing
from glassbox.data import tiny_shakespeare
from glassbox.layers import INITIAL_STD
from glassbox.models import GPT2
from glassbox.positional import AlibiPositions, RotaryPositions, SinusoidalPositions
from glassbox.results import FAMILY, RUNS
from glassbox.training import (
    LanguageModelTask,
    LanguageModelTaskConfig,
    read_metrics,
    read_run,
    train,
)

GATED = {"gated": True, "activation": "silu", "d_ff": 344}  # two thirds of 512: as many weights


@dataclass(frozen=True)
class Variant:
    """A GPT-2 in which something is different."""

    sizes: dict[str, Any] = field(default_factory=dict)
    positions: Callable[[GPT2], Any] | None = None


def rotary(model: GPT2) -> RotaryPositions:
    """Return positions that rotate the heads of a model."""
    return RotaryPositions(model.config.d_model // model.config.heads(0))


class SmallSinusoids(SinusoidalPositions):
    """Sinusoids with the standard deviation that GPT-2's embeddings begin with."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + INITIAL_STD * 2**0.5 * super().embed(torch.zeros_like(x), positions)


VARIANTS = {
    "GPT-2": Variant(),
    "RMSNorm": Variant({"norm": "rms"}),
    "no biases": Variant({"bias": False}),
    "SwiGLU": Variant(GATED),
    "rotary positions": Variant(positions=rotary),
    "two key-value heads": Variant({"n_kv_heads": 2}),
    "all but shared heads": Variant(GATED | {"norm": "rms", "bias": False}, rotary),
    "all of them": Variant(GATED | {"norm": "rms", "bias": False, "n_kv_heads": 2}, rotary),
    "SiLU without a gate": Variant({"activation": "silu"}),
    "sinusoidal positions": Variant(
        positions=lambda model: SinusoidalPositions(model.config.d_model)
    ),
    "small sinusoids": Variant(positions=lambda model: SmallSinusoids(model.config.d_model)),
    "ALiBi": Variant(positions=lambda model: AlibiPositions(model.config.heads(0))),
    "post-norm": Variant({"norm_first": False}),
}


class FamilyTask(LanguageModelTask):
    """The language modelling of `shakespeare-gpt2`, with a variant of its model."""

    def __init__(self, config: LanguageModelTaskConfig, variant: Variant, seed: int) -> None:
        super().__init__(config, seed)
        self.variant = variant

    def build(self) -> GPT2:
        with torch.random.fork_rng([]):  # one model is drawn, not two
            config: Any = super().build().config
        # Not in the task's configuration: the reference's files cannot hold all of these sizes.
        model = GPT2(replace(config, **self.variant.sizes))
        if self.variant.positions is not None:
            model.positions = self.variant.positions(model)
        return model

    def save(self, model: Any, folder: Path) -> None:
        """Keep no weights."""


def measure(name: str, seed: int) -> dict[str, Any]:
    """Train a variant and return its loss on the held-out text and what it cost."""
    run = read_run(RUNS / "shakespeare-gpt2" / "run.toml", [f"training.seed={seed}"])
    task = FamilyTask(run.task_config, VARIANTS[name], seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if not train(task, run.training, folder):
            raise SystemExit("stopped")
        log = read_metrics(folder / "metrics.jsonl")
    (last,) = (e for e in log if e["split"] == "valid" and e["step"] == run.training.steps)
    parameters = sum(parameter.numel() for parameter in task.build().parameters())
    return {"nll": last["nll"], "parameters": parameters}


def by_frequency() -> float:
    """Return the loss on the held-out text of guessing by the training text's frequencies."""
    counts, held_out = Counter(tiny_shakespeare("train")), tiny_shakespeare("valid")
    return -sum(log(counts[character] / counts.total()) for character in held_out) / len(held_out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(1, parser.parse_args().seeds + 1)
    measure_missing(
        FAMILY,
        [
            (("frequencies",), by_frequency),
            *(
                (("variants", name, str(seed)), partial(measure, name, seed))
                for seed in seeds
                for name in VARIANTS
            ),
        ],
    )


if __name__ == "__main__":
    main()
