"""BERT's heads against the reference library's, on random weights and on published ones."""

import copy
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import BertConfig as ReferenceConfig
from transformers import BertForPreTraining

from glassbox import padding_mask, record
from glassbox.models import (
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForTokenClassification,
    find_weights,
)

pytestmark = pytest.mark.slow

HEADS: list[Any] = [BertForMaskedLM, BertForSequenceClassification, BertForTokenClassification]
SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "intermediate_size": 64,
    "vocab_size": 100,
    "max_position_embeddings": 20,
    "num_labels": 5,
    "attn_implementation": "eager",
}
SHAPES: dict[str, dict[str, Any]] = {
    "five labels": {},
    "one label": {"num_labels": 1},
    "named labels": {"id2label": {0: "O", 1: "B-PER", 2: "I-PER"}},
    "relu": {"hidden_act": "relu"},
    "tanh approximation": {"hidden_act": "gelu_new"},
    "large epsilon": {"layer_norm_eps": 1e-2},
    "padding is 7": {"pad_token_id": 7},
}


def assert_close(ours: Any, theirs: Any, atol: float = 1e-5, **options: Any) -> None:
    """Compare by the absolute difference alone."""
    torch.testing.assert_close(ours, theirs, atol=atol, rtol=0, **options)


def reference_class(head: type) -> Any:
    return getattr(transformers, head.__name__)


def randomize(model: Any) -> Any:
    """Draw all parameters, so that no bias is 0 and no norm's weight 1 by construction."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if name.endswith("LayerNorm.weight") else 0.0, 0.2)
    return model.eval()


def make_reference(head: type, **sizes: Any) -> Any:
    return randomize(reference_class(head)(ReferenceConfig(**SMALL | sizes)))


def some_texts(config: ReferenceConfig, length: int = 11) -> dict[str, torch.Tensor]:
    """Return two texts, the second one padded, under the names of the reference's arguments."""
    ids, pad = torch.randint(8, config.vocab_size, (2, length)), config.pad_token_id or 0
    ids[1, length // 2 + 1 :] = pad
    return {
        "input_ids": ids,
        "attention_mask": (ids != pad).long(),
        "token_type_ids": torch.randint(2, ids.shape),
    }


def read(model: Any, texts: dict[str, torch.Tensor]) -> torch.Tensor:
    ids = texts["input_ids"]
    mask = padding_mask(ids, model.config.pad_id)
    return model(ids, mask, texts["token_type_ids"])


def compare(model: Any, reference: Any, texts: dict[str, torch.Tensor], **tolerance: Any) -> None:
    """Compare logits, hidden states and maps."""
    with torch.no_grad(), record(model) as tape:
        logits = read(model, texts)
    with torch.no_grad():
        theirs = reference(**texts, output_hidden_states=True, output_attentions=True)
    assert_close(logits, theirs.logits, **tolerance)
    for i, hidden in enumerate(theirs.hidden_states[1:]):
        assert_close(tape.outputs[f"bert.encoder.layers.{i}"], hidden, **tolerance)
    for look, weights in zip(tape.values(), theirs.attentions, strict=True):
        assert_close(look.weights, weights, **tolerance)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_any_shape_equals_the_reference_and_files_go_both_ways(head, shape, tmp_path):
    reference = make_reference(head, **shape)
    texts = some_texts(reference.config)
    compare(head.from_pretrained(reference), reference, texts)

    reference.save_pretrained(tmp_path / "theirs")
    model = head.from_pretrained(tmp_path / "theirs")
    compare(model, reference, texts)
    assert list(model.config.labels) == list(reference.config.id2label.values())

    model.save_pretrained(tmp_path / "ours")
    loaded, found = reference_class(head).from_pretrained(
        tmp_path / "ours", output_loading_info=True, attn_implementation="eager"
    )
    assert not any(found.values()), found
    assert loaded.config.id2label == reference.config.id2label
    compare(model, loaded, texts)
    ours, theirs = (load_file(tmp_path / side / "model.safetensors") for side in ("ours", "theirs"))
    assert ours.keys() <= theirs.keys()  # there a pooler may stand that nothing reads
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_model_object_is_what_its_class_says_whatever_its_configuration_remembers():
    reference = make_reference(BertForTokenClassification)
    reference.config.architectures = ["BertModel"]  # which it was loaded from
    model = BertForTokenClassification.from_pretrained(reference)
    compare(model, reference, some_texts(reference.config))
    reference.config.architectures = ["BertForSequenceClassification"]
    with pytest.raises(ValueError, match="BertForTokenClassification, not of BertForSequenceC"):
        BertForSequenceClassification.from_pretrained(reference)


@pytest.mark.parametrize("head", HEADS)
def test_in_double_precision_they_are_equal_to_ten_digits(head):
    reference = make_reference(head).double()
    model = head.from_pretrained(reference)
    compare(model, reference, some_texts(reference.config), atol=1e-10)


@pytest.mark.parametrize("head", HEADS)
def test_gradients_of_all_parameters_equal_the_reference(head):
    reference = make_reference(head)
    model, texts = head.from_pretrained(reference), some_texts(reference.config)
    texts["input_ids"][texts["input_ids"] == 0] = 9  # padding would leave a row out
    texts["attention_mask"][:] = 1
    logits = read(model, texts)
    direction = torch.randn_like(logits)
    (logits * direction).sum().backward()
    (reference(**texts).logits * direction).sum().backward()
    ours = model.to_reference({name: x.grad for name, x in model.named_parameters()})
    for name, parameter in reference.named_parameters():
        if name.startswith("bert.pooler") and name not in ours:
            assert parameter.grad is None  # made, but not used
            continue
        assert parameter.grad is not None, name
        largest = 1.0 if name.endswith("key.bias") else parameter.grad.abs().max()
        assert largest > 0, name
        assert_close(ours[name] / largest, parameter.grad / largest, msg=f"{name}: {{}}".format)


def test_a_model_with_both_heads_of_pre_training_fills_gaps(tmp_path):
    reference = randomize(BertForPreTraining(ReferenceConfig(**SMALL)))
    reference.save_pretrained(tmp_path)
    texts = some_texts(reference.config)
    expected = reference(**texts).prediction_logits
    for source in (reference, tmp_path):
        assert_close(read(BertForMaskedLM.from_pretrained(source), texts), expected)


def test_files_of_the_first_release_are_read(tmp_path):
    """With gamma and beta, and the projection under both its names."""
    reference = make_reference(BertForMaskedLM)
    reference.save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): x
        for name, x in tensors.items()
    }
    embedding = tensors["bert.embeddings.word_embeddings.weight"]
    old["cls.predictions.decoder.weight"] = embedding.clone()
    old["cls.predictions.decoder.bias"] = tensors["cls.predictions.bias"].clone()
    old["bert.embeddings.position_ids"] = torch.arange(20)[None]
    save_file(old, file)
    model = BertForMaskedLM.from_pretrained(tmp_path)
    compare(model, reference, some_texts(reference.config))


