"""What holds for every model that writes on: GPT-2 and LLaMA."""

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import nn

from glassbox import padding_mask, record
from glassbox.models import GPT2Config
from glassbox.models.language_model import LanguageModel
from glassbox.positional import AlibiPositions
from glassbox.training import cross_entropy
from tests.models.language_models import SIZES, small_gpt2, small_llama, some_ids, spread_out


def small_alibi(**sizes: Any) -> LanguageModel:
    """A model that no library has: GPT-2's stack with positions in the scores."""
    config = GPT2Config(**SIZES | sizes)
    return spread_out(LanguageModel(config, AlibiPositions(config.heads(0))))


MAKERS: dict[str, Callable[..., LanguageModel]] = {
    "GPT-2": small_gpt2,
    "LLaMA": small_llama,
    "ALiBi": small_alibi,
}
PAD = 0


@pytest.fixture(params=list(MAKERS.values()), ids=list(MAKERS))
def make(request):
    return request.param


@pytest.fixture
def model(make, device):
    return make().to(device)


def close(a, b, atol=1e-5):
    torch.testing.assert_close(a, b, atol=atol, rtol=0)


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
def test_changing_the_future_changes_nothing_before_it(model, train, device):
    ids = some_ids(2, 8, device=device)
    changed = ids.clone()
    changed[:, 5:] = (changed[:, 5:] + 7) % 50
    outputs = []
    for given_ids in (ids, changed):
        torch.manual_seed(7)  # the same values are dropped
        outputs.append(model.train(train)(given_ids))
    close(outputs[0][:, :5], outputs[1][:, :5])
    assert not torch.isclose(outputs[0][:, 5:], outputs[1][:, 5:]).all(dim=-1).any()


def test_the_order_of_the_words_before_matters(model, device):
    ids = torch.tensor([[3, 4, 5, 6], [4, 3, 5, 6]], device=device)
    logits = model(ids)
    assert (logits[0, -1] - logits[1, -1]).abs().max() > 1e-3


def test_a_text_gives_the_same_alone_and_in_a_batch(model, device):
    ids = some_ids(4, 7, device=device)
    together = model(ids)
    for i in range(4):
        close(model(ids[i : i + 1]), together[i : i + 1])


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_on_either_side_changes_nothing(model, side, device):
    ids = some_ids(3, 9, device=device)
    for row, length in ((1, 4), (2, 1)):
        ids[row, : 9 - length] = PAD
    ids = ids if side == "left" else ids.flip(1)
    real = ids != PAD
    positions = (real.cumsum(dim=-1) - 1).clamp(min=0)
    logits = model(ids, padding_mask(ids, PAD), positions=positions)
    assert logits.isfinite().all()
    for row in range(3):
        close(logits[row, real[row]], model(ids[row, real[row]][None])[0])


def in_chunks(model, ids, lengths, cache, **inputs):
    """Read ``ids`` piece by piece, with everything that goes with them; return all logits."""
    logits, start = [], cache.length
    for length in lengths:
        end = start + length
        mask, positions = inputs.get("mask"), inputs.get("positions")
        logits.append(
            model(
                ids[:, start:end],
                None if mask is None else mask[..., :end],
                positions=None if positions is None else positions[:, start:end],
                cache=cache,
            )
        )
        assert cache.length == end
        start = end
    return torch.cat(logits, dim=1)


@pytest.mark.slow
@settings(max_examples=15)
@given(cuts=st.sets(st.integers(1, 9)), seed=st.integers(0, 2**31))
def test_reading_in_any_pieces_equals_reading_at_once(cuts, seed):
    torch.manual_seed(seed)
    ends = [0, *sorted(cuts), 10]
    lengths = [end - start for start, end in pairwise(ends)]
    for make in MAKERS.values():
        model, ids = make(), some_ids(2, 10)
        close(in_chunks(model, ids, lengths, model.new_cache(10)), model(ids))


def test_reading_token_by_token_with_padding_on_the_left_equals_reading_at_once(model, device):
    ids = some_ids(3, 9, device=device)
    ids[1, :5], ids[2, :8] = PAD, PAD
    real = ids != PAD
    inputs = {
        "mask": padding_mask(ids, PAD),
        "positions": (real.cumsum(dim=-1) - 1).clamp(min=0),
    }
    stepwise = in_chunks(model, ids, [1] * 9, model.new_cache(12), **inputs)
    close(stepwise[real], model(ids, inputs["mask"], positions=inputs["positions"])[real])


