"""The machine, and pieces of it, in the page."""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: The pieces of the machine that chapters show, and what a reader can do with each.
PIECES = {
    "tokens": "Your sentence. Type one, and see the tokens the translator makes of it.",
    "head": "One head's numbers. Choose a head and a cell: its query, its key, the score and the "
    "weight.",
    "heads-off": "A translation with heads switched off.",
    "memory": "The decoder's two attentions. To its own past, and to the encoder's memory.",
    "next-token": "The next token. Choose another one, and the translation goes on from there.",
    "blank": "Fill in the blank. Hide any word of your sentence, and a BERT says what it was.",
    "poet": "A model that writes Shakespeare. Begin a line, and set the temperature.",
}


class Machine(SphinxDirective):
    """The directive `machine`: a worked-out sentence, which a script makes interactive.

    With an argument, it is a piece for a chapter: one of `glassbox_book.machine.scene.PIECES`,
    `poet`, the language model of characters, or `blank`, the BERT.
    """

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Put it into the page, and rebuild the page when one of its files changes."""
        from glassbox_book import machine
        from glassbox_book.machine import assets, scene

        models = [file for model in assets.FOLDERS for file in assets.model_files(model)]
        modules = [Path(str(module.__file__)) for module in (scene, *machine.MODELS.values())]
        for file in (*assets.page_files(), *models, *modules):
            self.env.note_dependency(str(file))
        try:
            drawn = machine.html(*self.arguments)
        except ValueError as wrong:
            raise self.error(str(wrong)) from None
        if not self.arguments:
            return [nodes.raw("", drawn, format="html")]
        name = f"machine-{self.arguments[0]}"  # for the list of everything playable
        target = nodes.target("", "", ids=[name], names=[name])
        self.state.document.note_explicit_target(target)
        # The target's id moves to the next node, and raw HTML shows none.
        return [target, nodes.raw("", f'<span id="{name}"></span>{drawn}', format="html")]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("machine", Machine)
