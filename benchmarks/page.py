"""The book's page of results: every mark next to the measured figure, from committed files.

    python -m benchmarks.page

writes `chapters/results.md` from `results/` here, and from the marks and runs in
`glassbox.results`; a test checks the committed page against the output of this module.
"""

import argparse
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.card import figure, table
from glassbox.results import MARKS, RUNS

HERE = Path(__file__).parent
PAGE = HERE.parent / "chapters" / "results.md"
SIGNS = {">=": "at least", "<=": "at most"}
OPENING = """\
(results)=
# Results

This page compares what the book's code achieves with the targets set for it and with results that
others have published for the same tasks.
`python -m benchmarks.page` takes every number on this page from the files in `benchmarks/results`
and `glassbox/results`, and a test compares the two.
A missed target is listed as missed, and one that has not been measured yet as not measured.
"""


def compose() -> str:
    """Return the page, composed from the committed files."""
    marks = tomllib.loads(MARKS.read_text(encoding="utf-8"))
    parts = [OPENING, "## Learning", *learning(marks["learning"], RUNS)]
    for file in sorted((HERE / "results").glob("*.json")):
        measured = json.loads(file.read_text())
        parts += speed(marks["speed"], measured)
        if "gpu" not in measured["machine"]:  # whose results are without a browser
            parts.append(painted(marks["paint"]["mark"], measured))
    parts += ["## Held by tests", HELD, held(marks["held"]), "(cards)=\n## Cards", CARDS]
    for run in sorted(path.parent for path in RUNS.glob("*/CARD.md")):
        parts.append(f"(card-{run.name})=\n" + demoted((run / "CARD.md").read_text("utf-8")))
    return "\n\n".join(part.strip() for part in parts) + "\n"


LEARNING = """\
Each {ref}`card <cards>` names the command and the machine used to train the model with
`glassbox.training`.
Where there are several seeds, the figure is their mean with the standard deviation.
An empty entry under *published* means that we found no figure that we could check, or that the row
is a measure of our own."""
SPEED = """\
`make bench` repeatedly times two programs in turn: the book's code and a reference, which in some
rows is another version of the book's code.
The ratio is the median of our times divided by the median of theirs; in parentheses are the
quartiles of the ratio within rounds.
Below 1, ours is faster.
Sizes in parentheses are texts, tokens and, if there is a third, the width; SDPA is PyTorch's
`scaled_dot_product_attention`.
On the EPYC, repeating the measurement changed some ratios by a tenth or more, so a ratio close to 1
is best read as a tie."""
#: The GPU's times are from before the fastest of several rounds counted.
AT_BEST = {"cpu": "; both are the shortest of several timings", "cuda": ""}
MACHINE = (
    "Machine: {processor}, {cores} cores, {threads} threads, {system}, Python {python}, "
    "PyTorch {torch}."
)
GROWTH = """\
The exponent comes from a power law fitted to the costs: 0 is flat, 1 linear, 2 quadratic."""
HELD = """\
These targets have no figure here, because `make test` fails when one of them is missed."""
CARDS = """\
Each card says what a model was trained on, how, at what cost, and how good it is."""


def learning(marks: Iterable[Mapping[str, Any]], runs: Path) -> Iterator[str]:
    """Yield the words and the table of what was learned."""
    yield LEARNING
    rows = [["work", "published", "target", "ours", "verdict"]]
    for mark in marks:
        values = [look_up(file, mark["figure"][1:]) for file in scores(runs, mark)]
        aim = f"{SIGNS[mark['sign']]} {mark['mark']:g}" if "mark" in mark else ""
        places = 2 if any("bleu" in str(step) or step == "chrf" for step in mark["figure"]) else 4
        rows.append(
            [
                mark["work"],
                mark.get("published", ""),
                aim,
                shown(values, places, runs / mark["run"]),
                verdict(values, mark),
            ]
        )
    yield table(rows, ":--|:--|:--|--:|:--")


def scores(runs: Path, mark: Mapping[str, Any]) -> list[Path]:
    """Return the files that hold a figure, one for each seed."""
    return sorted((runs / mark["run"]).glob(f"seed-*/scores-{mark['figure'][0]}.json"))


def look_up(file: Path, steps: Iterable[str | int]) -> float:
    """Return the number at the end of a path through a file's content."""
    found: Any = json.loads(file.read_text())
    for step in steps:
        found = found[step]
    return float(found)


