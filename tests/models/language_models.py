"""Small language models with parameters as spread out as trained ones, and texts for them."""

from typing import Any, TypeVar

import torch
from torch import Tensor

from glassbox.models import GPT2, GPT2Config, Llama, LlamaConfig
from glassbox.models.language_model import LanguageModel

VOCAB = 50
Model = TypeVar("Model", bound=LanguageModel)
SIZES: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 24,
    "vocab_size": VOCAB,
    "max_len": 12,
    "bos_id": 1,
    "eos_id": 2,
}


def small_gpt2(**sizes: Any) -> GPT2:
    return spread_out(GPT2(GPT2Config(**SIZES | sizes)))


def small_llama(**sizes: Any) -> Llama:
    return spread_out(Llama(LlamaConfig(**SIZES | {"n_kv_heads": 2, "dropout": 0.1} | sizes)))


def spread_out(model: Model) -> Model:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_norm = name.endswith("norm.weight")
            parameter.normal_(1.0 if is_norm else 0.0, 0.3)
    return model.eval()


def some_ids(*shape: int, device: torch.device | str = "cpu") -> Tensor:
    return torch.randint(3, VOCAB, shape, device=device)
