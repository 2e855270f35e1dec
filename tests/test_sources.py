"""Every work that a docstring names stands in the bibliography."""

import re
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME = r"(?:de |van )?[A-ZŁ][\w'-]+"
NAMED = re.compile(rf"({NAME})(?:(?:, {NAME})*(?: et al\.| and {NAME}))? \(((?:19|20)\d\d)\)")


def in_the_bibliography() -> set[tuple[str, str]]:
    """First author and year of every entry."""
    entries = (ROOT / "references.bib").read_text(encoding="utf-8").split("\n@")
    found = set()
    for entry in entries:
        author = re.search(r"author\s*= \{(.+)\},\n", entry)
        year = re.search(r"year\s*= \{(\d{4})\}", entry)
        assert author is not None, entry
        assert year is not None, entry
        found.add(("".join(takewhile(lambda letter: letter != ",", author[1])), year[1]))
    return found


def test_every_work_that_is_named_stands_in_the_bibliography() -> None:
    named: dict[tuple[str, str], str] = {}
    for file in sorted((ROOT / "code").rglob("*.py")):
        text = re.sub(r"\s+", " ", file.read_text(encoding="utf-8"))
        named |= {(match[1], match[2]): file.name for match in NAMED.finditer(text)}
    assert len(named) > 30
    known = in_the_bibliography()
    assert {work: file for work, file in named.items() if work not in known} == {}
