"""Looking into a model shows what it computed, and changes nothing."""

import copy
import pickle
import threading

import pytest
import torch
from torch import nn
from torch.nn.modules import module as nn_module

from glassbox import (
    MultiHeadAttention,
    causal_mask,
    padding_mask,
    record,
    scaled_dot_product_attention,
)
from glassbox.attention.multi_head import observers
from glassbox.config import StackConfig
from glassbox.transformer import Encoder
from tests.machines import KINDS, all_gradients, assert_near, make, texts

CONFIG = StackConfig(d_model=16, n_heads=4, n_layers=3, d_ff=32, dropout=0.0)
NAMES = [f"layers.{i}.self_attention" for i in range(3)]


@pytest.fixture
def encoder(device):
    return Encoder(CONFIG).to(device).eval()


@pytest.fixture
def x(device):
    return torch.randn(2, 5, 16, device=device)


def leaves_no_trace(model: nn.Module) -> bool:
    """Whether nothing of a recording is left, on the model or anywhere."""
    return (
        observers.get() == ()
        and not nn_module._global_forward_hooks
        and not any(module._forward_hooks for module in model.modules())
    )


def test_every_attention_is_recorded_by_name_in_the_order_it_ran(encoder, x):
    with record(encoder) as tape:
        encoder(x)
    assert list(tape) == NAMES
    assert len(tape) == 3
    assert repr(tape) == f"Tape({', '.join(NAMES)})"
    assert "layers.0.self_attention" in tape
    assert "layers.9.self_attention" not in tape


def test_a_record_holds_the_tensors_of_the_forward_pass(encoder, x):
    mask = causal_mask(5, device=x.device)
    with record(encoder) as tape:
        encoder(x, mask)
    look, attention = tape[NAMES[0]], encoder.get_submodule(NAMES[0])
    for name in ("query", "key", "value"):
        flat = getattr(look, name).transpose(1, 2).flatten(2)
        assert torch.equal(flat, tape.outputs[f"{NAMES[0]}.{name}"])
        torch.testing.assert_close(flat, getattr(attention, name)(x))
    context, weights = scaled_dot_product_attention(look.query, look.key, look.value, mask)
    torch.testing.assert_close(look.weights, weights)
    torch.testing.assert_close(look.context, context)
    merged = look.context.transpose(1, 2).flatten(2)
    torch.testing.assert_close(attention.output(merged), tape.outputs[NAMES[0]])


def test_scores_are_those_before_the_mask(encoder, x):
    mask = causal_mask(5, device=x.device)
    with record(encoder) as tape:
        encoder(x, mask)
    for look in tape.values():
        assert look.scores.isfinite().all()
        assert (look.weights[..., ~mask] == 0).all()
        torch.testing.assert_close(
            look.scores.masked_fill(~mask, -torch.inf).softmax(dim=-1), look.weights
        )


def test_every_submodule_s_output_is_kept(encoder, x):
    with record(encoder) as tape:
        out = encoder(x)
    ran = {name for name, _ in encoder.named_modules() if name != "layers"}  # a list, never called
    assert set(tape.outputs) == ran
    assert tape.outputs[""] is out
    torch.testing.assert_close(tape.outputs["layers.0"], encoder.layers[0](x))


@pytest.mark.parametrize("masked", [False, True], ids=["all", "causal"])
def test_recorded_and_unrecorded_outputs_are_equal(encoder, x, masked):
    mask = causal_mask(5, device=x.device) if masked else None
    expected = encoder(x, mask)
    with record(encoder):
        out = encoder(x, mask)
    assert (out - expected).abs().max() <= 1e-6 * expected.abs().max()


def test_recorded_and_unrecorded_gradients_are_equal(encoder, x):
    expected = torch.autograd.grad(encoder(x).square().mul(x).sum(), encoder.parameters())
    with record(encoder) as tape:
        out = encoder(x)
    assert tape[NAMES[1]].weights.requires_grad  # a map can be differentiated through
    gradients = torch.autograd.grad(out.square().mul(x).sum(), encoder.parameters())
    for a, b in zip(gradients, expected, strict=True):
        assert (a - b).abs().max() <= 1e-5 * max(1.0, b.abs().max().item())


