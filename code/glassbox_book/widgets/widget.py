"""A widget as notebook output: complete HTML, and the script that makes it interactive."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape

from glassbox_book.viz.view import SCRIPTS_VARIABLE
from glassbox_book.widgets import assets


@dataclass(frozen=True, repr=False)
class Widget:
    """An interactive widget that a notebook, or anything else that shows HTML, can display.

    Attributes
    ----------
    kind : str
        The name of its script, such as ``"stepper"``.
    name : str
        A short description for screen readers.
    body : str
        HTML of its initial state, controls included, with everything the script needs.
    text : str
        The same as plain text.
    """

    kind: str
    name: str
    body: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """Return the HTML of the widget.

        With ``GLASSBOX_VIEW_SCRIPTS=inline``, the default, it includes its script and style. With
        ``linked`` it leaves both to the site or the JupyterLab server, and includes only the few
        lines that request them from the latter.

        Raises
        ------
        ValueError
            If the environment variable has another value.
        """
        mode = os.environ.get(SCRIPTS_VARIABLE, "inline")
        if mode == "inline":
            style = f"<style>{assets.page_file(assets.STYLE_NAME)}</style>"
            script = assets.script(self.kind)
        elif mode == "linked":
            style, script = "", assets.page_file("lab.js")
        else:
            raise ValueError(
                f"{SCRIPTS_VARIABLE} is {mode!r}; it can be 'inline' (outputs carry their scripts) "
                "or 'linked' (the site holds them)"
            )
        return (
            f'<div class="gb-widget" data-widget="{self.kind}" role="group" '
            f'aria-label="{escape(self.name)}">{style}\n{self.body}\n'
            f"<script>\n{script}</script></div>"
        )
