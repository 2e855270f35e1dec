"""The real BERT against the reference library's, with its fused attention."""

import os
from collections.abc import Iterator

import torch
from transformers import AutoModel, utils

from benchmarks.timing import Comparison, compare
from glassbox.models import Bert, find_weights

BATCH, LENGTH = 8, 128


def measure(device: str, seconds: float = 10.0) -> Iterator[Comparison]:
    """Time one forward pass over a full batch."""
    utils.logging.set_verbosity_error()
    utils.logging.disable_progress_bar()
    folder = find_weights()
    theirs = AutoModel.from_pretrained(
        folder, attn_implementation="sdpa", add_pooling_layer=False
    ).to(device)
    theirs.eval()
    ours = Bert.from_pretrained(folder).to(device)
    draw = torch.Generator().manual_seed(0)
    ids = torch.randint(1000, 30_000, (BATCH, LENGTH), generator=draw).to(device)
    with torch.inference_mode():
        expected = theirs(ids).last_hidden_state
        torch.testing.assert_close(ours(ids), expected, atol=1e-4, rtol=1e-4)
        yield compare(
            f"BERT ({os.environ.get('GLASSBOX_BERT', 'minilm')}) forward ({BATCH}, {LENGTH})",
            "transformers.BertModel, SDPA",
            lambda: ours(ids),
            lambda: theirs(ids),
            device=device,
            seconds=seconds,
        )
