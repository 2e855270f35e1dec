r"""What published tokenizers count as a letter, a mark or punctuation (chapter 2).

Unicode grows every year, but a vocabulary does not: the reference library classifies characters by
the tables it was built with, Unicode 8 for BERT and Unicode 16 for GPT-2. To give the same ids for
every text, this file removes characters that were added or reclassified later: in a set, ``--``
means *without*. A range also spans neighbours that are not of that kind in any version, which keeps
the list short. Accents are taken apart by Python's own tables, newer than the reference's: rare
marks that those lack may be decomposed or ordered differently.
"""

from functools import cache
from typing import Any

from glassbox.checks import need

#: Letters and numbers added after Unicode 16.
_LATER_LETTERS = (
    r"\u0558\u058B-\u058C\u088F\u0C5C\u0CDC\u208F\u209D-\u209F\uA7CE-\uA7CF\uA7D2\uA7D4"
    r"\uA7DD-\uA7F1\uAB6C-\uAB6D\U000107BB-\U000107BF\U00010940-\U00010959\U00010EC5-\U00010EEE"
    r"\U00011B0A\U00011DB0-\U00011DF1\U00016EA0-\U00016ED3\U00016FF2-\U00016FF3"
    r"\U000187F8-\U000187FF\U00018CD6-\U00018CDA\U00018D09-\U000191D2\U0001B123-\U0001B128"
    r"\U0001B168\U0001D6A6\U0001DF1F-\U0001DF24\U0001DF2B-\U0001DFFF\U0001E6C0-\U0001E6FF"
    r"\U0002B73A-\U0002B73F\U0002B81E\U0002CEA2-\U0002CEAD\U000323B0-\U0003FC3F"
)
_LATER_NUMBERS = r"\U00011DE0-\U00011DE9\U0001246F-\U00012686\U00016FF4-\U00016FF6"

#: Punctuation, nonspacing marks and format characters added after Unicode 8.
_LATER_PUNCTUATION = (
    r"\u061D\u09FD-\u0A76\u0C77-\u0C84\u1B4E-\u1B4F\u1B7D-\u1B7F\u2E43-\u2E63"
    r"\U00010D6E-\U00010F89\U000113D4-\U0001145D\U00011660-\U000116B9\U0001183B-\U00011FFF"
    r"\U00012FF1-\U00012FF2\U00016D6D-\U00016FE2\U0001E5FF-\U0001E95F"
)
_LATER_MARKS = (
    r"\u05C8-\u05C9\u07FD\u0897-\u08E1\u09FE\u0AFA-\u0AFF\u0B53-\u0B55\u0C04-\u0C3C\u0D00"
    r"\u0D3B-\u0D3C\u0D81\u0EBA\u0ECE\u180F-\u1886\u1ABF-\u1AF0\u1DF6-\u1DFB\uA82C\uA8C5\uA8FF"
    r"\uA9BD\U00010D24-\U00010F85\U00011070-\U00011074\U000110C2\U000111C9\U000111CF"
    r"\U0001123E-\U00011241\U0001133B\U000113BB-\U0001145E\U0001182F-\U0001612F\U00016F4F"
    r"\U00016FE4\U0001CF00-\U0001D128\U0001D25B-\U0001D25C\U0001E000-\U0001E6F5"
    r"\U0001E944-\U0001E94A"
)
_LATER_FORMATS = r"\u0890-\u08E2\U000110CD-\U0001343F"

#: GPT-2's letters and numbers.
LETTER = rf"[\p{{L}}--[{_LATER_LETTERS}]]"
NUMBER = rf"[\p{{N}}--[{_LATER_NUMBERS}]]"

#: BERT's punctuation: Unicode's, and every ASCII character that is neither letter nor digit.
PUNCTUATION = rf"[[\p{{P}}\u166D\U000111C9!-/:-@\[-`\{{-~]--[{_LATER_PUNCTUATION}]]"
#: BERT's accents: the nonspacing marks.
MARK = rf"[[\p{{Mn}}\u1734\U0001171E]--[{_LATER_MARKS}]]"
#: What BERT drops: control, format and private characters, and the replacement character.
CONTROL = rf"[[\p{{Cc}}\p{{Cf}}\p{{Co}}\uFFFD]--[\t\n\r{_LATER_FORMATS}]]"
#: The blocks of Chinese characters that BERT lists, without U+2B820 to U+2B91F, which the reference
#: leaves out.
CHINESE = (
    r"[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0002A6DF\U0002A700-\U0002B81F"
    r"\U0002B920-\U0002CEAF\U0002F800-\U0002FA1F]"
)

#: Lower case of capitals added after Unicode 14, which the interpreter may not know.
LATER_SMALL_LETTERS = {
    **{0x10D50 + n: 0x10D70 + n for n in range(22)},  # Garay
    **{0x16EA0 + n: 0x16EBB + n for n in range(25)},  # Beria Erfe
    **{capital: capital + 1 for capital in (0x1C89, 0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA)},
    0xA7CB: 0x0264,
    0xA7DC: 0x019B,
}


@cache
def compile_pattern(pattern: str) -> Any:
    r"""Compile a pattern that uses the sets of this file, when it is first used.

    ``\p{L}`` and ``\p{N}`` in it, as in GPT-2's own pattern, become :data:`LETTER` and
    :data:`NUMBER`.
    """
    regex = need("regex", "cutting a text into words", "text")
    pattern = pattern.replace(r"\p{L}", LETTER).replace(r"\p{N}", NUMBER)
    return regex.compile(pattern, regex.VERSION1)
