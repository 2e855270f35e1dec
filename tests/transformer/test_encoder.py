"""The encoder: a stack of layers."""

import copy

import pytest
import torch
from torch import nn

from glassbox import causal_mask, padding_mask
from glassbox.config import StackConfig
from glassbox.layers import EncoderLayer, gelu
from glassbox.transformer import Encoder
from tests.machines import KINDS, all_gradients, assert_near, randomize, stack_of

KIND = pytest.mark.parametrize("kind", KINDS)
SMALL = StackConfig(d_model=16, n_heads=4, n_layers=3, d_ff=32)
NORMS = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def small(norm_first=False, dropout=0.1):
    return Encoder(StackConfig(16, 4, 3, 32, dropout=dropout, norm_first=norm_first))


def of_kind(kind, device):
    encoder = Encoder(stack_of(kind)).to(device)
    randomize(encoder)
    return encoder.eval()


def test_the_defaults_are_the_paper_s_base_model():
    config = StackConfig()
    assert (config.d_model, config.n_heads, config.n_layers, config.d_ff) == (512, 8, 6, 2048)
    assert (config.dropout, config.activation, config.norm_first) == (0.1, "relu", False)
    with torch.device("meta"):
        encoder = Encoder(config)
    attention, feed_forward, norms = 4 * (512 * 512 + 512), 2 * 512 * 2048 + 2048 + 512, 2 * 2 * 512
    n_parameters = sum(parameter.numel() for parameter in encoder.parameters())
    assert n_parameters == 6 * (attention + feed_forward + norms)


def test_a_configuration_cannot_be_changed():
    with pytest.raises(AttributeError, match="d_model"):
        SMALL.d_model = 3  # type: ignore[misc]


def test_every_size_of_the_configuration_reaches_the_layers():
    config = StackConfig(12, 3, 2, 20, 0.25, "gelu", True, 1e-3)
    encoder = Encoder(config)
    assert len(encoder.layers) == 2
    for layer in encoder.layers:
        assert isinstance(layer, EncoderLayer)
        assert layer.self_attention.n_heads == 3
        assert layer.feed_forward.expand.weight.shape == (20, 12)
        assert layer.feed_forward.activation is gelu
        assert layer.dropout.p == 0.25
        assert layer.norm_first
        assert layer.attention_norm.eps == layer.feed_forward_norm.eps == 1e-3
    assert encoder.norm is not None
    assert encoder.norm.eps == 1e-3


def test_layers_do_not_share_parameters():
    parameters = list(small().parameters())
    assert len({parameter.data_ptr() for parameter in parameters}) == len(parameters) == 3 * 16


def test_pre_norm_ends_with_one_more_norm_and_post_norm_must_not():
    assert small(norm_first=False).norm is None
    out = small(norm_first=True).eval()(torch.randn(2, 5, 16) * 5)
    torch.testing.assert_close(out.mean(dim=-1), torch.zeros(2, 5), atol=1e-5, rtol=0)
    torch.testing.assert_close(out.std(dim=-1, correction=0), torch.ones(2, 5), atol=1e-3, rtol=0)


@NORMS
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
def test_changing_the_future_changes_nothing_before_it(norm_first, train, device):
    encoder = small(norm_first).to(device).train(train)
    x = torch.randn(2, 6, 16, device=device)
    changed = x.clone()
    changed[:, 4:] = torch.randn(2, 2, 16, device=device)
    outputs = []
    for inputs in (x, changed):
        torch.manual_seed(7)  # the same values are dropped
        outputs.append(encoder(inputs, causal_mask(6, device=device)))
    torch.testing.assert_close(outputs[0][:, :4], outputs[1][:, :4], atol=1e-6, rtol=0)
    assert not torch.isclose(outputs[0][:, 4:], outputs[1][:, 4:]).any()


@KIND
def test_padding_changes_nothing_on_either_side(kind, device):
    encoder, x = of_kind(kind, device), torch.randn(3, 8, 16, device=device)
    ids = torch.tensor([[1] * 8, [1] * 5 + [0] * 3, [0] * 6 + [1] * 2], device=device)
    together = encoder(x, padding_mask(ids, pad_id=0))
    for row, words in enumerate((slice(0, 8), slice(0, 5), slice(6, 8))):
        alone = encoder(x[row : row + 1, words])
        assert_near(together[row : row + 1, words], alone)
    assert together.isfinite().all()


