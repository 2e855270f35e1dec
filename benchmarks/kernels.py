"""The gain of each kernel over its formula, in the work that it is made for."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

import glassbox
from benchmarks.timing import Comparison, Work, compare
from glassbox.config import StackConfig
from glassbox.generation import generate
from glassbox.models import GPT2, GPT2Config
from glassbox.training import cross_entropy
from glassbox.transformer import Encoder


def learn(model: nn.Module, *inputs: Tensor) -> Work:
    """Return one forward and one backward pass, with the loss of chapter 9 if there are logits."""

    def work() -> None:
        out = model(*inputs)
        ids = inputs[-1]
        if ids.is_floating_point():
            out.square().sum().backward()
        else:
            cross_entropy(out, ids, smoothing=0.1).total.backward()

    return work


def write(model: GPT2, ids: Tensor) -> Work:
    """Return the writing of 32 tokens, one at a time."""
    return lambda: generate(model, ids, max_new_tokens=32)


def works(device: str) -> dict[str, tuple[str, Work]]:
    """Return the work to time for the kernel of each formula."""
    _ = torch.manual_seed(0)
    ids = torch.randint(3, 4000, (8, 64), device=device)
    sizes: dict[str, Any] = {
        "vocab_size": 4000,
        "d_model": 256,
        "n_heads": 4,
        "n_layers": 3,
        "d_ff": 1024,
    }
    translator = glassbox.Transformer(glassbox.TransformerConfig(**sizes)).to(device)
    gpt2, writer = (GPT2(GPT2Config(**sizes)).to(device) for _ in range(2))
    encoder = Encoder(StackConfig(256, 4, 3, 1024, activation="gelu")).to(device)
    x = torch.randn(8, 64, 256, device=device)
    long = torch.randn(2, 512, 256, device=device)
    training = "training an encoder–decoder", learn(translator, ids, ids)
    writing = "writing with a small GPT-2", write(writer.eval(), ids[:1, :8])
    chapter_9 = {**sizes, "vocab_size": 2000, "d_model": 64, "n_layers": 2, "d_ff": 256}
    small = glassbox.Transformer(glassbox.TransformerConfig(**chapter_9)).to(device)
    on_a_gpu = {} if device == "cpu" else {"dropout": training}
    return on_a_gpu | {
        "MultiHeadAttention.attend": ("training an encoder on 512 tokens", learn(encoder, long)),
        "LayerNorm.forward": training,
        "smoothed_sums": ("training chapter 9's translator", learn(small, ids % 2000, ids % 2000)),
        "gelu": ("training an encoder", learn(encoder, x)),
        "gelu_tanh": ("training a small GPT-2", learn(gpt2, ids)),
        "Linear.forward": writing,
    }


def measure(device: str, seconds: float = 10.0) -> Iterator[Comparison]:
    """Time each work with all kernels, and with one replaced by its formula."""
    for name, (what, work) in works(device).items():

        def shown(name: str = name, work: Work = work) -> None:
            with glassbox.formulas(name):
                work()

        yield compare(f"{what}: {name}", "its formula", work, shown, device=device, seconds=seconds)
