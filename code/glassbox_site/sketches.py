"""A small picture of everything playable, drawn from its own numbers and tokens.

A map or table becomes shades, a stepper the tokens of its last step, next tokens their bars.
"""

import io
import re
from base64 import b64decode
from collections.abc import Iterable, Sequence
from html import unescape

from PIL import Image

from glassbox_site.thumbnails import box, line

MOST_ROWS, MOST_COLUMNS = 12, 20  # of shades; more could not be told apart
LEVELS = 6
WIDTH, HEIGHT, LINE, LETTER = 160, 96, 16, 5.2  # of tokens, in units of the drawing

PICTURE = re.compile(r'class="gb-(more|less)" style="--png:url\(data:image/png;base64,([^)]+)')
MINIATURE = re.compile(
    r'data-head="\d+"[^>]*><svg viewBox="([^"]+)" preserveAspectRatio="none"[^>]*>(.*?)</svg>'
)
BAR = re.compile(r'<button[^>]* style="--v:([\d.]+)"')
CELL = re.compile(r"<td\b([^>]*)>(.*?)</td>", re.DOTALL)
TOKEN = re.compile(
    r'<(?:code|ins) class="gb-token([^"]*)"[^>]*>(.*?)</(?:code|ins)>|<li><span>(.*?)</span>'
)
PLOT = re.compile(r"<svg viewBox=.*?</svg>", re.DOTALL)
Numbers = list[list[float]]


def sketch(html: str) -> str:
    """Return a drawing of a widget, view, map or piece of the machine, for a reader who sees it."""
    if found := PICTURE.findall(html):
        drawn, view = shades(pictured(found))
    elif (numbers := tabulated(html)) is not None:
        drawn, view = shades(numbers)
    elif maps := MINIATURE.findall(html):
        drawn, view = miniatures(maps[-16:])
    elif bars := BAR.findall(html):
        drawn, view = (
            "".join(
                box(8, 4 + 11.2 * at, max(2, 144 * float(share)), 8, "series-1")
                for at, share in enumerate(bars[:8])
            ),
            f"0 0 {WIDTH} {HEIGHT}",
        )
    elif TOKEN.search(html):
        drawn, view = tokens(html), f"0 0 {WIDTH} {HEIGHT}"
    else:
        return plots(PLOT.findall(html))
    return f'<svg viewBox="{view}" aria-hidden="true">{drawn}</svg>'


def pictured(found: Iterable[tuple[str, str]]) -> Numbers:
    """Return the numbers of a map that is drawn as pictures of what is above and below 0."""
    parts: dict[str, Image.Image] = {}
    for sign, data in found:
        picture = Image.open(io.BytesIO(b64decode(data))).convert("LA").getchannel("A")
        size = min(picture.width, MOST_COLUMNS), min(picture.height, MOST_ROWS)
        parts.setdefault(sign, picture.resize(size, Image.Resampling.BOX))
    (width, height) = next(iter(parts.values())).size
    more, less = (
        list(parts[sign].tobytes()) if sign in parts else [0] * (width * height)
        for sign in ("more", "less")
    )
    levels = [(above - below) / 255 for above, below in zip(more, less, strict=True)]
    return [levels[at : at + width] for at in range(0, len(levels), width)]


def tabulated(html: str) -> Numbers | None:
    """Return the numbers of the first table that has some in two rows or more."""
    for table in re.findall(r"<table.*?</table>", html, re.DOTALL):
        rows = []
        for row in re.findall(r"<tr.*?(?=<tr|</table>)", table, re.DOTALL):
            numbers = [number(*cell) for cell in CELL.findall(row)]
            if any(each is not None for each in numbers):
                rows.append([each or 0.0 for each in numbers[:MOST_COLUMNS]])
        if len(rows) > 1:
            return rows[:MOST_ROWS]
    return None


def number(attributes: str, content: str) -> float | None:
    """Return the share of a cell, or the number that is in it."""
    share = re.search(r"--(?:v|weight): ?(-?[\d.]+)", attributes)
    field = re.search(r'<input[^>]*value="(-?[\d.]+)"', content)
    text = unescape(re.sub(r"<[^>]*>", "", content)).strip().replace("−", "-")
    try:
        return float(share[1] if share else field[1] if field else text)
    except ValueError:
        return None


def shades(numbers: Numbers) -> tuple[str, str]:
    """Draw numbers as shades of two colours, and return the drawing's extent."""
    largest = max(abs(each) for row in numbers for each in row) or 1
    paths: dict[tuple[str, int], str] = {}
    for i, row in enumerate(numbers):
        for j, each in enumerate(row):
            level = round(LEVELS * abs(each) / largest)
            ink = "negative" if level and each < 0 else "positive", level
            paths[ink] = paths.get(ink, "") + f"M{j} {i}h.94v.94h-.94z"
    drawn = "".join(
        f'<path fill="var(--gb-{colour})" '
        f'fill-opacity="{max(level / LEVELS, 0.05):.2g}" d="{path}"/>'
        for (colour, level), path in paths.items()
    )
    return drawn, f"0 0 {max(map(len, numbers))} {len(numbers)}"


def miniatures(maps: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Draw small maps of the machine side by side."""
    drawn = []
    for at, (view, paths) in enumerate(maps):
        inked = re.sub(r'style="--v:([\d.]+)"', r'fill="var(--gb-weight)" fill-opacity="\1"', paths)
        place = f'x="{20 * (at % 8)}" y="{20 * (at // 8)}" width="18" height="18"'
        drawn.append(f'<svg {place} viewBox="{view}" preserveAspectRatio="none">{inked}</svg>')
    return "".join(drawn), f"0 0 {WIDTH} {20 * (len(maps) // 8)}"


def tokens(html: str) -> str:
    """Draw the tokens of the last step that has any, one line of the widget below the other."""
    steps = [step for step in re.split(r"<li\b(?!><span>)", html) if TOKEN.search(step)]
    drawn: list[str] = []
    x, y = 4.0, 4
    for place in re.split(r"<div>(?=<span>)", steps[-1]):
        for classes, shown, plain in TOKEN.findall(place):
            text = unescape(re.sub(r"<small>.*?</small>|<[^>]*>", "", shown or plain))
            wide = min(8 + LETTER * len(text), WIDTH - 8)
            if x + wide > WIDTH - 4:
                x, y = 4.0, y + LINE
            if y + LINE > HEIGHT:
                return "".join(drawn)
            colour = "accent" if "gb-new" in classes else "embedding"
            drawn.append(
                box(x, y, wide, LINE - 4, colour, opacity=0.25 if "faint" in classes else 0.7)
            )
            x += wide + 4
        if x > 4:
            x, y = 4.0, y + LINE
    return "".join(drawn)


def plots(drawings: Sequence[str]) -> str:
    """Draw the first two plots of a widget, with the book's colours for query and key."""
    inside = []
    for at, drawing in enumerate(drawings[:2]):
        paths = "".join(
            line(path, colour, thick=4, opacity=0.35 if faint else 1)
            for colour, faint, path in re.findall(
                r'<path class="gb-(query|key)( gb-faint)?"[^>]* d="([^"]+)"', drawing
            )
        )
        view = re.search(r'viewBox="([^"]+)"', drawing)
        assert view is not None
        inside.append(
            f'<svg x="{80 * at}" y="0" width="80" height="96" viewBox="{view[1]}">{paths}</svg>'
        )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{"".join(inside)}</svg>'
