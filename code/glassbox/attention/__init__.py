"""Attention: from one weighted average to many heads side by side (chapters 3 to 5)."""

from glassbox.attention.additive import additive_attention as additive_attention
from glassbox.attention.additive import additive_scores as additive_scores
from glassbox.attention.multi_head import MultiHeadAttention as MultiHeadAttention
from glassbox.attention.scaled_dot_product import dot_product_scores as dot_product_scores
from glassbox.attention.scaled_dot_product import masked_softmax as masked_softmax
from glassbox.attention.scaled_dot_product import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from glassbox.attention.self_attention import simple_self_attention as simple_self_attention
