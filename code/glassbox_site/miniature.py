"""You are here: a miniature of the machine next to a chapter's title, with its part highlighted.

Each part is a link to its chapter, so the miniature is also the map of the book. Chapters that are
not part of the machine, such as training, are below it.
"""

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from glassbox_site.numbers import chapter_number
from glassbox_site.times import chapters, count

WIDTH, ROW = 102, 25
#: Position of each part in the machine, by its chapter's name: left, row, width, colour.
PARTS = {
    "architecture": (0, 0, 50, "accent"),
    "generation": (52, 0, 50, "accent"),
    "encoder": (0, 1, 50, "feed-forward"),
    "decoder": (52, 1, 50, "memory"),
    "self_attention": (0, 2, 33, "attention"),
    "scaled_dot_product": (34.5, 2, 33, "attention"),
    "multi_head_attention": (69, 2, 33, "attention"),
    "positional_encoding": (0, 3, 102, "embedding"),
    "tokens_and_embeddings": (0, 4, 102, "embedding"),
}


def miniature(here: str, known: dict[str, str]) -> str:
    """Draw the machine.

    Parameters
    ----------
    here : str
        File name of the highlighted chapter.
    known : dict of str to str
        Title of each existing chapter, by its file name.
    """
    around = [stem for stem in known if stem.partition("_")[2] not in PARTS]
    cell = (WIDTH + 2) / max(1, len(around))
    parts = []
    for stem, title in known.items():
        if stem in around:
            left, row, width, colour = around.index(stem) * cell, 5.4, cell - 2, "norm"
        else:
            left, row, width, colour = PARTS[stem.partition("_")[2]]
        ink = colour if colour == "accent" else f"{colour}-ink"
        lit, number = stem == here, chapter_number(stem)
        parts.append(
            f'<a href="{stem}.html" aria-label="Chapter {number}: {escape(title)}"'
            f'{" aria-current=page" if lit else ""} class="{"gb-lit" if lit else "gb-dim"}" '
            f'style="--part:var(--gb-{colour});--ink:var(--gb-{ink})">'
            f"<title>{number} {escape(title)}</title>"
            f'<rect x="{left:g}" y="{row * ROW:g}" width="{width:g}" height="{ROW - 2}" rx="3"/>'
            f'<text x="{left + width / 2:g}" y="{row * ROW + 16:g}">{number}</text></a>'
        )
    height = ROW * (6.4 if around else 5) + 4
    return (
        '<nav class="gb-here" aria-label="Where this chapter is in the machine">'
        f'<svg viewBox="-4 -4 {WIDTH + 8} {height:g}" width="{WIDTH + 8}" height="{height:g}">'
        f'<rect class="gb-glass" x="-3" y="-3" width="{WIDTH + 6}" height="{5 * ROW + 4}" rx="5"/>'
        f"{''.join(parts)}</svg></nav>"
    )


def add(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Put the miniature before a chapter's title."""
    if chapter_number(page) is None or app.builder.format != "html":
        return
    known = {path.stem: count(path)[0] for path in chapters(Path(app.srcdir))}
    drawn = miniature(page.rpartition("/")[2], known)
    context["body"] = context["body"].replace("<h1>", f"{drawn}\n<h1>", 1)


def setup(app: Sphinx) -> None:
    """Act on each page."""
    app.connect("html-page-context", add)