def test_going_back_and_on_another_way_equals_reading_that_alone(model, device):
    ids, other = some_ids(2, 9, device=device), some_ids(2, 5, device=device)
    cache = model.new_cache(9)
    in_chunks(model, ids, [6, 3], cache)
    cache.crop(4)
    close(model(other, cache=cache), model(torch.cat([ids[:, :4], other], dim=1))[:, 4:])


@pytest.mark.parametrize("rows", [[2, 0, 1], [1, 1, 1], [0, 2], [2, 1, 0, 0, 1]], ids=str)
def test_going_on_with_other_rows_equals_reading_those_alone(model, rows, device):
    ids = some_ids(3, 5, device=device)
    new, cache = some_ids(len(rows), 2, device=device), model.new_cache(8)
    model(ids, cache=cache)
    order = torch.tensor(rows, device=device)
    cache.reorder(order)
    close(model(new, cache=cache), model(torch.cat([ids[order], new], dim=1))[:, 5:])


def test_a_text_may_be_as_long_as_the_model_has_positions_and_begin_anywhere(model, device):
    ids, cache = some_ids(1, 12, device=device), model.new_cache(12)
    close(in_chunks(model, ids, [1, 10, 1], cache), model(ids))
    assert cache.length == cache.max_len == 12


def test_the_logits_are_those_of_the_hidden_states(model, device):
    ids = some_ids(2, 7, device=device)
    hidden = model.hidden(ids)
    assert hidden.shape == (2, 7, 16)
    assert torch.equal(model.logits(hidden), model(ids))


def test_positions_that_go_on_are_those_left_out(model, device):
    ids = some_ids(2, 7, device=device)
    where = torch.arange(7, device=device).expand(2, -1)
    close(model(ids, positions=where), model(ids))
    cache = model.new_cache(7)
    model(ids[:, :4], cache=cache)
    close(model(ids[:, 4:], positions=where[:, 4:], cache=cache), model(ids)[:, 4:])


@pytest.mark.parametrize("cached", [False, True], ids=["at once", "step by step"])
def test_recorded_it_gives_the_same_and_its_maps_sum_to_one(model, cached, device):
    ids = some_ids(2, 6, device=device)
    expected = model(ids)
    with record(model) as tape:
        cache = model.new_cache(6) if cached else None
        logits = in_chunks(model, ids, [4, 1, 1], cache) if cache is not None else model(ids)
    close(logits, expected)
    assert len(tape) == 2
    for runs in tape.runs.values():
        assert [run.weights.shape[2:] for run in runs] == (
            [(4, 4), (1, 5), (1, 6)] if cached else [(6, 6)]
        )
        for run in runs:
            close(run.weights.sum(dim=-1), torch.ones_like(run.weights[..., 0]))


def test_what_the_mask_hides_is_not_attended_to_in_any_layer(model, device):
    ids = some_ids(1, 5, device=device)
    mask = torch.tensor([True, False, True, True, True], device=device)
    with record(model) as tape:
        model(ids, mask[None, None, None])
    for look in tape.values():
        assert (look.weights[..., 1] == 0).all()
        assert (look.weights.triu(1) == 0).all()


def test_the_gradient_reaches_every_parameter(model, device):
    ids = some_ids(2, 6, device=device)
    model.train()(ids).square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        if not name.endswith("key.bias"):  # moves all scores of a row alike, where nothing turns
            assert parameter.grad.abs().max() > 1e-6, name


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "an output of its own"])
def test_copied_or_saved_and_loaded_it_is_the_same_and_tied_as_before(make, tied, tmp_path):
    model, ids = make(tie_embeddings=tied), some_ids(2, 6)
    assert (model.output.weight is model.embedding.weight) == tied
    loaded = make(tie_embeddings=tied)
    assert not torch.equal(loaded(ids), model(ids))
    torch.save(model.state_dict(), tmp_path / "model.pt")
    loaded.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    for other in (loaded, copy.deepcopy(model)):
        assert torch.equal(other(ids), model(ids))
        assert (other.output.weight is other.embedding.weight) == tied
        assert other.embedding.weight is not model.embedding.weight


