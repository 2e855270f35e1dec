"""Every chapter keeps every rule."""

from collections.abc import Callable, Iterator

import pytest

from tests.book import rules_of_cells, rules_of_text
from tests.book.chapter import Chapter
from tools.notebooks import CHAPTERS, notebooks

PATHS = [*notebooks(), CHAPTERS / "_template.ipynb"]
RULES = (*rules_of_cells.RULES, *rules_of_text.RULES)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_chapter(rule: Callable[[Chapter], Iterator[str]], path) -> None:
    complaints = list(rule(Chapter.read(path)))
    assert not complaints, "\n".join(complaints)
