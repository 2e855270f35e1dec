"""The reference library's LLaMA with random weights, small and of many shapes."""

from typing import Any

from transformers import LlamaConfig, LlamaForCausalLM

from tests.references.language_models import randomize

SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 3,
    "intermediate_size": 48,
    "max_position_embeddings": 20,
    "vocab_size": 97,
}
LLAMA3 = {
    "rope_theta": 100.0,
    "rope_type": "llama3",
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
LINEAR = {"rope_theta": 10_000.0, "rope_type": "linear", "factor": 2.5}
SHAPES: dict[str, dict[str, Any]] = {
    "two query heads for one of keys": {},
    "one head in one layer": {
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "num_hidden_layers": 1,
    },
    "each its own keys": {"num_key_value_heads": 4},
    "one head of keys for all": {"num_key_value_heads": 1},
    "wide heads": {"head_dim": 14},
    "narrow heads": {"head_dim": 2},
    "biases": {"attention_bias": True, "mlp_bias": True},
    "a tied output": {"tie_word_embeddings": True},
    "GELU in the gate": {"hidden_act": "gelu"},
    "large epsilon": {"rms_norm_eps": 1e-2},
    "a larger base": {"rope_parameters": {"rope_theta": 500_000.0, "rope_type": "default"}},
    "linear scaling": {"rope_parameters": LINEAR},
    "scaling as in the third": {"rope_parameters": LLAMA3},
}


def configure(**sizes: Any) -> LlamaConfig:
    return LlamaConfig(**sizes, attn_implementation="eager")  # the fused kernels keep no maps


def make_reference(**sizes: Any) -> LlamaForCausalLM:
    return randomize(LlamaForCausalLM(configure(**SMALL | sizes)))
