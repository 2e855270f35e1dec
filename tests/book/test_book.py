"""What holds for the book as a whole."""

import tomllib
from collections import Counter

import pytest

from tests.book.chapter import Chapter
from tests.book.rules_of_text import labels
from tools.build_site import INDEX
from tools.notebooks import CHAPTERS, ROOT, notebooks, table_of_contents

NOT_COMPARED = ROOT / "tests" / "book" / "not_compared.toml"
TAGS = {"nbval-skip", "nbval-ignore-output", "raises-exception"}
MARKERS = ("NBVAL_SKIP", "NBVAL_IGNORE_OUTPUT", "PYTEST_VALIDATE_IGNORE_OUTPUT")
SHARE = 0.05


def test_every_entry_of_the_contents_exists() -> None:
    assert [path for path in table_of_contents() if not path.is_file()] == []


def test_every_entry_of_the_contents_was_built() -> None:
    if not INDEX.is_file():
        pytest.skip("there is no built site; make test builds it before this test")
    names = [path.relative_to(ROOT).with_suffix(".html") for path in table_of_contents()]
    assert [name for name in names if not (INDEX.parent / name).is_file()] == []


def test_every_chapter_is_in_the_contents() -> None:
    written = {path for path in CHAPTERS.glob("*.ipynb") if not path.name.startswith((".", "_"))}
    assert written == set(notebooks())


def test_chapters_are_numbered_in_their_order() -> None:
    numbers = [int(path.name.split("_")[0]) for path in notebooks()]
    assert numbers == sorted(set(numbers))


def test_no_two_chapters_share_a_label() -> None:
    counts = Counter(label for path in notebooks() for label in set(labels(Chapter.read(path))))
    assert [label for label, count in counts.items() if count > 1] == []


def left_out(chapter: Chapter) -> set[str]:
    """The cells of a chapter whose outputs nbval does not compare."""
    return {
        cell.id
        for cell in chapter.code
        if TAGS & set(cell.metadata.get("tags", []))
        or any(marker in cell.source for marker in MARKERS)
    }


def test_cells_that_are_not_compared_are_those_listed_with_a_reason() -> None:
    listed = tomllib.loads(NOT_COMPARED.read_text(encoding="utf-8"))
    chapters = [Chapter.read(path) for path in notebooks()]
    tagged = {chapter.name: cells for chapter in chapters if (cells := left_out(chapter))}
    assert {name: set(cells) for name, cells in listed.items()} == tagged
    assert all(len(reason) > 20 for cells in listed.values() for reason in cells.values())


def test_at_most_one_cell_in_twenty_is_not_compared() -> None:
    chapters = [Chapter.read(path) for path in notebooks()]
    cells = sum(len(chapter.code) for chapter in chapters)
    assert sum(len(left_out(chapter)) for chapter in chapters) <= SHARE * cells


@pytest.mark.parametrize(
    ("tags", "source"),
    [(["nbval-skip"], ""), (["raises-exception"], ""), ([], "# NBVAL_IGNORE_OUTPUT\nx")],
)
def test_a_cell_that_is_not_compared_is_seen(tags: list[str], source: str) -> None:
    chapter = Chapter.read(CHAPTERS / "_template.ipynb")
    assert left_out(chapter) == set()
    chapter.code[0].metadata["tags"] = tags
    chapter.code[0].source += source
    assert left_out(chapter) == {chapter.code[0].id}
