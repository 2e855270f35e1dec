"""BERT's heads: what they compute, how they are put on an encoder, what they refuse."""

import copy
import json
from typing import Any

import pytest
import torch
from torch import nn

from glassbox import padding_mask, record
from glassbox.layers import gelu
from glassbox.models import (
    Bert,
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForTokenClassification,
    find_weights,
)
from glassbox.weights import read_weights, write_model

SIZES: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 32,
    "vocab_size": 50,
    "max_len": 12,
    "labels": ("no", "perhaps", "yes"),
}
HEADS: list[Any] = [BertForMaskedLM, BertForSequenceClassification, BertForTokenClassification]
CLASSIFIERS = HEADS[1:]
OUTPUTS = {BertForMaskedLM: (9, 50), BertForSequenceClassification: (3,)}


def make(head, **sizes):
    """A model whose every parameter was drawn: no bias is 0, and maps are not flat."""
    model = head(BertConfig(**SIZES | sizes))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if "norm" in name and name.endswith("weight") else 0.0, 0.3)
    return model.eval()


@pytest.fixture(params=HEADS, ids=lambda head: head.__name__)
def model(request, device):
    return make(request.param).to(device)


@pytest.fixture
def ids(device):
    return torch.randint(1, 50, (3, 9), device=device)


def test_logits_have_the_shape_of_their_task(model, ids):
    assert model(ids).shape == (3, *OUTPUTS.get(type(model), (9, 3)))


def test_a_text_is_judged_by_its_first_position_alone(ids, device):
    model = make(BertForSequenceClassification).to(device)
    hidden = model.bert(ids)
    pooled = torch.tanh(hidden[:, 0] @ model.pooler.weight.T + model.pooler.bias)
    expected = pooled @ model.classifier.weight.T + model.classifier.bias
    torch.testing.assert_close(model(ids), expected)


def test_each_word_is_judged_by_its_own_position(ids, device):
    model = make(BertForTokenClassification).to(device)
    expected = model.bert(ids) @ model.classifier.weight.T + model.classifier.bias
    torch.testing.assert_close(model(ids), expected)


def test_gaps_are_filled_with_words_whose_vectors_fit(ids, device):
    model = make(BertForMaskedLM).to(device)
    hidden = model.norm(gelu(model.transform(model.bert(ids))))
    expected = hidden @ model.bert.embeddings.token.weight.T + model.output.bias
    torch.testing.assert_close(model(ids), expected)


def test_the_projection_of_gaps_is_the_embedding_and_stays_it(tmp_path):
    model = make(BertForMaskedLM)
    model.save_pretrained(tmp_path)
    names = read_weights(tmp_path)
    assert "bert.embeddings.word_embeddings.weight" in names
    assert "cls.predictions.decoder.weight" not in names
    moved = copy.deepcopy(model).to(torch.float64)
    for other in (model, moved, BertForMaskedLM.from_pretrained(tmp_path)):
        assert other.output.weight is other.bert.embeddings.token.weight


def test_a_head_alone_reads_hidden_states(model, ids):
    assert torch.equal(model.logits(model.bert(ids)), model(ids))


def test_vectors_take_the_place_of_ids(model, ids):
    vectors, types = model.bert.embeddings.token(ids), ids % 2
    mask = padding_mask(ids, int(ids[0, 0]))
    given = model(mask=mask, token_types=types, inputs_embeds=vectors)
    assert torch.equal(given, model(ids, mask, types))
    assert torch.equal(model(inputs_embeds=vectors), model(ids))


def test_padding_changes_nothing(model, ids):
    ids[1, 4:] = 0
    out = model(ids, padding_mask(ids, 0))[1]
    alone = model(ids[1:2, :4])[0]
    out = out if isinstance(model, BertForSequenceClassification) else out[:4]
    torch.testing.assert_close(out, alone, atol=1e-5, rtol=1e-5)


def test_a_text_gives_the_same_alone_and_in_a_batch(model, ids):
    together = model(ids)
    for row in range(3):
        torch.testing.assert_close(model(ids[row : row + 1])[0], together[row], atol=1e-5, rtol=0)


