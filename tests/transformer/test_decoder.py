"""The decoder: a stack that looks back at itself, and at an encoder if there is one."""

import copy
import pickle

import pytest
import torch

from glassbox import MultiHeadAttention, padding_mask, record
from glassbox.around import Around
from glassbox.cache import Cache
from glassbox.config import StackConfig
from glassbox.layers import DecoderLayer, gelu
from glassbox.transformer import Decoder
from tests.machines import KINDS, all_gradients, assert_near, randomize, stack_of


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["with a memory", "alone"])
def decoder(request, kind, device):
    decoder = Decoder(stack_of(kind), cross_attention=request.param).to(device)
    randomize(decoder)
    return decoder.eval()


def inputs_of(decoder, batch=3, length=6, memory_len=8):
    """Return random vectors, and a memory if this decoder looks at one."""
    like = next(decoder.parameters())
    x, memory = torch.randn(batch, length, 16), torch.randn(batch, memory_len, 16)
    looks = decoder.layers[0].cross_attention is not None
    return x.to(like), memory.to(like) if looks else None


def test_every_size_of_the_configuration_reaches_the_layers():
    config = StackConfig(
        12, (6, 2), 2, 20, 0.25, "gelu", True, 1e-3, bias=False, n_kv_heads=2, d_k=5, scale=0.5
    )
    decoder = Decoder(config)
    for layer, n_heads in zip(decoder.layers, (6, 2), strict=True):
        assert isinstance(layer, DecoderLayer)
        assert layer.feed_forward.expand.weight.shape == (20, 12)
        assert layer.feed_forward.activation is gelu
        assert layer.dropout.p == 0.25
        assert layer.norm_first
        for name in ("self_attention", "cross_attention"):
            attention = layer.get_submodule(name)
            assert isinstance(attention, MultiHeadAttention)
            assert (attention.n_heads, attention.n_kv_heads, attention.scale) == (n_heads, 2, 0.5)
            assert attention.query.weight.shape == (n_heads * 5, 12)
            assert attention.key.weight.shape == attention.value.weight.shape == (2 * 5, 12)
            assert attention.output.weight.shape == (12, n_heads * 5)
        for name in ("attention_norm", "cross_attention_norm", "feed_forward_norm"):
            assert getattr(layer, name).eps == 1e-3
    assert decoder.norm is not None
    assert decoder.norm.eps == 1e-3
    assert not [name for name in decoder.state_dict() if "bias" in name and "norm" not in name]


def test_layers_do_not_share_parameters():
    parameters = list(Decoder(StackConfig(16, 4, 3, 32)).parameters())
    assert len({p.data_ptr() for p in parameters}) == len(parameters) == 3 * (2 * 8 + 4 + 3 * 2)


def test_without_an_encoder_it_has_no_parameters_to_look_at_one(kind):
    both, alone = (
        set(Decoder(stack_of(kind), cross_attention=c).state_dict()) for c in (True, False)
    )
    assert alone == {name for name in both if "cross_attention" not in name} != both


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
def test_changing_the_future_changes_nothing_before_it(decoder, train):
    decoder.train(train)
    for layer in decoder.layers:
        layer.dropout.p = 0.3
    x, memory = inputs_of(decoder)
    changed = x.clone()
    changed[:, 4:] = torch.randn_like(changed[:, 4:])
    outputs = []
    for vectors in (x, changed):
        torch.manual_seed(7)  # the same values are dropped
        outputs.append(decoder(vectors, memory))
    torch.testing.assert_close(outputs[0][:, :4], outputs[1][:, :4], atol=1e-6, rtol=0)
    assert not torch.isclose(outputs[0][:, 4:], outputs[1][:, 4:]).all(dim=-1).any()


def test_every_position_sees_itself_and_all_before_it(decoder):
    x, memory = inputs_of(decoder, batch=1)
    expected = decoder(x, memory)
    for place in range(6):
        changed = x.clone()
        changed[:, place] += torch.randn(16, device=x.device)
        same = torch.isclose(decoder(changed, memory), expected, atol=1e-6).all(dim=-1)[0]
        assert same.tolist() == [i < place for i in range(6)]


def test_every_layer_looks_at_the_memory_itself(kind, device):
    decoder = Decoder(stack_of(kind)).to(device).eval()
    x, memory = inputs_of(decoder)
    with record(decoder) as tape:
        decoder(x, memory)
    for i, layer in enumerate(decoder.layers):
        for part in ("key", "value"):
            given = tape.outputs[f"layers.{i}.cross_attention.{part}"]
            torch.testing.assert_close(given, getattr(layer.cross_attention, part)(memory))
        assert tape[f"layers.{i}.cross_attention"].weights.shape[2:] == (6, 8)
        assert tape[f"layers.{i}.self_attention"].weights.shape[2:] == (6, 6)


