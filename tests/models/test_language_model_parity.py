"""GPT-2 and LLaMA: ours against the reference library's, on random weights of many shapes."""

from typing import Any

import pytest

from glassbox.models import GPT2, Llama
from tests.references import gpt2, llama
from tests.references.language_models import (
    PADDINGS,
    assert_equal,
    assert_gradients_equal,
    some_texts,
)

pytestmark = pytest.mark.slow

FAMILIES: dict[str, Any] = {"GPT-2": (GPT2, gpt2), "LLaMA": (Llama, llama)}
SHAPES = [
    pytest.param(ours, theirs.make_reference, shape, id=f"{family}, {name}")
    for family, (ours, theirs) in FAMILIES.items()
    for name, shape in theirs.SHAPES.items()
]


@pytest.fixture(params=list(FAMILIES.values()), ids=list(FAMILIES))
def both(request):
    """Our class, and the reference's model."""
    ours, theirs = request.param
    return ours, theirs.make_reference()


@pytest.mark.parametrize(("ours", "make_reference", "shape"), SHAPES)
def test_logits_layers_and_maps_of_any_shape_equal_the_reference(ours, make_reference, shape):
    reference = make_reference(**shape)
    model = ours.from_pretrained(reference)
    assert not model.training
    assert_equal(model, reference, *some_texts(97, 11, "left padding"))


@pytest.mark.parametrize("padding", PADDINGS)
def test_whatever_is_padded_they_are_equal(both, padding):
    ours, reference = both
    assert_equal(ours.from_pretrained(reference), reference, *some_texts(97, 11, padding))


@pytest.mark.parametrize("length", [1, 20], ids=["one token", "all positions"])
def test_texts_of_every_allowed_length_equal_the_reference(both, length):
    ours, reference = both
    assert_equal(ours.from_pretrained(reference), reference, *some_texts(97, length))


@pytest.mark.parametrize(("ours", "make_reference", "shape"), SHAPES)
def test_the_gradient_of_every_parameter_equals_the_reference_s(ours, make_reference, shape):
    reference = make_reference(**shape)
    inputs = some_texts(97, 11, "left padding")
    assert_gradients_equal(ours.from_pretrained(reference), reference, *inputs)


def test_what_was_loaded_from_a_folder_in_pieces_equals_the_reference(both, tmp_path):
    ours, reference = both
    reference.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    assert_equal(ours.from_pretrained(tmp_path), reference, *some_texts(97, 11))