def test_token_types_reach_the_encoder(model, ids):
    assert not torch.isclose(model(ids, token_types=torch.ones_like(ids)), model(ids)).all()


def test_the_gradient_reaches_every_parameter(model, ids):
    out = model(ids, token_types=(ids % 2))
    (out * torch.randn_like(out)).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        if not name.endswith("key.bias"):  # moves all scores of a row alike
            assert parameter.grad.abs().max() > 1e-7, name


def test_looking_changes_nothing(model, ids):
    before, expected = ids.clone(), model(ids)
    with record(model) as tape:
        difference = model(ids) - expected
    assert difference.abs().max() <= 1e-6 * expected.abs().max()
    assert list(tape) == [f"bert.encoder.layers.{i}.self_attention" for i in range(2)]
    assert torch.equal(ids, before)


def test_copied_or_loaded_it_is_the_same(model, ids, tmp_path):
    expected = model(ids)
    model.save_pretrained(tmp_path)
    loaded = type(model)(model.config).to(ids.device).eval()
    assert not torch.isclose(loaded(ids), expected).all()
    loaded.load_state_dict(model.state_dict())
    files = type(model).from_pretrained(tmp_path)
    assert files.config == model.config
    for other in (copy.deepcopy(model), loaded, files, type(model).from_pretrained(model)):
        assert not other.training
        torch.testing.assert_close(other.to(ids.device)(ids), expected)


@pytest.mark.parametrize("head", CLASSIFIERS)
@pytest.mark.parametrize(("given", "expected"), [(None, 0.25), (0.5, 0.5), (0.0, 0.0)])
def test_dropout_before_a_classifier_is_its_own_or_the_encoder_s(head, given, expected):
    model = make(head, dropout=0.25, classifier_dropout=given)
    assert model.dropout.p == expected
    assert model.bert.embeddings.dropout.p == 0.25
    seen = []
    model.classifier.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    model.train()(torch.randint(1, 50, (30, 9)))
    assert abs((seen[0] == 0).float().mean().item() - expected) < 0.1


@pytest.mark.usefixtures("compiler")
def test_compiled_and_exported_it_gives_the_same():
    ids = torch.randint(1, 50, (2, 5))
    mask = padding_mask(ids, 0)
    for head in HEADS:
        model = make(head)
        expected = model(ids, mask)
        compiled = torch.compile(model, backend="eager", fullgraph=True)
        torch.testing.assert_close(compiled(ids, mask), expected)
        exported = torch.export.export(model, (ids, mask))
        torch.testing.assert_close(exported.module()(ids, mask), expected)


@pytest.mark.parametrize("head", HEADS)
def test_a_new_head_on_a_trained_encoder_keeps_the_encoder(head, tmp_path, ids):
    encoder = make(Bert).to(ids.device)
    encoder.save_pretrained(tmp_path)
    for source in (encoder, tmp_path, str(tmp_path)):
        model = head.from_encoder(source).to(ids.device)
        assert not model.training
        torch.testing.assert_close(model.bert(ids), encoder(ids))
        assert model.bert.embeddings.token.weight is not encoder.embeddings.token.weight
        new = [x for name, x in model.named_parameters() if not name.startswith("bert.")]
        assert all(abs(x.std().item() - 0.02) < 0.01 for x in new if x.dim() == 2)
        assert all((x == 0).all() or (x == 1).all() for x in new if x.dim() == 1)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("head", CLASSIFIERS)
@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (1, ("LABEL_0",)),
        (4, ("LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3")),
        (torch.arange(2).numpy().max() + 1, ("LABEL_0", "LABEL_1")),  # an integer of NumPy's
        (["noun", "verb"], ("noun", "verb")),
        (None, SIZES["labels"]),
    ],
)
def test_a_new_classifier_has_the_labels_asked_for(head, labels, names, ids):
    model = head.from_encoder(make(Bert), labels).to(ids.device)
    assert model.config.labels == names
    assert model(ids).size(-1) == len(names)


