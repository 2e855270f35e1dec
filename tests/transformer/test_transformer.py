"""The whole Transformer: what holds for every kind of it."""

import copy
import math
import pickle
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

from glassbox import padding_mask, record
from glassbox.positional import RelativePositionBias, SinusoidalPositions, sinusoidal_encoding
from glassbox.transformer import TokenEmbedding, Transformer, TransformerConfig
from tests.machines import (
    KINDS,
    RELATIVE,
    SIZES,
    all_gradients,
    assert_near,
    config_of,
    make,
    texts,
)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def model(kind, device):
    return make(kind, device)


@cache
def count(config: TransformerConfig) -> int:
    """Count parameters without making any."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Transformer(config).parameters())


# Sizes.


def test_the_defaults_and_the_preset_are_the_paper_s_base_model():
    base = TransformerConfig.base()
    assert base == TransformerConfig()
    assert (base.d_model, base.n_heads, base.n_layers, base.d_ff) == (512, 8, 6, 2048)
    assert (base.dropout, base.vocab_size, base.positions) == (0.1, 37_000, "sinusoidal")
    assert (base.tie_embeddings, base.scale_embeddings, base.norm_first) == (True, True, False)


def test_big_is_the_paper_s_and_tiny_has_four_layers_of_width_128():
    big, tiny = TransformerConfig.big(), TransformerConfig.tiny()
    assert (big.d_model, big.n_heads, big.n_layers, big.d_ff) == (1024, 16, 6, 4096)
    assert big.dropout == 0.3
    assert (tiny.d_model, tiny.n_layers) == (128, 4)
    assert count(tiny) < 3_000_000


@pytest.mark.parametrize("preset", ["base", "big", "tiny"])
def test_a_preset_can_be_changed(preset):
    config = getattr(TransformerConfig, preset)(d_model=64, n_heads=2, dropout=0.25)
    assert (config.d_model, config.n_heads, config.dropout) == (64, 2, 0.25)
    expected = getattr(TransformerConfig, preset)()
    assert (config.d_ff, config.n_layers) == (expected.d_ff, expected.n_layers)


def test_a_configuration_cannot_be_changed_and_equals_its_copies(kind):
    config = config_of(kind)
    with pytest.raises(AttributeError, match="d_model"):
        config.d_model = 3  # type: ignore[misc]
    for other in (copy.deepcopy(config), pickle.loads(pickle.dumps(config)), config_of(kind)):
        assert other == config
        assert hash(other) == hash(config)
    assert config != config_of(kind, d_ff=25)


def test_a_configuration_may_be_extended_whose_annotations_are_text():
    # As they are below `from __future__ import annotations`.
    added: dict[str, Any] = {"__annotations__": {"n_experts": "int", "kind": "str"}, "kind": "own"}
    mine: Any = dataclass(frozen=True)(type("Mine", (TransformerConfig,), added | {"n_experts": 4}))
    assert mine().n_experts == 4
    with pytest.raises(TypeError, match="n_experts is of type str, '4'; expected a whole number"):
        mine(n_experts="4")


def test_the_decoder_may_have_another_number_of_layers():
    model = make("the paper's", n_decoder_layers=5)
    assert (len(model.encoder.layers), len(model.decoder.layers)) == (2, 5)
    assert model.config.decoder.n_layers == 5
    assert len(model.new_cache(3).layers) == 5


# Parameters, and the paper's table 3 of them.


def formula(d_model: int, d_ff: int, n_layers: int, vocab_size: int) -> int:
    """Count by hand: two stacks, a norm after each sublayer, one table of embeddings."""
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norm = 2 * d_model
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    return n_layers * (encoder_layer + decoder_layer) + vocab_size * d_model


TABLE_3: dict[
    str, tuple[int, dict[str, Any]]
] = {  # millions of parameters, and what the row changes of the base model
    "base": (65, {}),
    "N=2": (36, {"n_layers": 2}),
    "N=4": (50, {"n_layers": 4}),
    "N=8": (80, {"n_layers": 8}),
    "d_model=256": (28, {"d_model": 256}),
    "d_model=1024": (168, {"d_model": 1024}),
    "d_ff=1024": (53, {"d_ff": 1024}),
    "d_ff=4096": (90, {"d_ff": 4096}),
}


def fitting_vocabularies(config: TransformerConfig, millions: int) -> range:
    """Return the vocabularies with which the parameters round to so many millions."""
    without = count(config) - config.vocab_size * config.d_model
    low = (millions * 1_000_000 - 500_000 - without) / config.d_model
    high = (millions * 1_000_000 + 500_000 - without) / config.d_model
    return range(math.ceil(low), math.floor(high) + 1)


def test_base_and_big_have_as_many_parameters_as_counted_by_hand():
    assert count(TransformerConfig.base()) == formula(512, 2048, 6, 37_000) == 63_082_496
    assert count(TransformerConfig.big()) == formula(1024, 4096, 6, 37_000) == 214_245_376


def test_with_37000_words_base_is_3_percent_below_the_table_and_big_1_percent_above():
    assert count(TransformerConfig.base()) / 65e6 == pytest.approx(0.97, abs=0.005)
    assert count(TransformerConfig.big()) / 213e6 == pytest.approx(1.006, abs=0.005)


def test_one_vocabulary_gives_every_base_row_of_table_3():
    fitting = [
        set(fitting_vocabularies(TransformerConfig.base(**row), millions))
        for millions, row in TABLE_3.values()
    ]
    shared = sorted(set.intersection(*fitting))
    assert (shared[0], shared[-1]) == (40_932, 41_160)
    for millions, row in TABLE_3.values():
        assert round(count(TransformerConfig.base(vocab_size=41_000, **row)) / 1e6) == millions


def test_big_fits_the_table_with_a_smaller_vocabulary_than_the_base_rows():
    """So no single vocabulary gives the whole table, and the stated 37,000 gives neither."""
    fitting = fitting_vocabularies(TransformerConfig.big(), 213)
    assert (fitting[0], fitting[-1]) == (35_296, 36_272)
    assert 37_000 not in fitting_vocabularies(TransformerConfig.base(), 65)


def test_the_differences_between_rows_of_one_width_are_the_table_s_to_its_rounding():
    """The vocabulary cancels in them. Two rounded numbers are off by half a million each."""
    rows = [(m, row) for m, row in TABLE_3.values() if "d_model" not in row]
    for millions, row in rows:
        for other_millions, other in rows:
            ours = (
                count(TransformerConfig.base(**row)) - count(TransformerConfig.base(**other))
            ) / 1e6
            assert abs(ours - (millions - other_millions)) < 1


def test_the_number_of_heads_and_the_dropout_change_no_count():
    """Rows A and D of table 3."""
    for n_heads in (1, 4, 16, 32):
        assert count(TransformerConfig(n_heads=n_heads)) == count(TransformerConfig())
    assert count(TransformerConfig(dropout=0.0)) == count(TransformerConfig())


def test_narrower_queries_and_keys_are_the_table_s_row_b():
    """There values keep their width, so that half of a narrower attention counts."""
    for d_k, millions in ((16, 58), (32, 60)):
        narrower = count(TransformerConfig(d_k=64)) - count(TransformerConfig(d_k=d_k))
        assert round(65 - narrower / 2e6) == millions


# Embeddings.


def test_with_one_vocabulary_source_target_and_output_share_their_vectors():
    model = make("the paper's")
    assert model.source_embedding.weight is model.target_embedding.weight
    assert model.output.weight is model.source_embedding.weight
    assert "output.bias" not in model.state_dict()
    assert count(config_of("the paper's", vocab_size=20)) - count(config_of("the paper's")) == 16


def test_with_two_vocabularies_target_and_output_share_theirs():
    model = make("two vocabularies, rotary")
    assert model.output.weight is model.target_embedding.weight
    assert model.output.weight.shape == (13, 16)
    assert model.source_embedding.weight.shape == (19, 16)


def test_an_output_apart_has_vectors_of_its_own():
    model = make("pre-norm, learned")
    assert model.source_embedding.weight is model.target_embedding.weight
    assert model.output.weight is not model.target_embedding.weight
    assert model.output.weight.data_ptr() != model.target_embedding.weight.data_ptr()
    assert model.output.bias.shape == (19,)


@pytest.mark.parametrize("scaled", [True, False], ids=["scaled", "plain"])
def test_embeddings_are_multiplied_by_the_root_of_the_width_before_positions_are_added(scaled):
    model = make("the paper's", scale_embeddings=scaled)
    source, target = texts(model)
    with record(model) as tape:
        memory = model.encode(source)
    factor = 4.0 if scaled else 1.0  # the root of 16
    waves = sinusoidal_encoding(torch.arange(7), 16)
    expected = factor * model.source_embedding.weight[source] + waves
    torch.testing.assert_close(tape.outputs["dropout"], expected)
    with record(model) as tape:
        model.decode(target, memory)
    expected = factor * model.target_embedding.weight[target] + waves[:6]
    torch.testing.assert_close(tape.outputs["dropout"], expected)


@pytest.mark.parametrize(
    "options",
    [{"concatenated": True}, {"concatenated": False}, {"endpoint": True, "first_position": 3}],
    ids=["halves", "side by side", "both ends, from 3 on"],
)
def test_waves_are_those_that_the_configuration_asks_for(options):
    model = make("the paper's", **options)
    source, target = texts(model)
    positions = SinusoidalPositions(16, **options)
    waves = positions.embed(torch.zeros(1, 7, 16), torch.arange(7))[0]
    for side, ids in ((model.source_positions, source), (model.target_positions, target)):
        n = ids.size(1)
        added = side.embed(torch.zeros(3, n, 16), torch.arange(n))
        torch.testing.assert_close(added, waves[:n].expand(3, -1, -1))


def test_scaled_embeddings_start_out_with_the_variance_of_a_wave_or_so():
    embedding = TokenEmbedding(500, 64)
    assert embedding.weight.std().item() == pytest.approx(64**-0.5, rel=0.05)
    assert embedding(torch.arange(500)).std().item() == pytest.approx(1.0, rel=0.05)


# Reading and writing.


def test_logits_are_one_for_each_word_of_the_target_s_vocabulary(model):
    source, target = texts(model)
    logits = model(source, target)
    assert logits.shape == (3, 6, model.config.written_vocab_size)
    assert logits.isfinite().all()
    torch.testing.assert_close(model.decode(target, model.encode(source)), logits)


def test_logits_are_the_projection_of_what_is_hidden(model):
    source, target = texts(model)
    memory = model.encode(source)
    hidden = model.hidden(target, memory=memory)
    assert hidden.shape == (3, 6, 16)
    torch.testing.assert_close(model.logits(hidden), model.decode(target, memory))


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
def test_changing_what_is_written_later_changes_nothing_before_it(kind, train, device):
    model = make(kind, device, dropout=0.2).train(train)
    source, target = texts(model)
    changed = target.clone()
    changed[:, 4:] = target[:, 4:] % (model.config.written_vocab_size - 1) + 1
    assert (changed[:, 4:] != target[:, 4:]).all()
    outputs = []
    for ids in (target, changed):
        torch.manual_seed(7)  # the same values are dropped
        outputs.append(model(source, ids))
    torch.testing.assert_close(outputs[0][:, :4], outputs[1][:, :4], atol=1e-5, rtol=0)
    assert not torch.isclose(outputs[0][:, 4:], outputs[1][:, 4:]).all(dim=-1).any()


def test_every_word_of_the_source_matters_to_every_word_written(model):
    source, target = texts(model, batch=1)
    logits = model(source, target)
    for place in range(7):
        changed = source.clone()
        changed[:, place] = source[:, place] % 18 + 1
        assert not torch.isclose(model(changed, target), logits).all(dim=-1).any()


def test_what_the_memory_mask_hides_has_no_influence_and_all_else_has(model):
    source, target = texts(model)
    memory, hidden = model.encode(source), [1, 4]
    mask = torch.ones(3, 1, 1, 7, dtype=torch.bool, device=memory.device)
    mask[..., hidden] = False
    logits = model.decode(target, memory, memory_mask=mask)
    other = memory.clone()
    other[:, hidden] = 1e3
    torch.testing.assert_close(model.decode(target, other, memory_mask=mask), logits)
    for place in (0, 2, 3, 5, 6):
        other = memory.clone()
        other[:, place] += 1.0
        changed = model.decode(target, other, memory_mask=mask)
        assert not torch.isclose(changed, logits).all(dim=-1).any()


def test_what_the_target_mask_hides_has_no_influence(model):
    source, target = texts(model)
    mask = torch.ones(3, 1, 1, 6, dtype=torch.bool, device=source.device)
    mask[..., 2] = False
    other = target.clone()
    other[:, 2] = target[:, 2] % (model.config.written_vocab_size - 1) + 1
    kept = [0, 1, 3, 4, 5]
    a, b = (model(source, ids, target_mask=mask)[:, kept] for ids in (target, other))
    assert_near(a, b)


def test_the_decoder_does_not_know_the_order_of_the_memory(model):
    source, target = texts(model)
    memory, order = model.encode(source), torch.randperm(7, device=source.device)
    assert_near(model.decode(target, memory[:, order]), model.decode(target, memory))


def test_the_encoder_knows_the_order_by_its_positions_alone(kind, device):
    model = make(kind, device)
    source, _ = texts(model)
    order = torch.tensor([6, 0, 3, 1, 5, 2, 4], device=device)
    shuffled, memory = model.encode(source[:, order]), model.encode(source)[:, order]
    if kind == "no positions":
        assert_near(shuffled, memory)
    else:
        assert not torch.isclose(shuffled, memory, atol=1e-4).all(dim=-1).any()


def test_relative_positions_have_both_sides_in_the_encoder_and_the_left_one_in_the_decoder():
    model = make("like T5")
    encoder, decoder = model.source_positions, model.target_positions
    assert isinstance(encoder, RelativePositionBias)
    assert isinstance(decoder, RelativePositionBias)
    middle, around = torch.tensor([4]), torch.tensor([1, 4, 7])
    left, here, right = encoder.bias(middle, around)[:, 0].unbind(dim=-1)
    assert not torch.isclose(left, right).any()
    assert not torch.isclose(here, right).any()
    left, here, right = decoder.bias(middle, around)[:, 0].unbind(dim=-1)
    assert not torch.isclose(left, here).any()
    assert torch.equal(here, right)  # nobody asks
    assert encoder.table.weight is not decoder.table.weight


def test_padding_on_the_right_changes_nothing(model):
    source, target = texts(model)
    padded = [F.pad(ids, (0, 4)) for ids in (source, target)]
    masks = [padding_mask(ids, 0) for ids in padded]
    assert_near(model(*padded, *masks)[:, :6], model(source, target))


def test_padding_without_a_mask_is_refused_and_read_like_any_other_token_if_asked_to(model):
    source, target = texts(model)
    padded = F.pad(source, (0, 4), value=model.config.pad_id)
    with pytest.raises(
        ValueError, match=r"hold pad_id=0, and source_mask is None: .*; pass source_"
    ):
        model(padded, target)
    every_token = torch.ones(3, 1, 1, 11, dtype=torch.bool, device=source.device)
    read = model(padded, target, every_token)
    assert not torch.isclose(read, model(source, target)).all(dim=-1).any()


def test_texts_of_different_lengths_are_the_same_together_and_alone(model):
    source, target = texts(model)
    source[0, 5:], source[1, 2:], target[0, 3:], target[2, 1:] = 0, 0, 0, 0
    together = model(source, target, padding_mask(source, 0), padding_mask(target, 0))
    for row in range(3):
        alone = [ids[row : row + 1, : int((ids[row] != 0).sum())] for ids in (source, target)]
        logits = model(*alone)
        assert_near(together[row : row + 1, : logits.size(1)], logits)


def test_a_target_padded_on_the_left_counts_from_its_first_word(model):
    source, target = texts(model)
    padded = F.pad(target, (3, 0))
    positions = (torch.arange(9, device=source.device) - 3).clamp(min=0).expand(3, -1)
    memory = model.encode(source)
    logits = model.decode(padded, memory, padding_mask(padded, 0), positions=positions)
    assert_near(logits[:, 3:], model.decode(target, memory))
    assert logits.isfinite().all()  # also those of the padding, which sees nothing


def test_words_may_leap_to_other_positions(model):
    source, target = texts(model)
    positions = torch.tensor([0, 1, 2, 20, 21, 22], device=source.device).expand(3, -1)
    memory, cache = model.encode(source), model.new_cache(6)
    leaping, plain = (model.decode(target, memory, positions=p) for p in (positions, None))
    assert_near(leaping[:, :3], plain[:, :3])
    if model.config.positions in ("sinusoidal", "learned", "rotary"):
        assert not torch.isclose(leaping[:, 3:], plain[:, 3:], atol=1e-4).all(dim=-1).any()
    else:  # biases count tokens, and no positions count nothing
        assert_near(leaping, plain)
    steps = [
        model.decode(target[:, part], memory, positions=positions[:, part], cache=cache)
        for part in (slice(0, 2), slice(2, 4), slice(4, 6))
    ]
    assert_near(torch.cat(steps, dim=1), leaping)


@pytest.mark.parametrize("kind", RELATIVE)
def test_where_distances_alone_count_a_source_may_be_padded_on_the_left(kind, device):
    model = make(kind, device)
    source, target = texts(model)
    padded = F.pad(source, (3, 0))
    assert_near(model(padded, target, padding_mask(padded, 0)), model(source, target))


def test_a_source_without_a_word_leaves_the_decoder_to_itself(model):
    source, target = texts(model)
    nothing = torch.zeros(3, 1, 1, 7, dtype=torch.bool, device=source.device)
    logits = model(source, target, nothing)
    assert logits.isfinite().all()
    other, _ = texts(model)
    torch.testing.assert_close(model(other, target, nothing), logits)
    for name, gradient in all_gradients(model, logits).items():
        assert gradient.isfinite().all(), name
        if ".cross_attention." in name and not name.endswith(("output.weight", "output.bias")):
            assert (gradient == 0).all(), name


def test_no_input_is_modified(model):
    source, target = texts(model)
    masks = padding_mask(source, 0), padding_mask(target, 0)
    memory = model.encode(source)
    tensors = (source, target, *masks, memory)
    copies = [tensor.clone() for tensor in tensors]
    model(source, target, *masks)
    model.decode(target, memory, masks[1], masks[0], cache=model.new_cache(6))
    for tensor, kept in zip(tensors, copies, strict=True):
        assert torch.equal(tensor, kept)


# Learning.


def moves_no_weight(name: str, rotary: bool) -> bool:
    """Whether a parameter has no influence by construction.

    A bias of the keys adds the same to all scores of a query, which a softmax does not see; unless
    keys are turned, each by another angle.
    """
    return name.endswith("key.bias") and not (rotary and ".self_attention." in name)


def test_the_gradient_reaches_every_parameter(kind, model):
    source, target = texts(model)
    rotary = model.config.positions == "rotary"
    for name, gradient in all_gradients(model, model(source, target)).items():
        size = gradient.abs().max().item()
        assert (size < 1e-4) if moves_no_weight(name, rotary) else (size > 1e-3), (name, size)


def test_before_training_every_parameter_is_finite_and_outputs_are_moderate(kind):
    model = Transformer(config_of(kind)).eval()
    source, target = texts(model)
    assert all(parameter.isfinite().all() for parameter in model.parameters())
    assert model(source, target).std() < 5


def test_dropout_stands_where_the_paper_has_it_and_nowhere_else(kind, device):
    model = make(kind, device, dropout=0.4).train()
    source, target = texts(model)
    dropped = []
    hooks = [
        module.register_forward_hook(lambda _module, inputs, _output: dropped.append(inputs[0]))
        for module in model.modules()
        if isinstance(module, nn.Dropout)
    ]
    with record(model) as tape:
        model(source, target)
    for hook in hooks:
        hook.remove()
    expected = ["source"]
    for i in range(len(model.encoder.layers)):
        expected += [f"encoder.layers.{i}.{name}" for name in ("self_attention", "feed_forward")]
    expected.append("target")
    for i in range(len(model.decoder.layers)):
        parts = ("self_attention", "cross_attention", "feed_forward")
        expected += [f"decoder.layers.{i}.{name}" for name in parts]
    assert len(dropped) == len(expected)
    for name, tensor in zip(expected, dropped, strict=True):
        if name in ("source", "target"):
            ids = source if name == "source" else target
            embedding = getattr(model, f"{name}_embedding")(ids)
            where = torch.arange(ids.size(1), device=device)
            with_positions = getattr(model, f"{name}_positions").embed(embedding, where)
            assert torch.equal(tensor, with_positions), name
        else:
            assert tensor is tape.outputs[name], name


def test_without_dropout_training_computes_what_reading_does(model):
    """So nothing else is dropped, such as attention weights inside the kernel."""
    source, target = texts(model)
    expected = model(source, target)
    torch.testing.assert_close(model.train()(source, target), expected)


def test_dropout_is_for_training_alone(kind, device):
    model = make(kind, device, dropout=0.4)
    source, target = texts(model)
    torch.testing.assert_close(model(source, target), model(source, target))
    model.train()
    assert not torch.isclose(model(source, target), model(source, target)).all()


@pytest.fixture
def one_thread():
    """Small products are faster without a second thread to wait for."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("as_a_reader")  # hundreds of calls
