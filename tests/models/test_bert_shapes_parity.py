"""Random weights of many shapes: ours, read from the folder the reference library saved."""

from functools import partial
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import BertConfig as ReferenceConfig
from transformers import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

from glassbox import padding_mask, record
from glassbox.models import Bert

pytestmark = pytest.mark.slow

SHAPES: dict[str, dict[str, Any]] = {
    "one head": {"hidden_size": 8, "num_attention_heads": 1, "num_hidden_layers": 1},
    "one wide head": {"hidden_size": 96, "num_attention_heads": 1, "num_hidden_layers": 2},
    "heads of width one": {"hidden_size": 6, "num_attention_heads": 6, "num_hidden_layers": 2},
    "relu": {
        "hidden_act": "relu",
        "hidden_size": 48,
        "num_attention_heads": 3,
        "num_hidden_layers": 3,
    },
    "narrow feed-forward": {"intermediate_size": 5, "hidden_size": 24, "num_attention_heads": 4},
    "large epsilon": {"layer_norm_eps": 1e-2, "hidden_size": 16, "num_attention_heads": 2},
    "small tables": {"vocab_size": 40, "max_position_embeddings": 9, "type_vocab_size": 3},
    "padding is 7": {"pad_token_id": 7},
}
SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "intermediate_size": 64,
    "vocab_size": 100,
    "max_position_embeddings": 20,
}


def configure(**sizes: Any) -> ReferenceConfig:
    sizes["attn_implementation"] = "eager"
    return ReferenceConfig(**sizes)


def compare(model, reference, config, length, atol=1e-5):
    """Run both on random ids, the second text padded; compare all layers and all maps."""
    ids = torch.randint(8, config.vocab_size, (2, length))
    ids[1, length // 2 + 1 :] = config.pad_token_id
    types = torch.randint(config.type_vocab_size, (2, length))
    with torch.no_grad(), record(model) as tape:
        hidden = model(ids, padding_mask(ids, config.pad_token_id), types)
        expected = reference(
            input_ids=ids,
            attention_mask=(ids != config.pad_token_id).long(),
            token_type_ids=types,
            output_hidden_states=True,
            output_attentions=True,
        )
    assert_close = partial(torch.testing.assert_close, atol=atol, rtol=atol)
    assert_close(hidden, expected.hidden_states[-1])
    for i, layer in enumerate(expected.hidden_states[1:]):
        assert_close(tape.outputs[f"encoder.layers.{i}"], layer)
    for entry, weights in zip(tape.values(), expected.attentions, strict=True):
        assert_close(entry.weights, weights)


def randomize(model):
    """Draw all parameters, so that no bias is 0 and no norm's weight 1 by construction."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if name.endswith("LayerNorm.weight") else 0.0, 0.2)
    return model.eval()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_any_shape_saved_by_the_reference_loads_and_equals_it(shape, tmp_path):
    config = configure(**(SMALL | shape))
    reference = randomize(BertModel(config))
    reference.save_pretrained(tmp_path)
    model = Bert.from_pretrained(tmp_path)
    assert not model.training
    compare(model, reference, config, length=min(11, config.max_position_embeddings))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_reference_loads_what_is_saved_without_complaint(shape, tmp_path):
    config = configure(**(SMALL | shape))
    reference = randomize(BertModel(config, add_pooling_layer=False))
    reference.save_pretrained(tmp_path / "theirs")
    Bert.from_pretrained(tmp_path / "theirs").save_pretrained(tmp_path / "ours")
    read: Any = BertModel.from_pretrained
    loaded, found = read(
        tmp_path / "ours",
        add_pooling_layer=False,
        output_loading_info=True,
        attn_implementation="eager",
    )
    assert not any(found.values()), found
    length = min(11, config.max_position_embeddings)
    compare(Bert.from_pretrained(tmp_path / "ours"), loaded, config, length)
    ours, theirs = (load_file(tmp_path / side / "model.safetensors") for side in ("ours", "theirs"))
    assert {name.removeprefix("bert."): x.shape for name, x in ours.items()} == {
        name: x.shape for name, x in theirs.items()
    }
    assert all(torch.equal(x, theirs[name.removeprefix("bert.")]) for name, x in ours.items())


@pytest.mark.parametrize(
    "kind",
    [
        BertModel,
        BertForMaskedLM,
        BertForMultipleChoice,
        BertForNextSentencePrediction,
        BertForPreTraining,
        BertForQuestionAnswering,
        BertForSequenceClassification,
        BertForTokenClassification,
    ],
)
def test_any_model_object_of_the_reference_lends_its_encoder(kind):
    config = configure(**SMALL)
    reference = randomize(kind(config))
    model = Bert.from_pretrained(reference)
    compare(model, getattr(reference, "bert", reference), config, length=7)


def test_in_double_precision_they_are_equal_to_ten_digits():
    config = configure(**SMALL)
    reference = randomize(BertModel(config)).double()
    compare(Bert.from_pretrained(reference), reference, config, length=9, atol=1e-10)


def test_gradients_of_all_parameters_equal_the_reference():
    reference = randomize(BertModel(configure(**SMALL), add_pooling_layer=False))
    model, ids = Bert.from_pretrained(reference), torch.randint(1, 100, (2, 9))
    hidden, expected = model(ids), reference(ids).last_hidden_state
    direction = torch.randn_like(hidden)
    (hidden * direction).sum().backward()
    (expected * direction).sum().backward()
    gradients: dict[str, Any] = {name: x.grad for name, x in model.named_parameters()}
    ours = model.to_reference(gradients)
    for name, parameter in reference.named_parameters():
        assert parameter.grad is not None
        # A key's bias moves all scores of a row alike: its gradient is 0 but for rounding.
        largest = 1.0 if name.endswith("key.bias") else parameter.grad.abs().max()
        difference = (ours[f"bert.{name}"] - parameter.grad) / largest
        torch.testing.assert_close(
            difference, torch.zeros_like(difference), atol=1e-5, rtol=0, msg=f"{name}: {{}}".format
        )


def test_a_bert_inside_a_pre_training_model_loads_without_its_head(tmp_path):
    config = configure(**SMALL)
    reference = randomize(BertForMaskedLM(config))
    reference.save_pretrained(tmp_path)
    compare(Bert.from_pretrained(tmp_path), reference.bert, config, length=7)


def test_bert_base_equals_the_reference_at_its_published_size(tmp_path):
    config = configure()
    reference = BertModel(config, add_pooling_layer=False).eval()
    reference.save_pretrained(tmp_path)
    model = Bert.from_pretrained(tmp_path)
    assert sum(p.numel() for p in model.parameters()) == 108_891_648
    compare(model, reference, config, length=12)