def test_no_input_is_modified(model, device):
    ids = some_ids(2, 6, device=device)
    mask, positions = padding_mask(ids, PAD), torch.arange(6, device=device).expand(2, -1)
    before = [x.clone() for x in (ids, mask, positions)]
    model(ids, mask, positions=positions, cache=model.new_cache(6))
    for tensor, expected in zip((ids, mask, positions), before, strict=True):
        assert torch.equal(tensor, expected)


def test_dropout_is_for_training_alone(make, device):
    model, ids = make(dropout=0.5).to(device), some_ids(2, 6, device=device)
    assert torch.equal(model(ids), model(ids))
    assert not torch.isclose(model.train()(ids), model(ids)).all(dim=-1).any()


@pytest.mark.slow
@pytest.mark.usefixtures("as_a_reader")  # hundreds of calls
def test_one_batch_can_be_learned_by_heart(make, device):
    model, ids = make().to(device).eval(), some_ids(4, 9, device=device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(60):
        logits = model(ids[:, :-1])
        loss = nn.functional.cross_entropy(logits[:, 1:].mT, ids[:, 2:])  # two words tell the text
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.1


def test_a_model_without_memory_gives_shapes(make):
    with torch.device("meta"):
        model, ids = make(), torch.zeros(2, 12, dtype=torch.int64)
        cache = model.new_cache(12)
    assert model(ids).shape == (2, 12, 50)
    assert model(ids, cache=cache).shape == (2, ids.size(1), 50)
    assert model(ids).device.type == "meta"


@pytest.mark.usefixtures("compiler")
def test_compiled_whole_it_gives_the_same_with_the_same_gradients(make):
    model, ids = make(dropout=0.0), some_ids(2, 6)
    ids[1, :3] = PAD
    mask, positions = padding_mask(ids, PAD), torch.tensor([[0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 1, 2]])
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=False)
    both = [f(ids, mask, positions=positions) for f in (compiled, model)]
    close(*both)
    gradients = [torch.autograd.grad(x.square().sum(), model.parameters()) for x in both]
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


@pytest.mark.usefixtures("compiler")
def test_exported_with_a_free_length_it_gives_the_same(make):
    model, length = make(), torch.export.Dim("length", min=2, max=12)
    program = torch.export.export(model, (some_ids(2, 6),), dynamic_shapes=({1: length},))
    for n in (2, 6, 12):
        ids = some_ids(2, n)
        close(program.module()(ids), model(ids))


@pytest.mark.usefixtures("compiler")
def test_exported_with_a_cache_of_a_free_length_it_gives_the_same(make):
    class Stepwise(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = make()

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            cache = self.model.new_cache(ids.size(1))
            self.model(ids[:, :-1], cache=cache)
            return self.model(ids[:, -1:], cache=cache)

    stepwise, length = Stepwise(), torch.export.Dim("length", min=3, max=12)
    program = torch.export.export(stepwise, (some_ids(2, 6),), dynamic_shapes=({1: length},))
    for n in (3, 6, 12):
        ids = some_ids(2, n)
        close(program.module()(ids), stepwise.model(ids)[:, -1:])


def test_mapped_over_texts_it_gives_the_loss_of_each_and_its_gradients(make):
    model, ids = make(dropout=0.0), some_ids(3, 6)
    parameters = {name: x.detach() for name, x in model.named_parameters()}

    def loss(parameters, text):
        logits = torch.func.functional_call(model, parameters, text[None])
        return cross_entropy(logits[:, :-1], text[None, 1:], smoothing=0.1).total

    gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, ids)
    for row, text in enumerate(ids):
        loss(dict(model.named_parameters()), text).backward()
        for name, x in model.named_parameters():
            close(gradients[name][row], x.grad)
        model.zero_grad()


def call(maker, ids=None, cached=0, room=12, **inputs):
    """Call a small model; with a cache that has read ``cached`` tokens, if any."""
    model = maker()
    if cached:
        cache = inputs["cache"] = model.new_cache(room)
        model(some_ids(2, cached), cache=cache)
    try:
        return model(some_ids(2, 5) if ids is None else ids, **inputs)
    except (ValueError, TypeError):
        if cached:
            assert {layer.self_attention.length for layer in cache.layers} == {cached}, (
                "it was written to"
            )
        raise


