"""The Glass-Box Transformer: every part of the architecture in plain PyTorch, open to look into.

The modules follow the chapters of the book, and imports only ever point up this list:
attention and masks, layers, transformer, models, record, viz.
"""

from glassbox.attention import additive_attention, scaled_dot_product_attention
from glassbox.masks import causal_mask, padding_mask
from glassbox.multi_head_attention import MultiHeadAttention
from glassbox.record import record
from glassbox.self_attention import simple_self_attention

__version__ = "0.1.0"

__all__ = [
    "MultiHeadAttention",
    "additive_attention",
    "causal_mask",
    "padding_mask",
    "record",
    "scaled_dot_product_attention",
    "simple_self_attention",
]
