"""The loss of language models: every token once, with the context that the windows give it."""

import math
import re

import pytest
import torch
import torch.nn.functional as F
import transformers

from glassbox.evaluation import estimate_loss, evaluate_language_model
from glassbox.evaluation.likelihood import Likelihood
from glassbox.models import GPT2, Llama, LlamaConfig
from glassbox.models.character_model import CharacterModel

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("as_a_reader")]  # thousands of calls

SIZES = {"vocab_size": 11, "d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32, "max_len": 8}


def model(device="cpu", **changes):
    torch.manual_seed(0)
    made = Llama(LlamaConfig(**(SIZES | changes))).eval()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.5)  # opinions, so that context matters
    return made.to(device)


def text(length=30):
    return torch.randint(11, (length,), generator=torch.Generator().manual_seed(1))


def one_by_one(model, token_ids, context, stride):
    """The same, a token at a time: each predicted in the first window that reaches it."""
    losses = []
    for place in range(1, len(token_ids)):
        start = next(at for at in range(0, 1000, stride) if place <= at + context)
        read = token_ids[start:place][None].to(model.embedding.weight.device)
        logs = model(read)[0, -1].log_softmax(dim=-1)
        losses.append(-logs[token_ids[place]].item())
    return losses


@torch.no_grad()
@pytest.mark.parametrize("length", [2, 8, 9, 10, 17, 30])
@pytest.mark.parametrize(("context", "stride"), [(8, 8), (8, 4), (8, 3), (8, 1), (1, 1), (5, 2)])
def test_every_token_but_the_first_is_predicted_once(length, context, stride, device):
    ours = model(device, max_len=context)
    found = evaluate_language_model(ours, text(length), length, stride=stride, batch_size=2)
    expected = one_by_one(ours, text(length), context, stride)
    assert found.n_tokens == len(expected) == length - 1
    assert found.nats == pytest.approx(sum(expected), rel=1e-5)


def test_equals_the_reference_on_a_text_that_fits_one_window():
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_embd=16,
        n_layer=2,
        n_head=2,
        vocab_size=11,
        n_positions=40,
        bos_token_id=0,
        eos_token_id=0,
    )
    theirs = transformers.GPT2LMHeadModel(config).eval()
    ids = text(40)
    with torch.no_grad():
        expected = theirs(input_ids=ids[None], labels=ids[None]).loss.item()
    found = evaluate_language_model(GPT2.from_pretrained(theirs), ids, 40)
    assert found.loss == pytest.approx(expected, rel=1e-5)


def test_a_model_without_an_opinion_has_the_perplexity_of_its_vocabulary():
    blank = model()
    torch.nn.init.zeros_(blank.output.weight)
    found = evaluate_language_model(blank, text(30), 58)
    assert found.loss == pytest.approx(math.log(11))
    assert found.perplexity == pytest.approx(11)
    assert found.bits_per_byte == pytest.approx(29 * math.log2(11) / 58)


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_batches_change_nothing(batch_size):
    expected = evaluate_language_model(model(), text(), 30).nats
    found = evaluate_language_model(model(), text(), 30, batch_size=batch_size)
    assert found.nats == pytest.approx(expected, rel=1e-6)


def test_the_whole_context_without_overlap_is_meant_if_nothing_is_said():
    found = evaluate_language_model(model(), text(), 30)
    assert found == evaluate_language_model(model(), text(), 30, stride=8)
    assert found.nats != evaluate_language_model(model(), text(), 30, stride=4).nats


def estimate(model):
    draw = torch.Generator().manual_seed(2)
    return estimate_loss(model, text(), generator=draw)


def measure(model):
    return evaluate_language_model(model, text(), 30)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("function", [measure, estimate])
def test_dropout_is_off_for_as_long_and_gradients_are_as_before(function, training):
    ours = model(dropout=0.5).train(training)
    assert function(ours) == function(model())
    assert ours.training is training
    assert all(parameter.grad is None for parameter in ours.parameters())
    ours(text(8)[None]).sum().backward()


def test_the_model_is_in_its_mode_again_after_an_error():
    ours = model().train()
    with pytest.raises(ValueError, match="tokenized for another model"):
        evaluate_language_model(ours, text() + 11, 30)
    assert ours.training


@torch.no_grad()
def test_the_estimate_is_nanogpts(device):
    """Its batches: ``x`` from a random place on, ``y`` one further; the mean of their losses."""
    ours, ids = model(device), text(200)
    draw, losses = torch.Generator().manual_seed(3), []
    for _ in range(5):
        starts = torch.randint(len(ids) - 8, (4,), generator=draw)
        x = torch.stack([ids[i : i + 8] for i in starts]).to(device)
        y = torch.stack([ids[i + 1 : i + 9] for i in starts]).to(device)
        losses.append(F.cross_entropy(ours(x).flatten(0, 1), y.flatten()).item())
    draw = torch.Generator().manual_seed(3)
    found = estimate_loss(ours, ids, batch_size=4, n_batches=5, generator=draw)
    assert found.loss == pytest.approx(sum(losses) / 5, rel=1e-5)
    spread = torch.tensor(losses, dtype=torch.float64).std().item()
    assert found.standard_error == pytest.approx(spread / math.sqrt(5), rel=1e-4)


