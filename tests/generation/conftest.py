"""Random models of the reference library, and ours with the same weights."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

from glassbox import padding_mask
from glassbox.models.gpt2 import GPT2
from glassbox.models.llama import Llama
from glassbox.models.marian import Marian
from glassbox.models.t5 import T5

VOCAB, PAD, EOS = 40, 38, 39


def gpt2():
    config = transformers.GPT2Config(
        vocab_size=VOCAB,
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=64,
        bos_token_id=0,
        eos_token_id=EOS,
        pad_token_id=PAD,
    )
    theirs = transformers.GPT2LMHeadModel(config)
    return GPT2, theirs


def llama():
    config = transformers.LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        bos_token_id=0,
        eos_token_id=EOS,
        pad_token_id=PAD,
    )
    return Llama, transformers.LlamaForCausalLM(config)


def t5():
    sizes: dict[str, Any] = {"decoder_start_token_id": PAD}
    config = transformers.T5Config(
        vocab_size=VOCAB,
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        eos_token_id=EOS,
        pad_token_id=PAD,
        feed_forward_proj="gated-gelu",
        **sizes,
    )
    return T5, transformers.T5ForConditionalGeneration(config)


def marian():
    config = transformers.MarianConfig(
        vocab_size=VOCAB,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=64,
        decoder_start_token_id=PAD,
        eos_token_id=EOS,
        pad_token_id=PAD,
        forced_eos_token_id=None,
    )
    theirs = transformers.MarianMTModel(config)
    theirs.generation_config.bad_words_ids = [[PAD]]  # as in the published models
    theirs.generation_config.renormalize_logits = True
    theirs.final_logits_bias.fill_(-6.0)[:, PAD] = 0.0  # it would be written nearly everywhere
    return Marian, theirs


@dataclass
class Pair:
    """Our model and the reference's, and a batch that both can continue."""

    ours: nn.Module
    theirs: Any
    device: str
    sources: bool  # whether the batch is read by an encoder
    ids: Tensor
    mask: Tensor  # of ids, (batch, length)

    def inputs(self) -> dict[str, Any]:
        """The batch as our functions take it."""
        if self.sources:
            return {"source_ids": self.ids, "source_mask": self.mask[:, None, None]}
        return {"prompt_ids": self.ids, "prompt_mask": self.mask[:, None, None]}

    def reference(self, **options: Any) -> Any:
        """What the reference generates from the same batch."""
        return self.theirs.generate(
            self.ids,
            attention_mask=self.mask.long(),
            **{"eos_token_id": EOS, "pad_token_id": PAD} | options,
        )


def make_pair(make: Callable[[], tuple[Any, Any]], device: str, padded: bool) -> Pair:
    torch.manual_seed(0)
    kind, theirs = make()
    with torch.no_grad():  # of such weights that different texts go different ways
        for name, parameter in theirs.named_parameters():
            if parameter.dim() > 1 and "positions" not in name:
                parameter.normal_(std=0.3 if "emb" in name or "wte" in name else 0.4)
    theirs = theirs.to(device).eval()
    ours = kind.from_pretrained(theirs).to(device)
    sources = hasattr(ours, "encode")
    ids = torch.randint(VOCAB - 2, (4, 7), device=device)
    if padded:
        n_padding = torch.tensor([0, 3, 1, 6], device=device)[:, None]
        where = torch.arange(7, device=device)
        ids[where >= 7 - n_padding if sources else where < n_padding] = PAD
    mask = padding_mask(ids, PAD)[:, 0, 0]
    return Pair(ours, theirs, device, sources, ids, mask)


@pytest.fixture(scope="session", params=[gpt2, llama, t5, marian], ids=lambda f: f.__name__)
def pair(request: pytest.FixtureRequest, device: str) -> Pair:
    """Models of every kind, and a batch that is padded where such a model's is."""
    return make_pair(request.param, device, padded=True)


@pytest.fixture(scope="session", params=[gpt2, llama, t5, marian], ids=lambda f: f.__name__)
def unpadded(request: pytest.FixtureRequest, device: str) -> Pair:
    """Models of every kind, and a batch without padding."""
    return make_pair(request.param, device, padded=False)


@pytest.fixture(scope="session")
def other(pair: Pair) -> nn.Module:
    """A model of the same kind that mostly agrees: a draft."""
    draft = copy.deepcopy(pair.ours)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in draft.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    return draft
