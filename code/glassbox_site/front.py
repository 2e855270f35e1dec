"""The front page: the book's translator at work, and a card for each chapter.

The translations were recorded by `tools/scenes.py`. They are drawn here, so that the page shows the
first one before any script has run, or without scripts; `front.js` writes them again, token by
token, and `live.js` draws the reader's sentence in the same way.
"""

import json
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from glassbox_site.fonts import SANS
from glassbox_site.numbers import chapter_number
from glassbox_site.thumbnails import thumbnail
from glassbox_site.times import chapters, count, question

SCENES = Path(__file__).with_name("scenes.json")
FAINTEST = 0.015  # a ribbon of a smaller weight would be invisible
#: In hundredths of an em: space around a token, between tokens, before a word, between rows.
AROUND, BETWEEN, BEFORE_A_WORD, WIDE_GAP = 44, 10, 16, 500
#: The same for sentences side by side: height of a token, space between the sentences.
ROW, TALL_GAP = 175, 620
SCENE = """\
<figure class="gb-scene" data-scene="translation" aria-label="A sentence above, its translation
below, and ribbons from each token of the translation to the tokens that it looks at">
{stages}
<div class="gb-telling" aria-live="polite"></div>
<div class="gb-play" hidden>
<button type="button" data-do="back">Back</button>
<button type="button" data-do="play">Play</button>
<button type="button" data-do="next">Next</button>
</div>
<fieldset class="gb-choice" hidden><legend>Other sentences</legend>
{choice}
</fieldset>
<form class="gb-own" data-size="{size}" data-version="{version}" hidden>
<label for="gb-own">Your own sentence, in French or English</label>
<input id="gb-own" type="text" autocomplete="off" maxlength="400">
<button type="submit">Load the translator ({megabytes:.0f} MB) and translate</button>
<p role="status"></p>
</form>
</figure>"""


@cache
def advances() -> tuple[dict[int, str], Any, int]:
    """Return the metrics of the labels' letters: glyphs, their widths, and the size of the em."""
    with files(SANS).joinpath("files/SourceSansPro-Regular.ttf").open("rb") as file:
        font = TTFont(file)
        return font.getBestCmap(), dict(font["hmtx"].metrics), font["head"].unitsPerEm


def width(token: str) -> int:
    """Return the drawn width of a token, in hundredths of an em."""
    glyphs, metrics, em = advances()
    letters = sum(metrics[glyphs.get(ord(letter), "a")][0] for letter in token.replace(" ", "␣"))
    return max(100, round(100 * letters / em) + AROUND)


