"""A widget as notebook output: complete HTML, and the script that makes it interactive."""

from dataclasses import dataclass
from html import escape

from glassbox_book.outputs import Output, are_linked, read
from glassbox_book.widgets import assets


@dataclass(frozen=True, repr=False)
class Widget(Output):
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

    def html(self) -> str:
        """Return the HTML of the widget.

        Unless they are linked, it includes its script and style; if they are, only the few lines
        that request them from the JupyterLab server.
        """
        if are_linked():
            style, script = "", read("widgets/page/lab.js")
        else:
            style = f"<style>{read('widgets/page/widgets.css')}</style>"
            script = assets.script(self.kind)
        return (
            f'<div class="gb-widget" data-widget="{self.kind}" role="group" '
            f'aria-label="{escape(self.name)}">{style}\n{self.body}\n'
            f"<script>\n{script}</script></div>"
        )
