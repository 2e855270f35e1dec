"""The card of a trained model: its data, its training, its cost and its quality.

The words come from `about.md` in the run's folder, every number from the files of its seeds. A test
checks the committed cards against the output of this module.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean, stdev
from typing import Any

#: The measures of translations, and their headings.
MEASURES = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "spacy_bleu": "BLEU, spaCy's words",
    "moses_bleu": "BLEU, Moses's words",
}

#: Who fills blanks, and what a card calls them.
GUESSES = {
    "BERT": "this BERT",
    "neighbours": "counts of the tokens before and after",
    "frequency": "the most frequent tokens",
}


def write(run: Path, shipped: str | None = None) -> Path:
    """Write the card of a run next to its files, and return its path."""
    card = run / "CARD.md"
    if shipped:
        (run / "shipped.txt").write_text(shipped + "\n")
    card.write_text(compose(run), encoding="utf-8")
    return card


def compose(run: Path) -> str:
    """Return the card of a run: its words, then its numbers."""
    seeds = sorted(run.glob("seed-*"))
    trained = [json.loads((seed / "training.json").read_text()) for seed in seeds]
    scored: dict[str, list[Mapping[str, Any]]] = {}
    for file in (file for seed in seeds for file in sorted(seed.glob("scores-*.json"))):
        scored.setdefault(file.name, []).append(json.loads(file.read_text()))
    parts = [(run / "about.md").read_text(encoding="utf-8").strip(), "## Scores"]
    for reports in scored.values():
        ways = {"texts": texts, "blanks": blanks, "directions": translations, "lowest": lowest}
        parts += next(way for key, way in ways.items() if key in reports[0])(reports)
    note = run / "shipped.txt"
    parts += ["## Training", training(run.name, trained)]
    if note.exists():
        parts.append(
            f"The package includes these weights as `{note.read_text().strip()}`, in half "
            "precision; the scores are for the half-precision weights."
        )
    return "\n\n".join(parts) + "\n"


def translations(reports: list[Mapping[str, Any]]) -> Iterable[str]:
    """Yield a table for each direction that was measured."""
    for several in zip(*(report["directions"] for report in reports), strict=True):
        test = several[0]
        ways = list(zip(*(one["decoding"] for one in several), strict=True))
        measures = {key: name for key, name in MEASURES.items() if key in ways[0][0]}
        rows = [["", *measures.values()]]
        for way in ways:
            beams = way[0]["n_beams"]
            name = "greedy" if beams == 1 else f"{beams} beams"
            rows.append([name, *(figure([one[key] for one in way]) for key in measures)])
        references = f" with {test['references']:,} references"
        yield (
            f"**{test['corpus']}, {test['split']}, {test['source']} to {test['to']}**: "
            f"{test['sources']:,} sentences"
            + (references if test["references"] != test["sources"] else "")
            + f"; {of(len(several))}."
        )
        yield table(rows)
        yield (
            f"BLEU `{ways[0][0]['bleu_signature']}`, chrF `{ways[0][0]['chrf_signature']}`.\n"
            f"Perplexity {figure([one['perplexity'] for one in several], 3)}, "
            f"{figure([one['bits_per_byte'] for one in several], 4)} bits per byte."
        )


def texts(reports: list[Mapping[str, Any]]) -> Iterable[str]:
    """Yield a table for each text that was measured."""
    for several in zip(*(report["texts"] for report in reports), strict=True):
        test = several[0]
        yield f"**{test['corpus']}, {test['split']}**: {test['text']:,} characters."
        rows = [["", "nats per character", "bits per byte"]]
        for windows in zip(*(one["windows"] for one in several), strict=True):
            context, stride = windows[0]["context"], windows[0]["stride"]
            rows.append(
                [
                    f"all of it, {context} at a time, every {stride}",
                    figure([one["loss"] for one in windows], 4),
                    figure([one["bits_per_byte"] for one in windows], 4),
                ]
            )
        loss, error = (
            mean(one["estimate"][key] for one in several) for key in ("loss", "standard_error")
        )
        rows.append(["nanoGPT's estimate from 20 batches", f"{loss:.4f} ± {error:.4f}", ""])
        yield table(rows)


def lowest(reports: list[Mapping[str, Any]]) -> Iterable[str]:
    """Yield the lowest of the losses estimated at checkpoints, and the last."""
    first = reports[0]
    yield (
        f"**Estimates at {len(first['estimates'])} checkpoints**, each from "
        f"{first['n_batches']} batches of {first['batch_size']} windows; {of(len(reports))}."
    )
    rows = [["", "step", "nats per character"]]
    for name, several in (
        ("the lowest", [report["lowest"] for report in reports]),
        ("the last", [report["estimates"][-1] for report in reports]),
    ):
        steps = ", ".join(sorted({f"{one['step']:,}" for one in several}))
        rows.append([name, steps, figure([one["loss"] for one in several], 4)])
    yield table(rows)


def blanks(reports: list[Mapping[str, Any]]) -> Iterable[str]:
    """Yield a table of how well blanks were filled."""
    for several in zip(*(report["blanks"] for report in reports), strict=True):
        test = several[0]
        first, *_ = test["guesses"].values()
        yield (
            f"**{test['corpus']}, {test['split']}**: {test['texts']:,} texts, in which "
            f"{first['n_tokens']:,} tokens were hidden; {of(len(several))}."
        )
        rows = [["", "nats per token", "most probable is right"]]
        for name, label in GUESSES.items():
            found = [one["guesses"][name] for one in several]
            accuracy = figure([100 * one["accuracy"] for one in found], 1)
            rows.append([label, figure([one["loss"] for one in found], 3), f"{accuracy} %"])
        yield table(rows)


def training(name: str, trained: list[Mapping[str, Any]]) -> str:
    """Return how a run was trained, and what it cost."""
    first = trained[0]
    machines = {
        f"{one['machine'].get('gpu', one['machine']['processor'])}, "
        f"{one['machine']['cores']} cores, torch {one['machine']['torch']}"
        for one in trained
    }
    # Only texts that are read completely have epochs; blocks are drawn without end.
    by_epochs = "steps_per_epoch" not in first["config"]
    rows = [["seed", "steps", *(["epochs begun"] if by_epochs else []), "tokens", "hours"]]
    for one in trained:
        epochs = one["epoch"] + (one["position"] > 0)
        rows.append(
            [
                str(one["config"]["seed"]),
                f"{one['step']:,}",
                *([str(epochs)] if by_epochs else []),
                f"{one['tokens']:,}",
                f"{one['seconds'] / 3600:.2f}",
            ]
        )
    return (
        f"{first['parameters']:,} parameters. "
        f"`glassbox train {name}`; each seed has its log, `metrics.jsonl`. "
        f"Machine: {'; '.join(sorted(machines))}.\n\n{table(rows)}"
    )


def of(seeds: int) -> str:
    """Describe the figures of a table."""
    return "one seed" if seeds == 1 else f"mean and standard deviation of {seeds} seeds"


def figure(values: list[float], places: int = 2) -> str:
    """Return a mean, and the spread of the values if there are several."""
    spread = f" ± {stdev(values):.{places}f}" if len(values) > 1 else ""
    return f"{mean(values):.{places}f}{spread}"


def table(rows: list[list[str]], alignment: str | None = None) -> str:
    """Return rows as a Markdown table, the first as its header; numbers are right-aligned."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    rule = alignment or "---|" + "|".join(["---:"] * (len(rows[0]) - 1))
    return "\n".join([head, f"|{rule}|", *body])
