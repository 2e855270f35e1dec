"""Published weights: ours against the reference library, layer by layer and map by map."""

import copy

import pytest
import torch
from torch import Tensor

from glassbox import padding_mask, record

pytestmark = pytest.mark.slow


def arguments(texts, device="cpu"):
    """The texts as our model takes them: ids, mask, token types."""
    ids = texts["input_ids"].to(device)
    return ids, padding_mask(ids, pad_id=0), texts["token_type_ids"].to(device)


def look_into_both(minilm, reference, texts, **where) -> list[tuple[str, Tensor, Tensor]]:
    """Every layer's output and every attention map, ours beside the reference's."""
    minilm, reference = (copy.deepcopy(model).to(**where) for model in (minilm, reference))
    device = where.get("device", "cpu")
    with torch.no_grad(), record(minilm) as tape:
        minilm(*arguments(texts, device))
    with torch.no_grad():
        expected = reference(
            **{name: tensor.to(device) for name, tensor in texts.items()},
            output_hidden_states=True,
            output_attentions=True,
        )
    outputs = ["embeddings", *(f"encoder.layers.{i}" for i in range(minilm.config.n_layers))]
    return [
        *zip(outputs, [tape.outputs[n] for n in outputs], expected.hidden_states, strict=True),
        *zip(tape, [entry.weights for entry in tape.values()], expected.attentions, strict=True),
    ]


def test_every_layer_and_every_map_equals_the_reference(
    minilm, reference, texts, device, record_property
):
    stations = look_into_both(minilm, reference, texts, device=device)
    assert len(stations) == 1 + 6 + 6
    differences = {name: (a - b).abs().max().item() for name, a, b in stations}
    record_property("largest difference", max(differences.values()))
    print(f"largest difference {max(differences.values()):.1e}")
    for name, a, b in stations:
        assert a.shape == b.shape, name
        assert differences[name] <= 1e-5, name


def test_in_double_precision_they_are_equal_to_twelve_digits(minilm, reference, texts):
    stations = look_into_both(minilm, reference, texts, dtype=torch.float64)
    for name, a, b in stations:
        assert a.dtype == torch.float64
        torch.testing.assert_close(a, b, atol=1e-12, rtol=0, msg=f"{name}: {{}}".format)


def test_the_fused_pass_equals_the_reference_s_fused_pass(
    minilm, fused_reference, texts, device, record_property
):
    minilm, fused_reference = (copy.deepcopy(m).to(device) for m in (minilm, fused_reference))
    with torch.no_grad():
        hidden = minilm(*arguments(texts, device))
        expected = fused_reference(
            **{name: tensor.to(device) for name, tensor in texts.items()}
        ).last_hidden_state
    real = texts["attention_mask"].bool()  # what stands at padding is nobody's business
    difference = (hidden[real] - expected[real]).abs().max().item()
    record_property("largest difference", difference)
    assert difference <= 1e-5


def test_gradients_equal_the_reference_s_down_to_the_embeddings(minilm, reference):
    minilm, reference = copy.deepcopy(minilm), copy.deepcopy(reference)
    ids = torch.randint(1000, 30000, (2, 9))
    minilm(ids).square().sum().backward()
    reference(ids).last_hidden_state.square().sum().backward()
    attention = reference.encoder.layer[0].attention.self
    for a, b in (
        (minilm.embeddings.token, reference.embeddings.word_embeddings),
        (minilm.embeddings.position, reference.embeddings.position_embeddings),
        (minilm.encoder.layers[0].self_attention.query, attention.query),
    ):
        scale = b.weight.grad.abs().max()
        torch.testing.assert_close(a.weight.grad / scale, b.weight.grad / scale, atol=1e-5, rtol=0)


def test_the_seed_sentence_has_the_ids_the_book_prints(tokenizer):
    encoded = tokenizer.encode("time flies like an arrow", add_special_tokens=False)
    assert encoded.ids == [2051, 10029, 2066, 2019, 8612]


@pytest.mark.parametrize("length", [1, 2, 511, 512])
def test_texts_of_every_allowed_length_equal_the_reference(minilm, reference, length):
    ids = torch.randint(1000, 30000, (1, length))
    with torch.no_grad():
        torch.testing.assert_close(minilm(ids), reference(ids).last_hidden_state, atol=1e-5, rtol=0)
