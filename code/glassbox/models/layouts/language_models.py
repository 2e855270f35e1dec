"""The layouts of GPT-2's and LLaMA's files (chapter 11)."""

from collections.abc import Mapping
from typing import Any

from glassbox.checks import check_kind
from glassbox.config import in_vocabulary
from glassbox.layout import Entries, Entry, Layout, activation, number, read_number, unless_equal
from glassbox.positional import RotaryScaling

#: The reference's name for the length before scaling.
ORIGINAL_LEN = "original_max_position_embeddings"
#: The sizes of each kind of scaling, by our names, with the reference's.
SCALING: dict[str, dict[str, str]] = {
    "default": {},
    "linear": {"factor": "factor"},
    "llama3": {
        "factor": "factor",
        "original_len": ORIGINAL_LEN,
        "low": "low_freq_factor",
        "high": "high_freq_factor",
    },
}


def _read_ids(ids: Any, entries: Entries) -> Any:
    """Return the ids without those of the reference's defaults that exceed the vocabulary."""
    size = entries["vocab_size"]
    if isinstance(ids, list):
        return tuple(one for one in ids if in_vocabulary(one, size)) or None
    return ids if in_vocabulary(ids, size) else None


def _write_ids(ids: Any, _: Entries) -> Any:
    return list(ids) if isinstance(ids, tuple) else ids


def _write_inner(d_ff: int, written: Entries) -> int | None:
    return None if d_ff == 4 * written["n_embd"] else d_ff


SHARED = {
    "tie_embeddings": Entry("tie_word_embeddings"),
    "bos_id": Entry("bos_token_id", _read_ids, _write_ids),
    "eos_id": Entry("eos_token_id", _read_ids, _write_ids),
    "pad_id": Entry("pad_token_id", _read_ids, _write_ids),
}

GPT2 = Layout(
    constants={
        "model_type": "gpt2",
        "add_cross_attention": False,
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
        "reorder_and_upcast_attn": False,
    },
    entries={
        "vocab_size": number("vocab_size"),
        "max_len": number("n_positions"),
        "d_model": number("n_embd"),
        "n_layers": number("n_layer"),
        "n_heads": number("n_head"),
        "d_ff": Entry("n_inner", write=_write_inner, number=int),
        "activation": activation("activation_function"),
        "dropout": number("resid_pdrop", kind=float),
        "embedding_dropout": number("embd_pdrop", kind=float),
        "norm_eps": number("layer_norm_epsilon", kind=float),
        **SHARED,
    },
    written={"attn_pdrop": 0.0},
    architectures=("GPT2LMHeadModel",),
    names={
        "wte": "embedding",
        "wpe": "positions.table",
        "h.{}.ln_1": "decoder.layers.{}.attention_norm",
        "h.{}.attn.c_attn": (
            "decoder.layers.{}.self_attention.query",
            "decoder.layers.{}.self_attention.key",
            "decoder.layers.{}.self_attention.value",
        ),
        "h.{}.attn.c_proj": "decoder.layers.{}.self_attention.output",
        "h.{}.ln_2": "decoder.layers.{}.feed_forward_norm",
        "h.{}.mlp.c_fc": "decoder.layers.{}.feed_forward.expand",
        "h.{}.mlp.c_proj": "decoder.layers.{}.feed_forward.contract",
        "ln_f": "decoder.norm",
        "lm_head": "output",
    },
    prefix="transformer.",
    outside=("lm_head.",),
    transposed=("c_attn.weight", "c_proj.weight", "c_fc.weight"),
    ignored=r"h\.\d+\.attn\.(masked_)?bias$",  # older files store the causal mask
)


def _read_width(d_k: int | None, entries: Entries) -> int | None:
    """Return a head's width, or None if all heads together are as wide as the model."""
    whole = d_k is not None and d_k * entries["num_attention_heads"] == entries["hidden_size"]
    return None if whole else d_k


def _write_width(d_k: int | None, written: Entries) -> int:
    d_model, n_heads = written["hidden_size"], written["num_attention_heads"]
    if d_model % n_heads:
        raise ValueError(
            f"d_model={d_model} does not divide into n_heads={n_heads} heads, which the reference "
            f"demands even where d_k={d_k} is given"
        )
    return d_k or d_model // n_heads


