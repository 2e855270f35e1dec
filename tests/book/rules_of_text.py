"""What holds for the words of a chapter: its parts, labels, citations and manner of speaking."""

import re
from collections.abc import Iterator
from functools import cache

from glassbox_book.quiz import load
from tests.book.chapter import Chapter, directives
from tools.notebooks import ROOT

ENDING = ("Summary", "Quiz", "Exercises", "Further reading")
FEWEST_EXERCISES = 4
FEWEST_QUESTIONS, MOST_QUESTIONS = 3, 6
SHORTEST_ALT = 20

CITATION = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")
QUIZ = re.compile(r"""^quiz\(["'](\w+)["']\)""", re.MULTILINE)
LABEL = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)
EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u26ff\u2705-\u27bf\ufe0f]")


def opens_with_a_question(chapter: Chapter) -> Iterator[str]:
    """A label, the one title, then an epigraph that asks."""
    first = chapter.notebook.cells[0]
    if first.cell_type != "markdown" or not re.match(r"\(ch-[a-z0-9-]+\)=\n# \S", first.source):
        yield "the first cell does not start with a label (ch-...)= and the title"
    if [level for level, _ in chapter.sections()].count(1) != 1:
        yield "there is not exactly one title"
    epigraphs = [d.body for d in directives(first.source) if d.name == "epigraph"]
    if not epigraphs or "?" not in epigraphs[0]:
        yield "the first cell has no epigraph with the question of the chapter"


def says_what_you_will_do(chapter: Chapter) -> Iterator[str]:
    """The opening, before the first section, promises: In this chapter you will ..."""
    opening = re.split(r"^## ", chapter.text, maxsplit=1, flags=re.MULTILINE)[0]
    if "in this chapter you will" not in opening.lower():
        yield "the opening does not say: In this chapter you will ..."


def ends_as_every_chapter_does(chapter: Chapter) -> Iterator[str]:
    """Summary, quiz, exercises, further reading, in this order, and none of them empty."""
    seconds = [title for level, title in chapter.sections() if level == 2]
    if tuple(seconds[-len(ENDING) :]) != ENDING:
        yield f"the last sections are {seconds[-len(ENDING) :]}, not {list(ENDING)}"
    for title in ("Summary", "Exercises", "Further reading"):
        if not chapter.section(title).strip():
            yield f"the section {title} is empty"


def headings_step_down_one_at_a_time(chapter: Chapter) -> Iterator[str]:
    """No third-level heading straight under a first-level one."""
    above = 0
    for level, title in chapter.sections():
        if level > above + 1:
            yield f"the heading {title!r} is on level {level}, straight under level {above}"
        above = level


def exercises_have_solutions(chapter: Chapter) -> Iterator[str]:
    """Four exercises or more, each with a solution that names it."""
    exercises = chapter.directives("exercise", "exercise-start")
    solved = {d.argument for d in chapter.directives("solution", "solution-start")}
    if len(exercises) < FEWEST_EXERCISES:
        yield f"there are {len(exercises)} exercises, fewer than {FEWEST_EXERCISES}"
    for exercise in exercises:
        label = exercise.options.get("label", "")
        if not label.startswith("ex-"):
            yield f"the exercise {exercise.argument!r} has no label that starts with ex-"
        elif label not in solved:
            yield f"the exercise {label} has no solution"


def quiz_has_three_to_six_questions(chapter: Chapter) -> Iterator[str]:
    """One cell shows the chapter's own questions, answered in the page."""
    shown = [found[1] for cell in chapter.code if (found := QUIZ.search(cell.source))]
    if len(shown) != 1:
        yield f"there are {len(shown)} cells with quiz(...), not one"
    for name in shown:
        of = chapter.path.stem.partition("_")[2]
        if name != of and of != "template":  # the template borrows a quiz
            yield f"the quiz is that of {name}, not of {of}"
        if not FEWEST_QUESTIONS <= len(load(name)) <= MOST_QUESTIONS:
            yield f"the quiz has {len(load(name))} questions, not 3 to 6"


