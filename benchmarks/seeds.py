"""Whether training in the chapters has the same outcome with other seeds and processors.

    python -m benchmarks.seeds [02 07 ...] [--seeds 5]

runs the cells of a chapter that train something, with each seed, on this processor and on two of
those that `make portable` imitates, `old` and `avx2`, and keeps what the chapter claims about the
result in `glassbox/results/seeds.json`. The chapters print from that file how general a claim is.
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import nbformat
import torch

from glassbox.data.padding import pad
from glassbox.positional import RotaryPositions, RotaryScaling
from glassbox.results import SEEDS
from glassbox.training import Schedule, TrainingConfig, TranslationTask, train
from glassbox.training.batches import LengthBatches
from glassbox.translation import Translator
from tools.check import PROCESSORS
from tools.notebooks import CHAPTERS, ROOT, surroundings

HERE = "this one"


class Page:
    """A chapter's cells, to be run with changes."""

    def __init__(self, chapter: str) -> None:
        path = next(CHAPTERS.glob(f"{chapter}_*.ipynb"))
        cells = nbformat.read(path, as_version=4).cells
        self.sources = {cell.id: cell.source for cell in cells if cell.cell_type == "code"}
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def __getitem__(self, name: str) -> Any:
        return self.names[name]

    def before(self, last: str) -> None:
        """Run all cells before this one, except those that only draw."""
        for cell in self.sources:
            if cell == last:
                return
            if not self.sources[cell].startswith("viz."):
                self.run(cell)

    def run(self, cell: str, *change: str) -> str:
        """Run a cell, in which one text may be replaced by another; return what it printed."""
        source = self.sources[cell]
        if change:
            assert change[0] in source, f"{cell} has no {change[0]!r}"
            source = source.replace(*change)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(source, self.names)
        return printed.getvalue()


Study = Callable[[Page, range], Iterator[dict[str, float]]]


def word_vectors(page: Page, seeds: range) -> Iterator[dict[str, float]]:
    """Chapter 2: how alike words become in few and in many steps."""
    page.before("c161")
    for seed in seeds:
        found: dict[str, float] = {}
        page.run("c161", "manual_seed(0)", f"manual_seed({seed})")
        for line in page.run("c162").splitlines():
            where, _, numbers = line.partition(": ")
            cosine, loss = map(float, numbers.split(", "))
            found |= {f"{where.strip()}, cosine": cosine, f"{where.strip()}, loss": loss}
        yield found


def longer_texts(page: Page, seeds: range) -> Iterator[dict[str, float]]:
    """Chapter 6: positions on texts longer than those trained on."""
    page.before("pe-114")
    for seed in seeds:
        models = {name: page["train"](make, seed) for name, make in page["makers"].items()}
        models["two layers"] = page["train"](page["makers"]["none"], seed, n_layers=2)
        found: dict[str, float] = {}
        accuracy, lengths = page["accuracy"], page["LENGTHS"]
        for name, model in models.items():
            for length in lengths:
                found[f"{name}, {length}"] = accuracy(model, length)
            found[f"{name}, near, {lengths[-1]}"] = accuracy(model, lengths[-1], window=lengths[0])
        rotary = models["rotary"]
        for name, factor in (("halved", 2.0), ("slowed", 4.0)):
            scaling = RotaryScaling(factor)
            rotary.positions = RotaryPositions(rotary.positions.d_k, scaling=scaling)
            for length in lengths:
                found[f"{name}, {length}"] = accuracy(rotary, length)
        for name, make in page["makers"].items():
            model = page["train"](make, seed, wanted="first")
            for length in (lengths[0], lengths[-1]):
                found[f"first, {name}, {length}"] = accuracy(model, length, wanted="first")
        yield found


def deep_stacks(page: Page, seeds: range) -> Iterator[dict[str, float]]:
    """Chapter 7: which stacks of two and twelve layers learn, and in which settings."""
    page.before("c074")
    for seed in seeds:
        page.run("c073", "manual_seed(0)", f"manual_seed({seed})")
        page.run("c074")
        found = {
            f"{depth}, {kind}": losses[-1].item()
            for depth, runs in page["runs_of"].items()
            for kind, losses in runs.items()
        }
        page.run("c065", "range(5)", f"range({20 * seed}, {20 * seed + 20})")
        for residual, norm in product((False, True), ("pre-norm", "post-norm")):
            deep, one = (page["measure"](depth, residual, norm)[:, 0] for depth in (32, 1))
            tenths = (deep / one).quantile(torch.tensor([0.1, 0.5, 0.9]).double()).tolist()
            kind = f"gradient, {'x + f' if residual else 'f'}, {norm}"
            found |= zip((f"{kind}, {n} tenths" for n in (1, 5, 9)), tenths, strict=True)
        page.run("deep-settings")
        for name, norm in product(page["settings"], ("pre-norm", "post-norm")):
            found[f"{name}, {norm}"] = page["in_setting"](name, norm)[-1].item()
        yield found