def shown(values: list[float], places: int, run: Path) -> str:
    """Return a figure with its spread, linked to the card of its run."""
    return f"{{ref}}`{figure(values, places)} <card-{run.name}>`" if values else ""


def verdict(values: list[float], mark: Mapping[str, Any]) -> str:
    """Return whether a mark is met, in words."""
    if not values:
        return "not measured"
    if "mark" not in mark:
        return ""
    ours, aim = mean(values), mark["mark"]
    return "met" if (ours >= aim if mark["sign"] == ">=" else ours <= aim) else "**missed**"


def speed(marks: Mapping[str, float], measured: Mapping[str, Any]) -> Iterator[str]:
    """Yield the timings on one machine."""
    about, results = measured["machine"], measured["results"]
    how = "Measured in the same way." if "gpu" in about else SPEED
    yield f"## Speed and memory on {about.get('gpu') or about['processor']}"
    yield f"{how}\n{MACHINE.format(**about)}"
    rows = [["work, against what", "ours, ms", "theirs, ms", "ratio", "target", "verdict"]]
    for one in (one for one in results if "ratio" in one):
        aim = next((aim for start, aim in marks.items() if one["what"].startswith(start)), None)
        low, high = one["quartiles"]
        rows.append(
            [
                f"{one['what']}, {one['device']}, against {one['against']}",
                *(milliseconds(one[whose]) for whose in ("ours_ms", "theirs_ms")),
                f"{one['ratio']:.3f} ({low:.2f} to {high:.2f})",
                "" if aim is None else f"at most {aim:g}",
                "" if aim is None else "met" if one["ratio"] <= aim else "**missed**",
            ]
        )
    yield table(rows, ":--|--:|--:|--:|:--|:--")
    yield GROWTH
    rows = [["work", "lengths", "cost", "exponent"]]
    for one in (one for one in results if "exponent" in one):
        costs = ", ".join(f"{cost:.3g}" if cost < 1000 else f"{cost:,.0f}" for cost in one["costs"])
        rows.append(
            [
                f"{one['what']}, {one['device']}",
                ", ".join(f"{length:,}" for length in one["lengths"]),
                f"{costs} {one['unit']}",
                f"{one['exponent']:.2f}",
            ]
        )
    yield table(rows, ":--|:--|:--|--:")
    for one in (one for one in results if "share" in one):
        whole = next(one for one in results if "128 tokens, GPT-2" in one["what"])
        yield (
            f"In a separate measurement of {one['what'].partition(',')[0]} with "
            f"{one['what'].split(', ')[1]}, a token takes {one['token_ms']:.1f} ms; reading all "
            "parameters except the position table from memory, once, takes "
            f"{one['limit_ms']:.1f} ms, {one['share']:.0%} of that time{AT_BEST[one['device']]}. "
            f"The time in the table, measured earlier, comes to {whole['ours_ms'] / 128:.1f} ms "
            "per token."
        )


def milliseconds(time: float) -> str:
    """Return a time with three digits or more."""
    return f"{time:.1f}" if time >= 10 else f"{time:.2f}"


def painted(mark: float, measured: Mapping[str, Any]) -> str:
    """Say when the largest part of a chapter's page is painted."""
    aim = f"the target is at most {mark:,g} ms"
    for one in (one for one in measured["results"] if "paint_ms" in one):
        times = one["paint_ms"]
        longest = max(times.values())
        slowest = [f"{{doc}}`/chapters/{name}`" for name, ms in times.items() if ms == longest]
        return (
            f"In a browser on this machine, in the best of three loads, the largest part of every "
            f"chapter's page is painted within {longest:,g} ms "
            f"(the slowest page is {' and '.join(slowest)}); "
            f"{aim}: {'met' if longest <= mark else '**missed**'}."
        )
    return f"The largest paint of a chapter's page has not been measured; {aim}."


def held(marks: Iterable[Mapping[str, str]]) -> str:
    """Return the table of marks that tests enforce."""
    rows = [["what", "limit", "held by"]]
    rows += [[mark["what"], mark["limit"], f"`{mark['test']}`"] for mark in marks]
    return table(rows, ":--|:--|:--")


def demoted(text: str) -> str:
    """Return a card with its headings two levels down."""
    return re.sub(r"^(#+) ", r"\1## ", text, flags=re.MULTILINE)


def write() -> None:
    """Write the page."""
    PAGE.write_text(compose(), encoding="utf-8")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()  # it takes none
    write()
