"""Attention: from one weighted average to many heads side by side (chapters 3 to 5)."""

from glassbox.attention.additive import additive_attention, additive_scores
from glassbox.attention.multi_head import MultiHeadAttention
from glassbox.attention.scaled_dot_product import (
    dot_product_scores,
    masked_softmax,
    scaled_dot_product_attention,
)
from glassbox.attention.self_attention import simple_self_attention

__all__ = [
    "MultiHeadAttention",
    "additive_attention",
    "additive_scores",
    "dot_product_scores",
    "masked_softmax",
    "scaled_dot_product_attention",
    "simple_self_attention",
]