@KIND
def test_an_encoder_without_positions_does_not_know_the_order(kind, device):
    encoder, x = of_kind(kind, device), torch.randn(2, 7, 16, device=device)
    order = torch.randperm(7, device=device)
    assert_near(encoder(x[:, order]), encoder(x)[:, order])


@KIND
def test_a_text_gives_the_same_alone_and_in_a_batch(kind, device):
    encoder, x = of_kind(kind, device), torch.randn(4, 7, 16, device=device)
    together = encoder(x)
    for i in range(4):
        assert_near(encoder(x[i : i + 1]), together[i : i + 1])


@KIND
def test_every_position_sees_every_other(kind, device):
    encoder, x = of_kind(kind, device), torch.randn(1, 5, 16, device=device)
    expected = encoder(x)
    for place in range(5):
        changed = x.clone()
        changed[:, place] += torch.randn(16, device=device)
        assert not torch.isclose(encoder(changed), expected).all(dim=-1).any()


@KIND
def test_a_text_that_is_hidden_whole_gives_finite_numbers_and_gradients(kind, device):
    encoder, x = of_kind(kind, device), torch.randn(2, 5, 16, device=device)
    mask = torch.tensor([True, False], device=device)[:, None, None, None]
    out = encoder(x, mask)
    assert out.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in all_gradients(encoder, out).values())
    for place in range(5):  # each position by itself
        torch.testing.assert_close(encoder(x[1:, place : place + 1], mask[1:]), out[1:, [place]])


@NORMS
def test_the_gradient_reaches_every_parameter(norm_first, device):
    encoder = small(norm_first).to(device)
    encoder(torch.randn(2, 5, 16, device=device)).square().mul(
        torch.rand(16).to(device)
    ).sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        if not name.endswith("key.bias"):  # moves all scores of a row alike, so has no gradient
            assert parameter.grad.abs().max() > 1e-7, name


@KIND
def test_the_gradient_reaches_every_parameter_of_every_kind(kind, device):
    encoder = of_kind(kind, device)
    out = encoder(torch.randn(2, 5, 16, device=device))
    for name, gradient in all_gradients(encoder, out).items():
        size = gradient.abs().max().item()
        assert (size < 1e-4) if name.endswith("key.bias") else (size > 1e-3), (name, size)


@pytest.fixture
def one_thread():
    """Small products are faster without a second thread to wait for."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("as_a_reader")  # hundreds of calls
@NORMS
def test_one_batch_can_be_learned_by_heart(norm_first, device, one_thread):
    torch.manual_seed(1)
    ids = torch.randint(0, 20, (8, 6), device=device)
    targets = torch.randint(0, 20, (8, 6), device=device)
    config = StackConfig(32, 4, 2, 64, dropout=0.0, norm_first=norm_first)
    table, encoder, head = nn.Embedding(120, 32), Encoder(config), nn.Linear(32, 20)
    model = nn.ModuleList([table, encoder, head]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    positions = ids + 20 * torch.arange(6, device=device)  # one vector for each pair
    for _ in range(120):
        loss = nn.functional.cross_entropy(head(encoder(table(positions))).mT, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.02
    assert torch.equal(head(encoder(table(positions))).argmax(dim=-1), targets)


def test_saved_and_loaded_it_is_the_same(tmp_path):
    encoder, x = small(norm_first=True).eval(), torch.randn(2, 5, 16)
    torch.save(encoder.state_dict(), tmp_path / "encoder.pt")
    loaded = small(norm_first=True).eval()
    assert not torch.equal(loaded(x), encoder(x))
    loaded.load_state_dict(torch.load(tmp_path / "encoder.pt", weights_only=True))
    torch.testing.assert_close(loaded(x), encoder(x))
    torch.testing.assert_close(copy.deepcopy(encoder)(x), encoder(x))
