"""What GPT-2 and LLaMA share: one stack that writes on from what it has read (chapter 8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassbox.cache import Cache
from glassbox.config import StackConfig
from glassbox.layers import Decoder, Dropout
from glassbox.linear import Linear
from glassbox.positional import Positions
from glassbox.pretrained import (
    check_entries,
    check_representable,
    read_number,
)
from glassbox.transformer import Writer

#: Standard deviation of the weights before training, in GPT-2 and LLaMA alike.
INITIAL_STD = 0.02

Config = TypeVar("Config", bound="LanguageModelConfig")


class _AnswersReferenceNames:
    """Refuse sizes under the reference library's names, naming ours."""

    reference_entries: ClassVar[Mapping[str, str]]

    def __new__(cls, *_sizes: Any, **named: Any) -> Any:
        for theirs, ours in cls.reference_entries.items():
            if theirs in named and theirs != ours:
                raise TypeError(f"{theirs} is the reference library's name: here it is {ours}")
        return super().__new__(cls)


@dataclass(frozen=True)
class LanguageModelConfig(_AnswersReferenceNames, StackConfig):
    """The sizes of a stack that writes, and what they are called in the reference library.

    Parameters
    ----------
    vocab_size : int
        Number of token ids.
    max_len : int
        How many tokens a text may have.
    tie_embeddings : bool
        Whether the projection to the vocabulary is the embedding.
    bos_id, pad_id : int, optional
        The ids that begin a text and fill short ones up.
    eos_id : int or tuple of int, optional
        The id, or ids, that end a text.

    Attributes
    ----------
    reference_entries : dict of str to str
        Entries of ``config.json``, each with the field that it fills.
    reference_constants : dict of str to object
        What ``config.json`` must say where it says anything.
    reference_sizes : tuple of str
        Fields that the reference has no entries for: they must have their defaults.

    Raises
    ------
    ValueError
        If a size is not positive, an id is not in the vocabulary, or as in
        :class:`~glassbox.config.StackConfig`.

    Notes
    -----
    The other fields are :class:`~glassbox.config.StackConfig`'s.
    """

    reference_entries: ClassVar[Mapping[str, str]] = {}
    reference_constants: ClassVar[Mapping[str, Any]]
    reference_sizes: ClassVar[tuple[str, ...]]

    norm_first: bool = True
    vocab_size: int = 32_000
    max_len: int = 2048
    tie_embeddings: bool = False
    bos_id: int | None = None
    eos_id: int | tuple[int, ...] | None = None
    pad_id: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("vocab_size", "max_len"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1")
        for name in ("bos_id", "eos_id", "pad_id"):
            if not _in_vocabulary(given := getattr(self, name), self.vocab_size):
                raise ValueError(
                    f"{name}={given} is not in a vocabulary of vocab_size={self.vocab_size}: "
                    f"choose one of 0 to {self.vocab_size - 1}"
                )

    @classmethod
    def from_reference(cls: type[Config], config: Mapping[str, Any]) -> Config:
        """Translate the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            If it describes another kind of model, one that differs in more than its sizes, or an
            entry is missing or of another type.
        """
        check_entries(config, cls.reference_constants)
        return cls(**cls._read(config))

    def to_reference(self) -> dict[str, Any]:
        """Return the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            If the reference has no such model.
        """
        check_representable(self, self.reference_sizes)
        return {
            **{theirs: getattr(self, ours) for theirs, ours in self.reference_entries.items()},
            "model_type": self.reference_constants["model_type"],
            "tie_word_embeddings": self.tie_embeddings,
            "bos_token_id": self.bos_id,
            "eos_token_id": list(self.eos_id) if isinstance(self.eos_id, tuple) else self.eos_id,
            "pad_token_id": self.pad_id,
        }

    @classmethod
    def _read(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that entries of the reference's ``config.json`` stand for."""
        read = {
            ours: read_number(config, theirs, type(getattr(cls, ours)), cls.__name__)
            for theirs, ours in cls.reference_entries.items()
        }
        read["tie_embeddings"] = config.get("tie_word_embeddings", cls.tie_embeddings)
        for name in ("bos", "eos", "pad"):
            ids = config.get(f"{name}_token_id", getattr(cls, f"{name}_id"))
            ids = tuple(ids) if isinstance(ids, list) else ids
            # The reference keeps its defaults where a vocabulary is smaller; they mean nothing.
            read[f"{name}_id"] = ids if _in_vocabulary(ids, read["vocab_size"]) else None
        return read


class LanguageModel(Writer):
    """A decoder without an encoder: the logits of each position's next token.

    That nobody looks ahead always holds; whatever else must not be seen, a mask says.

    Parameters
    ----------
    config : LanguageModelConfig
        The sizes.
    positions : Positions
        How positions are told apart.

    Attributes
    ----------
    embedding : nn.Embedding
        ``(vocab_size, d_model)``.
    decoder : Decoder
        The stack.
    output : nn.Linear
        The projection to one number for each token id, the logits.

    Notes
    -----
    Liu et al. (2018), section 4.2.2; Radford et al. (2018), section 3.1. Chapter 8.
    """

    config: LanguageModelConfig

    def __init__(self, config: LanguageModelConfig, positions: Positions) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = positions
        self.max_len = config.max_len
        self.dropout = Dropout(config.dropout)
        self.decoder = Decoder(config, cross_attention=False)
        self.output = Linear(config.d_model, config.vocab_size, bias=False)
        if config.tie_embeddings:
            self.output.weight = self.embedding.weight
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=INITIAL_STD)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(
        self,
        token_ids: Int[Tensor, "batch length"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        positions: Int[Tensor, "batch length"] | None = None,
        cache: Cache | None = None,
        last_only: bool = False,
    ) -> Float[Tensor, "batch kept vocab"]:
        """Read tokens, return the logits of the one that follows each.

        Parameters
        ----------
        token_ids : Tensor
            Integers, ``(batch, length)``; with a cache only those it has not read yet.
        mask : Tensor, optional
            Boolean, with all four axes, ``(batch, n_heads, length, k_len)``, where each may also
            be 1; ``True`` = may attend. ``k_len`` counts what is in the cache. A batch with padding
            needs :func:`~glassbox.masks.padding_mask` of all its tokens.
        positions : Tensor, optional
            Integers, ``(batch, length)``, where they do not go on from those in the cache, as in
            texts that are padded on the left.
        cache : Cache, optional
            What earlier steps have read, from :meth:`new_cache`.
        last_only : bool, optional
            Whether the last position's logits are enough.

        Returns
        -------
        Tensor
            ``(batch, length, vocab_size)``, or ``(batch, 1, vocab_size)`` with ``last_only``.

        Raises
        ------
        ValueError
            If there is no token, if there are more than ``max_len`` or than the cache has room
            for, if an id is not in the vocabulary, or if shapes or devices do not fit.
        TypeError
            If ids or positions are not integers, or the mask is not boolean.
        """
        hidden = self.hidden(token_ids, mask, positions=positions, cache=cache)
        return self.logits(hidden[:, -1:] if last_only else hidden)

    def to_reference(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Give our parameters the reference's names, where the projection stands outside the model.

        Parameters
        ----------
        weights : mapping of str to Tensor
            By our names.

        Returns
        -------
        dict of str to Tensor
            By the reference's names.
        """
        theirs, head = super().to_reference(weights), "lm_head.weight"
        if (inside := self.reference_prefix + head) in theirs:
            theirs[head] = theirs.pop(inside)
        return theirs


def _in_vocabulary(ids: int | tuple[int, ...] | None, vocab_size: int) -> bool:
    ids = ids if isinstance(ids, tuple) else () if ids is None else (ids,)
    return all(0 <= given < vocab_size for given in ids)
