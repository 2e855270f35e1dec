"""BERT with a task: fill in masked words, classify texts, classify words (chapter 11)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glassbox.checks import check_dtype, check_same_shape, check_whole
from glassbox.layers import ACTIVATIONS, Dropout, LayerNorm, init_weights
from glassbox.linear import Linear
from glassbox.models.bert import Bert, BertConfig
from glassbox.models.layouts import bert as layouts
from glassbox.pretrained import Pretrained, Source

Head = TypeVar("Head", bound="BertWithHead")


class BertWithHead(Pretrained):
    """The base class of a BERT with a head for one task.

    A head returns logits; the loss is not part of the model.

    Parameters
    ----------
    config : BertConfig
        The sizes. For trained weights use :meth:`from_pretrained`, for an untrained head on a
        trained encoder :meth:`from_encoder`.

    Attributes
    ----------
    bert : Bert
        The encoder.

    Notes
    -----
    Devlin et al. (2019), section 3.
    """

    config_class = BertConfig

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config)

    def forward(
        self,
        token_ids: Int[Tensor, "batch length"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        token_types: Int[Tensor, "batch length"] | None = None,
        *,
        inputs_embeds: Float[Tensor, "batch length d_model"] | None = None,
    ) -> Float[Tensor, "batch ..."]:
        """Run the encoder, then the head: ``logits(bert(token_ids, ...))``.

        Parameters
        ----------
        token_ids, mask, token_types, inputs_embeds : Tensor, optional
            As for :class:`~glassbox.models.Bert`.

        Returns
        -------
        Tensor
            The logits, in the shape given by :meth:`logits`.

        Raises
        ------
        ValueError, TypeError
            As for :class:`~glassbox.models.Bert`.
        """
        return self.logits(self.bert(token_ids, mask, token_types, inputs_embeds=inputs_embeds))

    def logits(self, hidden: Float[Tensor, "batch length d_model"]) -> Float[Tensor, "batch ..."]:
        """Apply the head alone to the encoder's output, ``(batch, length, d_model)``."""
        raise NotImplementedError

    @classmethod
    def from_encoder(
        cls: type[Head], source: Source = None, labels: int | Sequence[str] | None = None
    ) -> Head:
        """Put an untrained head on a trained encoder.

        A head of the source is discarded, except for the pooler, which suits every task.

        Parameters
        ----------
        source : str, path or nn.Module, optional
            As for :meth:`~glassbox.pretrained.Pretrained.from_pretrained`, for example a
            :class:`~glassbox.models.Bert`. Defaults to the packaged model.
        labels : int or sequence of str, optional
            The labels of a classifier: their number or their names. Defaults to those of the
            source.

        Returns
        -------
        BertWithHead
            A model of this class in eval mode, with its own copy of the parameters.

        Raises
        ------
        FileNotFoundError, ConnectionError, PermissionError, ValueError
            As for :meth:`~glassbox.pretrained.Pretrained.from_pretrained`, or if ``labels`` is one
            string.
        TypeError
            If ``labels`` are neither a number of them nor their names.
        """
        bert, weights, where = Bert.describe(source)
        config = bert.config
        if not isinstance(labels, Iterable | None):
            check_whole("labels", labels)
            labels = layouts.name_labels(int(labels))
        if labels is not None:
            config = replace(config, labels=labels if isinstance(labels, str) else tuple(labels))
        with torch.device("cpu"):
            model = cls(config)
        kept = {name: x for name, x in weights.items() if not name.startswith(cls.layout.outside)}
        found = model.from_reference(kept)
        dtype = next((x.dtype for x in found.values()), torch.float32)
        # A parameter tied to one of the encoder's appears here only under the encoder's name.
        new = {n: x.to(dtype) for n, x in model.named_parameters() if not n.startswith("bert.")}
        model.load_weights(new | found, where)
        return model.eval()

    @classmethod
    def configure(cls, entries: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Any:
        """Return the configuration of a published model with this head.

        Parameters
        ----------
        entries : mapping
            The entries of its ``config.json``.
        weights : mapping of str to Tensor
            Its parameters by the reference's names.

        Raises
        ------
        ValueError
            If it has no head or a different one, or is not a BERT.
        """
        config = super().configure(entries, weights)
        ours = cls.layout.architectures
        given = entries.get("architectures") or ours
        if not {*given} & {*ours}:
            raise ValueError(
                f"these are the weights of {' and '.join(given)}, not of {ours[0]}: to train a new "
                f"head on this encoder begin with {cls.__name__}.from_encoder"
            )
        return config


class BertForMaskedLM(BertWithHead):
    """A BERT that predicts the word piece at each position.

    The projection to the vocabulary shares the weight of the embedding and adds a bias.

    Parameters
    ----------
    config : BertConfig
        The sizes.

    Notes
    -----
    Devlin et al. (2019), section 3.1, task 1. Equal to ``transformers.BertForMaskedLM``.
    """

    layout = layouts.MASKED_LM

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.transform = Linear(config.d_model, config.d_model)
        self.norm = LayerNorm(config.d_model, config.norm_eps)
        self.output = Linear(config.d_model, config.vocab_size)
        init_weights(self.transform)
        init_weights(self.output)
        self.output.weight = self.bert.embeddings.token.weight

    def forward(
        self,
        token_ids: Int[Tensor, "batch length"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        token_types: Int[Tensor, "batch length"] | None = None,
        *,
        inputs_embeds: Float[Tensor, "batch length d_model"] | None = None,
        at: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "... vocab"]:
        """Run the encoder, then the head, everywhere or only where a prediction is wanted.

        Parameters
        ----------
        token_ids, mask, token_types, inputs_embeds : Tensor, optional
            As for :class:`~glassbox.models.Bert`.
        at : Tensor, optional
            Boolean, ``(batch, length)``: ``True`` where a prediction is wanted. Masked language
            modelling wants few, and the projection to the vocabulary is costly.

        Returns
        -------
        Tensor
            ``(batch, length, vocab_size)``, or, given ``at``, ``(predictions, vocab_size)``, in
            reading order.

        Raises
        ------
        ValueError, TypeError
            As for :class:`~glassbox.models.Bert`, or if ``at`` is not boolean or of another shape.
        """
        hidden = self.bert(token_ids, mask, token_types, inputs_embeds=inputs_embeds)
        if at is None:
            return self.logits(hidden)
        check_dtype("at", at, (torch.bool,), "torch.bool, True where to predict")
        check_same_shape("at", at, hidden.shape[:2])
        return self.logits(hidden[at])

    def logits(self, hidden: Float[Tensor, "... d_model"]) -> Float[Tensor, "... vocab"]:
        """Return the logits of the word piece at each position, ``(..., vocab_size)``.

        Parameters
        ----------
        hidden : Tensor
            The encoder's output, ``(batch, length, d_model)``, or some of its vectors.

        Returns
        -------
        Tensor
            ``(..., vocab_size)``.
        """
        activation = ACTIVATIONS[self.config.activation]
        return self.output(self.norm(activation(self.transform(hidden))))


class BertForSequenceClassification(BertWithHead):
    """A BERT that classifies a text by the vector at its first position.

    Parameters
    ----------
    config : BertConfig
        The sizes, and the ``labels``.

    Notes
    -----
    Devlin et al. (2019), section 4.1. The *pooler* is a projection of the first position, [CLS],
    with a hyperbolic tangent. Equal to ``transformers.BertForSequenceClassification``.
    """

    layout = layouts.SEQUENCE_CLASSIFICATION

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.pooler = Linear(config.d_model, config.d_model)
        self.dropout = _dropout(config)
        self.classifier = Linear(config.d_model, config.n_labels)
        init_weights(self.pooler)
        init_weights(self.classifier)

    def logits(
        self, hidden: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch n_labels"]:
        """Return the logits of the labels of each text, ``(batch, n_labels)``.

        Parameters
        ----------
        hidden : Tensor
            The encoder's output, ``(batch, length, d_model)``; only the first position counts.

        Returns
        -------
        Tensor
            ``(batch, n_labels)``, in the order of ``config.labels``.
        """
        pooled = torch.tanh(self.pooler(hidden[:, 0]))
        return self.classifier(self.dropout(pooled))


class BertForTokenClassification(BertWithHead):
    """A BERT that assigns a label to each word piece.

    Parameters
    ----------
    config : BertConfig
        The sizes, and the ``labels``.

    Notes
    -----
    Devlin et al. (2019), section 5.3. Equal to ``transformers.BertForTokenClassification``.
    """

    layout = layouts.TOKEN_CLASSIFICATION

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.dropout = _dropout(config)
        self.classifier = Linear(config.d_model, config.n_labels)
        init_weights(self.classifier)

    def logits(
        self, hidden: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length n_labels"]:
        """Return the logits of the labels at each position, ``(batch, length, n_labels)``.

        Parameters
        ----------
        hidden : Tensor
            The encoder's output, ``(batch, length, d_model)``.

        Returns
        -------
        Tensor
            ``(batch, length, n_labels)``, in the order of ``config.labels``.
        """
        return self.classifier(self.dropout(hidden))


def _dropout(config: BertConfig) -> Dropout:
    given = config.classifier_dropout
    return Dropout(config.dropout if given is None else given)
