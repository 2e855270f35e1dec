"""Results of the book's training runs, as files: logs, scores, cards (chapters 9, 10 and 12)."""

import json
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

#: A folder for each training, with its configuration, ``run.toml``, the log and the scores of each
#: seed, and its card.
RUNS = Path(__file__).parent / "runs"
#: The goals, and the figures that others have published for the same task, in TOML.
MARKS = Path(__file__).parent / "marks.toml"
#: Results of the training runs inside the chapters, with other seeds and on other processors.
SEEDS = Path(__file__).parent / "seeds.json"
#: A GPT-2 on Shakespeare with each difference to LLaMA alone, and with all of them.
FAMILY = Path(__file__).parent / "family.json"
#: Small BERTs that differ in what replaces the tokens they have to predict, with several seeds.
MASKING = Path(__file__).parent / "masking.json"
#: BERTs fine-tuned on SST-2 and WNUT 2017, beside their baselines, with several seeds.
FINETUNING = Path(__file__).parent / "finetuning.json"
#: Times and memory on the book's machine, as ``make bench`` measured them: a copy of its file in
#: ``benchmarks/results``.
SPEED = Path(__file__).parent / "speed.json"
#: The same on a GPU.
SPEED_ON_GPU = Path(__file__).parent / "speed_on_gpu.json"


def other_seeds(chapter: str, what: str) -> Float[Tensor, "processors seeds"]:
    """Return a measure of a training run inside a chapter, for each processor and seed.

    Parameters
    ----------
    chapter : str
        Its number, such as ``"07"``.
    what : str
        The name of the measure.

    Returns
    -------
    Tensor
        ``(processors, seeds)``. The processors are this book's and two older ones, imitated.

    Raises
    ------
    ValueError
        If nothing was measured under this name; the message lists what was.
    """
    measured = json.loads(SEEDS.read_text(encoding="utf-8"))
    if what not in measured.get(chapter, {}):
        raise ValueError(
            f"nothing is measured of {what!r} in chapter {chapter!r}; expected one of "
            f"{ {number: [*names] for number, names in measured.items()} }"
        )
    return torch.tensor([*measured[chapter][what].values()])
