"""Published models and their weights: the same parts, wired differently."""

from glassbox.models.bert import Bert as Bert
from glassbox.models.bert import BertConfig as BertConfig
from glassbox.models.bert_heads import BertForMaskedLM as BertForMaskedLM
from glassbox.models.bert_heads import (
    BertForSequenceClassification as BertForSequenceClassification,
)
from glassbox.models.bert_heads import BertForTokenClassification as BertForTokenClassification
from glassbox.models.character_model import CharacterModel as CharacterModel
from glassbox.models.gpt2 import GPT2 as GPT2
from glassbox.models.gpt2 import GPT2Config as GPT2Config
from glassbox.models.llama import Llama as Llama
from glassbox.models.llama import LlamaConfig as LlamaConfig
from glassbox.models.marian import Marian as Marian
from glassbox.models.marian import MarianConfig as MarianConfig
from glassbox.models.t5 import T5 as T5
from glassbox.models.t5 import T5Config as T5Config
from glassbox.weights import find_weights as find_weights