@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("kind", ["the paper's", "like LLaMA"])
def test_one_batch_can_be_learned_by_heart_and_written_down_again(kind, device):
    model = Transformer(config_of(kind, d_model=32, d_ff=64, vocab_size=24)).to(device)
    source = torch.randint(3, 24, (6, 5), device=device)
    target = torch.randint(3, model.config.written_vocab_size, (6, 7), device=device)
    target[:, 0] = model.config.bos_id
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for _ in range(90):
        loss = F.cross_entropy(model(source, target[:, :-1]).mT, target[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05
    model.eval()
    with torch.no_grad():
        memory, read, written = model.encode(source), model.new_cache(7), target[:, :1]
        for _ in range(6):
            logits = model.decode(written[:, -1:], memory, cache=read)
            written = torch.cat([written, logits.argmax(dim=-1)], dim=1)
    assert torch.equal(written, target)


# Copies, devices, compilers.


def test_copied_or_saved_and_loaded_it_is_the_same(kind, model, tmp_path):
    source, target = texts(model)
    expected = model(source, target)
    torch.save(model.state_dict(), tmp_path / "model.pt")
    loaded = Transformer(config_of(kind)).to(source.device).eval()
    assert not torch.isclose(loaded(source, target), expected).any()
    loaded.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    for other in (loaded, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        torch.testing.assert_close(other(source, target), expected)
        tied = other.output.weight is other.target_embedding.weight
        assert tied == model.config.tie_embeddings
        assert len(list(other.parameters())) == len(list(model.parameters()))


def test_called_with_other_weights_it_keeps_its_own(model):
    before = dict(model.named_parameters(remove_duplicate=False))
    others = {name: torch.zeros_like(x) for name, x in model.named_parameters()}
    assert not functional_call(model, others, texts(model)).any()
    after = dict(model.named_parameters(remove_duplicate=False))
    assert after.keys() == before.keys()
    assert all(after[name] is x for name, x in before.items())


def test_a_copy_learns_by_itself(model):
    other = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(1.0)
    assert all(
        not torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True)
    )


def test_without_memory_it_has_the_same_shapes(kind):
    with torch.device("meta"):
        model = Transformer(config_of(kind))
        source, target = texts(model)
        logits = model(source, target, padding_mask(source, 0))
    assert logits.is_meta
    assert logits.shape == (3, 6, model.config.written_vocab_size)


def test_in_double_and_half_precision_it_computes_the_same(kind, device):
    model = make(kind, device)
    source, target = texts(model)
    exact = copy.deepcopy(model).double()(source, target)
    assert exact.dtype == torch.float64
    assert_near(model(source, target).double(), exact)
    for dtype, tolerance in ((torch.bfloat16, 0.1), (torch.float16, 0.01)):
        logits = copy.deepcopy(model).to(dtype)(source, target)
        assert logits.dtype == dtype
        assert (logits.double() - exact).norm() < tolerance * exact.norm()


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(  # T5 and Marian are compiled in tests/models
    ("kind", "backend"), [("like LLaMA", "aot_eager"), ("multi-query, ALiBi", "eager")]
)
def test_compiled_whole_it_gives_the_same_logits_and_gradients(kind, backend):
    model = make(kind, n_layers=1, n_decoder_layers=None)
    source, target = texts(model)
    masks = padding_mask(source, 0), padding_mask(target, 0)
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    out, expected = compiled(source, target, *masks), model(source, target, *masks)
    assert_near(out, expected, 1e-6)
    gradients, wanted = all_gradients(model, out), all_gradients(model, expected)
    for name, gradient in wanted.items():
        assert_near(gradients[name], gradient)


@pytest.mark.usefixtures("compiler")
def test_compiled_whole_it_writes_with_a_cache_step_by_step():
    model = make("like LLaMA", n_layers=1).eval()
    source, target = texts(model, target_len=7)
    compiled = torch.compile(model.decode, backend="eager", fullgraph=True)
    with torch.inference_mode():
        memory, cache, logits = model.encode(source), model.new_cache(7), []
        for start, end in ((0, 2), (2, 3), (3, 4), (4, 7)):
            logits.append(compiled(target[:, start:end], memory, cache=cache))
        assert_near(torch.cat(logits, dim=1), model.decode(target, memory), 1e-6)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("kind", ["pre-norm, learned", "like LLaMA"])
def test_exported_with_free_lengths_it_gives_the_same(kind):
    model = make(kind, n_layers=1)
    n, m, b = (torch.export.Dim(name, min=2, max=30) for name in ("n", "m", "b"))
    shapes = {"source_ids": {0: b, 1: n}, "target_ids": {0: b, 1: m}}
    program = torch.export.export(model, texts(model), dynamic_shapes=shapes).module()
    for lengths in ((3, 7, 6), (2, 2, 9), (5, 11, 2)):
        inputs = texts(model, *lengths)
        assert_near(program(*inputs), model(*inputs), 1e-6)


def test_the_machines_have_every_option_at_least_once():
    for field, default in vars(TransformerConfig(**SIZES)).items():
        if field not in (*SIZES, "norm_eps", "pad_id", "bos_id", "eos_id"):
            assert {getattr(config_of(kind), field) for kind in KINDS} - {default}, field
