"""The short way of a single token through a decoder is the long way."""

import contextlib
from dataclasses import replace

import pytest
import torch
from torch import nn

from glassbox import formulas, record
from glassbox.cache import Cache
from glassbox.config import StackConfig
from glassbox.kernels import KERNELS
from glassbox.positional import RotaryPositions
from glassbox.transformer import Decoder

SMALL = StackConfig(d_model=16, n_heads=4, n_layers=3, d_ff=24, dropout=0.1)
KINDS = {
    "post-norm": SMALL,
    "pre-norm": replace(SMALL, norm_first=True),
    "rms, gated, no bias": replace(
        SMALL, norm="rms", norm_first=True, gated=True, activation="silu", bias=False
    ),
    "shared keys": replace(SMALL, n_kv_heads=2),
    "wide heads, own scale": replace(SMALL, d_k=6, scale=0.7, activation="gelu_tanh"),
}
WAYS = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
CROSS = pytest.mark.parametrize("cross_attention", [False, True], ids=["alone", "with a memory"])
N = 7


def decoder_of(kind, cross_attention=False, device="cpu"):
    decoder = Decoder(kind, cross_attention=cross_attention).to(device).eval()
    for parameter in decoder.parameters():
        nn.init.normal_(parameter, mean=0.1, std=0.3)
    return decoder


def write(decoder, x, memory=None, **options):
    """Pass two positions together, and then one at a time."""
    cache = Cache(len(decoder.layers), N)
    outputs = []
    for start, end in ((0, 2), *((i, i + 1) for i in range(2, N))):
        here = {
            name: option(start, end) if callable(option) else option
            for name, option in options.items()
        }
        outputs.append(decoder(x[:, start:end], memory, cache=cache, **here))
    return torch.cat(outputs, dim=1)


@pytest.fixture
def calls(monkeypatch):
    """How often the short way was taken."""
    seen, one_token = [], KERNELS["Decoder.forward"]

    def count(*inputs, **options):
        seen.append(inputs)
        answer = one_token(*inputs, **options)
        if answer is NotImplemented:
            seen.pop()
        return answer

    monkeypatch.setitem(KERNELS, "Decoder.forward", count)
    return seen


