"""Token text made safe to display."""

import re
import unicodedata
from collections.abc import Iterable

#: Format characters that are kept: they join emoji and Persian or Indic letters.
_JOINERS = "\u200c\u200d"
_SPACE = re.compile(r"(?<!\S)Ġ+")  # in a name such as "after Ġlove", too


def visible(token: str, *, raw: bool = False) -> str:
    r"""Return ``token`` with every invisible or order-changing character made visible.

    - the space before a word, which byte-level tokenizers write as ``Ġ``, is ``␣``;
    - control characters become their Unicode pictures (``\x00`` is shown as ``␀``);
    - lone surrogates and code points that are not characters become ``�``;
    - characters that only direct the text (right-to-left marks and overrides, zero-width spaces)
      are spelled out, as in ``⟨U+202E⟩``, so that they can neither reorder nor hide anything;
    - spaces of any kind at either end are shown as ``␣``, and an empty token as ``⟨empty⟩``.

    Parameters
    ----------
    token : str
        One token, whatever it contains.
    raw : bool
        Whether to keep ``Ġ``: to explain bytes, or if the text is not a token.

    Returns
    -------
    str
        Text that is never empty. Escaping it for HTML is left to the caller.
    """
    if not raw:
        token = with_spaces(token)
    shown = "".join(_visible_character(character) for character in token)
    return re.sub(r"^\s+|\s+$", lambda found: "␣" * len(found[0]), shown) or "⟨empty⟩"


def with_spaces(text: str) -> str:
    """Return text with the spaces before words drawn as ``␣`` instead of ``Ġ``.

    Parameters
    ----------
    text : str
        Tokens, or text about them.

    Returns
    -------
    str
        Text of the same length.
    """
    return _SPACE.sub(lambda found: "␣" * len(found[0]), text)


def visible_all(tokens: Iterable[str]) -> list[str]:
    """Return :func:`visible` of each token.

    Raises
    ------
    TypeError
        If ``tokens`` is a single string, or holds something that is not one.
    """
    if isinstance(tokens, str):
        raise TypeError(
            f"tokens is the single string {tokens!r}; pass a list with one string per position, "
            "for instance tokenizer.convert_ids_to_tokens(ids)"
        )
    tokens = list(tokens)
    for position, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(
                f"the token at position {position} is {token!r} of type {type(token).__name__}; "
                "pass strings, for instance tokenizer.convert_ids_to_tokens(ids)"
            )
    return [visible(token) for token in tokens]


def _visible_character(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    category = unicodedata.category(character)
    is_noncharacter = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    if category in ("Cc", "Cs") or is_noncharacter:
        return "\ufffd"
    if category in ("Zl", "Zp") or (category == "Cf" and not _is_drawn(character)):
        return f"⟨U+{code:04X}⟩"
    return character


def _is_drawn(character: str) -> bool:
    """Return whether a format character belongs to letters or emoji instead of directing text."""
    is_emoji_tag = 0xE0020 <= ord(character) <= 0xE007F  # the flags of England, Scotland, Wales
    is_number_sign = unicodedata.bidirectional(character) in ("AN", "AL")
    return character in _JOINERS or is_emoji_tag or is_number_sign
