"""The reference library's GPT-2 with random weights, small and of many shapes."""

from typing import Any

from transformers import GPT2Config, GPT2LMHeadModel

from tests.references.language_models import randomize

SMALL: dict[str, Any] = {
    "n_embd": 32,
    "n_head": 4,
    "n_layer": 3,
    "n_positions": 20,
    "vocab_size": 97,
    "bos_token_id": 3,
    "eos_token_id": 5,
    "attn_pdrop": 0.0,
}
SHAPES: dict[str, dict[str, Any]] = {
    "four heads": {},
    "one head in one layer": {"n_head": 1, "n_layer": 1},
    "heads of width one": {"n_embd": 6, "n_head": 6},
    "narrow feed-forward": {"n_inner": 5},
    "exact GELU": {"activation_function": "gelu"},
    "ReLU": {"activation_function": "relu"},
    "large epsilon": {"layer_norm_epsilon": 1e-2},
    "an output of its own": {"tie_word_embeddings": False},
}


def configure(**sizes: Any) -> GPT2Config:
    return GPT2Config(**sizes, attn_implementation="eager")  # the fused kernels keep no maps


def make_reference(**sizes: Any) -> GPT2LMHeadModel:
    return randomize(GPT2LMHeadModel(configure(**SMALL | sizes)))
