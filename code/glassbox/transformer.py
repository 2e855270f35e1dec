"""The whole Transformer: an encoder that reads, a decoder that writes (chapters 7 and 8)."""

import copy
import math
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassbox.cache import Cache
from glassbox.checks import check_model_mask, check_token_ids, too_long
from glassbox.config import PositionKind, StackConfig
from glassbox.layers import Decoder, Dropout, Encoder
from glassbox.layout import Entry, HasLayout, Layout
from glassbox.linear import Linear
from glassbox.positional import (
    AlibiPositions,
    LearnedPositions,
    Positions,
    RelativePositionBias,
    RotaryPositions,
    SinusoidalPositions,
)
from glassbox.pretrained import Pretrained


@dataclass(frozen=True)
class TransformerConfig(HasLayout, StackConfig):
    """The sizes of an encoder–decoder. The defaults are the paper's base model.

    Parameters
    ----------
    vocab_size : int
        Number of tokens of the source language, or of both languages in one vocabulary.
    target_vocab_size : int, optional
        Number of tokens of the target language, if it has its own vocabulary.
    n_decoder_layers : int, optional
        Number of decoder layers. Defaults to ``n_layers``, the encoder's number.
    positions : {"sinusoidal", "learned", "relative", "rotary", "alibi", "none"}
        How positions are encoded.
    concatenated : bool
        Whether sinusoidal positions put all sines before all cosines instead of alternating.
    endpoint, first_position : bool, int
        How sinusoidal positions are spaced and counted; see
        :class:`~glassbox.positional.SinusoidalPositions`.
    max_len : int
        Number of positions that have a vector, if positions are learned.
    tie_embeddings : bool
        Whether the projection to the vocabulary shares the target embedding's weight.
    scale_embeddings : bool
        Whether embeddings are multiplied by the square root of ``d_model``.
    output_bias : bool
        Whether the projection to the vocabulary adds a bias.
    pad_id, bos_id, eos_id : int
        The ids that pad, begin and end a text.

    Raises
    ------
    ValueError
        If a size is not positive, an id is not in the vocabulary, or for the reasons given in
        :class:`~glassbox.config.StackConfig`.
    TypeError
        As for ``StackConfig``.

    Notes
    -----
    Vaswani et al. (2017), table 3; section 3.4 on tying and scaling. The other fields come from
    :class:`~glassbox.config.StackConfig`. Chapter 8.
    """

    vocab_size: int = 37_000
    target_vocab_size: int | None = None
    n_decoder_layers: int | None = None
    positions: PositionKind = "sinusoidal"
    concatenated: bool = False
    endpoint: bool = False
    first_position: int = 0
    max_len: int = 512
    tie_embeddings: bool = True
    scale_embeddings: bool = True
    output_bias: bool = False
    pad_id: int = 0
    bos_id: int = 1
    eos_id: int = 2

    @classmethod
    def base(cls, **changes: Any) -> "TransformerConfig":
        """Return the paper's base model, with the fields in ``changes`` changed."""
        return cls(**changes)

    @classmethod
    def big(cls, **changes: Any) -> "TransformerConfig":
        """Return the paper's big model, with the fields in ``changes`` changed."""
        sizes = {"d_model": 1024, "n_heads": 16, "d_ff": 4096, "dropout": 0.3}
        return cls(**(sizes | changes))

    @classmethod
    def tiny(cls, **changes: Any) -> "TransformerConfig":
        """Return a model a laptop can train, width 128, 4 + 4 layers, with ``changes`` applied."""
        sizes = {"d_model": 128, "n_heads": 4, "n_layers": 4, "d_ff": 256, "vocab_size": 8_000}
        return cls(**(sizes | changes))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.n_heads, tuple):
            return
        if self.n_decoder_layers not in (None, self.n_layers):
            raise ValueError(
                f"n_heads={self.n_heads} would be those of both stacks, but n_layers="
                f"{self.n_layers} and n_decoder_layers={self.n_decoder_layers}: give one number"
            )
        if len({*self.n_heads}) > 1 and self.positions in ("relative", "rotary", "alibi"):
            raise ValueError(
                f"positions={self.positions!r} are shared by all layers, but these differ in their "
                f"heads: n_heads={self.n_heads}. Give all the same number, or add positions to the "
                "embeddings: 'sinusoidal' or 'learned'"
            )

    @property
    def written_vocab_size(self) -> int:
        """Number of tokens the decoder chooses from."""
        return self.vocab_size if self.target_vocab_size is None else self.target_vocab_size

    @property
    def decoder(self) -> "TransformerConfig":
        """The same sizes, with the decoder's number of layers."""
        n_layers = self.n_layers if self.n_decoder_layers is None else self.n_decoder_layers
        return replace(self, n_layers=n_layers, n_decoder_layers=None)


