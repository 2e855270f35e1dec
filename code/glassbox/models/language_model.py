"""Language models, the base of GPT-2 and LLaMA: one stack that continues a text (chapter 8)."""

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassbox.cache import Cache
from glassbox.config import StackConfig
from glassbox.layers import Decoder, Dropout, init_weights
from glassbox.layout import HasLayout
from glassbox.linear import Linear
from glassbox.positional import Positions
from glassbox.transformer import Writer


@dataclass(frozen=True)
class LanguageModelConfig(HasLayout, StackConfig):
    """The sizes of a language model.

    Parameters
    ----------
    vocab_size : int
        Number of token ids.
    max_len : int
        Maximum number of tokens in a text.
    tie_embeddings : bool
        Whether the projection to the vocabulary shares the embedding's weight.
    bos_id, pad_id : int, optional
        The ids that begin a text and pad short ones.
    eos_id : int or tuple of int, optional
        The id, or ids, that end a text.

    Raises
    ------
    ValueError
        If a size is not positive, an id is not in the vocabulary, or for the reasons given in
        :class:`~glassbox.config.StackConfig`.
    TypeError
        As for ``StackConfig``.

    Notes
    -----
    The other fields are :class:`~glassbox.config.StackConfig`'s.
    """

    norm_first: bool = True
    vocab_size: int = 32_000
    max_len: int = 2048
    tie_embeddings: bool = False
    bos_id: int | None = None
    eos_id: int | tuple[int, ...] | None = None
    pad_id: int | None = None


class LanguageModel(Writer):
    """A decoder without an encoder, which returns the logits of the next token at each position.

    Attention is always causal; a mask can hide further tokens.

    Parameters
    ----------
    config : LanguageModelConfig
        The sizes.
    positions : Positions
        How positions are encoded.

    Attributes
    ----------
    embedding : nn.Embedding
        ``(vocab_size, d_model)``.
    decoder : Decoder
        The stack of layers.
    output : nn.Linear
        The projection to the logits, one number for each token id.

    Notes
    -----
    Liu et al. (2018), section 4.2.3; Radford et al. (2018), section 3.1. Chapter 8.
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
        init_weights(self)

    def forward(
        self,
        token_ids: Int[Tensor, "batch length"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        positions: Int[Tensor, "batch length"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "batch length vocab"]:
        """Read tokens and return, for each, the logits of the token that follows.

        Parameters
        ----------
        token_ids : Tensor
            Integers, ``(batch, length)``; with a cache, only the tokens that are not yet in it.
        mask : Tensor, optional
            Boolean, with all four axes, ``(batch, n_heads, length, k_len)``, each of which may be
            1; ``True`` = may attend. ``k_len`` includes the cached tokens. A batch with padding
            needs :func:`~glassbox.masks.padding_mask` of all its tokens.
        positions : Tensor, optional
            Integers, ``(batch, length)``, if they do not continue those in the cache, for example
            with padding on the left.
        cache : Cache, optional
            Keys and values of earlier steps, from :meth:`new_cache`.

        Returns
        -------
        Tensor
            ``(batch, length, vocab_size)``.

        Raises
        ------
        ValueError
            If there are no tokens, more than ``max_len`` or more than fit into the cache, if an
            id is not in the vocabulary, or if shapes or devices do not fit.
        TypeError
            If ids or positions are not integers, or the mask is not boolean.
        """
        return self.logits(self.hidden(token_ids, mask, positions=positions, cache=cache))
