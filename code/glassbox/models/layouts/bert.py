"""The layouts of BERT's files (chapter 7)."""

from dataclasses import replace
from typing import Any

from glassbox.layout import Entries, Entry, Layout, activation, number, projections

#: More than any published classifier has; a file with a billion labels is damaged.
MOST_LABELS = 1_000_000


def name_labels(n_labels: int) -> tuple[str, ...]:
    """Return names for ``n_labels`` labels, as the reference library makes them.

    Raises
    ------
    ValueError
        If there is less than one, or there are too many to name.
    """
    if not 1 <= n_labels <= MOST_LABELS:
        raise ValueError(
            f"{n_labels} labels: a classifier needs at least 1, and {MOST_LABELS} at most"
        )
    return tuple(f"LABEL_{i}" for i in range(n_labels))


def _read_labels(named: Any, entries: Entries) -> tuple[str, ...]:
    """Return the labels in the order of their numbers, or default names if there are none."""
    if named is None:
        return name_labels(entries.get("num_labels", 2))
    try:
        by_number = {int(number): str(label) for number, label in named.items()}
        return tuple(by_number[i] for i in range(len(by_number)))
    except (AttributeError, KeyError, ValueError) as error:
        raise ValueError(
            f"id2label={named!r} in config.json; expected a name for each number from 0 on"
        ) from error


def _write_labels(labels: tuple[str, ...], _: Entries) -> dict[str, str]:
    return {str(i): label for i, label in enumerate(labels)}


#: What BERT calls query, key, value and output.
PARTS = "self.query self.key self.value output.dense"
NAMES = {
    "embeddings.word_embeddings": "embeddings.token",
    "embeddings.position_embeddings": "embeddings.position",
    "embeddings.token_type_embeddings": "embeddings.token_type",
    "embeddings.LayerNorm": "embeddings.norm",
    **projections("encoder.layer.{}.attention", "encoder.layers.{}.self_attention", PARTS),
    "encoder.layer.{}.attention.output.LayerNorm": "encoder.layers.{}.attention_norm",
    "encoder.layer.{}.intermediate.dense": "encoder.layers.{}.feed_forward.expand",
    "encoder.layer.{}.output.dense": "encoder.layers.{}.feed_forward.contract",
    "encoder.layer.{}.output.LayerNorm": "encoder.layers.{}.feed_forward_norm",
}

HEADED = {theirs: f"bert.{ours}" for theirs, ours in NAMES.items()}

BERT = Layout(
    constants={
        "model_type": "bert",
        "position_embedding_type": "absolute",
        "is_decoder": False,
        "add_cross_attention": False,
    },
    entries={
        "d_model": number("hidden_size"),
        "n_heads": number("num_attention_heads"),
        "n_layers": number("num_hidden_layers"),
        "d_ff": number("intermediate_size"),
        "dropout": number("hidden_dropout_prob", kind=float),
        "activation": activation("hidden_act"),
        "norm_eps": number("layer_norm_eps", kind=float),
        "vocab_size": number("vocab_size"),
        "max_len": number("max_position_embeddings"),
        "n_token_types": number("type_vocab_size"),
        "pad_id": Entry("pad_token_id", lambda pad_id, _: pad_id or 0),
        "labels": Entry("id2label", _read_labels, _write_labels, default=None),
        "classifier_dropout": Entry("classifier_dropout", number=float),
    },
    written={
        "attention_probs_dropout_prob": 0.0,
        "label2id": lambda config: {label: i for i, label in enumerate(config.labels)},
    },
    architectures=("BertModel",),
    names=NAMES,
    prefix="bert.",
    # Heads for tasks other than the model's own.
    ignored=r"(pooler|cls|classifier|qa_outputs)\.|embeddings\.position_ids$",
)

MASKED_LM = replace(
    BERT,
    architectures=("BertForMaskedLM", "BertForPreTraining"),
    names=HEADED
    | {
        "cls.predictions.transform.dense": "transform",
        "cls.predictions.transform.LayerNorm": "norm",
        "cls.predictions": "output",  # the bias alone: the weight is the embedding's
        "cls.predictions.decoder": "output",
    },
    outside=("cls.",),
)

SEQUENCE_CLASSIFICATION = replace(
    BERT,
    architectures=("BertForSequenceClassification",),
    names=HEADED | {"pooler.dense": "pooler", "classifier": "classifier"},
    outside=("classifier.",),
)

TOKEN_CLASSIFICATION = replace(
    BERT,
    architectures=("BertForTokenClassification",),
    names=HEADED | {"classifier": "classifier"},
    outside=("classifier.",),
)
