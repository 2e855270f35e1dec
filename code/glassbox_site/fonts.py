"""The site's fonts: taken from packages on the package index, and cut to the characters in use.

The fonts of the text are in the style sheet itself, so that they are available when the first line
is drawn: a font that arrives later moves the text, or is not used. The font of formulas, as large
as the others together, is a separate file.

Source Serif and Source Sans (Adobe) and STIX Two Math are under the SIL Open Font License; their
licences are served with them.
"""

from base64 import b64encode
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from fontTools import subset
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

LATIN = "0020-007E,00A0-017F,0192,02C6-02DD,2010-2015,2018-201E,2020-2022,2026,2030,2039-203A,\
2044,2080-2089,20AC,2122,2190-2193,2212,221A,2248,2260,2264,2265,2423,00D7,03B1,03B2,03B5,03B8"
MATHEMATICS = "0020-007E,00A0-00B1,00B7,00D7,00F7,0131,0237,02C6-02DD,0300-0308,0338,0391-03C9,\
03D5,03F5,2016,2020-2022,2026,2032-2034,2061-2064,20D7,2102,210B,210E,2112,2113,2115,211A,211D,\
2124,2190-2194,21A6,21D0-21D4,2200,2202,2203,2205-2209,220F-2213,2217-221A,221D,221E,2223,2225-222B,\
223C,2243,2245,2248,2254,2260-2265,226A,226B,2282-2287,2295,2297,2299,22A4,22A5,22C5,22EE-22F1,\
2308-230B,23DC-23DF,27E8,27E9,27F6,27F9,27FA,1D400-1D433,1D434-1D467,1D49C,1D49F,1D4A9,1D4B1,\
1D53C,1D6E2-1D714,1D7CE-1D7D7,1D7D9"

FEATURES = ["onum", "lnum", "tnum", "ssty", "dtls", "flac"]  # numerals; parts of formulas

SERIF, SANS, FORMULAS = "font_source_serif_pro", "font_source_sans_pro", "ziamath"
FONTS = {
    "text.woff2": (SERIF, "files/SourceSerifPro-Regular.ttf", LATIN),
    "text-italic.woff2": (SERIF, "files/SourceSerifPro-It.ttf", LATIN),
    "text-bold.woff2": (SERIF, "files/SourceSerifPro-Semibold.ttf", LATIN),
    "sans.woff2": (SANS, "files/SourceSansPro-Regular.ttf", LATIN),
    "sans-bold.woff2": (SANS, "files/SourceSansPro-Semibold.ttf", LATIN),
    "mathematics.woff2": (FORMULAS, "fonts/STIXTwoMath-Regular.ttf", MATHEMATICS),
}


def even_radicals(font: TTFont) -> None:
    """Give the tall radical signs the width of the shortest.

    Chromium reserves the width of the widest sign for every root, which leaves a gap after a root
    over a single letter.
    """
    variants = font["MATH"].table.MathVariants
    lowest = font.getBestCmap()[ord("√")]
    construction = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(lowest)]
    signs = {variant.VariantGlyph for variant in construction.MathGlyphVariantRecord}
    signs |= {part.glyph for part in construction.GlyphAssembly.PartRecords}
    width = font["hmtx"][lowest][0]
    for sign in signs - {lowest}:
        own, left = font["hmtx"][sign]
        font["glyf"][sign].coordinates.scale((width / own, 1))
        font["glyf"][sign].recalcBounds(font["glyf"])
        font["hmtx"][sign] = (width, round(left * width / own))


def draw_space(font: TTFont) -> None:
    """Draw the visible space, which both text fonts lack: a tray as wide as an a."""
    stroke, width = font["post"].underlineThickness, font["hmtx"][font.getBestCmap()[ord("a")]][0]
    left, right, rim = width // 10, width - width // 10, font["OS/2"].sxHeight // 3
    corners = (
        *((left, rim), (left + stroke, rim), (left + stroke, stroke), (right - stroke, stroke)),
        *((right - stroke, rim), (right, rim), (right, 0), (left, 0)),
    )
    pen = TTGlyphPen(None)
    pen.moveTo(corners[0])
    for corner in corners[1:]:
        pen.lineTo(corner)
    pen.closePath()
    font.setGlyphOrder([*font.getGlyphOrder(), "uni2423"])
    font["glyf"]["uni2423"] = pen.glyph()
    font["hmtx"]["uni2423"] = (width, left)
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap[0x2423] = "uni2423"


def cut(font: Traversable, characters: str, target: Path) -> None:
    """Write these characters of a font, compressed, with the features of formulas and numerals."""
    options = subset.Options(flavor="woff2", hinting=False, name_IDs=[0, 13, 14])
    options.layout_features += FEATURES
    options.drop_tables += ["DSIG"]
    with font.open("rb") as file:
        loaded = TTFont(file)
        if "MATH" in loaded:
            even_radicals(loaded)
        if ord("␣") not in loaded.getBestCmap():
            draw_space(loaded)
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=subset.parse_unicodes(characters.replace(",", " ")))
        cutter.subset(loaded)
        subset.save_font(loaded, str(target), options)


def put_into(sheet: Path, folder: Path) -> None:
    """Put the fonts of the text into the style sheet that names their files."""
    rules = sheet.read_text(encoding="utf-8")
    for name in (name for name, (package, *_) in FONTS.items() if package != FORMULAS):
        letters = b64encode((folder / name).read_bytes()).decode()
        rules = rules.replace(f'"fonts/{name}"', f'"data:font/woff2;base64,{letters}"')
    sheet.write_text(rules, encoding="utf-8")


def notices() -> Iterator[str]:
    """Yield copyright and licence of each font, as the font itself states them."""
    for package, path, _ in FONTS.values():
        with files(package).joinpath(path).open("rb") as file:
            names = TTFont(file)["name"]
            yield "\n".join(filter(None, (names.getDebugName(n) for n in (4, 0, 13, 14))))


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the fonts once; a later build reuses them."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static", "fonts")
    folder.mkdir(parents=True, exist_ok=True)
    made_by = Path(__file__).stat().st_mtime
    for name, (package, path, characters) in FONTS.items():
        target = folder / name
        if not target.exists() or target.stat().st_mtime < made_by:
            cut(files(package).joinpath(path), characters, target)
    put_into(folder.parent / "type.css", folder)
    (folder / "LICENSES.txt").write_text("\n\n".join(notices()), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Write the fonts after the pages."""
    app.connect("build-finished", write)
