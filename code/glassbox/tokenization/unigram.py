"""The unigram tokenizer of SentencePiece, T5's among others (chapter 2)."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from glassbox.checks import check_flags
from glassbox.tokenization.checks import check_pieces, check_training
from glassbox.tokenization.lattice import Pieces, viterbi
from glassbox.tokenization.normalize import CharacterMap
from glassbox.tokenization.pre_tokenize import METASPACE, split_metaspace
from glassbox.tokenization.tokenizer import Tokenizer, numbered
from glassbox.tokenization.unigram_training import learn_pieces

#: T5's special tokens, in the order of its vocabulary.
PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
SPECIAL_TOKENS = (PAD, END, UNKNOWN)


class Unigram(Tokenizer):
    """A unigram model: it cuts a word into the most likely sequence of pieces.

    A space is part of the word after it, written ``▁``, so decoding needs no rules for where spaces
    go.

    Parameters
    ----------
    pieces : sequence of tuple of str and float
        Each token with the logarithm of its probability; its index is its id. Special tokens have a
        score too, usually 0.
    special_tokens : sequence of str, optional
        Tokens that are matched verbatim in raw text.
    unknown_token : str, optional
        The token for characters that are not pieces; a run of them becomes one token.
    pad_token, end : str, optional
        The padding token, and the token that :meth:`encode` puts after a text.
    collapse : bool, optional
        Whether any run of white space counts as one space. If not, and if no character is unknown,
        decoding restores the text exactly, except for one space in front, spaces after special
        tokens, and any ``▁`` in it, which becomes a space.
    character_map : bytes, optional
        SentencePiece's table of characters to replace before anything else.

    Raises
    ------
    ValueError
        If a piece is listed twice, a score is not finite, a named token is not among the pieces, or
        as in :class:`Tokenizer`.
    TypeError
        If ``collapse`` is not a bool.

    Notes
    -----
    Kudo (2018), section 3.2; Kudo and Richardson (2018). Equal to the reference library's
    ``Unigram`` model. Chapter 2.
    """

    def __init__(
        self,
        pieces: Sequence[tuple[str, float]],
        *,
        special_tokens: Sequence[str] = SPECIAL_TOKENS,
        unknown_token: str = UNKNOWN,
        pad_token: str | None = PAD,
        end: str | None = END,
        collapse: bool = True,
        character_map: bytes | None = None,
    ) -> None:
        check_pieces(pieces)
        roles = {"unknown_token": unknown_token, "pad_token": pad_token, "end": end}
        super().__init__(numbered(token for token, _ in pieces), special_tokens, **roles)
        self.pieces = Pieces(dict(pieces))
        self.collapse = collapse
        check_flags(self, "collapse")
        self.character_map = None if character_map is None else CharacterMap(character_map)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        *,
        special_tokens: Sequence[str] = SPECIAL_TOKENS,
        max_length: int = 16,
        **options: Any,
    ) -> "Unigram":
        """Learn pieces and their probabilities from texts.

        Parameters
        ----------
        texts : iterable of str
            The training texts.
        vocab_size : int
            Number of tokens, including the special tokens and all characters of the texts; fewer if
            the texts do not yield enough pieces.
        special_tokens : sequence of str, optional
            The first tokens of the vocabulary.
        max_length : int, optional
            Number of characters in the longest piece.
        **options
            Passed to the class.

        Returns
        -------
        Unigram
            A tokenizer with that vocabulary.

        Raises
        ------
        ValueError
            If ``vocab_size`` is too small for the characters, ``max_length`` is less than 1, or the
            texts hold no word.
        TypeError
            If a text is not a string, ``texts`` is a single string, or ``vocab_size`` is not an
            integer.

        Notes
        -----
        Kudo (2018), section 3.2. Pieces and scores equal those of the reference library's
        ``UnigramTrainer``, up to the order of equal scores; but where ``vocab_size`` has room for
        the characters only, the reference learns a few pieces more; characters that training
        dropped get the lowest scores, 0.0001 apart, in an order that the reference does not fix.
        """
        special = [(token, 0.0) for token in dict.fromkeys(special_tokens)]
        options |= {"special_tokens": special_tokens}
        words = cls(special, **options)._count_words(texts)
        characters = {character for word in words for character in word}
        others = len({*special_tokens} - characters)  # a character may be a special token, too
        check_training(words, vocab_size, others + len(characters), "special tokens and characters")
        learned = learn_pieces(words, vocab_size, others, max_length=max_length)
        return cls(special + [x for x in learned if x[0] not in special_tokens], **options)

    def _words(self, text: str) -> list[str]:
        if self.character_map is not None:
            text = self.character_map(text)
        return split_metaspace(text, collapse=self.collapse)

    def _split(self, word: str) -> list[str]:
        tokens: list[str] = []
        for known, run in groupby(viterbi(word, self.pieces), key=self._is_known):
            pieces = list(run)
            tokens += pieces if known else ["".join(pieces)]
        return tokens

    def _is_known(self, piece: str) -> bool:
        return piece in self.vocabulary and piece != self.unknown_token

    def _join(self, tokens: list[str]) -> str:
        first, rest = "".join(tokens[:1]), "".join(tokens[1:])
        return first.replace(METASPACE, "") + rest.replace(METASPACE, " ")