def middles(tokens: list[str]) -> tuple[list[int], int]:
    """Return the middle of each token in its row, and the width of the row."""
    at, found = 0, []
    for place, token in enumerate(tokens):
        at += gap(place, token)
        found.append(at + width(token) // 2)
        at += width(token)
    return found, at


def gap(place: int, token: str) -> int:
    """Return the space before a token."""
    return 0 if place == 0 else BETWEEN + BEFORE_A_WORD * token.startswith((" ", "<"))


def ribbons(scene: dict[str, Any], name: str, *, tall: bool) -> str:
    """Draw what each written token attends to: in rows, or side by side on a narrow page.

    Parameters
    ----------
    scene : dict
        From `scenes.json`.
    name : str
        The prefix of the ids in the drawing.
    tall : bool
        Whether the tokens are in columns.
    """
    ends = [scene["source"], scene["written"]]
    if tall:
        extent = ROW * max(map(len, ends))
        places = [
            [
                (extent - ROW * len(tokens)) // 2 + ROW * place + ROW // 2
                for place in range(len(tokens))
            ]
            for tokens in ends
        ]
        size, end = (TALL_GAP, extent), (TALL_GAP, 0)
    else:
        rows = [middles(tokens) for tokens in ends]
        extent = max(total for _, total in rows)
        places = [[x + (extent - total) // 2 for x in found] for found, total in rows]
        size, end = (extent, WIDE_GAP), (0, WIDE_GAP)
    paths = []
    for query, row in enumerate(scene["weights"]):
        for key, weight in enumerate(row):
            if weight < FAINTEST:
                continue
            a, b, far = places[0][key], places[1][query], TALL_GAP if tall else WIDE_GAP
            curve = [(0, a), (far // 2, a), (far // 2, b), (far, b)]
            points = [f"{x} {y}" if tall else f"{y} {x}" for x, y in curve]
            paths.append(
                f'<path data-q="{query}" data-k="{key}" style="--w:{weight:.2f}" '
                f'd="M{points[0]}C{" ".join(points[1:])}"/>'
            )
    stops = '<stop class="gb-key-stop"/><stop offset="1" class="gb-query-stop"/>'
    line = f'gradientUnits="userSpaceOnUse" x1="0" y1="0" x2="{end[0]}" y2="{end[1]}"'
    return (
        f'<svg class="gb-{"tall" if tall else "broad"}" viewBox="0 0 {size[0]} {size[1]}" '
        f'aria-hidden="true" style="--ends:url(#{name})">'
        f'<linearGradient id="{name}" {line}>{stops}</linearGradient>{"".join(paths)}</svg>'
    )


def row(tokens: list[str], kind: str, said: str, language: str = "en") -> str:
    """Return one sentence: a button for each token, which `front.js` makes interactive."""
    buttons = []
    for place, token in enumerate(tokens):
        shown = escape(token.strip())
        space = '<span class="gb-space">␣</span>' if token.startswith(" ") else ""
        special = " gb-special" if token.startswith("<") else ""
        style = f"--w:{width(token) / 100:g};--g:{gap(place, token) / 100:g}"
        buttons.append(
            f'<button type=button class="gb-t{special}" tabindex=-1 style="{style}">'
            f"{space}{shown}</button>"
        )
    label = f'<span class="gb-side" lang=en>{said}</span>'
    return (
        f'<div class="gb-{kind}" role="group" aria-label="{said}" lang={language}>'
        f"{label}{''.join(buttons)}</div>"
    )


def stage(scene: dict[str, Any], number: int) -> str:
    """Draw one translation; all but the first are hidden."""
    extent = max(middles(scene[end])[1] for end in ("source", "written"))
    rows = max(len(scene[end]) for end in ("source", "written"))
    return (
        f'<div class="gb-stage" style="--extent:{extent / 100:g};--rows:{rows}"'
        f"{' hidden' if number else ''}>"
        + row(scene["source"], "from", "It reads", "fr")
        + ribbons(scene, f"ribbon-{number}-broad", tall=False)
        + ribbons(scene, f"ribbon-{number}-tall", tall=True)
        + row(scene["written"], "to", "It writes")
        + "</div>"
    )


class Scene(SphinxDirective):
    """The translations, of which the first is visible."""

    def run(self) -> list[nodes.Node]:
        """Draw them."""
        from glassbox_book.machine import assets  # pulls in torch

        for file in (SCENES, *assets.model_files()):
            self.env.note_dependency(str(file))
        scenes = json.loads(SCENES.read_text(encoding="utf-8"))
        choice = "\n".join(
            f'<label><input type="radio" name="scene" value="{number}" autocomplete="off"'
            f"{'' if number else ' checked'}><span lang=fr>{escape(scene['text'])}</span></label>"
            for number, scene in enumerate(scenes)
        )
        stages = "\n".join(stage(scene, number) for number, scene in enumerate(scenes))
        size = assets.size()
        drawn = SCENE.format(
            stages=stages,
            choice=choice,
            size=size,
            megabytes=size / 1e6,
            version=assets.version(),
        )
        return [nodes.raw("", drawn, format="html")]


class Cards(SphinxDirective):
    """A card for each chapter in the table of contents, made from its notebook."""

    def run(self) -> list[nodes.Node]:
        """Draw them."""
        source = Path(self.env.srcdir)
        self.env.note_dependency(str(source / "_toc.yml"))
        cards = []
        for notebook in chapters(source):
            self.env.note_dependency(str(notebook))
            title, minutes, *_ = count(notebook)
            cards.append(
                f'<a class="gb-card" href="chapters/{notebook.stem}.html">'
                f'<span class="gb-thumbnail">{thumbnail(notebook)}</span>'
                f'<span class="gb-name"><b>{chapter_number(notebook.stem)}</b> {escape(title)}'
                f"</span><q>{escape(question(notebook))}</q>"
                f'<span class="gb-minutes">{minutes} minutes</span></a>'
            )
        return [nodes.raw("", f'<div class="gb-chapters">{"".join(cards)}</div>', format="html")]


def setup(app: Sphinx) -> None:
    """Register both."""
    app.add_directive("translations", Scene)
    app.add_directive("chapter-cards", Cards)