def test_a_classifier_of_another_task_begins_anew_and_the_pooler_stays():
    trained = make(BertForSequenceClassification)
    again = BertForSequenceClassification.from_encoder(trained, labels=3)
    assert torch.equal(again.pooler.weight, trained.pooler.weight)
    assert not torch.isclose(again.classifier.weight, trained.classifier.weight).any()
    words = BertForTokenClassification.from_encoder(trained)
    assert not torch.isclose(words.classifier.weight, trained.classifier.weight).any()


def test_a_new_head_is_where_its_encoder_is():
    encoder = make(Bert)
    with torch.device("meta"):
        model = BertForSequenceClassification.from_encoder(encoder, labels=3)
    assert {x.device.type for x in model.parameters()} == {"cpu"}


def test_a_head_that_fills_gaps_begins_anew_too():
    trained = make(BertForMaskedLM)
    again = BertForMaskedLM.from_encoder(trained)
    assert not torch.isclose(again.transform.weight, trained.transform.weight).all()
    assert torch.equal(again.output.weight, trained.output.weight)  # which is the encoder's


def test_a_new_head_has_the_encoder_s_precision():
    encoder = make(Bert).to(torch.bfloat16)
    model = BertForSequenceClassification.from_encoder(encoder, 2)
    assert {x.dtype for x in model.parameters()} == {torch.bfloat16}


def test_the_packaged_model_s_pooler_is_published_too(monkeypatch, ids):
    monkeypatch.delenv("GLASSBOX_BERT", raising=False)
    model = BertForSequenceClassification.from_encoder(labels=["bad", "good"])
    published = read_weights(find_weights("minilm"))
    assert torch.equal(model.pooler.weight, published["pooler.dense.weight"])
    assert torch.equal(model.pooler.bias, published["pooler.dense.bias"])
    assert model.to(ids.device)(ids).shape == (3, 2)


@pytest.mark.parametrize("head", HEADS)
def test_an_encoder_is_taken_out_of_a_model_with_a_head(head, ids):
    model = make(head).to(ids.device)
    encoder = Bert.from_pretrained(model).to(ids.device)
    torch.testing.assert_close(encoder(ids), model.bert(ids))


