"""Turn source code that a cell displays into a numbered listing.

A cell whose figure metadata has `classes: listing` shows code, not a picture: its caption, label
and number are those of a code block.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class Listings(SphinxTransform):
    """Turn these figures into captioned code blocks."""

    default_priority = 210

    def apply(self, **kwargs: object) -> None:
        """Turn them in this document."""
        for figure in list(self.document.findall(nodes.figure)):
            if "listing" not in figure["classes"]:
                continue
            caption = figure.next_node(nodes.caption)
            block = figure.next_node(nodes.literal_block)
            listing = nodes.container(
                "",
                *([caption] if caption else []),
                *([block] if block else []),
                literal_block=True,
                classes=["literal-block-wrapper"],
                ids=figure["ids"],
                names=figure["names"],
            )
            self.document.ids.update(dict.fromkeys(figure["ids"], listing))
            figure.replace_self(listing)


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_transform(Listings)