def test_dropout_is_the_same_while_somebody_looks():
    model = Encoder(StackConfig(16, 4, 3, 32, dropout=0.5)).train()
    x, outputs = torch.randn(2, 5, 16), []
    for _ in range(2):
        torch.manual_seed(3)
        outputs.append(model(x))
    torch.manual_seed(3)
    with record(model):
        outputs.append(model(x))
    torch.testing.assert_close(outputs[1], outputs[0])
    torch.testing.assert_close(outputs[2], outputs[0])


def test_nothing_is_left_on_the_model(encoder, x):
    before = {name: dict(vars(module)) for name, module in encoder.named_modules()}
    keys = list(encoder.state_dict())
    with record(encoder):
        encoder(x)
        assert list(encoder.state_dict()) == keys
    assert leaves_no_trace(encoder)
    assert {name: dict(vars(module)) for name, module in encoder.named_modules()} == before
    assert list(encoder.state_dict()) == keys


def test_an_exception_inside_the_block_leaves_no_trace_either(encoder, x):
    def look():
        with record(encoder):
            encoder(x)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        look()
    assert leaves_no_trace(encoder)


def test_a_forward_pass_that_fails_leaves_no_trace(encoder, x):
    with pytest.raises(ValueError, match="mask"), record(encoder):
        encoder(x, torch.ones(3, 3, dtype=torch.bool, device=x.device))
    assert leaves_no_trace(encoder)
    encoder(x)


def test_copies_made_inside_and_outside_the_block_are_whole(encoder, x):
    with record(encoder) as tape:
        expected = encoder(x)
        inside = copy.deepcopy(encoder)
        pickled = pickle.loads(pickle.dumps(encoder))
    for other in (inside, pickled, copy.deepcopy(encoder)):
        assert leaves_no_trace(other)
        torch.testing.assert_close(other(x), expected)
    seen = tape.outputs[""]
    inside(x * 2)
    assert tape.outputs[""] is seen  # a copy does not write onto the original's tape


def test_what_runs_after_the_block_is_not_recorded(encoder, x):
    with record(encoder) as tape:
        pass
    encoder(x)
    assert len(tape) == 0
    assert not tape.outputs


def test_other_models_are_not_recorded(encoder, x):
    other = Encoder(CONFIG).to(x.device).eval()
    expected = other(x)
    with record(encoder) as tape:
        torch.testing.assert_close(other(x), expected)
    assert len(tape) == 0
    assert not tape.outputs


def test_recordings_nest(encoder, x):
    layer = encoder.layers[1]
    with record(encoder) as outer:
        with record(layer) as inner:
            encoder(x)
        encoder(x)
    assert list(outer) == NAMES
    assert list(inner) == ["self_attention"]
    assert len(inner.runs["self_attention"]) == 1
    assert len(outer.runs[NAMES[1]]) == 2
    assert inner["self_attention"].weights is outer.runs[NAMES[1]][0].weights
    assert torch.equal(inner.outputs[""], outer.outputs["layers.1"])
    assert leaves_no_trace(encoder)


def test_a_module_that_ran_twice_stands_with_its_last_run(encoder, x):
    with record(encoder) as tape:
        encoder(x)
        encoder(2 * x)
    first, second = tape.runs[NAMES[0]]
    assert tape[NAMES[0]] is second
    assert not torch.equal(first.query, second.query)
    assert len(tape) == 3


def test_an_attention_by_itself_has_the_empty_name(x, device):
    attention = MultiHeadAttention(16, 4).to(device)
    memory = torch.randn(2, 7, 16, device=device)
    with record(attention) as tape:
        attention(x, memory)
    assert list(tape) == [""]
    assert tape[""].weights.shape == (2, 4, 5, 7)
    assert set(tape.outputs) == {"", "query", "key", "value", "output"}


