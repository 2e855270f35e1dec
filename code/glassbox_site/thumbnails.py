"""Small pictures of each chapter's subject, for the cards of the front page."""

import re
from collections.abc import Callable, Iterable
from math import exp, pi, sin
from pathlib import Path

from glassbox_site.drawings import inline_svg

DRAWING = re.compile(r"\{figure\} \.\./(images/\w+\.svg)")
#: Weights of a small attention map: four tokens, of which the last looks back most.
WEIGHTS = ((0.9, 0.1, 0, 0), (0.5, 0.4, 0.1, 0), (0.1, 0.7, 0.1, 0.1), (0, 0.2, 0.6, 0.2))


def box(x: float, y: float, width: float, height: float, colour: str, *, opacity: float = 1) -> str:
    """Draw a box in one of the book's colours."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="2.5" '
        f'fill="var(--gb-{colour})" fill-opacity="{opacity:.2g}"/>'
    )


def line(points: str, colour: str, *, thick: float = 2, opacity: float = 1) -> str:
    """Draw a line along an SVG path."""
    return (
        f'<path d="{points}" fill="none" stroke="var(--gb-{colour})" stroke-width="{thick:g}" '
        f'stroke-opacity="{opacity:.2g}" stroke-linecap="round"/>'
    )


def ribbon(x: float, top: float, to: float, bottom: float, weight: float) -> str:
    """Draw a weight as a ribbon."""
    middle = (top + bottom) / 2
    curve = f"M{x:g} {top:g}C{x:g} {middle:g} {to:g} {middle:g} {to:g} {bottom:g}"
    return line(curve, "attention", thick=1 + 7 * weight, opacity=0.25 + 0.7 * weight)


def grid(
    x: float, y: float, rows: Iterable[Iterable[float]], cell: float, colour: str = "weight"
) -> str:
    """Draw numbers between 0 and 1 as shades."""
    return "".join(
        box(
            x + cell * j, y + cell * i, cell - 1.5, cell - 1.5, colour, opacity=0.08 + 0.92 * number
        )
        for i, row in enumerate(rows)
        for j, number in enumerate(row)
    )


def layer(x: float, y: float, parts: str) -> str:
    """Draw the parts of a layer, one below the other."""
    return "".join(box(x, y + 15 * at, 46, 12, part) for at, part in enumerate(parts.split()))


def architecture() -> str:
    """Draw an encoder and a decoder."""
    return (
        layer(22, 34, "feed-forward attention embedding")
        + layer(92, 19, "feed-forward memory attention embedding")
        + line("M45 30V14H80V40H90", "memory", thick=2.5)
        + line("M115 16V8", "accent", thick=2.5)
    )


def tokens_and_embeddings() -> str:
    """Draw tokens, and a vector below each."""
    vectors = ((0.9, 0.2, 0.6, 0.3), (0.1, 0.8, 0.3, 0.7), (0.5, 0.4, 0.9, 0.1))
    parts = []
    for at, (left, width) in enumerate(((18, 46), (67, 30), (104, 38))):
        parts.append(box(left, 12, width, 20, "line-strong", opacity=0.35))
        column = [[number] for number in vectors[at]]
        parts.append(grid(left + width / 2 - 6, 39, column, 12.5, "embedding"))
    return "".join(parts)


def self_attention() -> str:
    """Draw a sentence that attends to itself."""
    places = [24 + 28 * at for at in range(5)]
    looks = ((3, 1, 0.9), (3, 0, 0.25), (3, 4, 0.15), (1, 2, 0.3), (4, 3, 0.4), (0, 0, 0.3))
    ribbons = (ribbon(places[a], 22, places[b], 74, weight) for a, b, weight in looks)
    dots = (
        f'<circle cx="{x}" cy="{y}" r="5" fill="var(--gb-{colour})"/>'
        for x in places
        for y, colour in ((19, "query"), (77, "key"))
    )
    return "".join((*ribbons, *dots))


def scaled_dot_product() -> str:
    """Draw queries, keys, their weights, and values."""
    return (
        grid(14, 34, [[0.5, 0.9]] * 4, 13, "query")
        + grid(46, 6, [[0.9, 0.5, 0.7, 0.4]] * 2, 13, "key")
        + grid(46, 34, WEIGHTS, 13)
        + grid(106, 34, [[0.6, 0.9, 0.4]] * 4, 13, "value")
    )


def multi_head_attention() -> str:
    """Draw four heads, each with its own pattern."""
    parts = []
    for at in range(4):
        left, top = 18 + 66 * (at % 2), 10 + 42 * (at // 2)
        turned = [[*row[at:], *row[:at]] for row in WEIGHTS[at:] + WEIGHTS[:at]]
        ends = [left + 3 + 17 * place for place in range(4)]
        parts += [
            ribbon(ends[i], top, ends[j], top + 32, weight)
            for i, row in enumerate(turned)
            for j, weight in enumerate(row)
            if weight > 0.15
        ]
    return "".join(parts)


def positional_encoding() -> str:
    """Draw sine waves, and a position on them."""
    parts = [line("M94 10V86", "line-strong", thick=1.5, opacity=0.6)]
    for at, length in enumerate((28, 56, 112)):
        middle = 22 + 26 * at

        def height(x: float, middle: int = middle, length: int = length) -> float:
            return middle - 9 * sin(2 * pi * (x - 14) / length)

        wave = "L".join(f"{x} {height(x):.1f}" for x in range(14, 147, 4))
        parts.append(line(f"M{wave}", f"series-{at + 1}", thick=2.4))
        parts.append(
            f'<circle cx="94" cy="{height(94):.1f}" r="4.5" fill="var(--gb-series-{at + 1})"/>'
        )
    return "".join(parts)


def encoder() -> str:
    """Draw a stack of layers, with the residual connections around their parts."""
    stack = "".join(
        box(66 + 6 * at, 10 + 5 * at, 62, 66, "paper")
        + line(_frame(66 + 6 * at, 10 + 5 * at), "line-strong", thick=1.2)
        for at in (2, 1, 0)
    )
    return (
        stack
        + layer(74, 16, "norm feed-forward norm attention")
        + line("M97 86V92M62 70H34V22H62", "accent", thick=2.5)
        + line("M57 17L63 22L57 27", "accent", thick=2.5)
    )


def _frame(x: float, y: float) -> str:
    return f"M{x} {y}h62v66h-62z"


def decoder() -> str:
    """Draw a causal attention map, and the memory next to it."""
    causal = [
        [0.25 + 0.15 * (i - j == 1) + 0.6 * (i == j) if j <= i else 0 for j in range(5)]
        for i in range(5)
    ]
    memory = [[0.9], [0.4], [0.7], [0.5], [0.8]]
    return (
        grid(24, 14, causal, 14)
        + grid(128, 14, memory, 14, "memory")
        + line("M124 48H100", "memory", thick=2.5)
        + line("M106 42L100 48L106 54", "memory", thick=2.5)
    )


def training() -> str:
    """Draw a loss that falls."""
    curve = "L".join(
        f"{x} {16 + 58 * (1 - exp(-(x - 22) / 32)) + 2.2 * sin(x * 1.7):.1f}"
        for x in range(22, 146, 3)
    )
    return line("M18 10V84H148", "line-strong", thick=1.5) + line(
        f"M{curve}", "series-1", thick=2.6
    )


def generation() -> str:
    """Draw the probabilities of the next token, one of which is taken."""
    shares = (8, 14, 10, 22, 60, 30, 12, 18, 6)
    bars = "".join(
        box(
            18 + 14 * at,
            84 - share,
            10,
            share,
            "accent" if share == 60 else "line-strong",
            opacity=1 if share == 60 else 0.55,
        )
        for at, share in enumerate(shares)
    )
    return bars + line("M79 18V10H128", "accent") + line("M123 6L128 10L123 14", "accent")


def variants() -> str:
    """Draw what three families may look at: all of a text, its past, or each in its own half."""
    full = [[0.45 + 0.5 * (i == j) for j in range(4)] for i in range(4)]
    causal = [
        [number if j <= i else 0 for j, number in enumerate(row)] for i, row in enumerate(full)
    ]
    return (
        grid(12, 31, full, 9.5)
        + grid(62, 31, causal, 9.5)
        + grid(112, 8, full, 9.5)
        + grid(112, 54, causal, 9.5)
        + line("M130 46V53", "memory", thick=2.5)
    )


def efficiency_and_scale() -> str:
    """Draw weights of which one block at a time is held."""
    shades = [[0.25 + 0.6 * exp(-abs(i - j) / 2) for j in range(12)] for i in range(6)]
    held = [row[4:8] for row in shades[2:4]]
    faint = [[number / 4 for number in row] for row in shades]
    return (
        grid(18, 14, faint, 11)
        + grid(18 + 44, 14 + 22, held, 11)
        + line("M61 35H105V57H61Z", "accent", thick=2.5)
        + line("M110 46H132M127 41L132 46L127 51", "accent", thick=2.5)
    )


PICTURES: dict[str, Callable[[], str]] = {
    picture.__name__: picture
    for picture in (
        *(architecture, tokens_and_embeddings, self_attention, scaled_dot_product),
        *(multi_head_attention, positional_encoding, encoder, decoder, training, generation),
        *(variants, efficiency_and_scale),
    )
}


def thumbnail(notebook: Path) -> str:
    """Return the picture of a chapter as SVG; its first drawing, if there is none here."""
    name = notebook.stem.partition("_")[2]
    if name in PICTURES:
        return f'<svg viewBox="0 0 160 96" aria-hidden="true">{PICTURES[name]()}</svg>'
    drawing = DRAWING.search(notebook.read_text(encoding="utf-8"))
    if not drawing:
        return ""
    svg = (notebook.parent.parent / drawing[1]).read_text(encoding="utf-8")
    svg = inline_svg(svg, f"{name}-", "", "100%")
    return svg.replace('role="img" aria-label=""', 'aria-hidden="true"')
