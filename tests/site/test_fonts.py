"""Formulas are set in the font that the site serves, whole."""

import html
import re
import unicodedata

from fontTools.ttLib import TTFont

from tests.site.conftest import SITE

FONT = SITE / "_static" / "fonts" / "mathematics.woff2"
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")


def test_every_character_of_every_formula_is_in_the_font():
    known = set(TTFont(FONT).getBestCmap())
    used = {
        character
        for page in SITE.rglob("*.html")
        for formula in FORMULA.findall(page.read_text(encoding="utf-8"))
        for character in html.unescape(TAG.sub("", formula))
        if not character.isspace()
    }
    assert len(used) > 20
    missing = {c for c in used if ord(c) not in known}
    assert not missing, [f"{c} {unicodedata.name(c, '?')}" for c in sorted(missing)]


def test_letters_of_formulas_have_their_italic_shapes():
    known = set(TTFont(FONT).getBestCmap())
    letters = {*range(0x1D434, 0x1D468), *range(0x1D6FC, 0x1D714)}
    italic = letters - {0x1D455} | {ord("ℎ")}  # Unicode has the h elsewhere
    assert italic <= known


def test_the_visible_space_is_in_every_font_of_the_text_on_the_line_and_as_wide_as_an_a():
    for name in ("text", "text-italic", "text-bold", "sans", "sans-bold"):
        font = TTFont(FONT.with_name(f"{name}.woff2"))
        space, letter = (font.getBestCmap()[ord(sign)] for sign in "␣a")
        assert font["hmtx"][space][0] == font["hmtx"][letter][0]
        drawn = font["glyf"][space]
        assert drawn.yMin == 0 < drawn.yMax < font["OS/2"].sxHeight
        assert 0 < drawn.xMin < drawn.xMax < font["hmtx"][space][0]
