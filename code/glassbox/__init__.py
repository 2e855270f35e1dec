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

from glassbox.attention import MultiHeadAttention as MultiHeadAttention
from glassbox.attention import additive_attention as additive_attention
from glassbox.attention import dot_product_scores as dot_product_scores
from glassbox.attention import masked_softmax as masked_softmax
from glassbox.attention import scaled_dot_product_attention as scaled_dot_product_attention
from glassbox.attention import simple_self_attention as simple_self_attention
from glassbox.kernels import formulas as formulas
from glassbox.looking import record as record
from glassbox.masks import causal_mask as causal_mask
from glassbox.masks import padding_mask as padding_mask
from glassbox.transformer import Decoder as Decoder
from glassbox.transformer import Encoder as Encoder
from glassbox.transformer import Transformer as Transformer
from glassbox.transformer import TransformerConfig as TransformerConfig

__version__ = "0.1.0"


def __getattr__(name: str) -> ModuleType:
    """Import a module of the package when it is first named, such as ``glassbox.models``."""
    if not name.startswith("_") and find_spec(path := f"{__name__}.{name}") is not None:
        return import_module(path)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
