"""Heat maps of matrices with labelled rows and columns."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from glassbox_book.viz.cells import Cells, maps
from glassbox_book.viz.panels import numbers, side_by_side
from glassbox_book.viz.tokens import visible_all


def heat_map(matrix: Any, **options: Any) -> Cells:
    """Draw one matrix, its first row on top.

    Parameters
    ----------
    matrix : array or tensor, shape (rows, columns)
        Any numbers.
    **options
        As for :func:`heat_maps`; ``row_label`` and ``column_label`` are required.

    Returns
    -------
    Cells
        A cell of a notebook displays it.

    Raises
    ------
    ValueError
        As in :func:`heat_maps`.
    """
    return heat_maps({"": matrix}, **options)


def heat_maps(
    matrices: Mapping[str, Any],
    *,
    row_label: str,
    column_label: str,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    value_label: str = "",
    signed: bool | None = None,
    limit: int | float | None = None,
    annotate: str | None = None,
    columns: int = 2,
) -> Cells:
    """Draw several matrices of one shape on one colour scale.

    Parameters
    ----------
    matrices : mapping of str to array or tensor, shape (rows, columns)
        The matrices by their titles.
    row_label, column_label : str
        What the rows and the columns are.
    row_names, column_names : sequence of str, optional
        A name for each. Defaults to numbers from 0.
    value_label : str
        What the numbers are.
    signed : bool, optional
        Whether colours run from minus ``limit`` to ``limit`` instead of from 0 to ``limit``; 0 is
        the colour of the paper. Defaults to whether a number is negative; if none is positive,
        colours run from minus ``limit`` to 0.
    limit : float, optional
        The number of the deepest colour. Defaults to the largest absolute value.
    annotate : str, optional
        The format of a number in each cell, such as ``"{:.2f}"``. Numbers too large for their
        cells are left out.
    columns : int
        Number of matrices side by side, if there is room.

    Returns
    -------
    Cells
        A cell of a notebook displays it.

    Raises
    ------
    ValueError
        If there are no matrices or columns, one is not a matrix of finite numbers or does not fit
        its names or the first matrix, a number is negative although ``signed`` is false, or
        ``limit`` is not positive.
    TypeError
        If a name is not a string.
    """
    columns = side_by_side(matrices, columns, "{title: matrix}")
    drawn = {title: _read_matrix(title, matrix) for title, matrix in matrices.items()}
    first = next(iter(drawn.values())).shape
    for title, matrix in drawn.items():
        if matrix.shape != first:
            raise ValueError(f"{title!r} has shape {matrix.shape}, the first has {first}")
    scale = _color_range(drawn.values(), signed, limit)
    labels = (row_label, column_label, value_label)
    rows, keys = (
        None if names is None else visible_all([*names]) for names in (row_names, column_names)
    )
    return maps([*drawn.items()], scale, labels, (rows, keys), annotate=annotate, across=columns)


def _read_matrix(title: str, matrix: Any) -> np.ndarray:
    found = numbers(matrix)
    if found.ndim != 2 or not found.size:
        raise ValueError(f"{title!r} has shape {found.shape}; expected (rows, columns)")
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0]
        raise ValueError(
            f"{title!r} is {found[row, column]} in row {row}, column {column}; "
            "only finite numbers have a colour"
        )
    return found


def _color_range(
    matrices: Collection[np.ndarray], signed: bool | None, limit: int | float | None
) -> tuple[float, float]:
    """Return the numbers of the deepest colours for these matrices."""
    lowest = min(matrix.min() for matrix in matrices)
    highest = max(matrix.max() for matrix in matrices)
    one_sided = signed is None and lowest < 0 and highest <= 0
    if signed is None:
        signed = bool(lowest < 0)
    if not signed and lowest < 0:
        raise ValueError(f"the least number is {lowest:.4g}; pass signed=True to draw it")
    if limit is None:
        limit = max(-lowest, highest) or 1.0
    if not 0 < limit < math.inf:
        raise ValueError(f"limit={limit}: must be more than 0 and finite")
    return (-float(limit) if signed else 0.0), (0.0 if one_sided else float(limit))