def equations_are_labelled(chapter: Chapter) -> Iterator[str]:
    """Every displayed formula has a number."""
    for formula in chapter.directives("math"):
        if not formula.options.get("label", "").startswith("eq-"):
            yield f"a formula has no label that starts with eq-: {formula.body[:40]!r}"
    if "$$" in chapter.text:
        yield "a formula stands between $$, where it has no number; use the directive math"


def drawings_are_described(chapter: Chapter) -> Iterator[str]:
    """A drawing has a label, a caption, alternative text, and lies in the book."""
    for figure in chapter.directives("figure"):
        if not figure.options.get("name", "").startswith("fig-"):
            yield f"{figure.argument} has no label that starts with fig-"
        if len(figure.options.get("alt", "")) < SHORTEST_ALT:
            yield f"{figure.argument} has no alternative text"
        if not figure.body:
            yield f"{figure.argument} has no caption"
        if not (chapter.path.parent / figure.argument).is_file():
            yield f"{figure.argument} does not exist"
    if chapter.directives("image") or re.search(r"!\[|<img\b", chapter.text):
        yield "an image stands in the text without a caption; use the directive figure"


@cache
def bibliography() -> frozenset[str]:
    """The keys of `references.bib`."""
    text = (ROOT / "references.bib").read_text(encoding="utf-8")
    return frozenset(re.findall(r"^@\w+\{\s*([^,\s]+)\s*,", text, re.MULTILINE))


def citations_resolve(chapter: Chapter) -> Iterator[str]:
    """Every key that is cited is in the bibliography, and further reading cites."""
    for key in cited(chapter.text):
        if key not in bibliography():
            yield f"{key} is cited and not in references.bib"
    if not cited(chapter.section("Further reading")):
        yield "further reading cites nothing"


def cited(text: str) -> list[str]:
    """The keys of all citations in a text."""
    return [key.strip() for keys in CITATION.findall(text) for key in keys.split(",")]


@cache
def numbers() -> frozenset[str]:
    """The numbers of the chapters that the table of contents lists."""
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    return frozenset(re.findall(r"file: chapters/0?(\d+)_", toc))


def names_chapters_that_are_there(chapter: Chapter) -> Iterator[str]:
    """Nothing is put off to a chapter that a reader does not find."""
    for number in re.findall(r"\b[Cc]hapter (\d+)", chapter.text):
        if number not in numbers():
            yield f"there is no chapter {number}"


def speaks_plainly(chapter: Chapter) -> Iterator[str]:
    """No exclamation marks, no emoji, nothing that is "simply" so."""
    for pattern, what in (
        ("!", "an exclamation mark"),
        (EMOJI, "an emoji"),
        (r"\b[Ss]imply\b", "simply"),
    ):
        if found := re.search(pattern, chapter.prose):
            place = chapter.prose[max(0, found.start() - 30) : found.end() + 10]
            yield f"the text has {what}: {place!r}"


def labels(chapter: Chapter) -> list[str]:
    """Every label that a chapter defines, as often as it does."""
    named = [
        d.options[key] for d in every(chapter) for key in ("label", "name") if key in d.options
    ]
    figures = [c.metadata.get("mystnb", {}).get("figure", {}).get("name") for c in chapter.code]
    return LABEL.findall(chapter.text) + named + [name for name in figures if name]


def every(chapter: Chapter) -> list:
    """Every directive of a chapter."""
    return [d for text in chapter.markdown for d in directives(text)]


def labels_are_unique(chapter: Chapter) -> Iterator[str]:
    """No label is given twice."""
    all_of_them = labels(chapter)
    for label in sorted({label for label in all_of_them if all_of_them.count(label) > 1}):
        yield f"the label {label} is given twice"


RULES = (
    opens_with_a_question,
    says_what_you_will_do,
    ends_as_every_chapter_does,
    headings_step_down_one_at_a_time,
    quiz_has_three_to_six_questions,
    exercises_have_solutions,
    equations_are_labelled,
    drawings_are_described,
    citations_resolve,
    labels_are_unique,
    names_chapters_that_are_there,
    speaks_plainly,
)
