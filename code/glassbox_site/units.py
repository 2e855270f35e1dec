"""Keep a number and its unit on one line."""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

CODE = nodes.FixedTextElement | nodes.literal | nodes.raw | nodes.math | nodes.math_block
APART = re.compile(r"(?<=\d) (?=(?:%|[kMGT]?B|[mn]?s)(?!\w))")


class Units(SphinxPostTransform):
    """Join them in running text; code and formulas keep their spaces."""

    default_priority = 390
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Act on this document."""
        for text in list(self.document.findall(nodes.Text)):
            if APART.search(text) and not isinstance(text.parent, CODE):
                text.parent.replace(text, nodes.Text(APART.sub("\N{NO-BREAK SPACE}", text)))


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_post_transform(Units)
