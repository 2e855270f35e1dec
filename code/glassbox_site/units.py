"""Keep on one line: a number and its unit, and a short entry of a table that has a number."""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

CODE = nodes.FixedTextElement | nodes.literal | nodes.raw | nodes.math | nodes.math_block
APART = re.compile(r"(?<=\d) (?=(?:%|[kMGT]?B|[mn]?s)(?!\w))")
SHORT = re.compile(r"(?=.*\d).{,16}")


class Units(SphinxPostTransform):
    """Join them in running text; code and formulas keep their spaces."""

    default_priority = 390
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Act on this document."""
        for text in list(self.document.findall(nodes.Text)):
            entry = text.parent.parent  # but names of columns may be broken
            body = isinstance(entry, nodes.entry) and isinstance(entry.parent.parent, nodes.tbody)
            short = body and SHORT.fullmatch(entry.astext())
            joined = re.sub(" " if short else APART, "\N{NO-BREAK SPACE}", text)
            if joined != text and not isinstance(text.parent, CODE):
                text.parent.replace(text, nodes.Text(joined))


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_post_transform(Units)
