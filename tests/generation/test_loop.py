"""What holds for every text that is written: where it ends, and what it does not depend on."""

import copy
from typing import Any

import pytest
import torch

from glassbox import padding_mask, record
from glassbox.generation import (
    GenerationConfig,
    RunningBatch,
    beam_search,
    contrastive_search,
    generate,
    speculative,
    stream,
)
from glassbox.models import GPT2, GPT2Config
from glassbox.transformer import Transformer, TransformerConfig
from tests.generation.conftest import EOS, PAD
from tests.generation.stub import TableModel

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("as_a_reader")]  # thousands of calls

ENDS = (EOS, 4, 29, 7)
SIZES: dict[str, Any] = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_ff": 8, "vocab_size": 9}


def unpad(pair, row):
    """One row of the batch alone, without its padding."""
    ids = pair.ids[row : row + 1, pair.mask[row]]
    return {"source_ids" if pair.sources else "prompt_ids": ids}


@pytest.mark.parametrize("n_beams", [1, 3], ids=["greedy", "beams"])
@pytest.mark.parametrize("options", [{}, {"repetition_penalty": 1.5, "no_repeat_ngram": 2}])
def test_padding_and_other_rows_change_nothing(pair, n_beams, options):
    options = {"max_new_tokens": 10, "n_beams": n_beams, "eos_id": ENDS, "pad_id": PAD} | options
    together = generate(pair.ours, **pair.inputs(), **options)
    prompt_len = 1 if pair.sources else 7
    for row in range(4):
        alone = generate(pair.ours, **unpad(pair, row), **options)
        new = alone[0, 1 if pair.sources else int(pair.mask[row].sum()) :]
        assert torch.equal(together[row, prompt_len : prompt_len + len(new)], new)
        assert (together[row, prompt_len + len(new) :] == PAD).all()


@pytest.mark.parametrize("options", [{}, {"n_beams": 3}, {"sample": True, "top_k": 9}])
def test_the_cache_changes_no_token(pair, options):
    def write(use_cache):
        torch.manual_seed(0)
        return generate(
            pair.ours, **pair.inputs(), max_new_tokens=12, use_cache=use_cache, **options
        )

    assert torch.equal(write(True), write(False))


def test_a_row_that_has_ended_is_filled_up_until_all_have(device):
    model = TableModel(5).to(device)
    model.vectors.data = torch.eye(5, device=device)[:, :4].contiguous()
    model.weight.data = torch.zeros(5, 4, device=device)
    for a, b in ((1, 2), (2, 0), (0, 3)):
        model.weight.data[b, a] = 9.0
    prompt = torch.tensor([[1], [0], [2]], device=device)
    ours = generate(model, prompt, max_new_tokens=9, eos_id=3, pad_id=4)
    assert ours.tolist() == [[1, 2, 0, 3], [0, 3, 4, 4], [2, 0, 3, 4]]
    ours = generate(model, prompt, max_new_tokens=9, eos_id=3)  # without a filler the end fills
    assert ours.tolist() == [[1, 2, 0, 3], [0, 3, 3, 3], [2, 0, 3, 3]]
    ours = generate(model, prompt, max_new_tokens=2, eos_id=3, pad_id=4)
    assert ours.tolist() == [[1, 2, 0], [0, 3, 4], [2, 0, 3]]


def test_the_model_s_own_ids_end_and_fill_where_no_others_are_given(pair):
    named: dict[str, Any] = {"eos_id": EOS, "pad_id": PAD}
    ours = generate(pair.ours, **pair.inputs(), max_new_tokens=40)
    assert torch.equal(ours, generate(pair.ours, **pair.inputs(), max_new_tokens=40, **named))
    endless = generate(pair.ours, **pair.inputs(), max_new_tokens=40, eos_id=())
    assert endless.size(1) == (1 if pair.sources else 7) + 40


def test_several_ends_may_come_in_any_form():
    model, ends = TableModel(9), [0, 3, 4, 5, 8]
    for n_beams in (1, 2):
        options: dict[str, Any] = {"max_new_tokens": 9, "n_beams": n_beams}
        expected = generate(model, torch.tensor([[1]]), eos_id=tuple(ends), **options)
        assert expected.size(1) < 10
        forms: list[Any] = [ends, {*ends}, iter(ends)]
        for given in forms:
            ours = GenerationConfig(eos_id=given, pad_id=0, **options)
            assert torch.equal(generate(model, torch.tensor([[1]]), ours), expected)


def test_streaming_gives_the_tokens_of_generate_one_by_one(pair):
    for way in ({}, {"sample": True, "temperature": 1.5}):
        options: dict[str, Any] = {"max_new_tokens": 9, "eos_id": ENDS, **way}
        torch.manual_seed(0)
        whole = generate(pair.ours, **pair.inputs(), **options)
        torch.manual_seed(0)
        steps = list(stream(pair.ours, **pair.inputs(), **options))
        assert all(step.shape == (4,) and not step.is_inference() for step in steps)
        assert torch.equal(torch.stack(steps, dim=1), whole[:, -len(steps) :])


