"""Recording the reference takes the reference's own tensors, and leaves no trace."""

from typing import Any

import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel

from glassbox.looking.reference import record_reference

SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 16,
}
IDS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])


def reference(**options):
    torch.manual_seed(0)
    return BertModel(BertConfig(**SIZES, **options)).eval()


@pytest.fixture
def model():
    return reference(attn_implementation="eager")


def test_weights_are_those_the_reference_returns(model):
    with torch.no_grad(), record_reference(model) as tape:
        output = model(IDS, output_attentions=True)
    assert len(tape) == 2
    for run, weights in zip(tape.values(), output.attentions, strict=True):
        assert torch.equal(run.weights, weights)


def test_queries_keys_values_and_context_are_split_into_heads_as_the_reference_does(model):
    with torch.no_grad(), record_reference(model) as tape:
        model(IDS)
    for run in tape.values():
        assert run.query.shape == run.key.shape == run.value.shape == (2, 3, 4, 4)
        torch.testing.assert_close(run.scores.softmax(dim=-1), run.weights)
        torch.testing.assert_close(run.weights @ run.value, run.context)


@pytest.mark.usefixtures("compiler")
def test_a_compiled_reference_is_recorded_under_its_own_names(model):
    compiled: Any = torch.compile(model, backend="eager")
    with torch.no_grad():
        compiled(IDS)
        with record_reference(compiled) as tape:
            compiled(IDS)
    assert list(tape) == [f"encoder.layer.{i}.attention.self" for i in range(2)]


def test_no_hook_stays_behind_even_after_an_error(model):
    with pytest.raises(ZeroDivisionError), record_reference(model):
        _ = 1 / 0
    assert not any(module._forward_hooks for module in model.modules())


def test_a_fused_kernel_that_keeps_no_weights_is_refused():
    model = reference(attn_implementation="sdpa")
    with (
        pytest.raises(ValueError, match="attn_implementation='eager'"),
        record_reference(model),
        torch.no_grad(),
    ):
        model(IDS)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("given", [nn.Linear(2, 2), "bert-base-uncased"])
def test_what_has_no_bert_attention_is_refused(given):
    words = f"{type(given).__name__} has no BERT self-attention"
    with pytest.raises(ValueError, match=words), record_reference(given):
        pass
