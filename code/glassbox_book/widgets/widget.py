"""A widget as notebook output: HTML that is whole by itself, and the script that plays with it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape

from glassbox_book.viz.view import SCRIPTS_VARIABLE
from glassbox_book.widgets import assets


@dataclass(frozen=True, repr=False)
class Widget:
    """Something to play with that a notebook, or anything else that shows HTML, can display.

    Attributes
    ----------
    kind : str
        Which script plays with it, such as ``"stepper"``.
    name : str
        What it is, in a few words, for whoever cannot see it.
    body : str
        HTML of its first state, controls included; the script finds in it all that it needs.
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

        With ``GLASSBOX_VIEW_SCRIPTS=inline``, the default, it brings its script and style along.
        With ``linked`` it leaves both to the site, or to the server of JupyterLab, and carries
        only the few lines that ask the latter for them.

        Raises
        ------
        ValueError
            If the environment variable is something else.
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
