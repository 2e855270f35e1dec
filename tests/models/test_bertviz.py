"""The model that bertviz's neuron view was written for, given the same weights."""

import json

import torch
from safetensors.torch import load_file

from glassbox import record
from glassbox.models import find_weights


def test_bertviz_s_own_bert_has_the_same_maps_queries_and_keys(minilm, tokenizer, tmp_path):
    from bertviz.transformers_neuron_view import BertConfig, BertModel

    folder = find_weights("minilm")
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    torch.save(load_file(folder / "model.safetensors"), tmp_path / "pytorch_model.bin")
    bertviz = BertModel.from_pretrained(
        str(tmp_path), config=BertConfig(**json.loads((tmp_path / "config.json").read_text()))
    )
    ids = torch.tensor([tokenizer.encode("time flies like an arrow").ids])
    with torch.no_grad(), record(minilm) as tape:
        hidden = minilm(ids)
        *_, maps = bertviz(ids)
        expected, *_ = bertviz(ids)
    assert len(maps) == len(tape) == 6
    torch.testing.assert_close(hidden, expected, atol=1e-5, rtol=0)
    for ours, theirs in zip(tape.values(), maps, strict=True):
        torch.testing.assert_close(ours.weights, theirs["attn"], atol=1e-5, rtol=0)
        torch.testing.assert_close(ours.query, theirs["queries"], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ours.key, theirs["keys"], atol=1e-5, rtol=1e-5)
