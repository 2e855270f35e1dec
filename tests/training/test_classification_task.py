"""A BERT learns to classify texts, or words by their first piece."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from glassbox.data.entities import entities
from glassbox.data.sentences import LabelledSentence, TaggedSentence
from glassbox.models import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from glassbox.tokenization import WordPiece
from glassbox.training import (
    ClassificationConfig,
    ClassificationTask,
    Processes,
    TrainingConfig,
    TranslationConfig,
    train,
)
from glassbox.training.masking import IGNORE
from glassbox.training.schedule import Schedule
from glassbox.training.tasks import classification

FILMS = {
    "train": [LabelledSentence(f"a {word} film", good) for word, good in (("good", 1), ("bad", 0))],
    "valid": [LabelledSentence("a good good film", 1), LabelledSentence("bad", 0)],
}
NAMES = {
    split: [
        TaggedSentence(("Anna", "saw", "Paris"), ("B-person", "O", "B-location")),
        TaggedSentence(("a", "film", "by", "Bo", "Ek"), ("O", "O", "O", "B-person", "I-person")),
    ]
    for split in ("train", "valid")
}
ALONE = Processes(0, 1, torch.device("cpu"))


@pytest.fixture(autouse=True)
def corpora(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few sentences in place of the real ones."""
    monkeypatch.setattr(classification, "sst2", FILMS.__getitem__)
    monkeypatch.setattr(classification, "wnut17", NAMES.__getitem__)


@pytest.fixture
def config(tmp_path: Path) -> ClassificationConfig:
    """A small BERT to begin with, in a folder."""
    texts = [text for text, _ in FILMS["train"]] + [" ".join(s.words) for s in NAMES["train"]]
    tokenizer = WordPiece.train(texts, 60)
    sizes: dict[str, Any] = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32}
    torch.manual_seed(0)
    encoder = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), max_len=16, **sizes))
    encoder.save_pretrained(tmp_path / "encoder")
    tokenizer.save(tmp_path / "encoder")
    return ClassificationConfig(encoder=str(tmp_path / "encoder"), max_len=16, tokens=64)


def test_a_text_is_classified_as_a_whole(config: ClassificationConfig) -> None:
    task = ClassificationTask(config)
    model: Any = task.build().double().eval()
    assert isinstance(model, BertForSequenceClassification)
    expected = torch.zeros((), dtype=torch.float64)
    for text, label in FILMS["train"]:
        logits = model(torch.tensor([task.tokenizer.encode(text)]))
        expected += F.cross_entropy(logits, torch.tensor([label]), reduction="sum")
    loss = task.loss(model, [0, 1])
    torch.testing.assert_close(loss.total, expected)
    assert loss.count == task.count([[0, 1]]) == 2


