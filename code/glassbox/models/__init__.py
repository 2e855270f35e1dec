"""The same parts, other wiring: published models and their weights (chapter 11)."""

from glassbox.models.bert import Bert, BertConfig
from glassbox.weights import find_weights

__all__ = ["Bert", "BertConfig", "find_weights"]
