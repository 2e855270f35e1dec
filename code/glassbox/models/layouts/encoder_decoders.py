"""The layouts of T5's and Marian's files (chapter 8)."""

from dataclasses import replace
from typing import Any

from glassbox.layout import Entries, Entry, Layout, activation, number, projections, unless_equal


def _without_gate(kind: Any) -> str:
    """Return the activation's name; ``gated-gelu`` means the approximate GELU."""
    return "gelu_new" if kind == "gated-gelu" else str(kind).removeprefix("gated-")


def _is_gated(kind: Any, _: Entries) -> bool:
    return str(kind).startswith("gated-")


def _write_gate(gated: bool, written: Entries) -> str:
    kind: str = written["feed_forward_proj"]
    if gated and kind == "gelu":
        raise ValueError(
            "activation='gelu' with gated=True: by 'gated-gelu' the reference means 'gelu_tanh'"
        )
    return f"gated-{kind.removesuffix('_new')}" if gated else kind


def _write_width(d_k: int | None, written: Entries) -> int:
    return d_k or written["d_model"] // written["num_heads"]


def _read_scale(scaled: bool | None, entries: Entries) -> bool:
    return entries.get("tie_word_embeddings") is not False if scaled is None else scaled


def _read_start(bos_id: int | None, entries: Entries) -> int:
    return entries.get("pad_token_id") or 0 if bos_id is None else bos_id


#: What the reference calls the one table of embeddings.
SHARED = ("shared", "encoder.embed_tokens", "decoder.embed_tokens")
T5_NAMES = {
    **dict.fromkeys(SHARED, "source_embedding"),
    "encoder.block.0.layer.0.SelfAttention.relative_attention_bias": "source_positions.table",
    "decoder.block.0.layer.0.SelfAttention.relative_attention_bias": "target_positions.table",
    "{}.block.{}.layer.0.layer_norm": "{}.layers.{}.attention_norm",
    **projections("{}.block.{}.layer.0.SelfAttention", "{}.layers.{}.self_attention", "q k v o"),
    "{}.block.{}.layer.1.layer_norm": "{}.layers.{}.cross_attention_norm",
    **projections("{}.block.{}.layer.1.EncDecAttention", "{}.layers.{}.cross_attention", "q k v o"),
    "encoder.block.{}.layer.1.layer_norm": "encoder.layers.{}.feed_forward_norm",
    "encoder.block.{}.layer.1.DenseReluDense.wo": "encoder.layers.{}.feed_forward.contract",
    "decoder.block.{}.layer.2.layer_norm": "decoder.layers.{}.feed_forward_norm",
    "decoder.block.{}.layer.2.DenseReluDense.wo": "decoder.layers.{}.feed_forward.contract",
    "{}.final_layer_norm": "{}.norm",
    "lm_head": "output",
}
T5_WITHOUT_GATE = {
    "encoder.block.{}.layer.1.DenseReluDense.wi": "encoder.layers.{}.feed_forward.expand",
    "decoder.block.{}.layer.2.DenseReluDense.wi": "decoder.layers.{}.feed_forward.expand",
}
T5_WITH_GATE = {
    "encoder.block.{}.layer.1.DenseReluDense.wi_0": "encoder.layers.{}.feed_forward.gate",
    "encoder.block.{}.layer.1.DenseReluDense.wi_1": "encoder.layers.{}.feed_forward.expand",
    "decoder.block.{}.layer.2.DenseReluDense.wi_0": "decoder.layers.{}.feed_forward.gate",
    "decoder.block.{}.layer.2.DenseReluDense.wi_1": "decoder.layers.{}.feed_forward.expand",
}

T5 = Layout(
    constants={"model_type": "t5", "is_encoder_decoder": True, "is_decoder": False},
    entries={
        "vocab_size": number("vocab_size"),
        "d_model": number("d_model"),
        "n_heads": number("num_heads"),
        "d_k": number("d_kv", write=_write_width),
        "d_ff": number("d_ff"),
        "n_layers": number("num_layers"),
        "n_decoder_layers": unless_equal("num_decoder_layers", "num_layers"),
        "n_buckets": number("relative_attention_num_buckets"),
        "max_distance": Entry("relative_attention_max_distance", number=int),
        "dropout": number("dropout_rate", kind=float),
        "norm_eps": number("layer_norm_epsilon", kind=float),
        "activation": activation("feed_forward_proj", _without_gate),
        "gated": Entry("feed_forward_proj", _is_gated, _write_gate),
        "tie_embeddings": Entry("tie_word_embeddings", lambda tied, _: tied is not False),
        "scale_output": Entry("scale_decoder_outputs", _read_scale, default=None),
        "pad_id": Entry("pad_token_id", lambda pad_id, _: pad_id or 0),
        "bos_id": Entry("decoder_start_token_id", _read_start, default=None),
        "eos_id": number("eos_token_id"),
    },
    architectures=("T5ForConditionalGeneration",),
    lost=("max_len",),
    names=T5_NAMES | T5_WITHOUT_GATE,
    # A table in the first published files that nothing ever read.
    ignored=r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.",
)
GATED_T5 = replace(T5, names=T5_NAMES | T5_WITH_GATE)

#: What Marian calls query, key, value and output.
MARIAN_PARTS = "q_proj k_proj v_proj out_proj"

#: One embedding serves both languages and the projection.
MARIAN = Layout(
    constants={
        "model_type": "marian",
        "is_encoder_decoder": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "add_final_layer_norm": False,
        "static_position_embeddings": True,
        "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True,
    },
    entries={
        "d_model": number("d_model"),
        "n_heads": number("encoder_attention_heads", "decoder_attention_heads"),
        "n_layers": number("encoder_layers"),
        "n_decoder_layers": unless_equal("decoder_layers", "encoder_layers", required=True),
        "d_ff": number("encoder_ffn_dim", "decoder_ffn_dim"),
        "dropout": number("dropout", kind=float),
        "activation": activation("activation_function"),
        "vocab_size": number("vocab_size"),
        "max_len": number("max_position_embeddings"),
        "scale_embeddings": Entry("scale_embedding", default=False),
        "pad_id": number("pad_token_id"),
        "bos_id": number("decoder_start_token_id"),
        "eos_id": number("eos_token_id"),
    },
    written={
        "forced_eos_token_id": lambda config: config.eos_id,
        "bad_words_ids": lambda config: [[config.pad_id]],
        "renormalize_logits": lambda config: True,
    },
    architectures=("MarianMTModel",),
    names={
        **dict.fromkeys(SHARED, "source_embedding"),
        **projections("{}.layers.{}.self_attn", "{}.layers.{}.self_attention", MARIAN_PARTS),
        "{}.layers.{}.self_attn_layer_norm": "{}.layers.{}.attention_norm",
        **projections("{}.layers.{}.encoder_attn", "{}.layers.{}.cross_attention", MARIAN_PARTS),
        "{}.layers.{}.encoder_attn_layer_norm": "{}.layers.{}.cross_attention_norm",
        "{}.layers.{}.fc1": "{}.layers.{}.feed_forward.expand",
        "{}.layers.{}.fc2": "{}.layers.{}.feed_forward.contract",
        "{}.layers.{}.final_layer_norm": "{}.layers.{}.feed_forward_norm",
        "lm_head.weight": "output.weight",
        "final_logits_bias": "output.bias",
    },
    prefix="model.",
    outside=("lm_head.", "final_logits_bias"),
    rows=("final_logits_bias",),
    ignored=r"(encoder|decoder)\.embed_positions\.",
)
