"""Generation with the cache against the reference library's `generate`."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from transformers import GPT2Config as ReferenceConfig
from transformers import GPT2LMHeadModel, utils

from benchmarks.timing import Comparison, compare, times_of
from glassbox.generation import generate
from glassbox.models import GPT2

PROMPT, NEW = 16, 128
SMALL: dict[str, Any] = {"n_layer": 4, "n_embd": 256, "n_head": 8, "vocab_size": 8_000}
PUBLISHED: dict[str, Any] = {}  # GPT-2 small is the reference's default


def pair(sizes: dict[str, Any], device: str) -> tuple[GPT2, Any]:
    """Return ours and theirs with the same random parameters."""
    utils.logging.set_verbosity_error()
    theirs = GPT2LMHeadModel(ReferenceConfig(**sizes, attn_implementation="sdpa")).eval()
    theirs.generation_config.eos_token_id = None
    return GPT2.from_pretrained(theirs).to(device), theirs.to(device)


def measure(device: str, seconds: float = 10.0) -> Iterator[Comparison]:
    """Time greedy decoding and four beams, small and at GPT-2's size."""
    for name, sizes in (("4 layers of width 256", SMALL), ("GPT-2 small", PUBLISHED)):
        ours, theirs = pair(sizes, device)
        prompt = torch.randint(ours.config.vocab_size, (1, PROMPT)).to(device)
        for way, n_beams in (("greedy", 1), ("4 beams", 4)):
            ask = partial(
                theirs.generate,
                prompt,
                attention_mask=torch.ones_like(prompt),
                max_new_tokens=NEW,
                num_beams=n_beams,
                do_sample=False,
                pad_token_id=0,
                eos_token_id=None,  # the same number of tokens in every round
            )
            write = partial(generate, ours, prompt, max_new_tokens=NEW, n_beams=n_beams, eos_id=())
            torch.testing.assert_close(write(), ask(), atol=0, rtol=0)
            yield compare(
                f"{way} decoding, {NEW} tokens, {name}",
                "transformers generate",
                write,
                ask,
                device=device,
                seconds=2 * seconds,
                least=5,
            )


@dataclass(frozen=True)
class Share:
    """Seconds per token, and the minimum possible."""

    what: str
    device: str
    limit: float
    token: float
    megabytes: float

    @property
    def share(self) -> float:
        """The share of the memory bandwidth that is used."""
        return self.limit / self.token

    def sentence(self) -> str:
        """Return the result in words."""
        return (
            f"{self.what} ({self.device}): a token takes {1000 * self.token:.1f} ms; reading the "
            f"{self.megabytes:.0f} MB of parameters once takes {1000 * self.limit:.1f} ms, "
            f"{self.share:.0%} of that."
        )


@torch.inference_mode()
def share_of_bandwidth(device: str) -> Share:
    """Compare greedy decoding at GPT-2's size with reading all parameters once per token.

    The limit is what this machine reads when it does nothing else: a sum of as many numbers. Both
    are the fastest of several rounds, because a limit is what the machine can do.
    """
    model, _ = pair(PUBLISHED, device)
    read = [p for name, p in model.named_parameters() if "position" not in name]  # looked up
    n_bytes = sum(p.numel() * p.element_size() for p in read)
    numbers = torch.randn(n_bytes // 4, device=device)
    prompt = torch.zeros(1, PROMPT, dtype=torch.int64, device=device)
    write = partial(generate, model, prompt, eos_id=())
    few, many = (
        min(times_of(partial(write, max_new_tokens=n), device, rounds=5)) for n in (1, 1 + NEW)
    )
    return Share(
        "greedy decoding, GPT-2 small, share of the memory-bandwidth limit",
        device,
        limit=min(times_of(numbers.sum, device)),
        token=(many - few) / NEW,
        megabytes=n_bytes / 1e6,
    )