def test_streaming_computes_a_token_when_it_is_asked_for():
    model = TableModel(5)
    tokens = stream(model, torch.tensor([[1]]), max_new_tokens=9)
    assert model.passes == 0
    next(tokens)
    next(tokens)
    assert model.passes == 2
    assert torch.is_grad_enabled()  # between the steps the caller's settings hold
    assert not torch.is_inference_mode_enabled()


def test_the_last_token_is_not_read():
    model = TableModel(5)
    generate(model, torch.tensor([[1]]), max_new_tokens=9)
    assert model.passes == 9
    beam_search(model, torch.tensor([[1]]), max_new_tokens=9, n_beams=2)
    assert model.passes == 18


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_cache": False},
        {"sample": True},
        {"n_beams": 2},
        {"prompt_mask": torch.tensor([0, 1, 1]).bool().expand(2, 1, 1, 3)},
    ],
    ids=["greedy", "no cache", "sampling", "beams", "left padding"],
)
def test_the_last_token_needs_no_position(options):
    """Four positions: a prompt of three tokens and two new ones, of which one is read."""
    prompt = torch.tensor([[1, 2, 3], [4, 5, 6]])
    model = GPT2(GPT2Config(max_len=4, **SIZES)).eval()
    assert generate(model, prompt, max_new_tokens=2, eos_id=(), **options).shape == (2, 5)
    with pytest.raises(ValueError, match="at most max_new_tokens=2"):
        generate(model, prompt, max_new_tokens=3, **options)

    translator = Transformer(TransformerConfig(positions="learned", max_len=4, **SIZES)).eval()
    inputs = {"source_ids": prompt} | {n: x for n, x in options.items() if n != "prompt_mask"}
    assert generate(translator, **inputs, max_new_tokens=4, eos_id=()).shape == (2, 5)


def test_a_verified_token_needs_a_position_and_the_last_one_does_not():
    model = GPT2(GPT2Config(max_len=4, **SIZES)).eval()
    prompt = torch.tensor([[1, 2]])
    ids = generate(model, prompt, max_new_tokens=3, eos_id=())
    for n_draft in (1, 2, 4):
        both = speculative(model, model, prompt, n_draft=n_draft, max_new_tokens=3, eos_id=())
        assert torch.equal(both.token_ids, ids)
    assert contrastive_search(model, prompt, max_new_tokens=2, eos_id=()).size(1) == 4


def test_options_are_given_singly_or_together_or_both():
    model, prompt = TableModel(9), torch.tensor([[1, 2]])
    config = GenerationConfig(max_new_tokens=5, n_beams=2)
    singly = generate(model, prompt, max_new_tokens=5, n_beams=2)
    assert torch.equal(generate(model, prompt, config), singly)
    assert generate(model, prompt, config, max_new_tokens=3).size(1) == 5
    assert config.max_new_tokens == 5
    assert generate(model, prompt).size(1) == 2 + GenerationConfig().max_new_tokens


def test_a_token_that_is_never_written_still_ends_a_text_if_it_is_to():
    model, prompt = TableModel(9), torch.tensor([[1, 2]])
    written = generate(model, prompt, eos_id=())[0]
    model.config.never_written = (int(written[2]),)
    assert written[2] not in generate(model, prompt, eos_id=())[0, 2:]
    assert torch.equal(generate(model, prompt, eos_id=int(written[2]))[0], written[:3])


def test_the_model_and_its_inputs_stay_as_they_were(pair):
    weights = copy.deepcopy(pair.ours.state_dict())
    inputs = {name: x.clone() for name, x in pair.inputs().items()}
    generate(pair.ours, **pair.inputs(), max_new_tokens=5)
    generate(pair.ours, **pair.inputs(), max_new_tokens=5, n_beams=2)
    assert all(torch.equal(x, weights[name]) for name, x in pair.ours.state_dict().items())
    assert all(torch.equal(x, inputs[name]) for name, x in pair.inputs().items())
    assert not pair.ours.training
    assert all(parameter.grad is None for parameter in pair.ours.parameters())


def test_what_was_written_can_be_trained_on(pair):
    for n_beams in (1, 2):
        ids = generate(pair.ours, **pair.inputs(), max_new_tokens=5, n_beams=n_beams)
        assert not ids.is_inference()
        model = copy.deepcopy(pair.ours)
        logits = model(pair.ids, ids, pair.inputs()["source_mask"]) if pair.sources else model(ids)
        logits.sum().backward()


