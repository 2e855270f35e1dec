"""The visual language of the book's diagrams: boxes, arrows, matrices and letters as SVG.

A colour is a custom property of the site with its light value as fallback, so that a diagram
follows light and dark in a page and can stand alone elsewhere. A box has the wash of its colour
inside, the hue as its line, and ink for its words; what has no colour of its own is neutral.
`#333333` becomes the colour of the text around it.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

HERE = Path(__file__).parent
PALETTE = HERE.parent / "code" / "glassbox_site" / "static" / "palette.css"
#: Every name of the palette with its light value; `text` is that of the text around.
COLOURS = {
    name: f"var(--gb-{name}, {light})"
    for name, light in reversed(
        re.findall(r"--gb-([\w-]+): (#\w{6});", PALETTE.read_text(encoding="utf-8"))
    )
}
COLOURS |= {
    "text": "#333333",
    "line": COLOURS["line-strong"],
    "paper": COLOURS["raised"],
    "accent-ink": COLOURS["accent"],
}
#: The series have no forms of their own for letters and for the inside of boxes.
for _number in range(1, 6):
    _hue = COLOURS[f"series-{_number}"]
    COLOURS[f"series-{_number}-ink"] = COLOURS["amber-ink"] if _number == 3 else _hue
    COLOURS[f"series-{_number}-wash"] = f"color-mix(in oklab, {_hue} 10%, {COLOURS['paper']})"
SANS = "var(--gb-sans, 'Source Sans 3', 'Segoe UI', Arial, sans-serif)"
SERIF = "var(--gb-serif, 'Source Serif 4', Charter, Georgia, serif)"


Rows = Sequence[Sequence[float]] | np.ndarray


class Drawing:
    """An SVG that grows by what is drawn on it. Lengths are in pixels at full size."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.parts: list[str] = []

    def add(self, part: str) -> None:
        """Add a piece of SVG."""
        self.parts.append(part)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        line: str = "line",
        fill: str = "paper",
        radius: float = 6,
        dashed: bool = False,
        weight: float = 1.4,
    ) -> None:
        """Draw a rounded box."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.add(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
            f'stroke-width="{weight:g}"{dash} '
            f'style="stroke: {COLOURS[line]}; fill: {COLOURS[fill]}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = 16,
        colour: str = "text",
        anchor: str = "middle",
        bold: bool = False,
    ) -> None:
        """Write words; `$…$` in them is set as a formula of letters, with `_` and `^`."""
        weight = ' font-weight="600"' if bold else ""
        self.add(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"{weight} '
            f'style="fill: {COLOURS[colour]}">{_marked_up(words)}</text>'
        )

    def part(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        words: str,
        colour: str,
        *,
        size: float = 17,
        bold: bool = False,
    ) -> None:
        """Draw a box in the colour of a part of the machine, with its name."""
        self.box(x, y, width, height, line=colour, fill=f"{colour}-wash", weight=1.8)
        middle = x + width / 2, y + height / 2 + 0.35 * size
        self.text(*middle, words, colour=f"{colour}-ink", size=size, bold=bold)

    def arrow(self, *points: tuple[float, float], colour: str = "line", head: bool = True) -> None:
        """Draw a line along the points, with a head at the end."""
        (x0, y0), (x1, y1) = points[-2:]
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        end = (x1 - 6 * dx, y1 - 6 * dy) if head else (x1, y1)
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in (*points[:-1], end))
        self.add(
            f'<path d="{path}" fill="none" stroke-width="1.6" stroke-linejoin="round" '
            f'style="stroke: {COLOURS[colour]}"/>'
        )
        if head:
            corners = (
                (x1, y1),
                *((x1 - 9 * dx + s * dy, y1 - 9 * dy - s * dx) for s in (4.5, -4.5)),
            )
            tip = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
            self.add(f'<polygon points="{tip}" style="fill: {COLOURS[colour]}"/>')

    def matrix(
        self,
        x: float,
        y: float,
        rows: Rows,
        *,
        cell: float = 15,
        colour: str = "accent",
    ) -> tuple[float, float]:
        """Draw a matrix whose numbers, between 0 and 1, are shades; return its width and height."""
        height, width = cell * len(rows), cell * len(rows[0])
        self.add(f'<g style="fill: {COLOURS[colour]}">')
        for i, row in enumerate(rows):
            for j, number in enumerate(row):
                self.add(
                    f'<rect x="{x + j * cell + 0.75:g}" y="{y + i * cell + 0.75:g}" '
                    f'width="{cell - 1.5:g}" height="{cell - 1.5:g}" rx="1.5" '
                    f'fill-opacity="{0.1 + 0.85 * number:.2f}"/>'
                )
        self.add("</g>")
        return width, height

    def link(self, address: str) -> None:
        """Begin what is one link; `end` ends it."""
        self.add(f'<a href="{escape(address)}">')

    def end(self) -> None:
        """End a link."""
        self.add("</a>")

    def svg(self) -> str:
        """The whole drawing."""
        body = "\n  ".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'style="font-family: {SANS}">\n  {body}\n</svg>\n'
        )

    def save(self, name: str) -> None:
        """Write the drawing beside its script."""
        (HERE / name).write_text(self.svg(), encoding="utf-8")


def written_chapters() -> dict[int, str]:
    """The chapters that are in the table of contents: their numbers and files."""
    toc = (HERE.parent / "_toc.yml").read_text(encoding="utf-8")
    return {int(found[2]): found[1] for found in re.finditer(r"file: (chapters/(\d+)_\w+)", toc)}


def _marked_up(words: str) -> str:
    """Words as the content of `<text>`: formulas slanted, with their indices and powers."""
    out, height = [], 0.0  # of the letters above the line, in em; SVG moves on from where it is
    for place, piece in enumerate(words.split("$")):
        formula = place % 2 == 1
        pattern = r"([_^])(?:\{([^}]*)\}|(.))|([^_^]+)" if formula else r"()()()(.+)"
        for mark, group, single, plain in re.findall(pattern, piece):
            raised = {"_": -0.28, "^": 0.42}.get(mark, 0.0)
            size = 0.72 if mark else 1.0
            style = f' style="font-family: {SERIF}"' if formula else ""
            move = f' dy="{(height - raised) / size:.3f}em"' if raised != height else ""
            small = f' font-size="{size}em"' if mark else ""
            letters = _slanted(group or single or plain) if formula else escape(plain)
            out.append(
                f"<tspan{style}{small}{move}>{letters}</tspan>" if formula or move else letters
            )
            height = raised
    return "".join(out)


def _slanted(letters: str) -> str:
    """Single letters are variables and slanted; words like *model* and signs stand upright."""
    return "".join(
        f'<tspan font-style="italic">{run}</tspan>'
        if run.isalpha() and len(run) == 1
        else escape(run)
        for run in re.findall(r"[A-Z]|[a-z]+|.", letters)
    )
