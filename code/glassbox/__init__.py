"""The Glass-Box Transformer: every part of the architecture in plain PyTorch, open to inspection.

The modules follow the chapters of the book, and imports only point up this list:

- helpers: checks, files, modes, data, results
- tokens: tokenization
- what surrounds attention: masks, cache, around, kernels, linear, positional
- attention: attention, blockwise, looking
- the Transformer: config, layers, layout, weights, pretrained, transformer
- writing, and published models: generation, translation, models
- learning: training, evaluation
- the reader: cli
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from glassbox.attention import (
    MultiHeadAttention,
    additive_attention,
    dot_product_scores,
    masked_softmax,
    scaled_dot_product_attention,
    simple_self_attention,
)
from glassbox.kernels import formulas
from glassbox.looking import record
from glassbox.masks import causal_mask, padding_mask
from glassbox.transformer import Decoder, Encoder, Transformer, TransformerConfig

__version__ = "0.1.0"

__all__ = [
    "Decoder",
    "Encoder",
    "MultiHeadAttention",
    "Transformer",
    "TransformerConfig",
    "additive_attention",
    "causal_mask",
    "dot_product_scores",
    "formulas",
    "masked_softmax",
    "padding_mask",
    "record",
    "scaled_dot_product_attention",
    "simple_self_attention",
]


def __getattr__(name: str) -> ModuleType:
    """Import a module of the package when it is first named, such as ``glassbox.models``."""
    if not name.startswith("_") and find_spec(path := f"{__name__}.{name}") is not None:
        return import_module(path)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
