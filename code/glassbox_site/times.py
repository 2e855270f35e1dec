"""How long a chapter takes, counted from the chapter itself."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from math import ceil
from pathlib import Path
from typing import NamedTuple

import yaml
from sphinx.application import Sphinx
from sphinx.config import Config

from glassbox_site.levels import is_solution, kind
from glassbox_site.numbers import chapter_number

WORDS_A_MINUTE = 200
#: Open code is read; of a cell with folded code, only the output is looked at.
MINUTES_A_CELL = {"idea": 1, "listing": 1, "quiz": 1, "drawing": 0.5, "table": 0.5, "numbers": 0.5}
MINUTES_AN_EXERCISE = 10


def chapters(source: Path) -> list[Path]:
    """Return the notebooks of the chapters in `_toc.yml`, in its order."""
    toc = yaml.safe_load((source / "_toc.yml").read_text(encoding="utf-8"))
    names = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    return [source / f"{name}.ipynb" for name in names if chapter_number(name)]


def minutes(words: int, kinds: Iterable[str]) -> float:
    """Return how long this many words and cells of these kinds take to read."""
    return words / WORDS_A_MINUTE + sum(MINUTES_A_CELL.get(what, 0) for what in kinds)


class Reading(NamedTuple):
    """The reading time of a chapter: minutes for its core and for what goes deeper."""

    title: str
    core: int
    deeper: int
    exercises: int


@cache
def count(notebook: Path) -> Reading:
    """Count the words, cells and exercises of a chapter."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    title, level, into = notebook.stem, 0, "core"
    words, kinds = Counter[str](), defaultdict[str, list[str]](list)
    exercises = 0
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            if not is_solution(cell["metadata"]):
                kinds[into].append(kind(source, cell["metadata"]))
            continue
        exercises += len(re.findall(r"\{exercise(?:-start)?\}", source))
        for line in source.splitlines():
            if heading := re.match(r"(#+) (.+)", line):
                depth = len(heading[1])
                title = heading[2] if depth == 1 else title
                if into == "core" or depth <= level:
                    level, into = depth, "exercises" if heading[2] == "Exercises" else "core"
            elif line.endswith("{deeper}"):
                into = "deeper"
            words[into] += len(line.split())
    core, deeper = (ceil(minutes(words[part], kinds[part]) / 5) * 5 for part in ("core", "deeper"))
    return Reading(title, core, deeper, exercises)


def question(notebook: Path) -> str:
    """Return the question that a chapter opens with: its epigraph."""
    first = "".join(json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"])
    epigraph = re.search(r"```{epigraph}\n(.+?)\n```", first, re.DOTALL)
    return " ".join(epigraph[1].split()) if epigraph else ""


def table(source: Path) -> str:
    """Return a table of the chapters and their times, in Markdown."""
    rows = ["| Chapter | To read | Going deeper | Exercises |", "|:--|:--|:--|:--|"]
    for notebook in chapters(source):
        title, core, deeper, exercises = count(notebook)
        rows.append(
            f"| [{chapter_number(notebook.stem)} {title}](/chapters/{notebook.name}) "
            f"| {core} minutes | {deeper} minutes "
            f"| {exercises}, {exercises * MINUTES_AN_EXERCISE} minutes |"
        )
    return "\n".join(rows)


def substitute(app: Sphinx, config: Config) -> None:
    """Offer the table as the substitution `{{ reading_times }}`."""
    times = {"reading_times": table(Path(app.srcdir))}
    config.myst_substitutions = config.myst_substitutions | times


def setup(app: Sphinx) -> None:
    """Count before the pages are parsed."""
    app.connect("config-inited", substitute)