@torch.no_grad()
def test_the_least_of_many_estimates_is_too_good():
    """They scatter around the mean over all windows, and as widely as they say."""
    ours, ids = model(), text(4000)
    draw = torch.Generator().manual_seed(4)
    estimates = [estimate_loss(ours, ids, generator=draw) for _ in range(40)]
    losses = torch.tensor([one.loss for one in estimates], dtype=torch.float64)
    windows = ids.unfold(0, 9, 1)
    logits, labels = ours(windows[:, :-1]), windows[:, 1:]
    mean = F.cross_entropy(logits.flatten(0, 1), labels.flatten()).item()
    spread = losses.std().item()
    assert losses.mean().item() == pytest.approx(mean, abs=3 * spread / math.sqrt(40))
    assert losses.min().item() < mean - spread
    stated = sum(one.standard_error for one in estimates) / 40
    assert stated == pytest.approx(spread, rel=0.3)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"stride": 0}, "stride=0: expected an int, at least 1"),
        ({"stride": 2.0}, "stride=2.0: expected an int"),
        ({"stride": 9}, "stride=9: above max_len=8"),
        ({"batch_size": 0}, "batch_size=0: expected an int, at least 1"),
        ({"n_bytes": 0}, "n_bytes=0: expected an int, at least 1"),
        ({"token_ids": text(1)}, "a text of 1 tokens: expected 2"),
        ({"token_ids": text(0)}, "a text of 0 tokens: expected 2"),
        ({"token_ids": text()[None]}, "token_ids (1, 30): expected one text, (length,)"),
    ],
)
def test_what_cannot_be_measured_is_refused(options, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        evaluate_language_model(model(), **({"token_ids": text(), "n_bytes": 30} | options))


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_batches": 1}, "n_batches=1: expected an int, at least 2"),
        ({"batch_size": 0}, "batch_size=0: expected an int, at least 1"),
        ({"token_ids": text(8)}, "a text of 8 tokens is too short for windows of max_len=8"),
    ],
)
def test_what_cannot_be_estimated_is_refused(options, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        estimate_loss(model(), **({"token_ids": text()} | options))


@pytest.mark.parametrize(
    "function", [lambda model, ids: evaluate_language_model(model, ids, 30), estimate_loss]
)
@pytest.mark.parametrize(
    ("token_ids", "says"),
    [
        (text().tolist(), "token_ids is of type list, .*; expected a tensor"),
        (text().double(), "token_ids is torch.float64; expected a tensor of integers"),
    ],
)
def test_ids_that_are_no_tensor_of_integers_are_refused(function, token_ids, says):
    with pytest.raises(TypeError, match=says):
        function(model(), token_ids)


@pytest.mark.parametrize(
    "function", [lambda model, ids: evaluate_language_model(model, ids, 30), estimate_loss]
)
def test_a_model_with_its_characters_is_refused(function):
    with pytest.raises(TypeError, match=r"model is of type CharacterModel, .*; expected a Lang"):
        function(CharacterModel.from_pretrained(), text())


def test_one_window_is_enough_for_an_estimate():
    assert estimate_loss(model(), text(9)).standard_error == pytest.approx(0, abs=1e-9)


def test_a_model_that_is_broken_is_no_figure():
    broken = model()
    torch.nn.init.constant_(broken.output.weight, math.nan)
    with pytest.raises(ValueError, match="nats=nan: the model assigns the text probability 0"):
        evaluate_language_model(broken, text(), 30)


@pytest.mark.parametrize(
    ("nats", "n_tokens", "n_bytes", "says"),
    [
        (1.0, 0, 1, "n_tokens=0: expected an int, at least 1"),
        (1.0, 1, 0, "n_bytes=0: expected an int, at least 1"),
        (math.inf, 1, 1, "nats=inf"),
    ],
)
def test_a_likelihood_of_nothing_is_refused(nats, n_tokens, n_bytes, says):
    with pytest.raises(ValueError, match=says):
        Likelihood(nats, n_tokens, n_bytes)


def test_bits_count_bytes_where_perplexity_counts_tokens():
    """Two bits for each of 4 tokens, which stand for 16 bytes: half a bit each."""
    found = Likelihood(4 * 2 * math.log(2), 4, 16)
    assert found.loss == pytest.approx(2 * math.log(2))
    assert found.perplexity == pytest.approx(4)
    assert found.bits_per_byte == pytest.approx(0.5)


def test_a_perplexity_beyond_all_numbers_is_infinite():
    assert Likelihood(800.0, 1, 1).perplexity == math.inf
