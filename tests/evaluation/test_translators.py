"""How probable a translator finds what people wrote: each token once, the end among them."""

import math
import re

import pytest
import torch
import torch.nn.functional as F

from glassbox.evaluation import evaluate_translator
from glassbox.translation import TranslationTokenizer, Translator
from tests.translation import toy

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("as_a_reader")]  # thousands of calls


@torch.no_grad()
def one_by_one(translator, sources, targets, to):
    """The same, a pair at a time and without padding."""
    nats, tokens = 0.0, 0
    for source, target in zip(sources, targets, strict=True):
        source_ids = torch.tensor([translator.tokenizer.encode_source(source, to)])
        target_ids = torch.tensor([translator.tokenizer.encode_target(target)])
        device = translator.device
        logits = translator.model(source_ids.to(device), target_ids[:, :-1].to(device))
        labels = target_ids[0, 1:].to(device)
        nats += F.cross_entropy(logits[0], labels, reduction="sum").item()
        tokens += len(labels)
    return nats, tokens


@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_equals_cross_entropy_pair_by_pair(batch_size, device):
    translator = toy.blank()
    translator.model.eval().to(device)
    found = evaluate_translator(translator, toy.ENGLISH, toy.FRENCH, "fr", batch_size=batch_size)
    nats, tokens = one_by_one(translator, toy.ENGLISH, toy.FRENCH, "fr")
    assert found.n_tokens == tokens
    assert found.nats == pytest.approx(nats, rel=1e-5)


def test_the_order_of_pairs_is_nothing():
    translator = toy.blank()
    found = evaluate_translator(translator, toy.ENGLISH, toy.FRENCH, "fr", batch_size=4)
    turned = evaluate_translator(
        translator, toy.ENGLISH[::-1], toy.FRENCH[::-1], "fr", batch_size=4
    )
    assert turned.nats == pytest.approx(found.nats, rel=1e-6)
    wrong = evaluate_translator(translator, toy.ENGLISH, toy.FRENCH[::-1], "fr", batch_size=4)
    assert wrong.nats != pytest.approx(found.nats, rel=1e-6)


def test_pairs_may_come_one_by_one_and_a_single_text_is_not_its_letters():
    translator = toy.blank()
    found = evaluate_translator(translator, iter(toy.ENGLISH), iter(toy.FRENCH), "fr")
    assert found == evaluate_translator(translator, toy.ENGLISH, toy.FRENCH, "fr")
    with pytest.raises(TypeError, match="texts is of type str"):
        evaluate_translator(translator, "I see.", "Je vois.", "fr")


def test_the_end_is_a_token_and_no_byte():
    translator = toy.blank()
    found = evaluate_translator(translator, ["I see."], ["Élan !"], "fr")
    assert found.n_tokens == len(translator.tokenizer.encode_text("Élan !")) + 1
    assert found.n_bytes == 7  # an accent takes two


def test_bytes_are_those_that_the_tokens_stand_for():
    """The typographic apostrophe and the space before an exclamation mark: 3 bytes, read as 1."""
    found = evaluate_translator(toy.blank(), ["I see."], ["L\u2019arbre\u202f!"], "fr")
    assert found.n_bytes == len("L'arbre !")


def test_a_translator_of_small_letters_is_measured_on_small_letters():
    tokenizer = TranslationTokenizer.train(
        {"en": toy.ENGLISH, "fr": toy.FRENCH}, 340, lowercase=True
    )
    translator = Translator(toy.blank().model, tokenizer)
    small = evaluate_translator(translator, ["i see."], ["je vois."], "fr")
    assert evaluate_translator(translator, ["I see."], ["JE VOIS."], "fr") == small


def test_a_model_without_an_opinion_has_the_perplexity_of_its_vocabulary():
    translator = toy.blank()
    torch.nn.init.zeros_(translator.model.output.weight)
    found = evaluate_translator(translator, toy.ENGLISH, toy.FRENCH, "fr")
    assert found.perplexity == pytest.approx(340, rel=1e-5)
    assert found.bits_per_byte == pytest.approx(
        found.n_tokens * math.log2(340) / sum(len(text.encode()) for text in toy.FRENCH)
    )


def test_dropout_is_off_for_as_long():
    translator = toy.blank(dropout=0.5)
    translator.model.train()
    found = evaluate_translator(translator, toy.ENGLISH, toy.FRENCH, "fr")
    assert translator.model.training
    assert found == evaluate_translator(toy.blank(), toy.ENGLISH, toy.FRENCH, "fr")


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("sources", "targets", "options", "says"),
    [
        ([], [], {}, "no sentence pair"),
        (["a"], [" "], {}, "every target is blank"),
        (["a"], [], {}, "1 sources and 0 targets"),
        (["a"], ["b", "c"], {}, "1 sources and 2 targets"),
        (["a"], ["b"], {"to": "de"}, "to='de' is not known; expected one of ['en"),
        (["a"], ["b"], {"batch_size": 0}, "batch_size=0: expected an int, at least 1"),
    ],
)
def test_what_is_no_pair_is_refused(sources, targets, options, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        evaluate_translator(toy.blank(), sources, targets, **({"to": "fr"} | options))