def leak(page: Page, seeds: range) -> Iterator[dict[str, float]]:
    """Chapter 8: a translator that sees its labels."""
    page.before("c55870856")
    for seed in seeds:
        page.run("c5353c134", "manual_seed(1)", f"manual_seed({seed + 1})")
        page.run("c4b96db89", "manual_seed(2)", f"manual_seed({seed + 2})")
        page.run("c55870856")
        found: dict[str, float] = {}
        for name, curve in page["curves"].items():
            found |= {f"{name}, loss": curve[-1][0], f"{name}, right": curve[-1][1]}
            french, english = page["held_out"]
            with torch.no_grad():
                wrong = page["loss_of"](page["models"][name], french.roll(1, dims=0), english)
            found[f"{name}, wrong source"] = wrong.item()
        yield found


def warm_up(page: Page, seeds: range) -> Iterator[dict[str, float]]:
    """Chapter 9: no warm-up, one, and a lower rate, each with post-norm and with pre-norm."""
    for cell in ("f2f4a123", "c6647b39"):
        page.run(cell)
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            page.names["root"] = Path(folder)
            page.run("47aaefc8", "seed=1", f"seed={seed + 1}")
            page.run("9eddbc71")
            logs = page["cold_and_warm"] | {
                f"pre-norm, {name}": page["short_run"](schedule, Path(folder, f"pre {name}"), True)
                for name, schedule in page["schedules"].items()
            }
        yield {name: sum(list(log.values())[-20:]) / 20 for name, log in logs.items()}


def translator(page: Page, seeds: range) -> Iterator[dict[str, float]]:
    """Chapter 9: the translator that is trained in the page, and what it learned."""
    page.run("f2f4a123")
    for seed in seeds:
        page.run("c6647b39", "seed=1", f"seed={seed + 1}")
        page.run("731d6de7", "seed=1", f"seed={seed + 1}")
        for cell in ("1ad5b427", "3d2bee34", "0aa5deeb", "b344cb25"):
            with contextlib.suppress(AssertionError):
                page.run(cell)
        for cell in ("1346f9a3", "8304d03a", "2269e0fb", "e5ab86e1", "6c8b4274"):
            page.run(cell)
        found: dict[str, float] = {}
        for split, shares in page["right"].items():
            found |= {f"{split}, at 50": shares[0], f"{split}, at 450": shares[-1]}
        found |= {f"same kind, {when}": share for when, share in page["kinds"].items()}
        spread, share, best = page["spread"], page["share"], page["best"]
        found["aligned before, best of all heads"] = share[0].max().item()
        found["aligned after, best head"] = share[-1, best].item()
        found["entropy after, of that before"] = (spread[-1].mean() / spread[0].mean()).item()
        known = certainty(page["task"], page["stages"][450]) | {"test": page["right"]["test"][-1]}
        found |= {f"6000 pairs, smoothing 0.1, {what}": one for what, one in known.items()}
        at = list(page["measured"]).index(100)
        for name, curve in (("fallen", spread[:, best]), ("risen", share[:, best])):
            found[f"{name} at 100"] = ((curve[at] - curve[0]) / (curve[-1] - curve[0])).item()
        for step in (0, 450):
            surest = page["maps"][step].max(dim=-1).values
            found[f"rows with half their weight in a cell, {step}"] = (
                (surest > 0.5).mean(dtype=torch.float32).item()
            )
        yield found


def by_heart(page: Page, seeds: range) -> Iterator[dict[str, float]]:
    """Chapter 9: a correct model and two broken ones memorise two sentences."""
    for cell in ("f2f4a123", "c6647b39", "b6a2721f"):
        page.run(cell)
    for seed in seeds:
        page.run("by-heart-setup", "seed=0", f"seed={seed}")
        page.run("by-heart")
        page.run("by-heart-three")
        found: dict[str, float] = {}
        for name, (losses, written) in page["by_heart"].items():
            found |= {f"by heart, {name}, loss": losses[-1]}
            found |= {f"by heart, {name}, written": float(written)}
        yield found