def test_threads_do_not_see_each_other_s_recordings(encoder, x):
    tapes, both_look = {}, threading.Barrier(2, timeout=120)

    def look(name, inputs):
        with record(encoder) as tape:
            both_look.wait()
            encoder(inputs)
            both_look.wait()
        tapes[name] = tape

    threads = [threading.Thread(target=look, args=(n, x * (n + 1))) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(2):
        assert all(len(runs) == 1 for runs in tapes[n].runs.values())
        expected = encoder.layers[0].self_attention.query(x * (n + 1))
        torch.testing.assert_close(tapes[n].outputs[f"{NAMES[0]}.query"], expected)
    assert leaves_no_trace(encoder)


@pytest.mark.usefixtures("compiler")
def test_a_compiled_model_is_recorded_whole_and_stays_compiled(encoder, x):
    expected = encoder(x)
    encoder.compile(backend="eager", fullgraph=True)
    for _ in range(2):
        torch.testing.assert_close(encoder(x), expected)
        with record(encoder) as tape:
            torch.testing.assert_close(encoder(x), expected)
        assert list(tape) == NAMES
        assert len(tape.outputs) == len(list(encoder.modules())) - 1
        assert leaves_no_trace(encoder)


@pytest.mark.usefixtures("compiler")
@pytest.mark.filterwarnings("ignore:Using `torch.compile:UserWarning")  # says a hook runs twice
def test_a_compiled_wrapper_is_recorded_under_the_model_s_own_names(encoder, x):
    compiled = torch.compile(encoder, backend="eager")
    assert isinstance(compiled, nn.Module)
    compiled(x)
    with record(compiled) as tape:
        compiled(x)
    assert list(tape) == NAMES


def test_a_model_without_attention_is_refused_by_name(as_a_reader):
    with pytest.raises(ValueError, match=r"Linear has no .*MultiHeadAttention .*output_attentions"):
        record(nn.Linear(3, 3)).__enter__()
    with pytest.raises(ValueError, match=r"str has no .*Give the model itself, such as trans"):
        record("minilm").__enter__()  # type: ignore[arg-type]
    assert observers.get() == ()


def test_an_unknown_name_is_answered_with_the_known_ones(encoder, x, as_a_reader):
    with record(encoder) as tape:
        with pytest.raises(KeyError, match=r"no attention called 'layer 0'.*run the model inside"):
            tape["layer 0"]
        encoder(x)
    with pytest.raises(KeyError, match=r"no attention called 'layer 0'.*layers\.2.self_attention"):
        tape["layer 0"]


def test_an_unknown_output_is_answered_with_names_like_it(encoder, x, as_a_reader):
    with record(encoder) as tape:
        with pytest.raises(KeyError, match=r"no module called 'layers\.0'.*run the model inside"):
            tape.outputs["layers.0"]
        encoder(x)
    with pytest.raises(
        KeyError, match=r"no module called 'layers\.1\.norm'.*layers\.1\.[a-z]+_norm"
    ):
        tape.outputs["layers.1.norm"]
    with pytest.raises(
        KeyError, match=r"no module called '\?'.* 37 outputs.*list\(tape\.outputs\)"
    ):
        tape.outputs["?"]


# Through a whole Transformer.


def names_of(model):
    """The attentions of a Transformer in the order they run."""
    encoder = [f"encoder.layers.{i}.self_attention" for i in range(len(model.encoder.layers))]
    return encoder + [
        f"decoder.layers.{i}.{part}"
        for i in range(len(model.decoder.layers))
        for part in ("self_attention", "cross_attention")
    ]


@pytest.fixture(params=KINDS)
def transformer(request, device):
    return make(request.param, device)


def test_encoder_decoder_and_cross_attention_are_recorded_by_name(transformer):
    source, target = texts(transformer)
    with record(transformer) as tape:
        transformer(source, target)
    assert list(tape) == names_of(transformer)
    for name, look in tape.items():
        n_heads = transformer.get_submodule(name).n_heads
        q_len = 7 if name.startswith("encoder") else 6
        k_len = 6 if name.startswith("decoder") and name.endswith("self_attention") else 7
        assert look.weights.shape == (3, n_heads, q_len, k_len)
        assert look.key.shape[:3] == look.value.shape[:3] == (3, n_heads, k_len)
        rows = look.weights.sum(dim=-1)
        torch.testing.assert_close(rows, torch.ones_like(rows))


def test_every_record_is_the_formula_of_its_own_tensors(transformer):
    source, target = texts(transformer)
    with record(transformer) as tape:
        transformer(source, target)
    for name, look in tape.items():
        past = name.startswith("decoder") and name.endswith("self_attention")
        mask = causal_mask(6, device=source.device) if past else None
        scores = look.query @ look.key.mT * (look.query.size(-1) ** -0.5)
        if transformer.config.scale is not None:
            scores = look.query @ look.key.mT * transformer.config.scale
        scores = scores if look.bias is None else scores + look.bias
        torch.testing.assert_close(look.scores, scores)
        if past:
            torch.testing.assert_close(look.mask, mask)
        else:
            assert look.mask is None
        hidden = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        torch.testing.assert_close(look.weights, hidden.softmax(dim=-1))
        torch.testing.assert_close(look.context, look.weights @ look.value)
        merged = look.context.transpose(1, 2).flatten(2)
        attention = transformer.get_submodule(name)
        torch.testing.assert_close(tape.outputs[name], attention.output(merged))


def test_a_recorded_transformer_s_logits_and_gradients_are_equal(transformer):
    source, target = texts(transformer)
    transformer.double()  # in single precision a kernel rounds in another place
    masks = padding_mask(source, 5), padding_mask(target, 5)  # some word that is there
    expected = transformer(source, target, *masks)
    with record(transformer):
        logits = transformer(source, target, *masks)
    assert_near(logits, expected, 1e-12)
    given, wanted = all_gradients(transformer, logits), all_gradients(transformer, expected)
    size = max(gradient.abs().max().item() for gradient in wanted.values())
    for name, gradient in wanted.items():
        assert (given[name] - gradient).abs().max() <= 1e-12 * size, name


def test_reading_step_by_step_every_run_is_on_the_tape(transformer):
    source, target = texts(transformer)
    cache = transformer.new_cache(6)
    with torch.no_grad(), record(transformer) as tape:
        memory = transformer.encode(source)
        for start, end in ((0, 3), (3, 4), (4, 6)):
            transformer.decode(target[:, start:end], memory, cache=cache)
    assert list(tape) == names_of(transformer)
    with torch.no_grad(), record(transformer) as whole:
        transformer(source, target)
    for name, runs in tape.runs.items():
        if name.startswith("encoder"):
            assert len(runs) == 1
            continue
        own = name.endswith("self_attention")
        assert [run.query.size(2) for run in runs] == [3, 1, 2]
        assert [run.weights.size(3) for run in runs] == ([3, 4, 6] if own else [7, 7, 7])
        assert tape[name] is runs[-1]
        for run, start in zip(runs, (0, 3, 4), strict=True):  # as rows of the map of it all
            rows = whole[name].weights[:, :, start : start + run.query.size(2)]
            assert_near(run.weights, rows[..., : run.weights.size(3)], 1e-6)


def test_parts_of_a_transformer_can_be_looked_into_by_themselves(transformer):
    source, target = texts(transformer)
    with record(transformer.decoder) as tape:
        transformer(source, target)
    expected = [name.removeprefix("decoder.") for name in names_of(transformer)]
    assert list(tape) == [name for name in expected if not name.startswith("encoder")]
    assert set(tape.outputs) >= {"", "layers.0", "layers.0.cross_attention.output"}


def test_in_training_maps_are_those_before_any_dropout():
    model = make("the paper's", dropout=0.5).train()
    source, target = texts(model)
    with record(model) as tape:
        model(source, target)
    for look in tape.values():
        rows = look.weights.sum(dim=-1)
        torch.testing.assert_close(rows, torch.ones_like(rows))
        torch.testing.assert_close(look.context, look.weights @ look.value)


def test_a_recorded_transformer_leaves_no_trace(transformer):
    source, target = texts(transformer)
    keys = list(transformer.state_dict())
    with record(transformer):
        transformer(source, target)
        copied = copy.deepcopy(transformer)
    assert leaves_no_trace(transformer)
    assert leaves_no_trace(copied)
    assert list(transformer.state_dict()) == keys
