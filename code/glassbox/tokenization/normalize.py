"""The normalization of SentencePiece's published vocabularies, T5's among them (chapter 2)."""

import struct

from glassbox.tokenization.characters import compile_pattern


class CharacterMap:
    """A table of character sequences and their replacements.

    It covers most of Unicode's NFKC and more: full-width letters become ordinary ones, and any
    white space becomes a space. SentencePiece compiles it into a trie of bytes, laid out in one
    array of 32-bit units, and stores it in the model file.

    Parameters
    ----------
    table : bytes
        ``precompiled_charsmap`` as in the file: the length of the trie in bytes, the trie, and all
        replacements, each ended by a zero byte.

    Raises
    ------
    ValueError
        If the table is truncated.

    Notes
    -----
    Kudo and Richardson (2018), section 3.4. The trie is a double array: Aoe (1989). Which
    characters form a cluster depends on the Unicode version of ``regex``, and the reference
    library's differs in a few dozen rare ones, such as U+1ADE. Chapter 2.
    """

    def __init__(self, table: bytes) -> None:
        size = struct.unpack_from("<I", table)[0] if len(table) >= 4 else 0
        whole = 0 < size <= len(table) - 4 and size % 4 == 0
        self._units = struct.unpack_from(f"<{size // 4}I", table, 4) if whole else ()
        last = max((unit & 0x7FFFFFFF for unit in self._units if unit >> 31), default=0)
        if not whole or 0 not in table[4 + size + last :]:  # the end of the last replacement
            raise ValueError(
                f"a character map of {len(table)} bytes that begins with a trie of {size}: it is "
                "damaged or truncated"
            )
        self.table = table
        self._replacements = table[4 + size :]
        self._remembered: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """Replace each cluster of characters as a whole, or else character by character."""
        known = self._remembered
        clusters = compile_pattern(r"\X").findall(text)
        for cluster in clusters:
            if cluster not in known:
                known[cluster] = self._replace_cluster(cluster)
        return "".join(map(known.__getitem__, clusters))

    def _replace_cluster(self, cluster: str) -> str:
        if len(cluster.encode()) < 6 and (whole := self.find(cluster)) is not None:
            return whole
        found = [(character, self.find(character)) for character in cluster]
        return "".join(old if new is None else new for old, new in found)

    def find(self, text: str) -> str | None:
        """Return the replacement for the shortest prefix of ``text`` that is in the table.

        ``None`` if no prefix is.
        """
        units = self._units
        place = _offset(units[0])
        for byte in text.encode():
            place ^= byte
            if place >= len(units) or units[place] & 0x800000FF != byte or not byte:
                return None
            leaf = units[place] >> 8 & 1
            place ^= _offset(units[place])
            if leaf:
                start = units[place] & 0x7FFFFFFF
                return self._replacements[start : self._replacements.index(0, start)].decode()
        return None


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)
