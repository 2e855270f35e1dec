"""A chapter can be taken along, and opened in Colab where it fetches the book."""

import ast
import json
import re
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from glassbox_site.notebooks import FOLDER, copy, find_address, link
from glassbox_site.plain import to_plain, words
from tests.site.conftest import ROOT, SITE

ADDRESS = "https://github.com/someone/some-book"


def same(role: str, target: str) -> str:
    return target


def configured(address: str, monkeypatch: pytest.MonkeyPatch, workflow: str | None = None) -> Any:
    """Return the configuration after the setting was read."""
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    if workflow is not None:
        monkeypatch.setenv("GITHUB_REPOSITORY", workflow)
    app: Any = SimpleNamespace(config=SimpleNamespace(glassbox_repository=address))
    find_address(app, app.config)
    return app


def test_the_copy_is_the_chapter_in_plain_markdown_without_its_outputs(chapter):
    original = nbformat.read(ROOT / chapter.replace(".html", ".ipynb"), as_version=4)
    taken = nbformat.read(SITE / FOLDER / chapter.replace(".html", ".ipynb")[9:], as_version=4)
    nbformat.validate(taken)
    cells = {cell.id: cell for cell in taken.cells}
    for cell in original.cells:
        if cell.cell_type == "code":
            assert cells[cell.id].source == cell.source
            assert not cells[cell.id].outputs
    text = "\n".join(cell.source for cell in taken.cells if cell.cell_type == "markdown")
    assert re.findall(r"\{[\w-]+\}`[^`]+`|^[`:]{3,}\{.*|^\([\w-]+\)=", text, re.MULTILINE) == []
    assert re.findall(r"\((?:eq|fig|ch|sec|ex|lst)-[\w-]+\)|\*\*(?:fig|lst)-", text) == []


PLAIN = {
    "(sec-x)=\n## A title": "## A title",
    "See {eq}`eq-x` and {numref}`fig-x`.": "See (8.2) and Figure 8.1.",
    "By {func}`~glassbox.attention.softmax`, {mod}`glassbox.viz`.": "By `softmax`, `glassbox.viz`.",
    "Of {cite}`a2017`, {term}`heads <head>`.": "Of [A, 2017], heads.",
    "```{math}\n:label: eq-x\na = b\n```": "$$\na = b \\tag{8.2}\n$$",
    "```{figure} ../images/x.svg\n:name: fig-x\n:alt: A box.\n\nWhat it {term}`is`.\n```": (
        "![A box.](https://x/images/x.svg)\n\n**Figure 8.1.** What it is."
    ),
    "```{warning}\nOne.\n\nTwo.\n```": "> **Warning.** One.\n>\n> Two.",
    "````{exercise} Name\n:label: ex-x\n\nDo.\n\n```{hint}\n:class: dropdown\n\nSo.\n```\n````": (
        "### Exercise: Name\n\nDo.\n\n<details><summary>Hint</summary>\n\nSo.\n\n</details>"
    ),
    "### More\n\n```{deeper}\nWhy.\n```": "### More\n\n*Going deeper.* Why.",
    ":::::{div} gb-summary\n```{image} ../images/x.svg\n:alt: A box.\n```\n\n- So.\n:::::": (
        "![A box.](https://x/images/x.svg)\n\n- So."
    ),
    "```{machine} memory\n```": ("*On the site, you can play with a piece of the machine here.*"),
    "```{solution-start} ex-x\n:class: dropdown\n```": "**Solution: Name**",
}


@pytest.mark.parametrize(("myst", "plain"), PLAIN.items())
def test_directives_and_roles_become_plain_markdown(myst, plain):
    known = {"eq-x": "8.2", "fig-x": "Figure 8.1", "a2017": "[A, 2017]", "ex-x": "Name"}
    assert to_plain(myst, lambda role, target: known.get(target, target), "https://x/") == plain


def test_a_directive_without_a_plain_form_is_named():
    with pytest.raises(ValueError, match=r"'tabs' has no plain form.*plain\.py"):
        to_plain("```{tabs}\n```", lambda role, target: target)


