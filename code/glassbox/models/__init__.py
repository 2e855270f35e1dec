"""Published models and their weights: the same parts, wired differently."""

from glassbox.models.bert import Bert, BertConfig
from glassbox.models.bert_heads import (
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from glassbox.models.character_model import CharacterModel
from glassbox.models.gpt2 import GPT2, GPT2Config
from glassbox.models.llama import Llama, LlamaConfig
from glassbox.models.marian import Marian, MarianConfig
from glassbox.models.t5 import T5, T5Config
from glassbox.weights import find_weights

__all__ = [
    "GPT2",
    "T5",
    "Bert",
    "BertConfig",
    "BertForMaskedLM",
    "BertForSequenceClassification",
    "BertForTokenClassification",
    "CharacterModel",
    "GPT2Config",
    "Llama",
    "LlamaConfig",
    "Marian",
    "MarianConfig",
    "T5Config",
    "find_weights",
]
