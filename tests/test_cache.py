"""What is remembered from step to step gives what reading everything again would give."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from glassbox import padding_mask, record
from glassbox.around import Around
from glassbox.attention.multi_head import MultiHeadAttention
from glassbox.cache import Cache, KeyValueCache, LayerCache
from tests.machines import KINDS, assert_near, make, texts

pytestmark = pytest.mark.usefixtures("as_a_reader")  # thousands of calls


def keys_and_values(batch=2, kv_heads=3, new=4, d_k=5, d_v=6, device="cpu"):
    key, value = torch.randn(batch, kv_heads, new, d_k), torch.randn(batch, kv_heads, new, d_v)
    return key.to(device), value.to(device)


# One attention's.


@given(
    steps=st.lists(st.integers(1, 3), min_size=1, max_size=5),
    room=st.integers(0, 3),
    seed=st.integers(0, 2**16),
)
def test_everything_so_far_is_what_was_appended_side_by_side(steps, room, seed):
    torch.manual_seed(seed)
    cache, parts = KeyValueCache(sum(steps) + room), []
    for new in steps:
        parts.append(keys_and_values(new=new))
        given = cache.append(*parts[-1])
        expected = [torch.cat(side, dim=2) for side in zip(*parts, strict=True)]
        assert all(torch.equal(a, b) for a, b in zip(given, expected, strict=True))
        assert torch.equal(cache.key, expected[0])
        assert torch.equal(cache.value, expected[1])
        assert cache.length == sum(part[0].size(2) for part in parts)


def test_nothing_is_copied_but_what_is_new(device):
    cache = KeyValueCache(10)
    first, _ = cache.append(*keys_and_values(device=device))
    then, _ = cache.append(*keys_and_values(new=1, device=device))
    assert then.data_ptr() == first.data_ptr()
    assert then.shape[2] == 5
    room = 2 * 3 * 10 * 5  # for all there will ever be, and for no more
    assert then.untyped_storage().nbytes() == room * then.element_size()


def test_what_was_appended_may_change_without_the_cache_changing():
    cache, (key, value) = KeyValueCache(4), keys_and_values()
    kept = key.clone(), value.clone()
    cache.append(key, value)
    key.zero_(), value.zero_()
    assert torch.equal(cache.key, kept[0])
    assert torch.equal(cache.value, kept[1])


@given(
    rows=st.lists(st.integers(0, 2), min_size=1, max_size=5),
    length=st.integers(1, 4),
    seed=st.integers(0, 2**16),
)
def test_rows_are_kept_in_any_order_and_number_and_writing_goes_on_behind_them(rows, length, seed):
    torch.manual_seed(seed)
    cache = KeyValueCache(6)
    key, value = cache.append(*keys_and_values(batch=3, new=length))
    key, value = key.clone(), value.clone()
    cache.reorder(torch.tensor(rows))
    assert torch.equal(cache.key, key[rows])
    assert torch.equal(cache.value, value[rows])
    new_key, new_value = keys_and_values(batch=len(rows), new=2)
    cache.append(new_key, new_value)
    assert torch.equal(cache.key, torch.cat([key[rows], new_key], dim=2))
    assert torch.equal(cache.value, torch.cat([value[rows], new_value], dim=2))


def test_after_a_crop_writing_goes_on_where_it_was_cut():
    cache, (key, value) = KeyValueCache(5), keys_and_values(new=4)
    cache.append(key, value)
    cache.crop(2)
    assert cache.length == 2
    assert torch.equal(cache.key, key[:, :, :2])
    new_key, new_value = keys_and_values(new=3)
    cache.append(new_key, new_value)
    assert torch.equal(cache.key, torch.cat([key[:, :, :2], new_key], dim=2))
    assert torch.equal(cache.value, torch.cat([value[:, :, :2], new_value], dim=2))


def test_cropped_to_nothing_it_can_be_filled_again():
    cache = KeyValueCache(4)
    cache.append(*keys_and_values())
    cache.crop(0)
    key, value = keys_and_values(new=4)
    given = cache.append(key, value)
    assert torch.equal(given[0], key)
    assert torch.equal(given[1], value)


@pytest.mark.parametrize("limit", [None, 4])
@pytest.mark.parametrize("change", [(slice(1),), (slice(None), slice(None), slice(1))], ids=str)
def test_a_first_step_that_is_refused_leaves_it_empty(limit, change):
    cache = KeyValueCache(limit)
    key, value = keys_and_values(new=3)
    with pytest.raises(ValueError, match="the new values have shape"):
        cache.append(key, value[change])
    key, value = keys_and_values(new=4)
    assert cache.append(key[:1], value[:1])[0].shape == key[:1].shape


def test_it_is_cropped_to_a_whole_number():
    cache = KeyValueCache(4)
    cache.append(*keys_and_values())
    with pytest.raises(TypeError, match=r"length is of type float, 2.0"):
        cache.crop(2.0)  # type: ignore[arg-type]


def test_an_empty_cache_may_be_reordered_and_cropped():
    cache = KeyValueCache(4)
    cache.reorder(torch.tensor([0]))
    cache.crop(0)
    assert cache.length == 0


def test_without_a_length_the_first_step_is_all_there_is():
    cache = KeyValueCache()
    for new in (4, 6):  # and so is the first step after everything was forgotten
        assert (cache.length, cache.max_len) == (0, None)
        cache.append(*keys_and_values(new=new))
        assert cache.max_len == cache.length == new
        cache.crop(0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_it_keeps_the_dtype_and_the_device(dtype, device):
    cache = KeyValueCache(5)
    key, _ = cache.append(*(x.to(dtype) for x in keys_and_values(device=device)))
    assert key.dtype == dtype
    assert key.device.type == torch.device(device).type


MODES = {"grad": torch.enable_grad, "no grad": torch.no_grad, "inference": torch.inference_mode}


@pytest.mark.parametrize("trained", ["keys", "values"])
def test_a_step_leaves_alone_what_a_backward_pass_needs_of_either_kind(trained):
    weight, cache, x = torch.ones((), requires_grad=True), KeyValueCache(6), torch.ones(1, 1, 2, 3)
    key, value = cache.append(*((weight * x, x) if trained == "keys" else (x, weight * x)))
    used = key if trained == "keys" else value
    loss = (weight * used).sum()
    cache.append(x, x)
    (gradient,) = torch.autograd.grad(loss, weight)
    assert gradient == 12  # twice the sum of six ones


@pytest.mark.parametrize("move", [False, True], ids=["in place", "moved"])
@pytest.mark.parametrize("after", MODES)
@pytest.mark.parametrize("before", MODES)
def test_what_was_begun_with_or_without_gradients_goes_on_with_or_without(before, after, move):
    weight, cache, rows = torch.ones((), requires_grad=True), KeyValueCache(6), torch.tensor([1, 0])
    with MODES[before]():
        first = [weight * x for x in keys_and_values()]
        given = [x.square() for x in cache.append(*first)]  # its gradient needs what was given
    with MODES[after]():
        if move:
            cache.reorder(rows)
        then = [weight * x for x in keys_and_values(new=2)]
        given += cache.append(*then)
    start = [x[rows] if move else x for x in first]
    expected = [torch.cat(pair, dim=2) for pair in zip(start, then, strict=True)]
    for a, b in zip(given, [x.square() for x in first] + expected, strict=True):
        assert torch.equal(a, b)
    for x in given:
        if x.requires_grad:
            x.sum().backward(retain_graph=True)


# A model's.


@pytest.mark.parametrize("after", MODES)
@pytest.mark.parametrize("before", MODES)
def test_a_memory_that_was_read_in_one_mode_is_kept_in_another(before, after):
    model, target, memory = make("the paper's"), torch.tensor([[5, 6, 7]]), torch.randn(1, 4, 16)
    cache = model.new_cache(3)
    with MODES[before]():
        model.decode(target[:, :2], memory, cache=cache)
    with MODES[after]():
        logits = model.decode(target[:, 2:], memory, cache=cache)
        torch.testing.assert_close(logits, model.decode(target, memory)[:, 2:])
    if logits.requires_grad:
        logits.sum().backward()
        assert all(x.grad is None or x.grad.isfinite().all() for x in model.parameters())


def test_every_layer_has_one_of_its_own_past_and_one_of_the_memory():
    cache = Cache(3, 8)
    assert len(cache.layers) == 3
    assert (cache.length, cache.max_len) == (0, 8)
    for layer in cache.layers:
        assert isinstance(layer, LayerCache)
        assert layer.self_attention.max_len == 8
        assert layer.cross_attention.max_len is None
    assert len({id(layer) for layer in cache.layers}) == 3


@pytest.fixture(params=KINDS)
def model(request, device):
    return make(request.param, device)


def read(model, target, memory, steps, cache, **options):
    """Return the logits of texts that are read in these steps."""
    logits, start = [], cache.length
    for new in steps:
        logits.append(model.decode(target[:, start : start + new], memory, cache=cache, **options))
        start += new
    return torch.cat(logits, dim=1)


@pytest.mark.parametrize(
    "steps", [[1] * 6, [3, 1, 2], [6], [1, 5]], ids=["one by one", "chunks", "at once", "one, all"]
)
def test_reading_step_by_step_equals_reading_all_at_once(model, steps):
    source, target = texts(model)
    memory, cache = model.encode(source), model.new_cache(8)
    expected = model.decode(target, memory)
    assert_near(read(model, target, memory, steps, cache), expected)
    assert cache.length == 6
    assert all(layer.self_attention.length == 6 for layer in cache.layers)
    assert all(layer.cross_attention.length == 7 for layer in cache.layers)


def test_recorded_steps_equal_unrecorded_ones(model):
    source, target = texts(model)
    memory, cache = model.encode(source), model.new_cache(6)
    with record(model):
        assert_near(read(model, target, memory, [2, 1, 3], cache), model.decode(target, memory))


def test_padded_texts_are_read_step_by_step_as_they_are_at_once(model):
    source, target = texts(model)
    source[0, 5:], source[2, 1:] = 0, 0
    target = F.pad(target, (3, 0))
    target[1, :3] = 1  # one text is longer than the others
    mask, memory_mask = padding_mask(target, 0), padding_mask(source, 0)
    positions = (mask[:, 0, 0].cumsum(dim=-1) - 1).clamp(min=0)
    memory, cache = model.encode(source, memory_mask), model.new_cache(9)
    expected = model.decode(target, memory, mask, memory_mask, positions=positions)
    logits = []
    for start, end in ((0, 4), (4, 5), (5, 6), (6, 9)):
        logits.append(
            model.decode(
                target[:, start:end],
                memory,
                mask[..., :end],
                memory_mask,
                positions=positions[:, start:end],
                cache=cache,
            )
        )
    assert_near(torch.cat(logits, dim=1), expected)


@pytest.mark.parametrize(
    "rows",
    [[2, 0, 1], [0, 0, 2], [1], [2, 2, 0, 1, 1]],
    ids=["moved", "repeated", "fewer", "more"],
)
def test_after_a_reorder_reading_goes_on_as_if_the_texts_had_stood_there(model, rows):
    source, target = texts(model)
    memory, cache = model.encode(source), model.new_cache(6)
    read(model, target, memory, [2, 1], cache)
    order = torch.tensor(rows, device=source.device)
    cache.reorder(order)
    memory, target = memory[order], target[order]
    assert_near(read(model, target, memory, [1, 2], cache), model.decode(target, memory)[:, 3:])


@pytest.mark.parametrize("trained", ["key", "value"])
def test_rows_may_change_places_where_keys_or_values_alone_are_trained(trained):
    torch.manual_seed(0)
    attention = MultiHeadAttention(8, 2).requires_grad_(False)
    attention.get_submodule(trained).requires_grad_(True)
    x, cache, loss = torch.randn(2, 3, 8), KeyValueCache(3), torch.zeros(())
    for place in range(3):
        step = x[:, place : place + 1]
        out = attention(step, causal=True, around=Around(cache=cache))
        loss = loss + out.square().sum()
        cache.reorder(torch.tensor([1, 0]))
    loss.backward()
    (gradient, _) = (x.grad for x in attention.get_submodule(trained).parameters())
    assert gradient is not None
    assert gradient.isfinite().all()
    assert gradient.any()


def test_rows_of_one_memory_may_change_places_without_it(model):
    source, target = texts(model)
    memory = model.encode(source[:1]).expand(3, -1, -1)
    cache = model.new_cache(6)
    read(model, target, memory, [3], cache)
    versions = [layer.cross_attention.key._version for layer in cache.layers]
    order = torch.tensor([2, 2, 0], device=source.device)
    cache.reorder(order, same_memory=True)
    now = [layer.cross_attention.key._version for layer in cache.layers]
    assert now == versions  # not written to
    target = target[order]
    assert_near(read(model, target, memory, [1, 2], cache), model.decode(target, memory)[:, 3:])


def test_after_a_crop_other_words_are_read_in_the_place_of_those_forgotten(model):
    source, target = texts(model)
    memory, cache = model.encode(source), model.new_cache(6)
    read(model, target, memory, [5], cache)
    cache.crop(2)
    assert cache.length == 2
    _, other = texts(model)
    other[:, :2] = target[:, :2]
    assert_near(read(model, other, memory, [1, 3], cache), model.decode(other, memory)[:, 2:])


def test_the_memory_is_projected_in_the_first_step_and_never_again(model):
    source, target = texts(model)
    memory, cache, calls = model.encode(source), model.new_cache(6), []
    for layer in model.decoder.layers:
        for part in (layer.cross_attention.key, layer.cross_attention.value):
            part.register_forward_hook(lambda *_: calls.append(1))
    read(model, target, memory, [2], cache)
    assert len(calls) == 2 * len(model.decoder.layers)
    kept = [layer.cross_attention.key.clone() for layer in cache.layers]
    read(model, target, memory, [1, 1, 2], cache)
    assert len(calls) == 2 * len(model.decoder.layers)
    for layer, key in zip(cache.layers, kept, strict=True):
        assert torch.equal(layer.cross_attention.key, key)


def test_a_cache_that_is_exactly_full_is_not_refused(model):
    source, target = texts(model)
    memory, cache = model.encode(source), model.new_cache(6)
    read(model, target, memory, [6], cache)
    assert cache.length == cache.max_len == 6


WRONG = {
    "a mask of other keys": ("mask", torch.ones(3, 3, dtype=torch.bool)),
    "a float mask": ("mask", torch.ones(3, 1, 1, 3)),
    "a mask of another memory": ("memory_mask", torch.ones(5, dtype=torch.bool)),
    "a wider memory": ("memory", torch.zeros(3, 7, 18)),
    "a memory of fewer texts": ("memory", torch.zeros(2, 7, 16)),
    "a shorter memory": ("memory", torch.zeros(3, 2, 16)),
}


@pytest.mark.parametrize("model", ["the paper's", "like LLaMA"], indirect=True)
@pytest.mark.parametrize(
    ("read_before", "what"),
    [(n, what) for n in (0, 2) for what in WRONG if (n, what) != (0, "a shorter memory")],
)
def test_a_step_that_is_refused_leaves_the_cache_as_it_was(model, read_before, what):
    source, target = texts(model)
    memory, cache, (part, wrong) = model.encode(source), model.new_cache(6), WRONG[what]
    if read_before:
        read(model, target, memory, [read_before], cache)
    given = {"memory": memory, part: wrong.to(memory.device)}
    with pytest.raises((ValueError, TypeError)):
        model.decode(target[:, read_before : read_before + 1], cache=cache, **given)
    assert {layer.self_attention.length for layer in cache.layers} == {read_before}
    expected = model.decode(target, memory)[:, read_before:]
    assert_near(read(model, target, memory, [6 - read_before], cache), expected)


@pytest.mark.parametrize("model", ["the paper's"], indirect=True)
def test_after_a_refused_first_step_the_cache_takes_texts_of_another_number(model):
    source, target = texts(model)
    memory, cache = model.encode(source), model.new_cache(6)
    with pytest.raises(ValueError, match="axes before the last two differ"):
        model.decode(target[:2], memory, cache=cache)
    assert_near(read(model, target, memory, [2, 4], cache), model.decode(target, memory))


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("model", ["the paper's"], indirect=True)
@pytest.mark.parametrize("length", [7, 4, 9], ids=["as long", "shorter", "longer"])
def test_after_an_interrupted_first_step_the_cache_takes_another_memory(model, length):
    source, target = texts(model)
    memory, cache = model.encode(texts(model, source_len=length)[0]), model.new_cache(6)
    hook = model.decoder.layers[1].register_forward_pre_hook(interrupt)
    with pytest.raises(KeyboardInterrupt), hook:
        model.decode(target[:, :1], model.encode(source), cache=cache)
    assert_near(read(model, target, memory, [2, 4], cache), model.decode(target, memory))


@pytest.mark.parametrize("model", ["the paper's"], indirect=True)
def test_an_interrupted_step_leaves_the_cache_as_it_was(model):
    source, target = texts(model)
    memory, cache = model.encode(source), model.new_cache(6)
    read(model, target, memory, [2], cache)
    hook = model.decoder.layers[1].register_forward_pre_hook(interrupt)
    with pytest.raises(KeyboardInterrupt), hook:
        model.decode(target[:, 2:3], memory, cache=cache)
    assert_near(read(model, target, memory, [1, 3], cache), model.decode(target, memory)[:, 2:])


@torch.inference_mode()
def test_it_works_where_nothing_is_learned(model):
    source, target = texts(model)
    memory, cache = model.encode(source), model.new_cache(6)
    assert_near(read(model, target, memory, [1] * 6, cache), model.decode(target, memory))


@pytest.mark.parametrize("model", ["the paper's", "like LLaMA"], indirect=True)
def test_gradients_reach_every_step_also_through_moved_and_forgotten_ones(model):
    source, target = texts(model.double())
    memory, order = model.encode(source), torch.tensor([2, 0, 1], device=source.device)

    def gradients(logits):
        loss = logits.square().sum()
        return torch.autograd.grad(loss, model.parameters(), retain_graph=True, allow_unused=True)

    cache = model.new_cache(6)
    first = read(model, target, memory, [2, 1, 1], cache)
    cache.crop(3)
    cache.reorder(order)
    then = read(model, target[order], memory[order], [1, 2], cache)
    expected = model.decode(target, memory)
    for ours, theirs in ((first, expected[:, :4]), (then, expected[order, 3:])):
        for a, b in zip(gradients(ours), gradients(theirs), strict=True):
            if b is not None:
                assert_near(a, b)


def test_in_a_step_only_what_is_new_is_computed(model):
    source, target = texts(model)
    memory, cache, widths = model.encode(source), model.new_cache(6), []
    read(model, target, memory, [4], cache)
    for layer in model.decoder.layers:
        for part in (layer.self_attention.key, layer.self_attention.query, layer.feed_forward):
            part.register_forward_hook(lambda _, inputs, __: widths.append(inputs[0].size(1)))
    read(model, target, memory, [1], cache)
    assert set(widths) == {1}
    assert len(widths) == 3 * len(model.decoder.layers)


# What is recorded stays what it was.


def test_recorded_tensors_stay_as_later_steps_write_move_and_forget(model):
    source, target = texts(model)
    memory, cache = model.encode(source), model.new_cache(6)
    with record(model) as tape:
        read(model, target, memory, [3], cache)
        seen = [
            (tensor, tensor.clone())
            for look in tape.values()
            for tensor in (
                look.query,
                look.key,
                look.value,
                look.weights,
                look.context,
                look.scores,
            )
        ]
        cache.reorder(torch.tensor([2, 0, 1], device=source.device))
        read(model, target, memory[[2, 0, 1]], [1], cache)
        cache.crop(1)
        read(model, target, memory[[2, 0, 1]], [2], cache)
        cache.reorder(torch.tensor([0], device=source.device))
    assert len(seen) == 6 * 2 * len(model.decoder.layers)
    for tensor, kept in seen:
        assert torch.equal(tensor, kept)