def test_a_bias_and_turns_are_for_the_self_attention_alone(kind, device):
    decoder = Decoder(stack_of(kind, n_heads=4)).to(device).eval()
    x, memory = inputs_of(decoder)
    with record(decoder) as tape:
        decoder(x, memory, around=Around(torch.randn(4, 6, 6, device=device)))
    for name, look in tape.items():
        assert (look.bias is None) == name.endswith("cross_attention")


def test_padding_changes_nothing(decoder):
    x, memory = inputs_of(decoder)
    lengths = torch.tensor([6, 4, 1], device=x.device)
    ids = (torch.arange(6, device=x.device) < lengths[:, None]).long()
    source_ids = (torch.arange(8, device=x.device) < 2 * lengths[:, None] - 1).long()
    masks = padding_mask(ids, 0), None if memory is None else padding_mask(source_ids, 0)
    together = decoder(x, memory, *masks)
    for row, length in enumerate(lengths.tolist()):
        its = None if memory is None else memory[row : row + 1, : 2 * length - 1]
        alone = decoder(x[row : row + 1, :length], its)
        assert_near(together[row : row + 1, :length], alone)


def test_padding_on_the_left_changes_nothing_and_gives_no_nan(decoder):
    x, memory = inputs_of(decoder)
    wider = torch.cat([torch.randn_like(x[:, :3]), x], dim=1)
    mask = (torch.arange(9, device=x.device) >= 3)[None, None, None]
    out = decoder(wider, memory, mask)
    assert_near(out[:, 3:], decoder(x, memory))
    assert all(gradient.isfinite().all() for gradient in all_gradients(decoder, out).values())


def test_a_text_gives_the_same_alone_and_in_a_batch(decoder):
    x, memory = inputs_of(decoder, batch=4)
    together = decoder(x, memory)
    for i in range(4):
        its = None if memory is None else memory[i : i + 1]
        assert_near(decoder(x[i : i + 1], its), together[i : i + 1])


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_pre_norm_ends_with_one_more_norm_and_post_norm_must_not(norm):
    assert Decoder(StackConfig(16, 4, 2, 32, norm=norm)).norm is None
    decoder = Decoder(StackConfig(16, 4, 2, 32, norm_first=True, norm=norm)).eval()
    out = decoder(torch.randn(2, 5, 16) * 5, torch.randn(2, 3, 16))
    length = out.square().mean(dim=-1)
    torch.testing.assert_close(length, torch.ones(2, 5), atol=1e-3, rtol=0)


def test_the_gradient_reaches_every_parameter_and_the_memory(decoder):
    x, memory = inputs_of(decoder)
    if memory is not None:
        memory.requires_grad_()
    out = decoder(x, memory)
    for name, gradient in all_gradients(decoder, out).items():
        size = gradient.abs().max().item()
        # A bias of the keys adds the same to all scores of a query: a softmax does not see it.
        assert (size < 1e-4) if name.endswith("key.bias") else (size > 1e-3), (name, size)
    if memory is not None:
        (gradient,) = torch.autograd.grad(decoder(x, memory)[:, :1].square().sum(), memory)
        assert (gradient.abs().amax(dim=-1) > 0).all()


def test_copied_or_saved_and_loaded_it_is_the_same(decoder, kind, tmp_path):
    x, memory = inputs_of(decoder)
    expected = decoder(x, memory)
    torch.save(decoder.state_dict(), tmp_path / "decoder.pt")
    loaded = Decoder(stack_of(kind), cross_attention=memory is not None).to(x.device).eval()
    loaded.load_state_dict(torch.load(tmp_path / "decoder.pt", weights_only=True))
    for other in (loaded, copy.deepcopy(decoder), pickle.loads(pickle.dumps(decoder))):
        torch.testing.assert_close(other(x, memory), expected)


def test_no_input_is_modified(decoder):
    x, memory = inputs_of(decoder)
    tensors = [tensor for tensor in (x, memory) if tensor is not None]
    copies = [tensor.clone() for tensor in tensors]
    decoder(x, memory)
    decoder(x, memory, cache=Cache(len(decoder.layers), 6))
    for tensor, kept in zip(tensors, copies, strict=True):
        assert torch.equal(tensor, kept)
