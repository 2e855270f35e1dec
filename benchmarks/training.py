"""A training step of the encoder–decoder against PyTorch's own, at the same sizes."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.timing import Comparison, compare
from glassbox.masks import padding_mask
from glassbox.transformer import Transformer, TransformerConfig

BATCH, LENGTH = 32, 32
SIZES: dict[str, Any] = {
    "d_model": 256,
    "n_heads": 8,
    "n_layers": 6,
    "d_ff": 1024,
    "vocab_size": 8000,
}
PAD = 0


class Reference(nn.Module):
    """PyTorch's Transformer between our embeddings and our projection to the vocabulary."""

    def __init__(self, around: Transformer) -> None:
        super().__init__()
        self.around, config = around, around.config
        assert isinstance(config.n_heads, int)
        self.transformer = nn.Transformer(
            config.d_model,
            config.n_heads,
            config.n_layers,
            config.n_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
        )
        around.encoder, around.decoder = nn.Identity(), nn.Identity()  # type: ignore[assignment]

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        n = target.size(1)
        blocked = torch.ones(n, n, dtype=torch.bool, device=target.device).triu(1)
        hidden = self.transformer(
            self.embed(source),
            self.embed(target),
            tgt_mask=blocked,
            src_key_padding_mask=source == PAD,
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=source == PAD,
        )
        return self.around.logits(hidden)

    def embed(self, ids: Tensor) -> Tensor:
        """Apply our embedding, our positions and our dropout."""
        where = torch.arange(ids.size(1), device=ids.device)
        x = self.around.source_embedding(ids)
        return self.around.dropout(self.around.source_positions.embed(x, where))


def ours_logits(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    """Return the logits of our model, with the padding masks of both sides."""
    return model(source, target, padding_mask(source, PAD), padding_mask(target, PAD))


def step(
    logits: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    source: Tensor,
    target: Tensor,
) -> None:
    """Take one step: forward, loss, backward, update."""
    loss = F.cross_entropy(
        logits(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def batch(device: str) -> tuple[Tensor, Tensor]:
    """Return random texts of different lengths, padded at the end."""
    draw = torch.Generator().manual_seed(0)
    texts = torch.randint(3, SIZES["vocab_size"], (2, BATCH, LENGTH + 1), generator=draw)
    lengths = torch.randint(LENGTH // 2, LENGTH + 2, (2, BATCH, 1), generator=draw)
    texts[torch.arange(LENGTH + 1) >= lengths] = PAD
    source, target = texts.to(device)
    return source[:, :-1], target


def measure(device: str, seconds: float = 10.0) -> Iterator[Comparison]:
    """Time one training step."""
    source, target = batch(device)
    ours = Transformer(TransformerConfig(**SIZES)).to(device)
    theirs = Reference(Transformer(TransformerConfig(**SIZES))).to(device)
    steps = [
        partial(step, logits, torch.optim.AdamW(model.parameters()), source, target)
        for model, logits in ((ours, partial(ours_logits, ours)), (theirs, theirs))
    ]
    yield compare(
        f"training step, encoder–decoder of width 256, ({BATCH}, {LENGTH}) tokens",
        "torch.nn.Transformer",
        *steps,
        device=device,
        seconds=seconds,
    )
