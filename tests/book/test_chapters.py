"""Every chapter keeps every rule."""

import pytest

from glassbox_site.times import count
from tests.book import rules_of_cells, rules_of_text
from tests.book.chapter import Chapter
from tools.notebooks import CHAPTERS, notebooks

RULES = (*rules_of_cells.RULES, *rules_of_text.RULES)


@pytest.mark.parametrize(
    "path", [*notebooks(), CHAPTERS / "_template.ipynb"], ids=lambda path: path.stem
)
def test_chapter_keeps_every_rule(path) -> None:
    chapter = Chapter.read(path)
    complaints = [f"{rule.__name__}: {line}" for rule in RULES for line in rule(chapter)]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_the_core_of_a_chapter_takes_at_most_forty_minutes(path) -> None:
    assert count(path).core <= 40
