"""What parity tests share: a measure of every comparison, and two BERTs with published weights."""

from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertModel

from glassbox.models import Bert, find_weights
from tests.parity.differences import Differences

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


DIFFERENCES = Differences()


@pytest.fixture(autouse=True)
def _measured(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Note by how much the two sides of every comparison differ."""
    component = request.path.stem.removeprefix("test_")
    compare = torch.testing.assert_close

    def assert_close(actual: Any, expected: Any, **options: Any) -> None:
        DIFFERENCES.note(component, actual, expected)
        compare(actual, expected, **options)

    monkeypatch.setattr(torch.testing, "assert_close", assert_close)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the table of largest differences."""
    if DIFFERENCES.largest:
        terminalreporter.section("largest difference of each component from its reference")
        for line in DIFFERENCES.lines():
            terminalreporter.line(line)


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