#: The layout of this package's own files: all fields and parameters under their own names.
TransformerConfig.layout = Layout(
    constants={"model_type": "glassbox-transformer"},
    entries={field.name: Entry(field.name) for field in fields(TransformerConfig)}
    | {"n_heads": Entry("n_heads", lambda n, _: tuple(n) if isinstance(n, list) else n)},
    own=True,
)


class TokenEmbedding(nn.Embedding):
    r"""A vector for each token id, multiplied by :math:`\sqrt{d_{\text{model}}}`.

    The vectors are initialised with variance :math:`1 / d_{\text{model}}`, which suits the
    projection to the vocabulary they are tied to. The factor brings them to the size of the
    position vectors that are added to them.

    Parameters
    ----------
    vocab_size : int
        Number of ids.
    d_model : int
        Width of a vector.
    scaled : bool, optional
        Whether to multiply by the factor.

    Notes
    -----
    Vaswani et al. (2017), section 3.4; Press and Wolf (2017). Chapter 2; chapter 8, equation
    ``eq-tied``.
    """

    def __init__(self, vocab_size: int, d_model: int, *, scaled: bool = True) -> None:
        super().__init__(vocab_size, d_model)
        self.scale = math.sqrt(d_model) if scaled else 1.0
        nn.init.normal_(self.weight, std=d_model**-0.5)

    def forward(self, token_ids: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape d_model"]:
        """Look up ``token_ids``, of any shape, and return ``(..., d_model)``."""
        return super().forward(token_ids) * self.scale


class Writer(Pretrained):
    """A model that writes token by token: embedding, positions, decoder, projection to logits.

    GPT-2 and LLaMA are writers; a :class:`Transformer` is a writer with an encoder to attend to.

    Attributes
    ----------
    embedding : nn.Embedding
        ``(vocab_size, d_model)``.
    positions : Positions
        How positions are encoded.
    dropout : Dropout
        The dropout of the embeddings.
    decoder : Decoder
        The stack of layers.
    output : nn.Linear
        The projection to the logits, one number for each token of the vocabulary.

    Notes
    -----
    Liu et al. (2018), section 4.2.3; Radford et al. (2018), section 3.1. Chapter 8.
    """

    embedding: Any
    positions: Any
    dropout: Dropout
    decoder: Decoder
    output: nn.Linear
    #: The longest text in tokens, if the model itself checks one; learned positions of a
    #: :class:`Transformer` check their own.
    max_len: int | None = None

    def hidden(
        self,
        token_ids: Int[Tensor, "batch length"],
        mask: Bool[Tensor, "..."] | None = None,
        memory: Float[Tensor, "batch source_len d_model"] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        *,
        positions: Int[Tensor, "batch length"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Return the decoder's output, which :meth:`logits` projects.

        Parameters
        ----------
        token_ids : Tensor
            Integers, ``(batch, length)``; with a cache, only the tokens that are not yet in it.
        mask, memory_mask : Tensor, optional
            Boolean, ``True`` = may attend, with all four axes, each of which may be 1:
            ``(batch, n_heads, length, k_len)``, where ``k_len`` includes the cached tokens, and
            ``(batch, n_heads, length, source_len)``, the *source's* padding mask.
        memory : Tensor, optional
            ``(batch, source_len, d_model)``: the encoder's output, if there is an encoder.
        positions : Tensor, optional
            Integers, ``(batch, length)``, if they do not continue those in the cache, for example
            with padding on the left. Biases by distance count tokens all the same.
        cache : Cache, optional
            Keys and values of earlier steps, from :meth:`new_cache`.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.

        Raises
        ------
        ValueError
            If there is no token or no room, an id is not in the vocabulary, or shapes or devices
            do not fit. The cache is left unchanged.
        TypeError
            If ids or positions are not integers, or a mask is not boolean.
        """
        name, table = "token" if memory is None else "target", self.embedding.weight
        check_token_ids(f"{name}_ids", token_ids, len(table), table.device)
        start = 0 if cache is None else cache.length
        seen = torch.arange(start + token_ids.size(1), device=table.device)
        if self.max_len is not None and seen.size(0) > self.max_len:
            raise too_long(seen.size(0), self.max_len)
        if mask is not None or memory_mask is not None:
            self._check_masks(token_ids, seen.size(0), mask, memory, memory_mask)
        where = seen[start:] if positions is None else positions
        x = self.dropout(self.positions.embed(self.embedding(token_ids), where))
        return self.decoder(x, memory, mask, memory_mask, self.positions.around(where, seen), cache)

    def logits(
        self, hidden: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length vocab"]:
        """Project ``hidden`` to one number per token: ``(batch, length, vocab_size)``."""
        return self.output(hidden)

    def new_cache(self, max_len: int) -> Cache:
        """Return an empty cache for at most ``max_len`` tokens, prompt included."""
        return Cache(len(self.decoder.layers), max_len)

    def _check_masks(
        self,
        token_ids: Tensor,
        k_len: int,
        mask: Tensor | None,
        memory: Tensor | None,
        memory_mask: Tensor | None,
    ) -> None:
        rows = (token_ids.size(0), self.config.heads(0), token_ids.size(1))
        name = "mask" if memory is None else "target_mask"
        check_model_mask(name, mask, (*rows, k_len), token_ids.device)
        if isinstance(memory, Tensor) and memory.dim() == 3:  # the layers refuse any other
            scores_shape = (*rows, memory.size(1))
            check_model_mask("memory_mask", memory_mask, scores_shape, token_ids.device)


class Transformer(Writer):
    """The whole Transformer: an encoder that reads, and a decoder that writes token by token.

    Its files use this package's own names, because no other library covers all of its options. Two
    classes read and write another library's layout: :class:`glassbox.models.Marian`, for the
    paper's own wiring, and :class:`glassbox.models.T5`.

    Parameters
    ----------
    config : TransformerConfig, optional
        The sizes. Defaults to the paper's base model.

    Attributes
    ----------
    encoder, decoder : Encoder, Decoder
        The two stacks.
    output : nn.Linear
        The projection to the logits, one number for each token of the vocabulary.

    Notes
    -----
    Vaswani et al. (2017), section 3 and figure 1. Chapter 1, equations ``eq-next-token``
    and ``eq-sequence-probability``.
    """

    config_class = TransformerConfig
    layout = TransformerConfig.layout

    def __init__(self, config: TransformerConfig | None = None) -> None:
        super().__init__()
        self.config = config = TransformerConfig() if config is None else config
        self.source_embedding = _embedding(config, config.vocab_size)
        if config.target_vocab_size is None:  # two modules with one weight
            self.target_embedding = copy.deepcopy(self.source_embedding)
            self.target_embedding.weight = self.source_embedding.weight
        else:
            self.target_embedding = _embedding(config, config.target_vocab_size)
        self.source_positions = make_positions(config, bidirectional=True)
        self.target_positions = make_positions(config, bidirectional=False)
        self.dropout = Dropout(config.dropout)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config.decoder)
        self.output = Linear(config.d_model, config.written_vocab_size, bias=config.output_bias)
        for parameter in (*self.encoder.parameters(), *self.decoder.parameters()):
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        if config.tie_embeddings:
            self.output.weight = self.target_embedding.weight

    @property
    def embedding(self) -> TokenEmbedding:
        """The target's embedding."""
        return self.target_embedding

    @property
    def positions(self) -> Positions:
        """The target's positions."""
        return self.target_positions

    def forward(
        self,
        source_ids: Int[Tensor, "batch source_len"],
        target_ids: Int[Tensor, "batch target_len"],
        source_mask: Bool[Tensor, "..."] | None = None,
        target_mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch target_len vocab"]:
        """Return the logits of the next token at each target position, for training.

        Parameters
        ----------
        source_ids, target_ids : Tensor
            Integers, ``(batch, source_len)``, and ``(batch, target_len)`` from ``bos_id`` on.
        source_mask, target_mask : Tensor, optional
            As for :meth:`encode` and :meth:`decode`. The source's is also the memory's mask, so it
            must fit both: its axis of queries is 1 unless source and target are equally long.

        Returns
        -------
        Tensor
            ``(batch, target_len, vocab)``.
        """
        memory = self.encode(source_ids, source_mask)
        return self.logits(self.hidden(target_ids, target_mask, memory, source_mask))

    def encode(
        self, source_ids: Int[Tensor, "batch source_len"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch source_len d_model"]:
        """Read the source into the memory, one contextual vector for each of its tokens.

        Parameters
        ----------
        source_ids : Tensor
            Integers, ``(batch, source_len)``.
        mask : Tensor, optional
            Boolean, with all four axes, ``(batch, n_heads, source_len, source_len)``, each of
            which may be 1; required if there is padding: ``padding_mask(source_ids, pad_id)``.

        Returns
        -------
        Tensor
            The memory, ``(batch, source_len, d_model)``.
        """
        table, positions = self.source_embedding.weight, self.source_positions
        unmasked = self.config.pad_id if mask is None else None
        check_token_ids("source_ids", source_ids, len(table), table.device, unmasked)
        batch, length = source_ids.shape
        if mask is not None:
            scores_shape = (batch, self.config.heads(0), length, length)
            check_model_mask("source_mask", mask, scores_shape, table.device)
        where = torch.arange(length, device=table.device)
        x = self.dropout(positions.embed(self.source_embedding(source_ids), where))
        return self.encoder(x, mask, positions.around(where, where))

    def decode(
        self,
        target_ids: Int[Tensor, "batch target_len"],
        memory: Float[Tensor, "batch source_len d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        *,
        positions: Int[Tensor, "batch target_len"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "batch target_len vocab"]:
        """Return the logits of the next token, given the tokens so far and the source.

        Parameters
        ----------
        target_ids, memory, mask, memory_mask, positions, cache
            As for :meth:`hidden`; the memory comes from :meth:`encode`.

        Returns
        -------
        Tensor
            ``(batch, target_len, vocab)``.

        Raises
        ------
        ValueError, TypeError
            As for :meth:`hidden`.
        """
        return self.logits(
            self.hidden(target_ids, mask, memory, memory_mask, positions=positions, cache=cache)
        )


def _embedding(config: TransformerConfig, vocab_size: int) -> TokenEmbedding:
    return TokenEmbedding(vocab_size, config.d_model, scaled=config.scale_embeddings)


def make_positions(config: TransformerConfig, *, bidirectional: bool) -> Positions:
    """Build the positions that a configuration asks for.

    Parameters
    ----------
    config : TransformerConfig
        The kind of ``positions``, and the sizes they need.
    bidirectional : bool
        Whether a position also attends to later ones.

    Returns
    -------
    Positions
        A module without parameters, except for learned vectors and relative biases.

    Raises
    ------
    ValueError
        If a width that must divide into pairs is odd.

    Notes
    -----
    Chapter 6.
    """
    if config.positions == "none":
        return Positions()
    if config.positions == "sinusoidal":
        return SinusoidalPositions(
            config.d_model,
            concatenated=config.concatenated,
            endpoint=config.endpoint,
            first_position=config.first_position,
        )
    if config.positions == "learned":
        return LearnedPositions(config.max_len, config.d_model)
    if config.positions == "rotary":
        return RotaryPositions(config.d_k or config.d_model // config.heads(0))
    if config.positions == "alibi":
        return AlibiPositions(config.heads(0))
    return RelativePositionBias(config.heads(0), bidirectional=bidirectional)