def smoothing(page: Page, seeds: range) -> Iterator[dict[str, float]]:
    """Chapter 9: the translator without smoothed labels, and from few pairs with and without."""
    for cell in ("f2f4a123", "c6647b39"):
        page.run(cell)
    test = page["held_out"]["test"]
    for seed in seeds:
        found: dict[str, float] = {}
        for pairs, steps, epsilon in ((6000, 450, 0.0), (600, 300, 0.0), (600, 300, 0.1)):
            config = replace(page["task"].config, smoothing=epsilon)
            task = TranslationTask(config, seed=seed + 1)
            task.examples = task.examples[:pairs]
            lengths = [max(map(len, example)) for example in task.examples]
            task.batches = LengthBatches(lengths, config.tokens, seed=seed + 1)
            model = trained(task, steps, seed + 1)
            written = model.translate([pair.english for pair in test], n_beams=1)
            right = [w == pair.french for w, pair in zip(written, test, strict=True)]
            known = certainty(task, model) | {"test": sum(right) / len(right)}
            name = f"{pairs} pairs, smoothing {epsilon}"
            found |= {f"{name}, {what}": one for what, one in known.items()}
        yield found


def trained(task: TranslationTask, steps: int, seed: int) -> Translator:
    """Train as chapter 9 does."""
    schedule = Schedule("cosine", 1e-2, 60, total=steps, floor=1e-4)
    how = TrainingConfig(schedule=schedule, steps=steps, weight_decay=0.01, clip=1.0, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        train(task, how, Path(folder))
        return Translator.from_pretrained(Path(folder) / "model")


@torch.no_grad()
def certainty(task: TranslationTask, translator: Translator) -> dict[str, float]:
    """Return how well and how confidently a translator predicts the held-out pairs' tokens."""
    sides = zip(*task.held_out, strict=True)
    (source, mask), (target, _) = (pad(side, task.tokenizer.pad_id) for side in sides)
    logits, labels = translator.model(source, target[:, :-1], mask), target[:, 1:]
    real = labels != task.tokenizer.pad_id
    chances, labels = logits.softmax(-1)[real], labels[real]
    surest, chosen = chances.max(-1)
    return {
        "nll": -chances.gather(-1, labels[:, None]).log().mean().item(),
        "tokens right": (chosen == labels).float().mean().item(),
        "probability of the choice": surest.mean().item(),
    }


def next_token(page: Page, seeds: range) -> Iterator[dict[str, float]]:
    """Chapter 11: an encoder that learns to predict the next token, with and without a mask."""
    page.run("imports")
    for seed in seeds:
        page.run("ex-next-token-answer", "manual_seed(0)", f"manual_seed({seed})")
        no_mask, causal = page["reached"]
        yield {"next token, no mask": no_mask, "next token, causal mask": causal}


STUDIES: dict[str, tuple[Study, ...]] = {
    "02": (word_vectors,),
    "06": (longer_texts,),
    "07": (deep_stacks,),
    "08": (leak,),
    "09": (warm_up, translator, by_heart, smoothing),
    "11": (next_token,),
}


def measure(chapter: str, seeds: range) -> dict[str, list[float]]:
    """Run the studies of a chapter on this processor; return each measure, seed by seed."""
    found: dict[str, list[float]] = {}
    for study in STUDIES[chapter]:
        for one in study(Page(chapter), seeds):
            for name, number in one.items():
                found.setdefault(name, []).append(round(number, 4))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", default=[*STUDIES], metavar="CHAPTER")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--here", action="store_true", help="print, on this processor alone")
    given = parser.parse_args()
    if given.here:
        print(json.dumps(measure(given.chapters[0], range(given.seeds))))
        return
    processors = {HERE: {"OMP_NUM_THREADS": "1"}} | PROCESSORS
    for chapter in given.chapters:
        found: dict[str, dict[str, list[float]]] = {}
        for name in (HERE, "old", "avx2"):
            command = [sys.executable, "-m", "benchmarks.seeds", chapter, "--here"]
            command += ["--seeds", str(given.seeds)]
            run = subprocess.run(
                command,
                cwd=ROOT,
                env=os.environ | surroundings() | processors[name] | {"MPLBACKEND": "agg"},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            for what, numbers in json.loads(run.stdout.splitlines()[-1]).items():
                found.setdefault(what, {})[name] = numbers
        known = json.loads(SEEDS.read_text(encoding="utf-8")) if SEEDS.is_file() else {}
        text = json.dumps({**known, chapter: found}, indent=1, sort_keys=True)
        SEEDS.write_text(text + "\n", encoding="utf-8")
        print(f"chapter {chapter}: {len(found)} measures", flush=True)


if __name__ == "__main__":
    main()
