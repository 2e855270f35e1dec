"""A language model of two tables: what comes next depends on the last token alone."""

from types import SimpleNamespace

import torch
from torch import Tensor, nn


class Counter:
    """The least that a cache is: how much has been read."""

    def __init__(self) -> None:
        self.length = 0

    def reorder(self, rows: Tensor, *, same_memory: bool = False) -> None:
        pass

    def crop(self, length: int) -> None:
        assert 0 <= length <= self.length
        self.length = length


class TableModel(nn.Module):
    """Give each token a vector, and each vector logits."""

    def __init__(
        self, vocab_size: int, d_model: int = 4, sharpness: float = 1.0, max_len: int | None = 64
    ) -> None:
        super().__init__()
        self.config = SimpleNamespace(vocab_size=vocab_size, max_len=max_len)
        self.vectors = nn.Parameter(torch.randn(vocab_size, d_model))
        self.weight = nn.Parameter(sharpness * torch.randn(vocab_size, d_model))
        self.passes = 0

    def new_cache(self, max_len: int) -> Counter:
        return Counter()

    def hidden(self, token_ids, *masks_and_memory, positions=None, cache=None):
        self.passes += 1
        if cache is not None:
            cache.length += token_ids.size(1)
        return self.vectors[token_ids]

    def logits(self, hidden):
        return hidden @ self.weight.T

    def forward(self, token_ids, mask=None, *, positions=None, cache=None):
        return self.logits(self.hidden(token_ids, mask, positions=positions, cache=cache))

    def log_table(self) -> Tensor:
        """Log-probability of each next token (column) after each token (row)."""
        return (self.vectors @ self.weight.T).detach().log_softmax(dim=-1)