def _rope(entries: Entries) -> dict[str, Any]:
    """Return the entries about rotary positions.

    Today they are all in one entry; files of earlier releases keep some at the top level.
    """
    rope = entries.get("rope_scaling") or entries.get("rope_parameters") or {}
    if not isinstance(rope, Mapping):
        raise ValueError(f"rope_scaling={rope!r} in config.json; expected a JSON object")
    beside = ("rope_theta", "partial_rotary_factor")
    rope = {name: entries[name] for name in beside if name in entries} | dict(rope)
    if (share := rope.get("partial_rotary_factor", 1.0)) != 1.0:
        raise ValueError(f"partial_rotary_factor={share} in config.json; this class reads 1.0")
    return rope


def _read_base(_: Any, entries: Entries) -> float:
    return float(read_number({"rope_theta": 10_000.0, **_rope(entries)}, "rope_theta", float))


def _write_base(base: float, _: Entries) -> dict[str, Any]:
    return {"rope_theta": base}


def _read_scaling(_: Any, entries: Entries) -> RotaryScaling | None:
    rope = {ORIGINAL_LEN: entries["max_position_embeddings"], **_rope(entries)}
    kind: Any = rope.get("rope_type", rope.get("type", "default"))
    check_kind("rope_type", kind, tuple(SCALING))
    sizes = {
        ours: read_number(rope, theirs, int if theirs == ORIGINAL_LEN else float)
        for ours, theirs in SCALING[kind].items()
    }
    return RotaryScaling(**sizes) if sizes else None


def _write_scaling(scaling: RotaryScaling | None, written: Entries) -> dict[str, Any]:
    kind = "default" if scaling is None else "llama3" if scaling.original_len else "linear"
    sizes = {theirs: getattr(scaling, ours) for ours, theirs in SCALING[kind].items()}
    return {**written["rope_parameters"], "rope_type": kind, **sizes}


LLAMA = Layout(
    constants={"model_type": "llama"},
    entries={
        "vocab_size": number("vocab_size"),
        "max_len": number("max_position_embeddings"),
        "d_model": number("hidden_size"),
        "n_layers": number("num_hidden_layers"),
        "n_heads": number("num_attention_heads"),
        "n_kv_heads": unless_equal("num_key_value_heads", "num_attention_heads"),
        "d_k": Entry("head_dim", _read_width, _write_width, number=int),
        "d_ff": number("intermediate_size"),
        "activation": activation("hidden_act"),
        "norm_eps": number("rms_norm_eps", kind=float),
        "bias": Entry(("attention_bias", "mlp_bias"), default=False),
        "rotary_base": Entry("rope_parameters", _read_base, _write_base, default=None),
        "rotary_scaling": Entry("rope_parameters", _read_scaling, _write_scaling, default=None),
        **SHARED,
    },
    architectures=("LlamaForCausalLM",),
    lost=("dropout",),
    names={
        "embed_tokens": "embedding",
        "layers.{}.input_layernorm": "decoder.layers.{}.attention_norm",
        "layers.{}.self_attn.q_proj": "decoder.layers.{}.self_attention.query",
        "layers.{}.self_attn.k_proj": "decoder.layers.{}.self_attention.key",
        "layers.{}.self_attn.v_proj": "decoder.layers.{}.self_attention.value",
        "layers.{}.self_attn.o_proj": "decoder.layers.{}.self_attention.output",
        "layers.{}.post_attention_layernorm": "decoder.layers.{}.feed_forward_norm",
        "layers.{}.mlp.gate_proj": "decoder.layers.{}.feed_forward.gate",
        "layers.{}.mlp.up_proj": "decoder.layers.{}.feed_forward.expand",
        "layers.{}.mlp.down_proj": "decoder.layers.{}.feed_forward.contract",
        "norm": "decoder.norm",
        "lm_head": "output",
    },
    prefix="model.",
    outside=("lm_head.",),
    ignored=r"layers\.\d+\.self_attn\.rotary_emb\.inv_freq$",  # older files store frequencies
)
