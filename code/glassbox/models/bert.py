"""BERT: the Transformer's encoder, reading in both directions (chapters 4 and 7)."""

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassbox.checks import (
    check_instead_of_ids,
    check_model_mask,
    check_same_shape,
    check_token_ids,
    too_long,
)
from glassbox.config import Activation, StackConfig
from glassbox.layers import Dropout, LayerNorm, init_weights
from glassbox.layout import HasLayout
from glassbox.models.layouts import bert as layouts
from glassbox.pretrained import Pretrained
from glassbox.transformer import Encoder


@dataclass(frozen=True)
class BertConfig(HasLayout, StackConfig):
    """The sizes of a BERT. The defaults are those of bert-base-uncased.

    Parameters
    ----------
    d_ff : int, optional
        Width inside the feed-forward networks. Defaults to ``4 * d_model``;
        :func:`dataclasses.replace` keeps it unless it is given anew, as ``d_ff=None``.
    vocab_size : int
        Number of word pieces.
    max_len : int
        Number of positions that have a vector.
    n_token_types : int
        Number of segment types, such as first and second sentence.
    pad_id : int
        The id that pads short texts.
    labels : tuple of str
        The labels of a classifier on top. The encoder itself does not use them.
    classifier_dropout : float, optional
        Dropout before that classifier. Defaults to ``dropout``.

    Raises
    ------
    ValueError
        If a size is not positive, ``pad_id`` is not in the vocabulary, the labels are not a tuple
        of different strings, ``classifier_dropout`` is not in [0, 1), or as for ``StackConfig``.
    TypeError
        As for ``StackConfig``.

    Notes
    -----
    Devlin et al. (2019), section 3. The other fields are :class:`~glassbox.config.StackConfig`'s.
    """

    layout = layouts.BERT

    d_model: int = 768
    n_heads: int | tuple[int, ...] = 12
    n_layers: int = 12
    d_ff: int | None = None  # type: ignore[assignment]  # an int once it is made
    activation: Activation = "gelu"
    norm_eps: float = 1e-12
    vocab_size: int = 30522
    max_len: int = 512
    n_token_types: int = 2
    pad_id: int = 0
    labels: tuple[str, ...] = ("LABEL_0", "LABEL_1")
    classifier_dropout: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        labels: object = self.labels
        names = isinstance(labels, tuple) and all(isinstance(label, str) for label in labels)
        if not names or not labels or len({*self.labels}) < len(self.labels):
            raise ValueError(
                f"labels={labels!r}: expected a tuple of names, one or more, each once, such as "
                "('negative', 'positive')"
            )

    @property
    def n_labels(self) -> int:
        """Number of labels of a classifier on top."""
        return len(self.labels)


class BertEmbeddings(nn.Module):
    """The sum of word piece, position and token type vectors, then a norm.

    Notes
    -----
    Devlin et al. (2019), figure 2. Norm and dropout follow the sum, which is not scaled by the
    square root of ``d_model``. Chapter 7, equation ``eq-bert-embedding``.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.d_model, padding_idx=config.pad_id)
        self.position = nn.Embedding(config.max_len, config.d_model)
        self.token_type = nn.Embedding(config.n_token_types, config.d_model)
        self.norm = LayerNorm(config.d_model, config.norm_eps)
        self.dropout = Dropout(config.dropout)

    def forward(
        self,
        token_ids: Int[Tensor, "batch length"] | None,
        token_types: Int[Tensor, "batch length"] | None = None,
        inputs_embeds: Float[Tensor, "batch length d_model"] | None = None,
        unmasked: int | None = None,  # padding's id, rejected if there is no mask
    ) -> Float[Tensor, "batch length d_model"]:
        """Look up the three vectors and add them; ``inputs_embeds`` replaces the word pieces'."""
        table, places, types = (x.weight for x in (self.token, self.position, self.token_type))
        if inputs_embeds is None and token_ids is not None:
            check_token_ids("token_ids", token_ids, len(table), table.device, unmasked)
        else:
            check_instead_of_ids(token_ids, inputs_embeds, table)
        x = self.token(token_ids) if inputs_embeds is None else inputs_embeds
        if (length := x.size(1)) > len(places):
            raise too_long(length, len(places))
        if token_types is not None:
            check_token_ids("token_types", token_types, len(types), table.device)
            check_same_shape("token_types", token_types, x.shape[:2])
        kinds = types[0] if token_types is None else self.token_type(token_types)
        return self.dropout(self.norm(x + kinds + places[:length]))


class Bert(Pretrained):
    """A BERT that returns the last layer's hidden states.

    Parameters
    ----------
    config : BertConfig
        The sizes. For trained weights use :meth:`from_pretrained`.

    Raises
    ------
    ValueError
        On reading, if both or neither of ``token_ids`` and ``inputs_embeds`` are given, there are
        no tokens or more than ``max_len``, an id or a type is not in its table, ids hold ``pad_id``
        without a mask, or shapes, dtypes or devices do not fit.
    TypeError
        On reading, if ids or types are not integers, vectors not floating-point, or the mask not
        boolean.

    Notes
    -----
    Devlin et al. (2019): a post-norm encoder with exact GELU and learned positions. Equal to
    ``transformers.BertModel`` without its pooler. Chapter 7.
    """

    config_class = BertConfig
    has_default = True
    layout = layouts.BERT

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.encoder = Encoder(config)
        init_weights(self)

    def forward(
        self,
        token_ids: Int[Tensor, "batch length"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        token_types: Int[Tensor, "batch length"] | None = None,
        *,
        inputs_embeds: Float[Tensor, "batch length d_model"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Read word pieces and return a contextual vector for each.

        Parameters
        ----------
        token_ids : Tensor
            Integers, ``(batch, length)``; omitted if ``inputs_embeds`` is given.
        mask : Tensor, optional
            Boolean, with all four axes, ``(batch, n_heads, length, length)``, each of which may
            be 1. Padding needs ``padding_mask(token_ids, config.pad_id)``.
        token_types : Tensor, optional
            Integers, ``(batch, length)``: 0 in the first sentence, 1 in the second.
        inputs_embeds : Tensor, optional
            ``(batch, length, d_model)``: vectors to use instead of the embeddings of ``token_ids``.
            To run only the layers, call ``bert.encoder(vectors, mask)``.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.
        """
        unmasked = self.config.pad_id if mask is None else None
        x = self.embeddings(token_ids, token_types, inputs_embeds, unmasked)
        if mask is not None:
            (batch, length), n_heads = x.shape[:2], self.config.heads(0)
            check_model_mask("mask", mask, (batch, n_heads, length, length), x.device)
        return self.encoder(x, mask)
