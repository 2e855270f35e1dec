"""A translator learns from what it should, in the form that it should, and from nothing else."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from glassbox import padding_mask
from glassbox.training import Processes, TranslationConfig, TranslationTask
from glassbox.training.tasks import translation
from glassbox.training.tasks.translation import Pair, hurried, read_rows
from glassbox.translation import TranslationTokenizer, Translator

TRAIN = [
    ("I see a dog.", "Je vois un chien."),
    ("We love the tree.", "Nous aimons l'arbre."),
    ("You know the old house and the tree.", "Tu connais la vieille maison et l'arbre."),
    ("I see.", "Je vois."),
]
VALID = [("A zebra quivers.", "Un zèbre frémit."), ("I know.", "Je sais.")]
CONFIG = TranslationConfig(
    vocab_size=300,
    tokens=64,
    smoothing=0.0,
    model={"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32, "dropout": 0.0},
)
ALONE = Processes(0, 1, torch.device("cpu"))


@pytest.fixture(autouse=True)
def corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of six pairs in place of the real one."""
    splits = {"train": TRAIN, "valid": VALID}
    monkeypatch.setattr(translation, "tatoeba", splits.__getitem__)


def texts(task: TranslationTask) -> list[tuple[str, str]]:
    """Return what a task learns from as text, special tokens shown."""
    bpe = task.tokenizer.bpe
    return [(bpe.decode(source), bpe.decode(target)) for source, target in task.examples]


def test_each_pair_is_learned_in_both_directions_with_the_language_in_front() -> None:
    seen = texts(TranslationTask(CONFIG))
    assert len(seen) == 8
    assert ("<fr> I see.</s>", "<s> Je vois.</s>") in seen
    assert ("<en> Je vois.</s>", "<s> I see.</s>") in seen


def test_one_direction_is_one_direction() -> None:
    seen = texts(TranslationTask(replace(CONFIG, directions=(("fr", "en"),))))
    assert len(seen) == 4
    assert all(source.startswith("<en>") for source, _ in seen)


def test_the_vocabulary_comes_from_the_training_text_alone() -> None:
    task = TranslationTask(CONFIG)
    again = TranslationTokenizer.train(
        {"en": [a for a, _ in TRAIN], "fr": [b for _, b in TRAIN]},
        CONFIG.vocab_size,
        directions=CONFIG.directions,
    )
    assert task.tokenizer.bpe.merges == again.bpe.merges
    assert "zebra" not in "".join(map("".join, task.tokenizer.bpe.merges))