@pytest.mark.parametrize("role", ["cite", "doc", "eq", "numref", "ref", "term", "title"])
def test_a_target_that_is_not_known_stays_as_it_is(role):
    data: dict[str, Any] = {"std": {"labels": {}, "anonlabels": {}}, "math": {"objects": {}}}
    env: Any = SimpleNamespace(
        config=SimpleNamespace(bibtex_bibfiles=[], numfig_format={"figure": "Figure %s"}),
        domains={name: SimpleNamespace(data=one) for name, one in data.items()},
        titles={},
        toc_fignumbers={},
    )
    known = words(env, {})(role, "nothing-of-that-name")
    assert known == ("[nothing-of-that-name]" if role == "cite" else "nothing-of-that-name")


def test_a_page_links_to_its_notebook(soup, chapter):
    (link,) = soup(chapter).select(".gb-notebook a[download]")
    assert link.get_text().endswith("Notebook")
    notebook = (SITE / chapter).parent / link["href"]
    assert notebook.name == chapter.replace(".html", ".ipynb")[9:]
    assert json.loads(notebook.read_text(encoding="utf-8"))["cells"]


def test_a_click_downloads_the_notebook(read):
    page = read("chapters/04_scaled_dot_product.html").page
    with page.expect_download() as download:
        page.get_by_role("link", name="Notebook", exact=True).click()
    assert download.value.suggested_filename == "04_scaled_dot_product.ipynb"
    assert json.loads(download.value.path().read_text(encoding="utf-8"))["cells"]


def test_with_an_address_the_first_cell_fetches_what_is_missing():
    cells = copy({"cells": [{"cell_type": "markdown", "source": "# A"}]}, ADDRESS, same)["cells"]
    assert [cell["cell_type"] for cell in cells] == ["code", "markdown"]
    source = cells[0]["source"]
    assert f"git clone --quiet --depth 1 {ADDRESS} " in source
    ran: list[str] = []
    shell = SimpleNamespace(
        system=ran.append, run_line_magic=lambda *words: ran.append(" ".join(words))
    )
    code = TransformerManager().transform_cell(source)
    ast.parse(code)
    exec(code, {"get_ipython": lambda: shell})  # the package is installed here
    assert ran == []
    exec(code.replace('"glassbox"', '"glassbox_that_is_not"'), {"get_ipython": lambda: shell})
    assert [line.split()[0] for line in ran] == ["git", "pip"]


def test_without_an_address_a_copy_fetches_nothing_and_no_page_has_a_button(monkeypatch):
    app = configured("", monkeypatch)
    context: dict[str, Any] = {}
    link(app, "chapters/04_scaled_dot_product", "page.html", context, None)
    assert context == {"notebook": "notebooks/04_scaled_dot_product.ipynb"}
    assert copy({"cells": []}, app.config.glassbox_repository, same)["cells"] == []


@pytest.mark.parametrize(
    ("address", "workflow"),
    [
        (ADDRESS, None),
        (ADDRESS + "/", None),
        (ADDRESS + ".git", "another/one"),
        ("", "someone/some-book"),
    ],
)
def test_the_button_leads_to_the_copy_in_its_branch(monkeypatch, address, workflow):
    app = configured(address, monkeypatch, workflow)
    context: dict[str, Any] = {}
    link(app, "chapters/04_scaled_dot_product", "page.html", context, None)
    assert context["colab"] == (
        "https://colab.research.google.com/github/someone/some-book/blob/notebooks/"
        "04_scaled_dot_product.ipynb"
    )
    link(app, "chapters/notation", "page.html", context := {}, None)
    assert context == {}


def test_an_address_that_colab_cannot_open_is_refused(monkeypatch):
    with pytest.raises(ValueError, match=r"glassbox_repository='https://example.org/x' .*OWNER"):
        configured("https://example.org/x", monkeypatch)


def test_the_branch_is_the_one_that_is_published():
    workflow = (ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    assert "working-directory: _build/html/notebooks" in workflow
    assert "--initial-branch notebooks" in workflow
    assert '/${{ github.repository }}" notebooks' in workflow


def test_the_page_about_the_book_leads_to_all_it_names(soup):
    about = soup("chapters/about.html").select_one("article")
    links = [link["href"] for link in about.select("a[href]")]
    repository = [link for link in links if link.startswith("https://github.com/")]
    taken = [link for link in links if f"../{FOLDER}/" in link]
    assert repository or len(taken) == len(list((SITE / FOLDER).glob("*.ipynb")))
    assert repository or "make " not in about.get_text()