def test_a_long_text_is_cut_to_the_model_s_length_and_still_ends(
    config: ClassificationConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = {"train": [LabelledSentence("a good film " * 20, 1)], "valid": FILMS["valid"]}
    monkeypatch.setattr(classification, "sst2", long.__getitem__)
    task = ClassificationTask(config)
    ((ids, _),) = task.read("train")
    whole = task.tokenizer.encode("a good film " * 20)
    assert ids == [*whole[:15], whole[-1]]


def test_a_word_is_classified_by_its_first_piece(config: ClassificationConfig) -> None:
    task = ClassificationTask(replace(config, corpus="wnut17"))
    model: Any = task.build().double().eval()
    assert isinstance(model, BertForTokenClassification)
    expected = torch.zeros((), dtype=torch.float64)
    for words, tags in NAMES["train"]:
        pieces = [task.tokenizer.tokenize(word) for word in words]
        logits = model(torch.tensor([task.tokenizer.encode(" ".join(words))]))[0]
        place = 1
        for several, tag in zip(pieces, tags, strict=True):
            label = torch.tensor(task.labels.index(tag))
            expected += F.cross_entropy(logits[place], label)
            place += len(several)
    loss = task.loss(model, [0, 1])
    torch.testing.assert_close(loss.total, expected)
    assert loss.count == task.count([[0], [1]]) == 8


def test_a_long_text_is_cut_off_or_read_in_parts(config: ClassificationConfig) -> None:
    short = replace(config, max_len=6)
    films, names = ClassificationTask(short), ClassificationTask(replace(short, corpus="wnut17"))
    end = films.tokenizer.token_id("[SEP]")
    for task in (films, names):
        assert max(len(ids) for ids, _ in task.examples) <= 6
        assert all(ids[-1] == end for ids, _ in task.examples)
    shortest = ClassificationTask(replace(config, corpus="wnut17", max_len=3))
    assert {len(ids) for ids, _ in shortest.examples} == {3}  # a piece between the two tokens
    labels = [label for _, row in names.examples for label in row if label != IGNORE]
    tags = [tag for sentence in NAMES["train"] for tag in sentence.tags]
    assert [names.labels[label] for label in labels] == tags


def test_no_entity_is_divided_that_fits_into_a_part(
    config: ClassificationConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [
        TaggedSentence(("Anna", "met", "Bo", "Ek"), ("B-person", "O", "B-person", "I-person")),
        TaggedSentence(("Bo", "Ek"), ("B-person", "I-person")),
    ]
    monkeypatch.setattr(classification, "wnut17", {"train": names, "valid": names}.__getitem__)
    divided = {}
    for max_len in range(3, 12):
        task = ClassificationTask(replace(config, corpus="wnut17", max_len=max_len))
        rows = [[label for label in row if label != IGNORE] for _, row in task.examples]
        divided[max_len] = sum(len(entities([task.labels[i] for i in row])) for row in rows) - 3
    longest = len(task.tokenizer.encode("Bo Ek"))
    assert divided == {max_len: 0 if max_len >= longest else 2 for max_len in divided}
    assert 0 < longest - 3 < 8


def test_scores_are_those_of_the_most_probable_labels(config: ClassificationConfig) -> None:
    task = ClassificationTask(config)
    model: Any = task.build().eval()
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([0.0, 1.0]))  # everything is good
        found = task.validate(model, ALONE)
    assert found["accuracy"] == 0.5
    assert found["nll"] == pytest.approx((0.3133 + 1.3133) / 2, abs=1e-4)
    task = ClassificationTask(replace(config, corpus="wnut17"))
    model = task.build().eval()
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        model.classifier.bias[task.labels.index("B-person")] = 1.0
        found = task.validate(model, ALONE)
    assert found["precision"] == pytest.approx(1 / 8)  # only Anna; Bo Ek has two words
    assert found["recall"] == pytest.approx(1 / 3)


def test_it_begins_with_the_encoder_or_from_scratch(config: ClassificationConfig) -> None:
    encoder = BertForMaskedLM.from_pretrained(config.encoder).bert.state_dict()
    tuned: Any
    fresh: Any
    tuned, fresh = (ClassificationTask(replace(config, scratch=s)).build() for s in (False, True))
    assert tuned.bert.state_dict().keys() == fresh.bert.state_dict().keys()
    name = "embeddings.token.weight"
    torch.testing.assert_close(tuned.bert.state_dict()[name], encoder[name])
    assert not torch.allclose(fresh.bert.state_dict()[name], encoder[name])
    assert tuned.config == fresh.config


@pytest.mark.parametrize(("corpus", "measure"), [("sst2", "accuracy"), ("wnut17", "f1")])
def test_what_is_saved_has_learned(
    config: ClassificationConfig, tmp_path: Path, corpus: Any, measure: str
) -> None:
    task = ClassificationTask(replace(config, corpus=corpus))
    schedule = Schedule(kind="constant", peak=1e-2, warmup=0)
    training = TrainingConfig(schedule, steps=40, validate_every=40, checkpoint_every=40)
    assert train(task, training, tmp_path / "run")
    model = task.kind.from_pretrained(tmp_path / "run/model")
    assert WordPiece.load(tmp_path / "run/model").vocabulary == task.tokenizer.vocabulary
    with torch.no_grad():
        assert task.validate(model, ALONE)[measure] == 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": "imdb"}, "corpus='imdb'"),
        ({"max_len": 2}, "max_len=2: expected an int, at least 3, for [CLS], a word and"),
        ({"tokens": 0}, "tokens=0: expected an int, at least 1"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(
    config: ClassificationConfig, changes: dict, message: str, as_a_reader: None
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(config, **changes)


def test_a_flag_in_a_word_is_refused() -> None:
    with pytest.raises(TypeError, match="scratch is of type str, 'no'; expected True or False"):
        ClassificationConfig(scratch="no")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="lowercase is of type str, 'no'; expected True or False"):
        TranslationConfig(lowercase="no")  # type: ignore[arg-type]


def test_what_cannot_be_read_at_once_is_refused_before_training(
    config: ClassificationConfig,
) -> None:
    with pytest.raises(ValueError, match="max_len=17: this model reads 16 tokens at most"):
        ClassificationTask(replace(config, max_len=17)).build()
    assert max(len(ids) for ids, _ in ClassificationTask(config).examples) == 5
    with pytest.raises(ValueError, match="example 0 has 6 tokens, a batch at most tokens=5"):
        ClassificationTask(replace(config, tokens=5))  # of the held-out texts


def test_an_encoder_that_is_not_there_is_named(config: ClassificationConfig) -> None:
    with pytest.raises(FileNotFoundError, match=re.escape("no folder './nothing'")):
        ClassificationTask(replace(config, encoder="./nothing"))