def test_a_classifier_learns_which_word_is_there():
    model = BertForTokenClassification(BertConfig(**SIZES | {"dropout": 0.0}))
    ids = torch.randint(1, 50, (8, 9))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(40):
        loss = nn.functional.cross_entropy(model(ids).mT, ids % 3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05


def save(folder, head=BertForTokenClassification, without=(), **entries):
    """Save a model, take parameters away and write entries over."""
    model = make(head)
    model.save_pretrained(folder)
    described, weights = model.export()
    for name in without:
        del weights[name]
    write_model(folder, described | entries, weights)
    return folder


def load_differing():
    _, weights = make(BertForMaskedLM).export()
    other = weights["bert.embeddings.word_embeddings.weight"] + 1
    weights["cls.predictions.decoder.weight"] = other
    return BertForMaskedLM.from_weights(BertConfig(**SIZES), weights)


CASES: dict[str, Any] = {
    "no name": (
        lambda _: BertForMaskedLM.from_pretrained(),
        ["which BertForMaskedLM?", "hub", "folder"],
    ),
    "an encoder without head": (
        lambda _: BertForTokenClassification.from_pretrained(make(Bert)),
        ["BertModel", "BertForTokenClassification", "from_encoder"],
    ),
    "the packaged encoder": (
        lambda _: BertForSequenceClassification.from_pretrained("minilm"),
        ["BertModel", "BertForSequenceClassification", "from_encoder"],
    ),
    "a head for another task": (
        lambda _: BertForTokenClassification.from_pretrained(make(BertForSequenceClassification)),
        ["BertForSequenceClassification", "not of BertForTokenClassification", "from_encoder"],
    ),
    "a head that is missing": (
        lambda folder: BertForTokenClassification.from_pretrained(
            save(folder, without=["classifier.weight"])
        ),
        ["classifier.weight", "Missing"],
    ),
    "an encoder that is missing": (
        lambda folder: BertForTokenClassification.from_encoder(
            save(folder, without=["bert.embeddings.LayerNorm.weight"])
        ),
        ["bert.embeddings.norm.weight", "Missing"],
    ),
    "more labels than the classifier has": (
        lambda folder: BertForTokenClassification.from_pretrained(
            save(folder, id2label={str(i): str(i) for i in range(4)})
        ),
        ["classifier.weight", "(3, 16)", "(4, 16)"],
    ),
    "a projection that is not the embedding": (
        lambda _: load_differing(),
        ["bert.embeddings.token.weight", "output.weight differ", "one parameter for both"],
    ),
    "no labels": (
        lambda _: BertForTokenClassification.from_encoder(make(Bert), 0),
        ["0 labels", "at least 1"],
    ),
    "fewer than no labels": (
        lambda _: BertForTokenClassification.from_encoder(make(Bert), -1),
        ["-1 labels", "at least 1"],
    ),
    "half a label": (
        lambda _: BertForTokenClassification.from_encoder(make(Bert), 2.5),  # type: ignore[arg-type]
        ["labels is of type float, 2.5", "a whole number"],
    ),
    "a truth value for labels": (
        lambda _: BertForTokenClassification.from_encoder(make(Bert), True),
        ["labels is of type bool, True", "a whole number"],
    ),
    "no names": (
        lambda _: BertForTokenClassification.from_encoder(make(Bert), []),
        ["labels=()", "one or more"],
    ),
    "one name that is not in a tuple": (
        lambda _: BertForTokenClassification.from_encoder(make(Bert), "pos"),
        ["labels='pos'", "expected a tuple of names"],
    ),
    "a name twice": (
        lambda _: BertForTokenClassification.from_encoder(make(Bert), ["a", "a"]),
        ["labels=('a', 'a')", "each once"],
    ),
    "an encoder of another kind": (
        lambda folder: BertForMaskedLM.from_encoder(save(folder, model_type="roberta")),
        ["model_type='roberta'", "'bert'"],
    ),
    "a word past the vocabulary": (
        lambda _: make(BertForMaskedLM)(torch.full((1, 2), 50)),
        ["token_ids runs from 50 to 50", "0 to 49"],
    ),
    "no texts": (
        lambda _: make(BertForSequenceClassification)(torch.ones(0, 5, dtype=torch.int64)),
        ["(0, 5)", "at least one token"],
    ),
    "too many words": (
        lambda _: make(BertForTokenClassification)(torch.ones(1, 13, dtype=torch.int64)),
        ["13 tokens", "12 only"],
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, says, tmp_path):
    with pytest.raises((ValueError, TypeError)) as caught:
        attempt(tmp_path)
    for part in says:
        assert part in str(caught.value)


@pytest.mark.parametrize("head", HEADS)
def test_the_file_says_which_head_it_has(head, tmp_path):
    make(head).save_pretrained(tmp_path)
    entries = json.loads((tmp_path / "config.json").read_text())
    assert entries["architectures"] == [head.__name__]
    assert entries["id2label"] == {"0": "no", "1": "perhaps", "2": "yes"}
    assert entries["label2id"] == {"no": 0, "perhaps": 1, "yes": 2}


def test_predictions_are_made_where_they_are_wanted(ids, device):
    model = make(BertForMaskedLM).to(device)
    at = torch.rand(ids.shape, device=device) < 0.4
    torch.testing.assert_close(model(ids, at=at), model(ids)[at])
    assert model(ids, at=torch.zeros_like(at)).shape == (0, 50)


@pytest.mark.parametrize(
    ("at", "error", "message"),
    [
        (torch.ones(3, 9), TypeError, "at is torch.float32; expected torch.bool"),
        ([True], TypeError, "at is of type list; expected torch.bool"),
        (torch.ones(3, 8, dtype=torch.bool), ValueError, r"at has shape \(3, 8\); expected that"),
    ],
)
def test_a_wish_that_does_not_fit_is_refused(at, error, message, as_a_reader):
    with pytest.raises(error, match=message):
        make(BertForMaskedLM)(torch.randint(1, 50, (3, 9)), at=at)
