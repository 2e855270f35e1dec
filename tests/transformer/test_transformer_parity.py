"""The whole Transformer against `torch.nn.Transformer` with the same weights."""

import math
from contextlib import nullcontext
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from glassbox import causal_mask, padding_mask
from glassbox.transformer import Transformer, TransformerConfig
from tests.references.pytorch_modules import (
    HALF,
    assert_as_exact_as,
    assert_same,
    gradients,
    randomize,
    translate,
)

pytestmark = pytest.mark.slow

SIZES: dict[str, Any] = {"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 24, "dropout": 0.0}
NORMS = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
VOCABULARIES = pytest.mark.parametrize(
    ("target_vocab_size", "tied"),
    [(None, True), (None, False), (13, True), (13, False)],
    ids=["one", "one, output apart", "two", "two, output apart"],
)


class Reference(nn.Module):
    """`nn.Transformer` with what the paper has around it, written down without our package."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        n_heads = config.heads(0)
        sizes = {"d_model": config.d_model, "nhead": n_heads, "dim_feedforward": config.d_ff}
        options: dict[str, Any] = {"dropout": 0.0, "batch_first": True, **sizes}
        encoder_layer = nn.TransformerEncoderLayer(norm_first=config.norm_first, **options)
        decoder_layer = nn.TransformerDecoderLayer(norm_first=config.norm_first, **options)
        norms = [nn.LayerNorm(config.d_model) if config.norm_first else None for _ in range(2)]
        n_decoder_layers = config.n_decoder_layers or config.n_layers
        self.transformer = nn.Transformer(
            config.d_model,
            n_heads,
            # Left to itself it ends both stacks with a norm, also after post-norm layers.
            custom_encoder=nn.TransformerEncoder(
                encoder_layer, config.n_layers, norms[0], enable_nested_tensor=False
            ),
            custom_decoder=nn.TransformerDecoder(decoder_layer, n_decoder_layers, norms[1]),
            batch_first=True,
        )
        self.source = nn.Embedding(config.vocab_size, config.d_model)
        self.target = self.source
        if config.target_vocab_size is not None:
            self.target = nn.Embedding(config.target_vocab_size, config.d_model)
        self.output = nn.Linear(config.d_model, self.target.num_embeddings, bias=config.output_bias)
        if config.tie_embeddings:
            self.output.weight = self.target.weight
        randomize(self)

    def embed(self, table: nn.Embedding, ids: Tensor) -> Tensor:
        d_model = table.embedding_dim
        waves = [
            [
                (math.cos if i % 2 else math.sin)(p / 10_000 ** (i // 2 * 2 / d_model))
                for i in range(d_model)
            ]
            for p in range(ids.size(1))
        ]
        return table(ids) * math.sqrt(d_model) + torch.tensor(waves).to(table.weight)

    def forward(self, source: Tensor, target: Tensor, pad_id: int | None = None) -> Tensor:
        hidden = None if pad_id is None else source == pad_id
        out = self.transformer(
            self.embed(self.source, source),
            self.embed(self.target, target),
            tgt_mask=~causal_mask(target.size(1), device=target.device),
            src_key_padding_mask=hidden,
            memory_key_padding_mask=hidden,
            tgt_key_padding_mask=None if pad_id is None else target == pad_id,
        )
        return self.output(out)


def our_names(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    names = {"source.": "source_embedding.", "target.": "target_embedding."}
    ours = {}
    for name, tensor in translate(weights).items():
        name = name.removeprefix("transformer.")
        for theirs, our in names.items():
            name = our + name.removeprefix(theirs) if name.startswith(theirs) else name
        ours[name] = tensor
    return ours


def pair(config, dtype=torch.float32, device="cpu"):
    reference = Reference(config).to(device, dtype)
    ours = Transformer(config).to(device, dtype)
    ours.load_state_dict(our_names(reference.state_dict()))
    return ours, reference


def texts(config, batch=3, source_len=7, target_len=5, device="cpu"):
    """Return ids without padding."""
    vocab = config.target_vocab_size or config.vocab_size
    source = torch.randint(1, config.vocab_size, (batch, source_len), device=device)
    return source, torch.randint(1, vocab, (batch, target_len), device=device)


def compare(config, source, target, dtype=torch.float32, padded=False):
    """Compare the logits and the gradients of all weights."""
    ours, reference = pair(config, dtype, source.device)
    masks = [padding_mask(ids, 0) if padded else None for ids in (source, target)]
    out = ours(source, target, *masks)
    expected = reference(source, target, 0 if padded else None)
    assert_same(out, expected, "logits")
    mine, theirs = (dict(model.named_parameters()) for model in (ours, reference))
    given = dict(zip(mine, gradients(out, mine.values()), strict=True))
    wanted = dict(zip(theirs, gradients(expected, theirs.values()), strict=True))
    wanted = our_names(wanted)
    assert set(given) == set(wanted)
    for name, gradient in wanted.items():
        assert_same(given[name], gradient, f"gradient of {name}")


@NORMS
@VOCABULARIES
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_logits_and_all_gradients_equal_pytorch_s(
    norm_first, target_vocab_size, tied, padded, device
):
    config = TransformerConfig(
        **SIZES,
        norm_first=norm_first,
        vocab_size=11,
        target_vocab_size=target_vocab_size,
        tie_embeddings=tied,
        output_bias=not tied,
        n_decoder_layers=3,
    )
    source, target = texts(config, device=device)
    if padded:
        source[0, 4:], source[1, 1:], target[1, 2:] = 0, 0, 0
    compare(config, source, target, padded=padded)


@settings(max_examples=25)
@given(
    sizes=st.tuples(*(st.integers(1, 3) for _ in range(5))),
    norm_first=st.booleans(),
    padding=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    seed=st.integers(0, 2**16),
)
def test_any_shape_and_padding_equal_pytorch_s_to_twelve_digits(sizes, norm_first, padding, seed):
    torch.manual_seed(seed)
    batch, source_len, target_len, n_heads, n_layers = sizes
    config = TransformerConfig(
        6 * n_heads, n_heads, n_layers, 9, 0.0, norm_first=norm_first, vocab_size=9
    )
    source, target = texts(config, batch, source_len + 2, target_len + 2)
    source[-1, source_len + 2 - padding[0] :] = 0
    target[-1, target_len + 2 - padding[1] :] = 0
    # Sinusoids are single precision here and there: the same numbers.
    compare(config, source, target, torch.float64, padded=any(padding))


@NORMS
@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_in_half_precision_it_is_as_exact_as_pytorch_s(norm_first, dtype, device):
    config = TransformerConfig(64, 4, 2, 128, 0.0, norm_first=norm_first, vocab_size=50)
    ours, reference = pair(config, dtype, device)
    source, target = texts(config, 4, 20, 15, device)
    out, theirs = ours(source, target), reference(source, target)
    assert_as_exact_as(out, theirs, reference.double()(source, target))


@NORMS
def test_pytorch_s_own_transformer_equals_ours_where_a_final_norm_belongs(norm_first, device):
    """After post-norm layers its two final norms are one too many: the last layer has just had one.

    A second norm changes nothing as long as it has learned nothing and the first one's scale and
    shift have not either.
    """
    # It says that a path for inference is closed to pre-norm layers.
    says = pytest.warns(UserWarning, match="enable_nested") if norm_first else nullcontext()
    with says:
        reference = nn.Transformer(
            16, 4, 2, 2, 24, 0.0, batch_first=True, norm_first=norm_first, device=device
        )
    ours = Transformer(TransformerConfig(**SIZES, norm_first=norm_first)).to(device)
    weights = translate(reference.state_dict())
    if not norm_first:
        ends = {name for name in weights if name.split(".")[1] == "norm"}
        weights = {name: tensor for name, tensor in weights.items() if name not in ends}
    missing, unexpected = ours.load_state_dict(weights, strict=False)
    assert not unexpected
    assert {name.split(".")[0] for name in missing} == {
        "source_embedding",
        "target_embedding",
        "output",
    }
    source, target = (torch.randn(2, n, 16, device=device) for n in (6, 5))
    future = nn.Transformer.generate_square_subsequent_mask(5, device=device)
    expected = reference(source, target, tgt_mask=future)
    out = ours.decoder(target, ours.encoder(source))
    torch.testing.assert_close(out, expected, atol=1e-5 if norm_first else 1e-4, rtol=0)


@torch.no_grad()
def test_its_loss_equals_pytorch_s_at_the_paper_s_width(device):
    config = TransformerConfig.base(dropout=0.0, n_layers=1, vocab_size=100)
    ours, reference = pair(config, device=device)
    source, target = texts(config, 2, 30, 20, device)
    labels = target.roll(-1, dims=1)
    loss, expected = (F.cross_entropy(m(source, target).mT, labels) for m in (ours, reference))
    assert_same(loss, expected)
