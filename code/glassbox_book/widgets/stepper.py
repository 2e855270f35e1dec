"""Frames of tokens, shown one after another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from glassbox_book.templates import fill, fixed
from glassbox_book.viz.tokens import visible, with_spaces
from glassbox_book.widgets.checks import check_between, check_integer
from glassbox_book.widgets.widget import Widget

#: How a token can stand out: looked at, just made, gone, or in the colour of its role.
KINDS = ("", "active", "new", "faint", "query", "key", "value")
_MARKS = {"active": "~", "new": "*"}  # without colours


@dataclass(frozen=True)
class Token:
    """A token in a frame of :func:`stepper`.

    Parameters
    ----------
    text : str
        Its text.
    kind : str, optional
        How it stands out: ``"active"`` (looked at), ``"new"`` (just made), ``"faint"``,
        ``"query"``, ``"key"`` or ``"value"``. Defaults to not at all.
    number : float, int or str, optional
        Written below it: a finite float with two decimals, anything else as it is.
    share : float, optional
        The coloured share of it, from 0 to 1.

    Raises
    ------
    TypeError
        If the text is not a string.
    ValueError
        If there is no such kind, or the share is not between 0 and 1.
    """

    text: str
    kind: str = ""
    number: float | int | str | None = None
    share: float | int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(
                f"the token {self.text!r} is of type {type(self.text).__name__}; pass a string"
            )
        if self.kind not in KINDS:
            raise ValueError(f"kind={self.kind!r}; a token can be one of {list(KINDS)}")
        if self.share is not None:
            check_between("share", self.share, 0, 1)

    @property
    def shown(self) -> str:
        """The text as it is displayed."""
        return visible(self.text)

    @property
    def below(self) -> str:
        """The number as it is displayed."""
        number = self.number
        if isinstance(number, float | np.floating) and np.isfinite(number):
            return fixed(float(number))
        return str(number)


class Row(NamedTuple):
    """A labelled row of tokens in a frame of :func:`stepper`.

    Parameters
    ----------
    tokens : sequence of Token, str or tuple
        The tokens from left to right.
    label : str, optional
        Text before the tokens.
    """

    tokens: Sequence[Any]
    label: str = ""


class Frame(NamedTuple):
    """A frame of :func:`stepper`.

    Parameters
    ----------
    caption : str
        A sentence on what happens in it.
    rows : sequence of Row, or of sequences of tokens
        The rows from top to bottom.
    """

    caption: str
    rows: Sequence[Any]


def stepper(
    frames: Sequence[Frame | tuple[str, Sequence[Any]]],
    *,
    start: int = 0,
    seconds: float | int = 1.5,
    name: str = "Steps",
) -> Widget:
    """Show frames of tokens one after another, with buttons, a slider and the keyboard.

    Without a script all frames are shown, one below another.

    Parameters
    ----------
    frames : sequence of Frame, or of pairs of a caption and rows
        At least one. A row is a list of tokens, or a :class:`Row` with a label; a token is a
        string, a tuple of the arguments of :class:`Token`, or a :class:`Token`.
    start : int, optional
        The frame shown first, counted from zero.
    seconds : float or int, optional
        How long each frame is shown in playback.
    name : str, optional
        A description of the steps for screen readers.

    Returns
    -------
    Widget
        A cell displays it.

    Raises
    ------
    TypeError
        If a frame, a row or a token has the wrong type.
    ValueError
        If there are no frames, no frame ``start``, or ``seconds`` is not between 0.2 and 60.

    Notes
    -----
    Chapter 2.
    """
    found = [_frame(frame, place) for place, frame in enumerate(frames)]
    if not found:
        raise ValueError("frames is empty; pass at least one frame")
    check_integer("start", start, 0, len(found) - 1)
    check_between("seconds", seconds, 0.2, 60)
    body = fill("widgets/page/stepper.html", frames=found, start=start, seconds=seconds)
    return Widget("stepper", name, body, "\n\n".join(map(_text, found)))


def _frame(given: Any, place: int) -> Frame:
    """Convert a frame to rows of tokens."""
    if not (isinstance(given, Sequence) and len(given) == 2 and isinstance(given[0], str)):
        raise TypeError(
            f"frames[{place}] is {given!r}; pass a Frame, or a pair of a caption and rows"
        )
    caption, rows = given
    return Frame(with_spaces(caption), [_row(row, place) for row in rows])


def _row(given: Any, place: int) -> Row:
    row = given if isinstance(given, Row) else Row(given)
    if isinstance(row.tokens, str) or not isinstance(row.tokens, Sequence):
        raise TypeError(
            f"frames[{place}] has the row {row.tokens!r}; pass a list of tokens, or a Row"
        )
    return Row([_token(token) for token in row.tokens], row.label)


def _token(given: Any) -> Token:
    if isinstance(given, Token):
        return given
    if not isinstance(given, tuple):
        return Token(given)
    if not 1 <= len(given) <= 4:
        parts = "text, kind, number and share"
        raise TypeError(f"the token {given!r} has {len(given)} parts; pass {parts}")
    return Token(*given)


def _text(frame: Frame) -> str:
    lines = [frame.caption]
    for row in frame.rows:
        words = map(_token_text, row.tokens)
        lines.append("  " + " ".join([f"{row.label}:", *words] if row.label else words))
    return "\n".join(lines)


def _token_text(token: Token) -> str:
    mark = _MARKS.get(token.kind, "")
    number = "" if token.number is None else f"({token.below})"
    return f"{mark}{token.shown}{mark}{number}"
