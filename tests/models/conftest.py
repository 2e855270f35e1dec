"""A BERT with published weights, ours and the reference's, and texts for both."""

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertModel

from glassbox.models import Bert, find_weights

SENTENCE = ["time flies like an arrow"]
PADDED = [
    "time flies like an arrow",
    "fruit flies like a banana",
    "The animal didn't cross the street because it was too tired, and nobody minded in the least.",
    "no",
]
PAIRS = [
    ("the teacher taught the student with the book", "the student read it twice"),
    ("I kicked the ball", "and it disappeared"),
]


@pytest.fixture(scope="session")
def minilm() -> Bert:
    return Bert.from_pretrained("minilm")


@pytest.fixture(scope="session")
def reference() -> BertModel:
    """Keep the maps, with the plain formula."""
    return BertModel.from_pretrained(find_weights("minilm"), attn_implementation="eager")


@pytest.fixture(scope="session")
def fused_reference() -> BertModel:
    """Run the fused kernel."""
    return BertModel.from_pretrained(find_weights("minilm"), attn_implementation="sdpa")


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(Path(find_weights("minilm")) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding()  # to the longest of the batch
    return tokenizer


@pytest.fixture(
    scope="session", params=[SENTENCE, PADDED, PAIRS], ids=["sentence", "padded batch", "pairs"]
)
def texts(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> dict[str, Tensor]:
    """Tokenized texts under the names of the reference's arguments."""
    encoded = tokenizer.encode_batch(request.param)
    return {
        "input_ids": torch.tensor([text.ids for text in encoded]),
        "token_type_ids": torch.tensor([text.type_ids for text in encoded]),
        "attention_mask": torch.tensor([text.attention_mask for text in encoded]),
    }