def test_prompts_of_an_encoder_decoder_begin_its_output(pair):
    if not pair.sources:
        return
    start = torch.full((4, 1), PAD, device=pair.device)
    forced = torch.cat([start, pair.ids[:, :2]], dim=1)
    theirs = pair.reference(max_new_tokens=8, do_sample=False, decoder_input_ids=forced)
    ours = generate(pair.ours, forced, **pair.inputs(), max_new_tokens=8)
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("options", [{}, {"n_beams": 2}])
def test_recording_sees_every_step(pair, options):
    with record(pair.ours) as tape:
        ids = generate(pair.ours, **pair.inputs(), max_new_tokens=5, eos_id=(), **options)
    assert torch.equal(
        ids, generate(pair.ours, **pair.inputs(), max_new_tokens=5, eos_id=(), **options)
    )
    prompt_len, rows = (1 if pair.sources else 7), 4 * options.get("n_beams", 1)
    name = next(name for name in tape if "decoder" in name and "self_attention" in name)
    shapes = [tuple(run.weights.shape) for run in tape.runs[name]]
    assert shapes == [(4, 4, prompt_len, prompt_len)] + [
        (rows, 4, 1, prompt_len + step) for step in range(1, 5)
    ]
    for run in tape.runs[name][1:]:
        torch.testing.assert_close(run.weights.sum(dim=-1), torch.ones_like(run.weights[..., 0]))
    crossing = [name for name in tape if "cross_attention" in name]
    assert bool(crossing) == pair.sources
    for name in crossing:
        assert [run.weights.shape[-2:] for run in tape.runs[name]] == [(1, 7)] * 5
        blind = ~pair.mask.repeat_interleave(rows // 4, dim=0)
        assert not tape[name].weights.movedim(-1, 1)[blind].any()


def test_a_running_batch_goes_back_and_on_again(pair):
    config = GenerationConfig(max_new_tokens=6)
    tokens = torch.randint(VOCAB := pair.ours.config.vocab_size - 2, (4, 6), device=pair.device)
    inputs = {"prompt_ids": None} | pair.inputs()
    with torch.inference_mode():
        straight = RunningBatch(pair.ours, config=config, **inputs)
        straight.append(tokens)
        expected = straight.read()
        winding = RunningBatch(pair.ours, config=config, **inputs)
        winding.read()
        winding.append((tokens + 1) % VOCAB)
        winding.read()
        winding.crop(winding.length - 6)
        winding.append(tokens[:, :2])
        winding.append(tokens[:, 2:5])
        winding.read()
        winding.reorder(torch.tensor([3, 0, 1, 2], device=pair.device))
        winding.reorder(torch.tensor([1, 2, 3, 0], device=pair.device))
        winding.append(tokens[:, 5:])
        torch.testing.assert_close(winding.read(), expected)
    assert torch.equal(winding.token_ids, straight.token_ids)


def test_rows_that_are_copied_and_moved_go_on_as_before(pair):
    config, rows = GenerationConfig(max_new_tokens=2), torch.tensor([2, 2, 0, 3, 1, 1])
    rows = rows.to(pair.device)
    inputs = {"prompt_ids": None} | pair.inputs()
    with torch.inference_mode():
        whole = RunningBatch(pair.ours, config=config, **inputs)
        whole.read()
        whole.append(torch.full((4, 1), 3, device=pair.device))
        moved = RunningBatch(pair.ours, config=config, **inputs)
        moved.read()
        moved.reorder(rows)
        moved.append(torch.full((6, 1), 3, device=pair.device))
        torch.testing.assert_close(moved.read(), whole.read()[rows])
        assert torch.equal(moved.token_ids, whole.token_ids[rows])


@pytest.mark.parametrize("n_beams", [1, 2])
def test_one_mask_may_serve_all_rows(pair, n_beams):
    ids, mask = pair.ids[1:2].expand(3, -1), pair.mask[1:2, None, None]
    name = "source" if pair.sources else "prompt"
    options: dict[str, Any] = {"max_new_tokens": 5, "n_beams": n_beams}
    ours = generate(pair.ours, **{f"{name}_ids": ids, f"{name}_mask": mask}, **options)
    rows = mask.expand(3, -1, -1, -1)
    each = generate(pair.ours, **{f"{name}_ids": ids, f"{name}_mask": rows}, **options)
    assert torch.equal(ours, each)


def test_a_mask_that_hides_nothing_is_none_at_all():
    ids = torch.tensor([[1, 2], [3, 4]])
    batch = RunningBatch(TableModel(9), ids, GenerationConfig(), prompt_mask=padding_mask(ids, 0))
    assert batch.mask is None
    ids = torch.tensor([[0, 2], [3, 4]])
    batch = RunningBatch(TableModel(9), ids, GenerationConfig(), prompt_mask=padding_mask(ids, 0))
    batch.append(torch.tensor([[0], [0]]))  # new tokens are no padding, whatever they are
    assert batch.mask is not None
    assert batch.mask.tolist() == [[False, True, True], [True, True, True]]
