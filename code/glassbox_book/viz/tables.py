"""Tables computed by a cell, whose numbers are compared like any other output."""

import re
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

from glassbox_book.viz.tokens import with_spaces


class Table:
    """A table; a cell displays it, and `print` writes it with spaces.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    rows : iterable of sequences
        The entries. Columns whose entries are all numbers, or strings of numbers such as
        ``"0.50"``, are right-aligned, and integers get thousands separators.

    Raises
    ------
    ValueError
        If a row does not have one entry per column.
    """

    def __init__(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        self.header = [_text(str(name)) for name in header]
        entries = [list(row) for row in rows]
        count = len(self.header)
        for row in entries:
            if len(row) != count:
                raise ValueError(f"the row {row} has {len(row)} entries for {count} columns")
        columns = [[row[place] for row in entries] for place in range(count)]
        self.numeric = [bool(column) and all(map(_is_number, column)) for column in columns]
        self.rows = [[_text(entry) for entry in row] for row in entries]

    def __repr__(self) -> str:
        columns = []
        whole = zip(self.header, *self.rows, strict=True)
        for column, numeric in zip(whole, self.numeric, strict=True):
            align = str.rjust if numeric else str.ljust
            columns.append([align(entry, max(map(len, column))) for entry in column])
        return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))

    def _repr_markdown_(self) -> str:
        rule = ["--:" if numeric else ":--" for numeric in self.numeric]
        head, *rows = ([_escaped(entry) for entry in line] for line in (self.header, *self.rows))
        return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rows))


def _is_number(entry: Any) -> bool:
    if isinstance(entry, str):
        number = r"[-+−]?(inf|\d[\d,]*(\.\d+)?(e[-+]\d+)?)( ?%)?( ± [\d.]+)?"
        return re.fullmatch(number, entry) is not None
    return isinstance(entry, Real)


def _text(entry: Any) -> str:
    if not isinstance(entry, bool) and isinstance(entry, Integral):
        return f"{entry:,}"
    return with_spaces(str(entry))


def _escaped(entry: str) -> str:
    """Return Markdown that shows ``entry`` verbatim, without tags, emphasis, links or columns."""
    entry = entry.replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")
    if not re.search(r"[^\W\d]", entry):  # numbers that belong together stay on one line
        entry = entry.replace(" ", "\u00a0")
    return re.sub(r"([\\|*`$]|(?<![^\W_])_|_(?![^\W_])|\](?=\())", r"\\\1", entry)
