"""Byte-level byte-pair encoding, the tokenizer of GPT-2 (chapter 2)."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from glassbox.tokenization import files
from glassbox.tokenization.checks import (
    check_all_merges,
    check_merges,
    check_texts,
    check_training,
)
from glassbox.tokenization.merges import bpe_word, learn_merges
from glassbox.tokenization.pre_tokenize import byte_alphabet, split_gpt2
from glassbox.tokenization.tokenizer import Tokenizer

END_OF_TEXT = "<|endoftext|>"
_TO_CHARACTER = byte_alphabet()
_TO_BYTE = {character: byte for byte, character in _TO_CHARACTER.items()}


class BPE(Tokenizer):
    """Byte-level byte-pair encoding: any text goes in, and comes out again as it was.

    Text is cut into words by GPT-2's pattern, words into bytes, and bytes are merged in the order
    in which the merges were learned. Since every byte is a token, nothing is unknown.

    Parameters
    ----------
    vocabulary : mapping of str to int
        The id of each token, in the characters of
        :func:`~glassbox.tokenization.pre_tokenize.byte_alphabet`.
    merges : sequence of tuple of str
        The pairs in the order in which they were learned.
    special_tokens : sequence of str, optional
        Tokens of the vocabulary that are found in raw text as they stand.
    pad_token : str, optional
        What fills short texts up in a batch; GPT-2 has none.
    add_prefix_space : bool, optional
        Whether the first word gets a space too, so that it looks like the same word further on.

    Raises
    ------
    ValueError
        If a byte, or a token of a merge, is not in the vocabulary, a merge stands twice, or as in
        :class:`Tokenizer`.

    Notes
    -----
    Radford et al. (2019), section 2.2; Sennrich, Haddow and Birch (2016). Equal to GPT-2's
    tokenizer in ``transformers``. Chapter 2.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        merges: Sequence[tuple[str, str]],
        *,
        special_tokens: Sequence[str] = (END_OF_TEXT,),
        pad_token: str | None = None,
        add_prefix_space: bool = False,
    ) -> None:
        super().__init__(vocabulary, special_tokens, pad_token=pad_token)
        self.merges = [(left, right) for left, right in merges]
        self.ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        self.add_prefix_space = add_prefix_space
        self._check()

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        *,
        special_tokens: Sequence[str] = (END_OF_TEXT,),
        min_frequency: int = 1,
        pad_token: str | None = None,
        add_prefix_space: bool = False,
    ) -> "BPE":
        """Learn a vocabulary from texts: the special tokens, the 256 bytes, then the merges.

        Parameters
        ----------
        texts : iterable of str
            What to learn from, and nothing else.
        vocab_size : int
            Number of tokens, at least 256 and the special ones. It stays below if the texts have
            no more pairs to merge.
        special_tokens, pad_token, add_prefix_space
            As for the class.
        min_frequency : int, optional
            Pairs that are rarer are not merged.

        Returns
        -------
        BPE
            A tokenizer with that vocabulary.

        Raises
        ------
        ValueError
            If ``vocab_size`` is too small, or the texts hold no word.
        TypeError
            If a text is not a string, or ``texts`` is a single one.

        Notes
        -----
        Sennrich, Haddow and Birch (2016), algorithm 1. The same tokens with the same ids and the
        same merges as from the reference library's ``BpeTrainer``.
        """
        words: Counter[str] = Counter()
        for text in check_texts(texts):
            words.update(split_gpt2(_with_space(text) if add_prefix_space else text))
        tokens = list(dict.fromkeys([*special_tokens, *sorted(_TO_BYTE)]))
        check_training(words, vocab_size, len(tokens), "special tokens and the 256 bytes")
        shown = {tuple(_show(word)): count for word, count in words.items()}
        tokens, merges = learn_merges(shown, tokens, vocab_size, min_frequency=min_frequency)
        return cls(
            {token: number for number, token in enumerate(tokens)},
            merges,
            special_tokens=special_tokens,
            pad_token=pad_token,
            add_prefix_space=add_prefix_space,
        )

    def _words(self, text: str) -> list[str]:
        return split_gpt2(_with_space(text) if self.add_prefix_space else text)

    def _split(self, word: str) -> list[str]:
        return bpe_word(_show(word), self.ranks)

    def _join(self, tokens: list[str]) -> str:
        shown = b"".join(
            bytes(_TO_BYTE[character] for character in token)
            if all(character in _TO_BYTE for character in token)
            else token.encode()  # a special token outside the alphabet
            for token in tokens
        )
        return shown.decode(errors="replace")

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``vocab.json``, ``merges.txt`` and ``tokenizer_config.json``.

        Raises
        ------
        ValueError
            If a token of a merge holds white space, which ``merges.txt`` cannot hold.
        """
        folder = files.make_folder(folder)
        files.write_merges(folder / files.MERGES_TXT, self.merges)
        files.write_json(folder / files.VOCAB_JSON, self.vocabulary)
        config = {"add_prefix_space": self.add_prefix_space, "tokenizer_class": "GPT2Tokenizer"}
        for role in ("unk_token", "bos_token", "eos_token"):
            config[role] = END_OF_TEXT if END_OF_TEXT in self.special_tokens else None
        files.write_config(folder, config, self)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "BPE":
        """Read ``vocab.json`` and ``merges.txt``, or ``tokenizer.json`` where these are missing.

        Raises
        ------
        FileNotFoundError
            If the folder or a file is missing.
        ValueError
            If a file is cut off, or that of another kind of tokenizer.
        """
        folder = files.find_folder(folder, files.VOCAB_JSON, files.TOKENIZER_JSON)
        config = files.read_config(folder)
        if not (folder / files.VOCAB_JSON).is_file():
            return cls._from_tokenizer_json(folder, config)
        return cls.from_files(
            folder / files.VOCAB_JSON,
            folder / files.MERGES_TXT,
            special_tokens=files.special_tokens(config) or (END_OF_TEXT,),
            pad_token=files.token_of(config, "pad_token"),
            add_prefix_space=bool(config.get("add_prefix_space", False)),
        )

    @classmethod
    def from_files(
        cls,
        vocabulary: str | os.PathLike[str],
        merges: str | os.PathLike[str],
        *,
        special_tokens: Sequence[str] = (END_OF_TEXT,),
        pad_token: str | None = None,
        add_prefix_space: bool = False,
    ) -> "BPE":
        """Read a ``vocab.json`` and a ``merges.txt``, whatever their names.

        Parameters
        ----------
        vocabulary, merges : str or path
            The two files.
        special_tokens, pad_token, add_prefix_space
            As for the class.

        Returns
        -------
        BPE
            The tokenizer that these files describe.

        Raises
        ------
        FileNotFoundError
            If a file is missing.
        ValueError
            If one is cut off, not what it should be, or the merges do not build every token of
            several characters in the vocabulary.
        """
        tokenizer = cls(
            files.read_vocab_json(Path(vocabulary)),
            files.read_merges(Path(merges)),
            special_tokens=special_tokens,
            pad_token=pad_token,
            add_prefix_space=add_prefix_space,
        )
        try:
            check_all_merges(tokenizer.merges, tokenizer.vocabulary, tokenizer.special_tokens)
        except ValueError as error:
            raise ValueError(f"{merges}: {error}") from error
        return tokenizer

    @classmethod
    def _from_tokenizer_json(cls, folder: Path, config: Mapping[str, object]) -> "BPE":
        parts = files.read_tokenizer_json(folder / files.TOKENIZER_JSON, "BPE")
        if parts.model.get("byte_fallback"):
            raise ValueError(
                f"{parts.name}: the model has byte_fallback=True, as LLaMA's; load it with "
                "SentencePieceBPE.load"
            )
        parts.expect("model", dropout=None, ignore_merges=False)
        parts.expect("model", continuing_subword_prefix="", end_of_word_suffix="")
        parts.expect("normalizer", type=None)
        parts.expect("pre_tokenizer", type="ByteLevel", use_regex=True)
        parts.expect("post_processor", type=(None, "ByteLevel"))
        return cls(
            parts.vocabulary,
            parts.merges,
            special_tokens=parts.special_tokens,
            pad_token=files.token_of(config, "pad_token"),
            add_prefix_space=bool(parts.pre_tokenizer.get("add_prefix_space", False)),
        )

    def _check(self) -> None:
        if missing := [c for c in _TO_BYTE if c not in self.vocabulary]:
            raise ValueError(
                f"the vocabulary lacks {len(missing)} of the 256 bytes, the first of them "
                f"{missing[0]!r} (byte {_TO_BYTE[missing[0]]}): text with it would be lost. "
                "Is this the vocabulary of a byte-level BPE?"
            )
        check_merges(self.merges, self.vocabulary)


def _show(word: str) -> str:
    return "".join(map(_TO_CHARACTER.__getitem__, word.encode()))


def _with_space(text: str) -> str:
    return text if text.startswith(" ") or not text else " " + text