@pytest.mark.parametrize("head", HEADS)
def test_two_layers_of_bert_base_with_a_head_equal_the_reference_at_their_width(head):
    sizes: dict[str, Any] = {"attn_implementation": "eager", "num_labels": 9}
    sizes |= {"num_hidden_layers": 2}
    config = ReferenceConfig(**sizes)
    reference = reference_class(head)(config).eval()
    model = head.from_pretrained(reference)
    extra = {
        BertForMaskedLM: 768 * 768 + 3 * 768 + 30522,
        BertForSequenceClassification: 768 * 768 + 768 + 9 * 769,
        BertForTokenClassification: 9 * 769,
    }
    encoder = 108_891_648 - 10 * 7_087_872  # without ten of its twelve layers
    assert sum(x.numel() for x in model.parameters()) == encoder + extra[head]
    compare(model, reference, some_texts(config, length=14))


def test_published_encoder_and_pooler_equal_the_reference(texts):
    reference: Any = transformers.BertForSequenceClassification.from_pretrained(
        find_weights("minilm"), num_labels=3, attn_implementation="eager"
    )
    model = BertForSequenceClassification.from_pretrained(reference)
    assert torch.equal(model.pooler.weight, reference.bert.pooler.dense.weight)
    compare(model, reference, texts)
    again = BertForSequenceClassification.from_encoder("minilm", labels=3)
    torch.testing.assert_close(again.pooler.weight, model.pooler.weight, atol=0, rtol=0)
    with torch.no_grad():
        again.classifier.load_state_dict(copy.deepcopy(model.classifier.state_dict()))
    torch.testing.assert_close(read(again, texts), read(model, texts), atol=0, rtol=0)
