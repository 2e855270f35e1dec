"""Offer every chapter as a notebook, to download or to open in Colab.

The site has a copy of each chapter, in plain Markdown (`plain`), whose first cell installs the book
if necessary. Address and button follow from one setting, `glassbox_repository` in `_config.yml`:
where the book is published, such as `https://github.com/OWNER/NAME`. If empty, it is the repository
whose workflow builds the site; in other builds, the copies have no such cell and the pages no
button.
"""

import json
import os
import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective

from glassbox_site.numbers import chapter_number
from glassbox_site.plain import Resolve, to_plain, words
from glassbox_site.times import chapters, count

FOLDER = "notebooks"
#: Colab opens notebooks from a branch; the workflow that publishes the site puts the copies there.
BRANCH = "notebooks"
GITHUB = "https://github.com/"
COLAB = "https://colab.research.google.com/github/"
RAW = "https://raw.githubusercontent.com/{}/main/"
EXERCISE = re.compile(r"\{exercise\} *(.*)\n:label: *(\S+)")
PUBLISHED = """\
The source of the book is at <{address}>.
In a copy of it, `make lab` sets everything up and opens the chapters in JupyterLab, and `make test`
runs all checks.
The button at the top of each chapter opens it in Colab.
"""
UNPUBLISHED = """\
You can download the chapters here, or each one from the top of its page.
They need the book's package, which is in the folder that this copy of the site was built from.
"""
FETCH = """\
# Fetch the book and its package if they are not installed.
import importlib.util

if importlib.util.find_spec("glassbox") is None:
    !git clone --quiet --depth 1 {address} glassbox-book
    %pip install --quiet "./glassbox-book[chapters]"
"""


def find_address(app: Sphinx, config: Config) -> None:
    """Use the setting, or else the variables of GitHub's workflows."""
    set_here = config.glassbox_repository
    workflow = os.environ.get("GITHUB_REPOSITORY", "")
    address = set_here or (GITHUB + workflow if workflow else "")
    if address and not address.startswith(GITHUB):
        raise ValueError(
            f"glassbox_repository={address!r} in _config.yml: expected {GITHUB}OWNER/NAME, since "
            "Colab opens notebooks from there, or nothing"
        )
    config.glassbox_repository = address.rstrip("/").removesuffix(".git")


def copy(notebook: dict[str, Any], address: str, resolve: Resolve) -> dict[str, Any]:
    """Return a chapter to download: in plain Markdown, without outputs, with the first cell."""
    pictures = RAW.format(address.removeprefix(GITHUB)) if address else ""
    cells = [_fetching(address)] if address else []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cells.append({**cell, "outputs": [], "execution_count": None})
        elif text := to_plain("".join(cell["source"]), resolve, pictures).strip():
            cells.append({**cell, "source": text})
    return {**notebook, "cells": cells}


def _fetching(address: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": "fetch",
        "metadata": {},
        "source": FETCH.format(address=address).rstrip(),
        "outputs": [],
        "execution_count": None,
    }


def write_copies(app: Sphinx, error: Exception | None) -> None:
    """Write the copies next to the pages."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    read = {path: json.loads(path.read_text("utf-8")) for path in chapters(Path(app.srcdir))}
    texts = ("".join(cell["source"]) for notebook in read.values() for cell in notebook["cells"])
    titles = {label: title for text in texts for title, label in EXERCISE.findall(text)}
    resolve = words(app.env, titles)
    for path, notebook in read.items():
        taken = copy(notebook, app.config.glassbox_repository, resolve)
        text = json.dumps(taken, ensure_ascii=False)
        (folder / path.name).write_text(text + "\n", encoding="utf-8")


def colab_address(app: Sphinx, page: str) -> str | None:
    """Return the address of a chapter's copy in Colab, if the book is published."""
    address = app.config.glassbox_repository.removeprefix(GITHUB)
    name = f"{page.rpartition('/')[2]}.ipynb"
    return f"{COLAB}{address}/blob/{BRANCH}/{name}" if address else None


def link(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the page of a chapter the addresses of its copy, here and in Colab."""
    if chapter_number(page) is None:
        return
    context["notebook"] = f"{FOLDER}/{page.rpartition('/')[2]}.ipynb"
    if address := colab_address(app, page):
        context["colab"] = address


class HowToGet(SphinxDirective):
    """``{how-to-get}``: where the source and the notebooks are, if known."""

    def run(self) -> list[nodes.Node]:
        """Write the text in Markdown, and parse it."""
        address = self.config.glassbox_repository
        text = PUBLISHED.format(address=address) if address else UNPUBLISHED
        box = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), "how-to-get"), 0, box)
        if not address:
            up = "../" * self.env.docname.count("/")
            links = (
                f'<li><a href="{up}{FOLDER}/{path.name}" download>{escape(count(path)[0])}</a></li>'
                for path in chapters(Path(self.env.srcdir))
            )
            box += nodes.raw("", f"<ol>{''.join(links)}</ol>", format="html")
        return [box]


def setup(app: Sphinx) -> None:
    """Register the setting, and act on each page and at the end."""
    app.add_directive("how-to-get", HowToGet)
    app.add_config_value("glassbox_repository", "", "html", str)
    app.connect("config-inited", find_address)
    app.connect("html-page-context", link)
    app.connect("build-finished", write_copies)
