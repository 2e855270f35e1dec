"""How long a chapter takes, counted from the chapter itself."""

import json
import re
from functools import cache
from pathlib import Path

import yaml
from sphinx.application import Sphinx
from sphinx.config import Config

from glassbox_site.numbers import chapter_number

WORDS_A_MINUTE = 200
MINUTES_A_CELL = 1
MINUTES_AN_EXERCISE = 10


def chapters(source: Path) -> list[Path]:
    """Notebooks of the chapters that `_toc.yml` lists, in its order."""
    toc = yaml.safe_load((source / "_toc.yml").read_text(encoding="utf-8"))
    names = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    return [source / f"{name}.ipynb" for name in names if chapter_number(name)]


def minutes(words: int, cells: int) -> float:
    """Return how long so many words and cells take to read."""
    return words / WORDS_A_MINUTE + cells * MINUTES_A_CELL


@cache
def count(notebook: Path) -> tuple[str, int, int]:
    """Title of a chapter, minutes to read it, number of its exercises."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    code = sum(cell["cell_type"] == "code" for cell in cells)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    reading = round(minutes(len(text.split()), code) / 5) * 5
    exercises = len(re.findall(r"\{exercise(?:-start)?\}", text))
    return title[1] if title else notebook.stem, reading, exercises


def question(notebook: Path) -> str:
    """Return the question that a chapter opens with: its epigraph."""
    first = "".join(json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"])
    epigraph = re.search(r"```{epigraph}\n(.+?)\n```", first, re.DOTALL)
    return " ".join(epigraph[1].split()) if epigraph else ""


def table(source: Path) -> str:
    """A table of the chapters and their times, in Markdown."""
    rows = ["| Chapter | To read | Exercises |", "|:--|:--|:--|"]
    for notebook in chapters(source):
        title, reading, exercises = count(notebook)
        rows.append(
            f"| [{chapter_number(notebook.stem)} {title}](/chapters/{notebook.name}) "
            f"| {reading} minutes | {exercises}, {exercises * MINUTES_AN_EXERCISE} minutes |"
        )
    return "\n".join(rows)


def substitute(app: Sphinx, config: Config) -> None:
    """Offer the table as the substitution `{{ reading_times }}`."""
    times = {"reading_times": table(Path(app.srcdir))}
    config.myst_substitutions = config.myst_substitutions | times


def setup(app: Sphinx) -> None:
    """Count before the pages are parsed."""
    app.connect("config-inited", substitute)
