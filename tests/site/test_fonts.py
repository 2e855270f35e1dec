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
