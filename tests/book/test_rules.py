"""Every rule can fail: each is shown a chapter that breaks it."""

import copy
from collections.abc import Callable

import pytest
from nbformat import NotebookNode, v4

from tests.book import rules_of_cells as cells
from tests.book import rules_of_text as text
from tests.book.chapter import Chapter
from tools.notebooks import CHAPTERS

TEMPLATE = Chapter.read(CHAPTERS / "_template.ipynb")


def first_code(notebook: NotebookNode, *, drawn: bool = False) -> NotebookNode:
    """The first code cell with an output; with a drawn one."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.outputs:
            kinds = cell.outputs[0].get("data", {})
            if not drawn or "gb-map" in kinds.get("text/html", ""):
                return cell
    raise LookupError("the template has no such cell")


def replace(old: str, new: str) -> Callable[[NotebookNode], None]:
    """Break the text of a chapter."""

    def change(notebook: NotebookNode) -> None:
        before = [cell.source for cell in notebook.cells]
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = cell.source.replace(old, new)
        assert before != [cell.source for cell in notebook.cells], f"{old!r} is not in the template"

    return change


def rename(old: str, new: str) -> Callable[[NotebookNode], None]:
    """Break the code of a chapter."""

    def change(notebook: NotebookNode) -> None:
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.source = cell.source.replace(old, new)

    return change


def code(source: str, *outputs: NotebookNode, **metadata: object) -> Callable[[NotebookNode], None]:
    """Add a code cell that has just been run."""

    def change(notebook: NotebookNode) -> None:
        count = sum(cell.cell_type == "code" for cell in notebook.cells) + 1
        cell = v4.new_code_cell(source, execution_count=count, outputs=list(outputs))
        cell.metadata.update(metadata)
        notebook.cells.append(cell)

    return change


def early(source: str, times: int) -> Callable[[NotebookNode], None]:
    """Add code cells that have not been run before the summary."""

    def change(notebook: NotebookNode) -> None:
        notebook.cells[1:1] = [v4.new_code_cell(source) for _ in range(times)]

    return change


def markdown(source: str) -> Callable[[NotebookNode], None]:
    """Add text before the last section, so that the sections stay in order."""

    def change(notebook: NotebookNode) -> None:
        notebook.cells.insert(1, v4.new_markdown_cell(source))

    return change


def on_first(**change: object) -> Callable[[NotebookNode], None]:
    return lambda notebook: first_code(notebook).update(change)


def of_drawn(*keys: str) -> Callable[[NotebookNode], None]:
    """Take something out of the metadata of the figure."""

    def change(notebook: NotebookNode) -> None:
        part = first_code(notebook, drawn=True).metadata["mystnb"]
        for key in keys[:-1]:
            part = part[key]
        del part[keys[-1]]

    return change


def html(source: str) -> NotebookNode:
    return v4.new_output("display_data", {"text/html": source})


def stream(source: str, name: str = "stdout") -> NotebookNode:
    return v4.new_output("stream", name=name, text=source)


error = v4.new_output("error", ename="ValueError", evalue="no", traceback=["ValueError: no"])
in_no_file = NotebookNode(mystnb={"figure": {"caption": "In `glassbox/nowhere.py`."}})
described = {"figure": {"name": "fig-x", "caption": "What to see."}}

BROKEN = [
    (cells.ran_in_order, on_first(execution_count=None)),
    (cells.ran_in_order, on_first(execution_count=99)),
    (cells.ran_in_order, lambda notebook: notebook.cells.clear()),
    (cells.shows_its_outputs, on_first(outputs=[])),
    (cells.shows_its_outputs, code("print(1)")),
    (cells.shows_its_outputs, code("for i in range(2):\n    print(i)")),
    (cells.shows_its_outputs, code("x = 1\nx")),
    (cells.shows_its_outputs, code("draw()", mystnb=described)),
    (cells.no_errors, code("fail()", error)),
    (cells.no_errors, code("warn()", stream("careful", "stderr"))),
    (cells.cells_are_short, code("\n".join(["pass"] * 21))),
    (cells.cells_are_short, lambda notebook: [code("pass\n" * 8)(notebook) for _ in range(60)]),
    (cells.tags_are_known, code("x = 1", tags=["hide-input"])),
    (cells.tags_are_known, code("x = 1", tags=["idea", "data"])),
    (cells.the_ideas_stay_open, early("y = f(x)", 60)),
    (cells.the_ideas_stay_open, early("import torch", 60)),
    (cells.open_cells_have_prose_between, early("y = f(x)", 2)),
    (cells.one_output_each, code("print(1), 2", stream("1"), html("2"))),
    (cells.figures_are_described, of_drawn("image", "alt")),
    (cells.figures_are_described, of_drawn("figure", "name")),
    (cells.figures_are_described, of_drawn("figure", "caption")),
    (cells.figures_are_described, code("view()", html('<iframe title="x"></iframe>'))),
    (cells.figures_are_described, code("play()", html('<div class="gb-widget"></div>'))),
    (cells.figures_are_described, code("draw()", html('<div class="gb-cells gb-map"></div>'))),
    (
        cells.figures_are_described,
        code("view()", html('<iframe title=""></iframe>'), mystnb=described),
    ),
    (cells.figures_are_described, code("view()", html("<img src='x.png'>"))),
    (cells.names_files_that_are_there, markdown("It is in `glassbox/attention.py`.")),
    (cells.names_files_that_are_there, on_first(metadata=in_no_file)),
    (cells.no_traces_of_a_machine, code("open('/home/me/x')")),
    (cells.no_traces_of_a_machine, code("f", stream("<function f at 0x7f3a5c1e2d30>"))),
    (cells.no_traces_of_a_machine, code("p", stream("/usr/lib/python3/site.py"))),
    (cells.no_traces_of_a_machine, code("p", stream("C:\\Users\\me"))),
    (cells.no_traces_of_a_machine, markdown("See /tmp/notes.txt.")),
    (cells.outputs_stay_on_the_site, code("v", html('<script src="https://a.example/d3.js">'))),
    (cells.outputs_stay_on_the_site, code("v", html("<style>@import 'x.css'</style>"))),
    (cells.is_under_a_megabyte, code("long()", stream("x" * 1_000_001))),
    (cells.is_in_normal_form, code("x = 1", scrolled=True)),
    (cells.is_in_normal_form, code("print(1)", stream("1"), stream("2"))),
    (cells.is_in_normal_form, lambda n: n.metadata["kernelspec"].update(name="my-env")),
    (text.opens_with_a_question, replace("(ch-template)=\n", "")),
    (text.opens_with_a_question, replace("the last chapter left?", "the last chapter left.")),
    (text.opens_with_a_question, replace("{epigraph}", "{note}")),
    (text.opens_with_a_question, markdown("# Another title")),
    (text.says_what_you_will_do, replace("In this chapter you will", "This chapter will")),
    (text.ends_as_every_chapter_does, replace("## Summary", "## Conclusion")),
    (text.ends_as_every_chapter_does, replace("## Quiz", "")),
    (
        text.ends_as_every_chapter_does,
        replace("## Further reading", "## Further reading\n\n## P.S."),
    ),
    (text.headings_step_down_one_at_a_time, replace("## A small example", "### A small example")),
    (text.quiz_has_three_to_six_questions, rename("quiz(", "riddle(")),
    (text.quiz_has_three_to_six_questions, code('quiz("scaled_dot_product")')),
    (text.exercises_have_solutions, replace("{solution-start} ex-template-prove", "{note}")),
    (text.exercises_have_solutions, replace("{exercise-start} Prove", "{note}")),
    (text.exercises_have_solutions, replace(":label: ex-template-prove", ":label: prove")),
    (text.equations_are_labelled, replace(":label: eq-template-scores\n", "")),
    (text.equations_are_labelled, markdown("$$\nx^2\n$$")),
    (text.drawings_are_described, markdown("![A map](../images/bert.svg)")),
    (text.drawings_are_described, markdown("```{figure} ../images/none.svg\n:name: fig-n\n```")),
    (text.citations_resolve, replace("`vaswani2017`", "`nobody1999`")),
    (text.citations_resolve, replace("{cite}`vaswani2017`", "the paper")),
    (text.labels_are_unique, markdown("(ch-template)=\n## Again")),
    (text.labels_are_unique, markdown("```{math}\n:label: eq-template-scores\nx\n```")),
    (text.names_chapters_that_are_there, markdown("Chapter 99 has more.")),
    (text.speaks_plainly, markdown("It works!")),
    (text.speaks_plainly, markdown("It simply works.")),
    (text.speaks_plainly, markdown("It works \N{ROCKET}.")),
]


@pytest.mark.parametrize(
    ("rule", "breaks"), BROKEN, ids=[f"{r.__name__}-{i}" for i, (r, _) in enumerate(BROKEN)]
)
def test_rule_sees_what_breaks_it(rule, breaks) -> None:
    notebook = copy.deepcopy(TEMPLATE.notebook)
    breaks(notebook)
    assert list(rule(Chapter(TEMPLATE.path, notebook)))


@pytest.mark.parametrize("rule", {rule for rule, _ in BROKEN}, ids=lambda rule: rule.__name__)
def test_rule_has_nothing_to_say_about_the_template(rule) -> None:
    assert not list(rule(TEMPLATE))


def test_every_rule_is_shown_to_fail() -> None:
    assert {rule for rule, _ in BROKEN} == {*cells.RULES, *text.RULES}


@pytest.mark.parametrize("questions", [2, 7])
def test_a_quiz_of_another_length_is_seen(monkeypatch, questions: int) -> None:
    monkeypatch.setattr(text, "load", lambda name: [None] * questions)
    assert list(text.quiz_has_three_to_six_questions(TEMPLATE))


def test_a_quiz_of_another_chapter_is_seen() -> None:
    other = Chapter(CHAPTERS / "05_multi_head_attention.ipynb", TEMPLATE.notebook)
    assert list(text.quiz_has_three_to_six_questions(other))


def test_plain_speech_leaves_code_formulas_and_images_alone() -> None:
    notebook = copy.deepcopy(TEMPLATE.notebook)
    markdown("`a != b` and $n!$ and\n```python\nprint('simply!')\n```")(notebook)
    assert not list(text.speaks_plainly(Chapter(TEMPLATE.path, notebook)))
