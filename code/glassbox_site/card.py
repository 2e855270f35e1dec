"""The preview picture of links to the book: its logo, its name, and what it is."""

from importlib.resources import as_file, files
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from glassbox_site.fonts import SANS

SIZE = (1200, 630)
SCALE = 4  # drawn larger and shrunk, so that edges are smooth
PAPER, GLASS, INK, MUTED, QUERY, KEY = (
    "#fdfdfb",
    "#0b5a70",
    "#23282c",
    "#58646b",
    "#0072b2",
    "#d55e00",
)
#: `images/logo.svg`: the faces of the box, from the palest, and its edges.
FACES = (
    ((8, 18), (46, 18), (46, 58), (8, 58)),
    ((8, 18), (20, 6), (58, 6), (46, 18)),
    ((46, 18), (58, 6), (58, 44), (46, 58)),
)
SHADES = ("#ecf2f2", "#e3ecee", "#d7e4e7")
BEHIND = ((20, 6), (20, 44), (58, 44)), ((8, 58), (20, 44))
KEYS = ((37, 27, 1.3, 3.3), (37, 38, 4.2, 4.2), (37, 49, 1.3, 3.3))


def font(name: str, size: float) -> ImageFont.FreeTypeFont:
    """Return the book's font."""
    with as_file(files(SANS).joinpath(f"files/SourceSansPro-{name}.ttf")) as path:
        return ImageFont.truetype(str(path), round(size * SCALE))


def write(path: Path) -> None:
    """Draw the picture."""
    picture = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), PAPER)
    draw = ImageDraw.Draw(picture)

    def at(*points: tuple[float, float]) -> list[tuple[float, float]]:
        return [((70 + 6.2 * x) * SCALE, (110 + 6.2 * y) * SCALE) for x, y in points]

    def stroke(points: tuple[tuple[float, float], ...], colour: str, width: float) -> None:
        draw.line(at(*points), colour, round(6.2 * width * SCALE), joint="curve")
        for x, y in at(*points):
            end = 3.1 * width * SCALE
            draw.ellipse((x - end, y - end, x + end, y + end), colour)

    for face, shade in zip(FACES, SHADES, strict=True):
        draw.polygon(at(*face), shade)
    for edge in BEHIND:
        stroke(edge, "#a9adaf", 1.4)
    for x, y, width, _ in KEYS:
        stroke(((17, 38), (x, y)), KEY, width)
    for x, y, radius, colour in ((17, 38, 4.6, QUERY), *((x, y, r, KEY) for x, y, _, r in KEYS)):
        (left, top), (right, low) = at((x - radius, y - radius), (x + radius, y + radius))
        draw.ellipse((left, top, right, low), colour)
    for face in FACES:
        stroke((*face, face[0]), GLASS, 2.2)
    lines = (
        ("The Glass-Box", "Semibold", 78, INK, 150),
        ("Transformer", "Semibold", 78, INK, 238),
        ("Take a translator apart, see every", "Regular", 38, MUTED, 365),
        ("number inside, and build it yourself.", "Regular", 38, MUTED, 415),
    )
    for words, weight, size, colour, y in lines:
        draw.text((520 * SCALE, y * SCALE), words, colour, font(weight, size))
    picture.resize(SIZE, Image.Resampling.LANCZOS).save(path, optimize=True)
