"""A small tensor as a grid of coloured numbers, as PyTorch prints them."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from glassbox_book.viz.cells import Cells, Names, frame
from glassbox_book.viz.tokens import visible_all

#: PyTorch's output for a tensor with at least one number and nothing elided.
PRINTED = re.compile(r"^tensor\((\[[^()]*\])(?:,\s+\w+=[\w.:'<>]+)*\)$", re.M)


def tensor(
    values: Any,
    row_label: str = "",
    column_label: str = "",
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
) -> Cells:
    """Show a small tensor: its numbers in cells, coloured by their size.

    Parameters
    ----------
    values : Tensor, shape (columns,), (rows, columns) or (panels, rows, columns)
        The numbers appear as PyTorch prints them.
    row_label, column_label : str, optional
        What the rows and columns are.
    row_names, column_names : sequence of str, optional
        A name for each. Defaults to numbers from 0.

    Returns
    -------
    Cells
        A cell of a notebook displays it; without HTML it is PyTorch's own output.

    Raises
    ------
    ValueError
        If the tensor has no rows and columns, or too many numbers to print, or does not fit the
        names.
    """
    text = repr(values)
    found = PRINTED.fullmatch(text.removeprefix("Parameter containing:\n"))
    rows, columns = (
        None if names is None else visible_all(names) for names in (row_names, column_names)
    )
    body = found and drawn(found[1], (row_label, column_label), (rows, columns))
    if not body:
        raise ValueError(f"expected a small tensor with one, two or three axes; this is {text}")
    return Cells(body, text)


def drawn(
    printed: str, labels: Sequence[str] = ("", ""), names: tuple[Names, Names] = (None, None)
) -> str | None:
    """Return the HTML for a printed tensor, or None if the text is not one.

    Parameters
    ----------
    printed : str
        Numbers in brackets, as PyTorch prints them.
    labels : pair of str
        What rows and columns are.
    names : pair of sequence of str
        Their names.

    Returns
    -------
    str or None
        HTML, if there are one, two or three non-empty axes and nothing is elided.

    Raises
    ------
    ValueError
        If it does not fit the names.
    """
    try:
        texts = np.array(json.loads(re.sub(r"[^\s,\[\]]+", r'"\g<0>"', printed)))
        found = [float({"True": "1", "False": "0"}.get(text, text)) for text in texts.flat]
    except ValueError:
        return None
    # A number that is not finite has no colour.
    shares = np.nan_to_num(found, posinf=0.0, neginf=0.0).reshape(texts.shape)
    if not 1 <= texts.ndim <= 3 or not texts.size:
        return None
    shape = texts.shape
    whole = all(re.fullmatch(r"-?\d+", text) for text in texts.flat)
    if whole and shares.max() > 1:  # the size of token ids and positions means nothing
        shares[:] = 0
    shares /= np.abs(shares).max() or 1
    texts, shares = (array.reshape(-1, *(1, *shape)[-2:]) for array in (texts, shares))
    if len(shape) == 1 and not names[0]:
        names = ([""], names[1])
    titles = [f"{i}" for i in range(len(texts))] if len(shape) == 3 else [""]
    said = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
    panels = list(zip(titles, texts.tolist(), shares, strict=True))
    below = f'<p class="gb-scale">shape {said}</p>'
    return frame("gb-tensor", panels, labels, names, f"Tensor of shape {said}", below)