BAD_CALLS = {
    "more tokens than positions": (
        {"ids": some_ids(1, 13)},
        ValueError,
        ["13 tokens", "12 only", "shorten the text or split it"],
    ),
    "more tokens than positions, with those read before": (
        {"cached": 9, "room": 20, "ids": some_ids(2, 4)},
        ValueError,
        ["13 tokens", "12 only"],
    ),
    "more tokens than the cache has room for": (
        {"cached": 5, "room": 8, "ids": some_ids(2, 4)},
        ValueError,
        ["9 positions", "max_len=8"],
    ),
    "another batch than the cache's": (
        {"cached": 5, "ids": some_ids(3, 1)},
        ValueError,
        ["(3, ", "(2, "],
    ),
    "no tokens": ({"ids": some_ids(1, 0)}, ValueError, ["(1, 0)", "at least one token"]),
    "no texts": ({"ids": some_ids(0, 5)}, ValueError, ["(0, 5)", "at least one token"]),
    "one text without its batch": ({"ids": some_ids(5)}, ValueError, ["(5,)", "(batch, length)"]),
    "an id beyond the vocabulary": (
        {"ids": torch.tensor([[1, 50]])},
        ValueError,
        ["token_ids runs from 1 to 50", "0 to 49"],
    ),
    "a negative id": (
        {"ids": torch.tensor([[-100, 2]])},
        ValueError,
        ["token_ids runs from -100 to 2", "0 to 49"],
    ),
    "ids that are no integers": (
        {"ids": torch.ones(2, 5)},
        TypeError,
        ["token_ids is torch.float32", "torch.int64"],
    ),
    "a list of ids": ({"ids": [[1, 2]]}, TypeError, ["token_ids is of type list", "torch.int64"]),
    "ids elsewhere": (
        {"ids": torch.ones(2, 5, dtype=torch.int64, device="meta")},
        ValueError,
        ["token_ids is on meta", "model is on cpu", ".to('cpu')"],
    ),
    "the tokenizer's mask as it comes": (
        {"cached": 2, "mask": torch.ones(2, 7, dtype=torch.int64)},
        TypeError,
        ["torch.int64", "torch.bool", "mask.bool()"],
    ),
    "a mask without its two axes": (
        {"mask": torch.ones(2, 5, dtype=torch.bool)},
        ValueError,
        ["(2, 5)", "(2, 4, 5, 5)", "mask[:, None, None, :]"],
    ),
    "a mask of keys for as many texts as tokens": (
        {"ids": torch.ones(5, 5, dtype=torch.int64), "mask": torch.ones(5, 5).bool()},
        ValueError,
        ["mask has shape (5, 5)", "(5, 4, 5, 5)", "mask[:, None, None, :]", "mask[None, None, :"],
    ),
    "a mask of the new tokens alone": (
        {"cached": 3, "mask": torch.ones(2, 1, 1, 5, dtype=torch.bool)},
        ValueError,
        ["(2, 1, 1, 5)", "(2, 4, 5, 8)"],
    ),
    "positions that are no integers": (
        {"cached": 3, "positions": torch.zeros(2, 5)},
        TypeError,
        ["positions is torch.float32", "integers"],
    ),
    "positions of all tokens, not of the new ones": (
        {"cached": 3, "positions": torch.arange(8).expand(2, -1)},
        ValueError,
        ["(2, 8)", "(2, 5, 16)"],
    ),
    "positions of another batch": (
        {"cached": 3, "positions": torch.arange(5).expand(3, -1)},
        ValueError,
        ["(3, 5)", "(2, 5, 16)"],
    ),
    "positions elsewhere": (
        {"positions": torch.zeros(2, 5, dtype=torch.int64, device="meta")},
        ValueError,
        ["positions", "on meta", "on cpu", ".to('cpu')"],
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("maker", [small_gpt2, small_llama], ids=["GPT-2", "LLaMA"])
@pytest.mark.parametrize(("inputs", "error", "says"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_refused_with_both_values_and_the_cache_as_it_was(maker, inputs, error, says):
    with pytest.raises(error) as caught:
        call(maker, **inputs)
    for part in says:
        assert part in str(caught.value)


@pytest.mark.usefixtures("as_a_reader")
def test_a_cache_of_another_depth_is_refused():
    cache = small_gpt2(n_layers=3).new_cache(8)
    with pytest.raises(ValueError, match=r"cache has 3 layers, this decoder 2.*new_cache"):
        small_gpt2()(some_ids(2, 5), cache=cache)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("max_len", [0, -3])
def test_a_cache_without_room_is_refused(make, max_len):
    with pytest.raises(ValueError, match=f"max_len={max_len}.*at least 1"):
        make().new_cache(max_len)