@WAYS
@CROSS
@pytest.mark.parametrize(("masked", "biased"), [(False, False), (True, True)], ids=str)
def test_the_short_way_gives_what_the_layers_give(
    kind, cross_attention, masked, biased, calls, device
):
    decoder = decoder_of(kind, cross_attention, device)
    x = torch.randn(3, N, 16, device=device)
    memory = torch.randn(3, 5, 16, device=device) if cross_attention else None
    real = torch.rand(3, 1, 1, N, device=device) < 0.7
    scores = torch.randn(4, N, N, device=device)
    options = {
        "mask": (lambda start, end: real[..., :end]) if masked else None,
        "bias": (lambda start, end: scores[:, start:end, :end]) if biased else None,
        "memory_mask": (
            torch.rand(3, 1, 1, 5, device=device) < 0.7 if masked and cross_attention else None
        ),
    }
    with torch.inference_mode():
        short = write(decoder, x, memory, **options)
        assert len(calls) == N - 2
    long = write(decoder, x, memory, **options)  # where gradients are wanted
    assert len(calls) == N - 2
    torch.testing.assert_close(short, long, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("interleaved", [False, True])
def test_turned_queries_and_keys_are_turned_on_the_short_way(interleaved, calls):
    decoder, x = decoder_of(KINDS["shared keys"]), torch.randn(2, N, 16)
    scheme = RotaryPositions(4, interleaved=interleaved)

    def rotation(start, end):
        return scheme.rotation(torch.arange(start, end))

    with torch.no_grad():
        short = write(decoder, x, rotation=rotation)
    assert len(calls) == N - 2
    torch.testing.assert_close(short, write(decoder, x, rotation=rotation), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_a_query_with_nothing_to_attend_to_is_finite_on_the_short_way(dtype):
    decoder, x = decoder_of(SMALL, cross_attention=True).to(dtype), torch.randn(2, N, 16).to(dtype)
    memory, nothing = torch.randn(2, 5, 16).to(dtype), torch.zeros(1, dtype=torch.bool)
    with torch.no_grad():
        out = write(decoder, x, memory, mask=nothing, memory_mask=nothing)
    assert out.isfinite().all()
    assert out.dtype == dtype


class Louder(nn.Linear):
    """A linear map that somebody has put in the place of ours."""

    def forward(self, x):
        return 2 * super().forward(x)


def put_another(decoder):
    other = Louder(16, 16)
    other.load_state_dict(decoder.layers[1].self_attention.query.state_dict())
    decoder.layers[1].self_attention.query = other
    return contextlib.nullcontext()


def hook_one(decoder):
    handle = decoder.layers[2].feed_forward.expand.register_forward_hook(lambda *_: None)
    return contextlib.closing(type("Handle", (), {"close": staticmethod(handle.remove)})())


def hook_before(decoder):
    handle = decoder.layers[0].register_forward_pre_hook(lambda *_: None)
    return contextlib.closing(type("Handle", (), {"close": staticmethod(handle.remove)})())


def hook_all(_decoder):
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    return contextlib.closing(type("Handle", (), {"close": staticmethod(handle.remove)})())


LONG = {
    "somebody looks": record,
    "a hook waits": hook_one,
    "a hook waits before": hook_before,
    "a hook waits for every module": hook_all,
    "another module stands in": put_another,
    "it is trained": lambda decoder: contextlib.nullcontext(decoder.train()),
    "gradients are wanted": lambda decoder: torch.enable_grad(),
    "formulas are asked for": lambda decoder: formulas(),
}


@pytest.mark.parametrize("why", LONG.values(), ids=LONG)
def test_the_long_way_is_taken_where(why, calls):
    decoder, x = decoder_of(SMALL), torch.randn(2, N, 16)
    with torch.no_grad(), why(decoder):
        write(decoder, x)
    assert not calls


def test_a_first_token_and_several_at_once_take_the_long_way(calls):
    decoder, x = decoder_of(SMALL), torch.randn(2, N, 16)
    with torch.no_grad():
        cache = Cache(3, N)
        decoder(x[:, :1], cache=cache)
        decoder(x[:, 1:3], cache=cache)
        assert not calls
        decoder(x[:, 3:4], cache=cache)
    assert len(calls) == 1


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"mask": torch.ones(2, 1, 1, 9, dtype=torch.bool)}, ValueError, ["(2, 1, 1, 9)", "3)"]),
        ({"mask": torch.ones(2, 1, 1, 3)}, TypeError, ["torch.float32", "torch.bool"]),
        ({"bias": torch.zeros(3, 1, 3)}, ValueError, ["(3, 1, 3)", "(2, 4, 1, 3)"]),
        ({"memory": torch.zeros(2, 6, 16)}, ValueError, ["(2, 6, 16)", "5 positions"]),
        (
            {"memory_mask": torch.ones(2, 1, 1, 6, dtype=torch.bool)},
            ValueError,
            ["(2, 1, 1, 6)", "(2, 4, 1, 5)"],
        ),
    ],
)
def test_what_the_layers_refuse_is_refused_on_the_short_way(options, error, says, calls):
    decoder, x = decoder_of(SMALL, cross_attention=True), torch.randn(2, 3, 16)
    memory = torch.randn(2, 5, 16)
    with torch.no_grad():
        cache = Cache(3, N)
        decoder(x[:, :2], memory, cache=cache)
        with pytest.raises(error) as caught:
            decoder(x[:, 2:], **({"memory": memory} | options), cache=cache)
    assert len(calls) == 1
    assert cache.length == 2
    for part in says:
        assert part in str(caught.value)


@pytest.mark.usefixtures("as_a_reader")
def test_a_full_cache_is_refused_on_the_short_way_and_stays_as_it_was(calls):
    decoder, x = decoder_of(SMALL), torch.randn(2, 3, 16)
    with torch.no_grad():
        cache = Cache(3, 2)
        decoder(x[:, :2], cache=cache)
        with pytest.raises(ValueError, match=r"3 positions .* max_len=2"):
            decoder(x[:, 2:], cache=cache)
    assert len(calls) == 1
    assert [layer.self_attention.length for layer in cache] == [2, 2, 2]