def test_further_pairs_are_repeated_and_have_no_part_in_the_vocabulary(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("# ours\n\nzebra zebra zebra\tzèbre zèbre\n", encoding="utf-8")
    task = TranslationTask(replace(CONFIG, pairs=str(file), repeat=3))
    counts = Counter(texts(task))
    assert counts["<fr> zebra zebra zebra</s>", "<s> zèbre zèbre</s>"] == 3
    assert counts["<en> zèbre zèbre</s>", "<s> zebra zebra zebra</s>"] == 3
    assert len(task.examples) == 8 + 6
    assert task.tokenizer.bpe.merges == TranslationTask(CONFIG).tokenizer.bpe.merges


def test_further_pairs_are_read_before_the_vocabulary_is_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes minutes: a file that is missing is missed at once."""
    monkeypatch.setattr(translation.TranslationTokenizer, "train", None)
    with pytest.raises(FileNotFoundError, match=r"no such\.tsv"):
        TranslationTask(replace(CONFIG, pairs="no such.tsv"))


def test_pairs_of_ones_own_are_a_corpus_with_a_vocabulary_in_any_languages(tmp_path: Path) -> None:
    rows = [(f"gato {number}", f"Katze {number}") for number in range(40)]
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    config = replace(CONFIG, corpus="pairs", pairs=str(file), directions=(("es", "de"),))
    task = TranslationTask(config)
    assert (len(task.examples), len(task.held_out)) == (38, 2)
    assert task.examples == TranslationTask(config).examples
    learned = {source.removeprefix("<de> ").removesuffix("</s>") for source, _ in texts(task)}
    assert learned < {source for source, _ in rows}
    assert "gat" in {"".join(merge).strip() for merge in task.tokenizer.bpe.merges}


def test_all_pairs_come_once_more_in_a_hurry_if_asked() -> None:
    seen = texts(TranslationTask(replace(CONFIG, plain=1.0)))
    assert len(seen) == 16
    assert ("<fr> i see</s>", "<s> je vois</s>") in seen


def test_hurried_text_keeps_what_changes_its_meaning() -> None:
    assert hurried("Is Tom here?") == "is tom here?"
    assert hurried("Tom is here.") == "tom is here"


def test_the_share_in_a_hurry_follows_from_the_seed() -> None:
    config = replace(CONFIG, plain=0.5)
    assert texts(TranslationTask(config, 1)) == texts(TranslationTask(config, 1))
    drawn = {len(TranslationTask(config, seed).examples) for seed in range(8)}
    assert len(drawn) > 1
    assert all(8 <= number <= 16 for number in drawn)


def test_pairs_that_are_too_long_are_left_out() -> None:
    lengths = [max(map(len, pair)) for pair in TranslationTask(CONFIG).examples]
    limit = sorted(lengths)[4]
    task = TranslationTask(replace(CONFIG, max_len=limit))
    assert len(task.examples) == sum(length <= limit for length in lengths)
    with pytest.raises(
        ValueError, match="all 8 training pairs are longer than max_len=3: raise it"
    ):
        TranslationTask(replace(CONFIG, max_len=3))


def test_padding_changes_neither_loss_nor_gradient() -> None:
    task = TranslationTask(CONFIG)
    torch.manual_seed(0)
    model = task.build().double()
    examples = list(range(8))

    together = task.loss(model, examples)
    together.total.backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    alone = [task.loss(model, [i]) for i in examples]
    torch.stack([loss.total for loss in alone]).sum().backward()

    torch.testing.assert_close(together.total, sum(loss.total for loss in alone))
    assert together.count == sum(loss.count for loss in alone) == task.count([examples])
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-9, atol=1e-12)


def test_each_position_learns_the_next_token_from_the_true_ones_before() -> None:
    task = TranslationTask(replace(CONFIG, smoothing=0.1))
    torch.manual_seed(0)
    model = task.build().double()
    source, target = task.examples[2]
    ids = torch.tensor([source])
    logits = model(ids, torch.tensor([target[:-1]]), padding_mask(ids, 0))
    labels = torch.tensor(target[1:])
    loss = task.loss(model, [2])
    expected = F.cross_entropy(logits[0], labels, reduction="sum", label_smoothing=0.1)
    torch.testing.assert_close(loss.total, expected)
    torch.testing.assert_close(loss.nll, F.cross_entropy(logits[0], labels, reduction="sum"))
    assert target[0] == task.tokenizer.bos_id
    assert target[-1] == task.tokenizer.eos_id


def test_validation_is_the_unsmoothed_mean_over_all_held_out_tokens() -> None:
    task = TranslationTask(replace(CONFIG, smoothing=0.3, tokens=32))
    torch.manual_seed(0)
    model = task.build().eval()
    losses = [task._loss(model, [pair], 0.0) for pair in task.held_out]
    nll = sum(loss.nll.item() for loss in losses) / sum(loss.count.item() for loss in losses)
    with torch.no_grad():
        measured = task.validate(model, ALONE)
    assert measured["nll"] == pytest.approx(nll, rel=1e-6)
    assert measured["perplexity"] == pytest.approx(torch.tensor(nll).exp().item(), rel=1e-5)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({"vocab_size": 400}, "the model has vocab_size=400, the tokenizer 300"),
        ({"target_vocab_size": 400}, "the model has written_vocab_size=400, the tokenizer 300"),
        ({"pad_id": 5}, "the model has pad_id=5, the tokenizer 0"),
    ],
)
def test_another_vocabulary_than_the_tokenizer_s_is_refused_before_training(
    size: dict, message: str
) -> None:
    task = TranslationTask(replace(CONFIG, model={**CONFIG.model, **size}))
    with pytest.raises(ValueError, match=message):
        task.build()


def test_what_is_saved_translates_as_what_was_trained(tmp_path: Path) -> None:
    task = TranslationTask(CONFIG)
    torch.manual_seed(0)
    model = task.build().eval()
    task.save(model, tmp_path / "model")
    read = Translator.from_pretrained(tmp_path / "model")
    assert read.translate("I see.", "fr", max_new_tokens=5) == Translator(
        model, task.tokenizer
    ).translate("I see.", "fr", max_new_tokens=5)


def test_training_goes_on_from_a_translator_with_its_vocabulary(tmp_path: Path) -> None:
    task = TranslationTask(CONFIG)
    torch.manual_seed(0)
    model = task.build()
    task.save(model, tmp_path / "model")
    further = TranslationTask(
        replace(CONFIG, start=str(tmp_path / "model"), model={"dropout": 0.3})
    )
    built = further.build()
    assert built.config == replace(model.config, dropout=0.3)
    for name, tensor in built.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name])
    assert further.examples == task.examples


@pytest.mark.parametrize(
    "changed", [{"d_model": 32}, {"n_heads": 1}, {"scale_embeddings": False}, {"norm_eps": 0.1}]
)
def test_a_size_that_changes_what_the_weights_compute_is_refused(
    changed: dict[str, object], tmp_path: Path
) -> None:
    """Most have no tensor of their own, so that the weights would fit all the same."""
    task = TranslationTask(CONFIG)
    task.save(task.build(), tmp_path / "model")
    other = TranslationTask(replace(CONFIG, start=str(tmp_path / "model"), model=changed))
    with pytest.raises(ValueError, match=f"model={changed} differs from start='.*': leave it out"):
        other.build()


def test_pairs_that_the_translator_would_not_read_are_refused(tmp_path: Path) -> None:
    short = CONFIG.model | {"max_len": 40}
    with pytest.raises(ValueError, match=r"max_len=128: this model reads 40 tokens at most; lower"):
        replace(CONFIG, model=short)
    task = TranslationTask(replace(CONFIG, model=short, max_len=40))
    task.save(task.build(), tmp_path / "model")
    further = TranslationTask(replace(CONFIG, start=str(tmp_path / "model")))
    with pytest.raises(ValueError, match=r"max_len=128: this model reads 40 tokens at most; lower"):
        further.build()


def test_pairs_that_are_all_too_long_are_named_by_their_split() -> None:
    task = TranslationTask(CONFIG)
    with pytest.raises(ValueError, match="all 1 held-out pairs are longer than max_len=128: raise"):
        task._encode([Pair("dog " * 200, "chien", "en", "fr")], "held-out")


def test_what_a_translator_does_not_translate_is_not_learned_on_top(tmp_path: Path) -> None:
    """It would be saved as a translator of the former languages."""
    task = TranslationTask(CONFIG)
    task.save(task.build(), tmp_path / "model")
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"Hund {number}\tdog {number}\n" for number in range(40)))
    config = replace(CONFIG, corpus="pairs", pairs=str(file), directions=(("de", "en"),))
    with pytest.raises(ValueError, match=r"source='de', to='en': .* no such direction, only en to"):
        TranslationTask(replace(config, start=str(tmp_path / "model")))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": "europarl"}, "corpus='europarl'"),
        ({"directions": ()}, "directions is empty"),
        ({"plain": 1.5}, "plain=1.5: expected a number, from 0 to 1: the share of the pairs"),
        ({"smoothing": 1.0}, "smoothing=1.0: expected a number, at least 0 and less than 1"),
        ({"vocab_size": 0}, "vocab_size=0: expected an int, at least 1"),
        ({"tokens": 0}, "tokens=0: expected an int, at least 1"),
        ({"accumulate": 0}, "accumulate=0: expected an int, at least 1"),
        ({"max_len": 0}, "max_len=0: expected an int, at least 1"),
        ({"repeat": 0}, "repeat=0: expected an int, at least 1"),
        ({"corpus": "pairs"}, "corpus='pairs' needs a file of them, such as pairs='pairs.tsv'"),
        ({"corpus": "pairs", "pairs": "p", "repeat": 2}, "repeat=2 counts further pairs, and with"),
        ({"repeat": 3}, "repeat=3 counts further pairs, .* and pairs=None there are none"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(
    changes: dict, message: str, as_a_reader: None
) -> None:
    with pytest.raises(ValueError, match=message):
        replace(CONFIG, **changes)


def test_lines_end_where_an_editor_ends_them(tmp_path: Path) -> None:
    """Not within a sentence; and a byte-order mark is no part of the first."""
    file = tmp_path / "pairs.tsv"
    text = "\ufeff# ours\r\none\u2028two\tun\x85deux\r\nthree\ttrois\rfour\tquatre"
    file.write_bytes(text.encode())
    expected = [("one\u2028two", "un\x85deux"), ("three", "trois"), ("four", "quatre")]
    assert read_rows(file, ("en", "fr")) == expected


@pytest.mark.parametrize("line", ["only one text", "a\tb\tc", "a\t", "\tb", "a\t\u200b"])
def test_a_line_without_two_texts_is_named(line: str, tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(f"one\tun\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"pairs.tsv, line 2: expected two texts, in en and fr"):
        read_rows(file, ("en", "fr"))


@pytest.mark.parametrize(
    ("content", "changes", "message"),
    [
        (b"one\tun\n", {}, r"pairs.tsv has 1 different pairs, too few to learn from and to hold"),
        (b"one\tun\none\tune\n", {}, r"pairs.tsv has 2 different pairs, too few"),
        (b"one\tun\nno\tn\xff\n", {}, r"pairs.tsv, line 2: expected UTF-8"),
        (b"\xef\xbb\xbf\n\xff", {}, r"pairs.tsv, line 2: expected UTF-8"),
        (
            b"one\tun\n",
            {"corpus": "tatoeba", "directions": (("en", "fr"), ("de", "en"))},
            r"directions has \('de', 'en'\); the pairs are in en and fr",
        ),
    ],
)
def test_pairs_that_cannot_be_learned_from_are_named(
    tmp_path: Path, content: bytes, changes: dict, message: str
) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        TranslationTask(replace(CONFIG, **{"corpus": "pairs", "pairs": str(file), **changes}))


@pytest.mark.usefixtures("as_a_reader")
def test_phrases_need_no_file_and_make_a_whole_task():
    config = TranslationConfig(
        corpus="phrases",
        directions=(("en", "fr"),),
        vocab_size=300,
        tokens=640,
        model=CONFIG.model,
    )
    task = TranslationTask(config)
    assert (len(task.examples), len(task.held_out)) == (6_000, 200)
    source, target = task.examples[0]
    assert task.tokenizer.decode(source) == "our green cows do not find our queen."
    assert task.tokenizer.decode(target) == "nos vaches vertes ne trouvent pas notre reine."
