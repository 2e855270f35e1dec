"""Layouts: what is written is read again, for every kind of model; single entries and names."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch

from glassbox.layout import (
    Entry,
    Layout,
    check_entry,
    merge,
    number,
    read_activation,
    read_number,
    unless_equal,
    write_activation,
)
from glassbox.models import (
    GPT2,
    T5,
    Bert,
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForTokenClassification,
    GPT2Config,
    Llama,
    LlamaConfig,
    Marian,
    MarianConfig,
    T5Config,
)
from glassbox.positional import RotaryScaling
from glassbox.pretrained import Pretrained
from glassbox.transformer import Transformer, TransformerConfig

SIZES: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 24,
    "dropout": 0.2,
    "vocab_size": 40,
    "norm_eps": 1e-3,
    "activation": "relu",
    "pad_id": 3,
}
LABELS: dict[str, Any] = {"labels": ("no", "perhaps", "yes"), "classifier_dropout": 0.3}
IDS: dict[str, Any] = {"bos_id": 4, "eos_id": (5, 6), "max_len": 12}
ENDS: dict[str, Any] = {"bos_id": 3, "eos_id": 1}
T5_SIZES = {name: size for name, size in SIZES.items() if name != "max_len"} | ENDS
MARIAN = {name: size for name, size in SIZES.items() if name != "norm_eps"} | ENDS
GATE: dict[str, Any] = {"gated": True, "activation": "gelu_tanh"}
MODELS: dict[str, Callable[[], Pretrained]] = {
    "BERT": lambda: Bert(BertConfig(**SIZES, max_len=12, n_token_types=3)),
    "BERT that fills gaps": lambda: BertForMaskedLM(BertConfig(**SIZES, max_len=12)),
    "BERT for texts": lambda: BertForSequenceClassification(BertConfig(**SIZES | LABELS)),
    "BERT for words": lambda: BertForTokenClassification(BertConfig(**SIZES | LABELS)),
    "GPT-2": lambda: GPT2(GPT2Config(**SIZES | IDS, embedding_dropout=0.3)),
    "GPT-2, not tied": lambda: GPT2(GPT2Config(**SIZES | {"d_ff": None}, tie_embeddings=False)),
    "LLaMA": lambda: llama(),
    "LLaMA, tied": lambda: llama(tie_embeddings=True, bias=True, d_k=6, n_kv_heads=2),
    "LLaMA, scaled": lambda: llama(rotary_base=70.0, rotary_scaling=RotaryScaling(2.0)),
    "LLaMA 3": lambda: llama(rotary_scaling=RotaryScaling(4.0, 8, 0.5, 3.0)),
    "T5": lambda: T5(T5Config(**T5_SIZES, d_k=6, n_buckets=16, max_distance=50)),
    "T5, not tied": lambda: T5(T5Config(**T5_SIZES, tie_embeddings=False, n_decoder_layers=3)),
    "T5 with a gate": lambda: T5(T5Config(**T5_SIZES | GATE, scale_output=False)),
    "Marian": lambda: Marian(MarianConfig(**MARIAN, max_len=77)),
    "Marian, not scaled": lambda: Marian(MarianConfig(**MARIAN, scale_embeddings=False)),
    "a Transformer": lambda: Transformer(TransformerConfig(**SIZES, n_decoder_layers=1)),
    "a Transformer of many kinds": lambda: Transformer(
        TransformerConfig(**SIZES | GATE | {"n_heads": (2, 4)}, target_vocab_size=30, bias=False)
    ),
}


def llama(**sizes: Any) -> Llama:
    return Llama(LlamaConfig(**SIZES | IDS | {"dropout": 0.0} | sizes))


@pytest.fixture(params=MODELS.values(), ids=[*MODELS])
def model(request: pytest.FixtureRequest) -> Pretrained:
    made: Pretrained = request.param()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_()
    return made


def test_sizes_that_are_written_are_read_again(model: Pretrained) -> None:
    entries = json.loads(json.dumps(model.export()[0]))
    assert type(model.config).from_reference(entries) == model.config


def test_reading_parameters_undoes_writing_them(model: Pretrained) -> None:
    ours = dict(model.named_parameters())
    back = model.from_reference(model.to_reference(ours))
    assert back.keys() == ours.keys()
    assert all(torch.equal(back[name], ours[name]) for name in ours)


def test_writing_parameters_undoes_reading_them(model: Pretrained) -> None:
    theirs = model.export()[1]
    back = model.to_reference(model.from_reference(theirs))
    assert back.keys() == theirs.keys()
    assert all(torch.equal(back[name], theirs[name]) for name in theirs)


def test_the_prefix_may_be_left_out(model: Pretrained) -> None:
    theirs, prefix = model.export()[1], model.reference_layout().prefix
    bare = model.from_reference({name.removeprefix(prefix): x for name, x in theirs.items()})
    given = model.from_reference(theirs)
    assert bare.keys() == given.keys()
    assert all(torch.equal(bare[name], given[name]) for name in given)


def test_every_field_has_an_entry_or_its_default(model: Pretrained) -> None:
    layout = model.reference_layout()
    assert layout.entries.keys() <= vars(model.config).keys()
    assert {*layout.lost} <= vars(model.config).keys() - layout.entries.keys()


def test_what_stands_in_both_names_is_carried_over() -> None:
    names = {"h.{}.a.{}.b": "x.{}.part.{}.c", "h.0.d": "special", "{}.e": "{}.f", "g": "h.bias"}
    ours = ["x.12.part.3.c.weight", "special.bias", "left.f.weight", "h.bias", "x.1.c"]
    assert Layout(names=names).table(ours) == {
        "h.12.a.3.b.weight": ["x.12.part.3.c.weight"],
        "h.0.d.bias": ["special.bias"],
        "left.e.weight": ["left.f.weight"],
        "g": ["h.bias"],
    }


def test_stacked_parts_are_parted_in_their_order() -> None:
    layout = Layout(names={"all": ("b", "a")}, transposed=("all.weight",))
    ours = {"a.weight": torch.ones(2, 3), "b.weight": torch.zeros(2, 3)}
    shapes = {name: x.shape for name, x in ours.items()}
    theirs = layout.write_weights(ours)
    assert torch.equal(theirs["all.weight"], torch.tensor([[0.0, 0, 1, 1]] * 3))
    back = layout.read_weights(theirs, shapes)
    assert all(torch.equal(back[name], ours[name]) for name in ours)


def test_a_parameter_of_several_names_is_kept_once() -> None:
    a, b = torch.ones(2), torch.ones(2)
    assert merge([("y", "x", a), ("z", "z", b), ("w", "x", b)]) == {"x": a, "z": b}


def test_a_field_that_equals_another_entry_is_none() -> None:
    entry = unless_equal("a", "b")
    assert entry.find({"a": 2, "b": 2}) is None
    assert entry.find({"a": 3, "b": 2}) == 3
    assert entry.find({"b": 2}) is ...
    assert entry.write is not None
    assert [entry.write(value, {"b": 2}) for value in (None, 3)] == [2, 3]


def test_an_entry_that_is_missing_stands_for_its_default() -> None:
    assert Entry("a").find({}) is ...
    assert Entry("a", default=False).find({}) is False
    both = Entry("a", lambda value, entries: (value, entries["b"]), default=None)
    assert both.find({"b": 1}) == (None, 1)
    assert Entry("a", number=float).find({"a": None}) is None
    assert number("a", "b").find({"a": 1}) == 1
    assert isinstance(number("a", kind=float).find({"a": 1}), float)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("gelu", "gelu"),
        ("gelu_new", "gelu_tanh"),
        ("gelu_pytorch_tanh", "gelu_tanh"),
        ("swish", "silu"),
        ("silu", "silu"),
        ("relu", "relu"),
    ],
)
def test_activations_have_their_words(theirs: str, ours: Any) -> None:
    assert read_activation(theirs) == ours
    assert read_activation(write_activation(ours)) == ours


def test_of_two_words_for_an_activation_the_reference_s_first_is_written() -> None:
    assert write_activation("gelu_tanh") == "gelu_new"
    assert write_activation("silu") == "silu"


REFUSED: dict[str, Any] = {
    "an entry that is missing": (
        lambda: check_entry({"a": 1}, "b"),
        ["config.json has no 'b'"],
    ),
    "a number that is missing": (lambda: read_number({"a": 1}, "b"), ["config.json has no 'b'"]),
    "truth for a number": (lambda: read_number({"a": True}, "a"), ["a=True", "int"]),
    "a fraction for a whole number": (lambda: read_number({"a": 1.5}, "a"), ["a=1.5", "int"]),
    "a word for a fraction": (lambda: read_number({"a": "1"}, "a", float), ["a='1'", "float"]),
    "null for a required number": (lambda: number("a").find({"a": None}), ["a=None", "int"]),
    "two entries that differ": (
        lambda: number("a", "b").find({"a": 1, "b": 2}),
        ["a=1 and b=2", "one value for both"],
    ),
    "another constant": (
        lambda: Layout(constants={"a": 2, "b": 3}).read_config({"a": 1}),
        ["a=1", "reads 2"],
    ),
    "an entry that is no field of ours": (
        lambda: Layout(own=True).read_config({"a": 1, "dtype": "float32"}),
        ["['a'] in config.json", "no such fields"],
    ),
    "a field that cannot be said": (
        lambda: BertConfig(bias=False).to_reference(),
        ["bias=False", "bias=True"],
    ),
    "two numbers for one parameter": (
        lambda: merge([("x", "x", torch.ones(2)), ("y", "x", torch.zeros(2))]),
        ["x and y differ", "one parameter for both"],
    ),
    "an activation not in our words": (
        lambda: write_activation("gelu_new"),  # type: ignore[arg-type]
        ["'gelu_new'", "'gelu', 'gelu_tanh'"],
    ),
    "an unknown activation": (lambda: read_activation("mish"), ["'mish'", "'gelu', 'gelu_new'"]),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "says"), REFUSED.values(), ids=REFUSED)
def test_refused_with_both_values(attempt: Callable[[], Any], says: list[str]) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011, the words are compared below
        attempt()
    for part in says:
        assert part in str(caught.value)
