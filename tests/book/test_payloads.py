"""What widgets and views carry as data compares equal where another processor rounds differently.

Decimals may differ by one unit in the last place; whole numbers may not differ at all. So whole
numbers in a payload are counts and places, never rounded or binned decimals, and each is listed.
"""

import html
import json
import re
from collections.abc import Iterator
from typing import Any

from tests.book.chapter import Chapter, texts
from tools.notebooks import notebooks

PAYLOAD = re.compile(r'<script type="application/json"[^>]*>(.*?)</script>', re.DOTALL)

#: The whole numbers that a payload may carry, by their place in it, and why they are exact.
WHOLE = {
    "layers.*": "the numbers of layers that are drawn",
    "heads.*": "the numbers of heads that are drawn",
    "columns": "how many pictures are in a row",
    "squares": "how many heads are in a row",
    "layer": "the number of the layer that is drawn first",
    "head": "the number of the head that is drawn first",
    "vocabulary": "how many tokens there are",
    "nodes.*.*.*.*": "which node comes next",
}


def payloads(chapter: Chapter) -> Iterator[Any]:
    """All JSON data in the outputs of a chapter; a view's lies in the document of its frame."""
    for _, output in chapter.outputs():
        page = texts(output).get("text/html", "")
        pages = [page, *map(html.unescape, re.findall(r"srcdoc='([^']*)'", page))]
        for text in (found for page in pages for found in PAYLOAD.findall(page)):
            yield json.loads(text)


def whole_numbers(value: Any, place: str = "") -> Iterator[str]:
    """The places of whole numbers in JSON data, with a star for an index."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from whole_numbers(item, f"{place}.{key}".lstrip("."))
    elif isinstance(value, list):
        for item in value:
            yield from whole_numbers(item, f"{place}.*".lstrip("."))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield place


def test_whole_numbers_in_payloads_are_listed_with_a_reason() -> None:
    found = {
        place
        for path in notebooks()
        for payload in payloads(Chapter.read(path))
        for place in whole_numbers(payload)
    }
    assert found == WHOLE.keys()


def test_a_binned_decimal_is_seen() -> None:
    assert [*whole_numbers({"tree": [["a", 1.5, [3, 0.25]]], "vocabulary": 4})] == [
        "tree.*.*.*",
        "vocabulary",
    ]
