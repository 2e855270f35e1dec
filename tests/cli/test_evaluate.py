"""`glassbox evaluate`: every figure printed and written is that of the functions it names."""

import json
import os
import re
import sys
from typing import Any

import pytest
import torch

import glassbox.data as corpora_of
from glassbox.data import FILES, tiny_shakespeare
from glassbox.evaluation import (
    Neighbours,
    corpora,
    estimate_loss,
    evaluate_language_model,
    evaluate_masked,
    evaluate_translator,
    load_model,
    moses_bleu,
    score_translations,
    spacy_bleu,
)
from glassbox.models import BertConfig, BertForMaskedLM, Llama, LlamaConfig
from glassbox.models.character_model import CharacterModel
from glassbox.models.fill_mask import FillMask
from glassbox.tokenization import WordPiece
from glassbox.training.tasks.masked_language_model import encode_texts
from glassbox.transformer import Transformer, TransformerConfig
from glassbox.translation import TranslationTokenizer, Translator
from tests.translation import toy

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("as_a_reader")]  # thousands of calls

TATOEBA = "tatoeba_eng_fra/fra-eng.zip"
CAPTIONS = [
    ("Zwei Hunde spielen.", "Two dogs play."),
    ("Ein Mann liest z.B. hier.", "A man doesn't read here, for example."),
    ("Zwei Hunde spielen.", "Two well-known dogs are playing."),
]
#: Another sentence with the same translation, and another translation of the first sentence.
MORE = [
    *toy.PAIRS,
    ("I see a dog, then.", toy.PAIRS[0][1]),
    (toy.PAIRS[0][0], "Je vois un canard."),
]


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    """Small corpora, by the names of the large ones."""
    monkeypatch.setattr(corpora, "tatoeba", lambda split: MORE)
    monkeypatch.setattr(
        corpora,
        "multi30k",
        lambda split, *languages: CAPTIONS if languages[0] == "de" else [p[::-1] for p in CAPTIONS],
    )


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """A folder with a translator of German that knows nothing and writes small letters."""
    return ignorant(tmp_path_factory.mktemp("german"), "de")


@pytest.fixture(scope="module")
def spanish(tmp_path_factory):
    """The same, of a language that no corpus has."""
    return ignorant(tmp_path_factory.mktemp("spanish"), "es")


def ignorant(path, language):
    """Write a translator into English, and return its folder."""
    texts = {language: [pair[0] for pair in CAPTIONS], "en": [pair[1] for pair in CAPTIONS]}
    tokenizer = TranslationTokenizer.train(
        texts, 300, directions=[(language, "en")], lowercase=True
    )
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32, "vocab_size": len(tokenizer)}
    Translator(Transformer(TransformerConfig.tiny(**sizes)), tokenizer).save_pretrained(path)
    return str(path)


@pytest.fixture(scope="module")
def plays(tmp_path_factory, data):
    """A folder with a language model of the characters of Shakespeare that knows nothing."""
    data("tinyshakespeare/input.txt")
    path = tmp_path_factory.mktemp("plays")
    characters = "".join(sorted({*tiny_shakespeare("train")}))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(characters), d_model=16, n_heads=2, n_layers=1, d_ff=32, max_len=8
    )
    Llama(config).save_pretrained(path)
    (path / "language_model.json").write_text(json.dumps({"characters": characters}))
    return str(path)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ("[" * 100_000, "is not JSON"),
        ({"vocab_size": 10**30}, f"vocab_size={10**30}"),
        ({"num_hidden_layers": 10**9}, "n_layers=1000000000"),
        ({"max_position_embeddings": "8"}, "max_position_embeddings='8'"),
    ],
    ids=["lists in lists", "a vocabulary", "layers", "a word"],
)
def test_a_hostile_configuration_is_answered_in_one_line(config, says, glassbox, tmp_path):
    Llama(LlamaConfig(16, 2, 1, 16, vocab_size=5)).save_pretrained(tmp_path)
    (tmp_path / "language_model.json").write_text(json.dumps({"characters": "abcde"}))
    file = tmp_path / "config.json"
    file.write_text(
        config if isinstance(config, str) else json.dumps(json.loads(file.read_text()) | config)
    )
    answer = glassbox("evaluate", tmp_path)
    assert (answer.status, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert says in answer.err


ROW = re.compile(r"^(greedy|\d+ beams|windows of \d+, every \d+)  +(.*)$", re.MULTILINE)


def table(text):
    """The figures of each way to decode, or to cut the text."""
    return {row[1]: [float(figure) for figure in row[2].split()] for row in ROW.finditer(text)}


def test_both_directions_are_measured_on_tatoeba(folder, glassbox, tmp_path):
    answer = glassbox("evaluate", folder, "--json", tmp_path / "figures.json")
    assert (answer.status, answer.err) == (0, "")
    report = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert [(one["source"], one["to"]) for one in report["directions"]] == [
        ("en", "fr"),
        ("fr", "en"),
    ]
    assert report["model"] == folder
    model = Translator.from_pretrained(folder).model
    assert report["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert f"{report['parameters']:,} parameters, a vocabulary of 340 tokens; on cpu" in answer.out
    into_french, into_english = report["directions"]
    assert (into_french["sources"], into_french["references"]) == (31, 32)
    assert "tatoeba, test, en to fr: 31 sentences with 1 to 2 references each" in answer.out
    assert into_english["files"] == {TATOEBA: FILES[TATOEBA].sha256}
    assert answer.out.count(f"{TATOEBA}  sha256 {FILES[TATOEBA].sha256}") == 2
    for one in report["directions"]:  # where nothing is said
        assert [way["n_beams"] for way in one["decoding"]] == [1, 5]


def test_figures_are_those_of_the_functions(folder, glassbox, tmp_path):
    """As printed, as written, and as computed here."""
    file = tmp_path / "figures.json"
    answer = glassbox("evaluate", folder, "--to", "fr", "--beams", "1,3", "--json", file)
    (written,) = json.loads(file.read_text(encoding="utf-8"))["directions"]
    assert [way["n_beams"] for way in written["decoding"]] == [1, 3]
    translator = Translator.from_pretrained(folder)
    test = corpora.parallel_test("tatoeba", "test", "en", "fr")
    for way, name in zip(written["decoding"], ("greedy", "3 beams"), strict=True):
        found = translator.translate(test.sources, "fr", n_beams=way["n_beams"])
        scores = score_translations(found, test.references)
        assert {field: way[field] for field in scores._fields} == scores._asdict()
        assert scores.bleu > 90  # learned by heart
        assert table(answer.out)[name][:2] == [round(scores.bleu, 2), round(scores.chrf, 2)]
        assert f"BLEU: {scores.bleu_signature}\n" in answer.out
        assert f"chrF: {scores.chrf_signature}\n" in answer.out
        assert "nrefs:var" in scores.bleu_signature
    sources, targets = zip(*test.pairs, strict=True)
    likelihood = evaluate_translator(translator, sources, targets, "fr")
    for name in ("loss", "perplexity", "bits_per_byte", "n_tokens", "n_bytes"):
        assert written[name] == pytest.approx(getattr(likelihood, name))
    assert (
        f"perplexity {likelihood.perplexity:.3f} ({likelihood.loss:.4f} nats per token), "
        f"{likelihood.bits_per_byte:.4f} bits per byte: 32 references, {likelihood.n_tokens:,} "
        f"tokens with the one that ends each, {likelihood.n_bytes:,} bytes"
    ) in answer.out


def test_multi30k_is_measured_as_published_too(german, glassbox, tmp_path, monkeypatch):
    """By the rules of the language that is written: German ones split the apostrophe otherwise."""
    found = ["two dogs do not play.", "a man doesn't read here.", "two well-known dogs play."]
    asked = []

    def translate(self, *texts, **options):
        asked.append(options)
        return found

    monkeypatch.setattr(Translator, "translate", translate)
    file = tmp_path / "figures.json"
    answer = glassbox(
        *("evaluate", german, "--beams", "1,2", "--length-penalty", "0.8", "--json", file)
    )
    assert (answer.status, answer.err) == (0, "")
    (written,) = json.loads(file.read_text(encoding="utf-8"))["directions"]
    greedy, way = written["decoding"]
    assert [options.get("length_penalty") for options in asked] == [None, 0.8]
    assert "length_penalty" not in greedy
    assert way["length_penalty"] == 0.8
    test = corpora.parallel_test("multi30k", "test", "de", "en")
    moses = moses_bleu(found, test.references, "en")
    assert way["moses_brevity_penalty"] == moses.brevity_penalty < 1
    assert way["moses_lengths"] == [moses.hypothesis_length, moses.reference_length]
    assert (
        f"Moses, 2 beams: {moses.hypothesis_length} words for {moses.reference_length}, brevity "
        f"penalty {moses.brevity_penalty:.3f}"
    ) in answer.out
    assert way["spacy_bleu"] == spacy_bleu(found, test.references).score > 10
    assert way["moses_bleu"] == moses_bleu(found, test.references, "en").score > 10
    assert way["spacy_bleu"] != spacy_bleu(found, test.references, "de").score
    assert way["moses_bleu"] != moses_bleu(found, test.references, "de").score
    assert table(answer.out)["2 beams"][2:4] == [
        round(way["spacy_bleu"], 2),
        round(way["moses_bleu"], 2),
    ]
    scores = score_translations(found, test.references, lowercase=True)
    assert way["bleu_signature"] == scores.bleu_signature
    assert "|case:lc|" in scores.chrf_signature
    assert way["chrf"] == scores.chrf
    assert "multi30k, test_2016, de to en: 3 sentences with one reference each" in answer.out
    assert re.search(r"^ +BLEU +chrF +spaCy +Moses +seconds$", answer.out, re.MULTILINE)
    assert written["files"].keys() == {
        "multi30k/test_2016_flickr.de.gz",
        "multi30k/test_2016_flickr.en.gz",
    }


def test_a_language_model_is_measured_on_shakespeare(plays, glassbox, tmp_path):
    file = tmp_path / "figures.json"
    answer = glassbox("evaluate", plays, "--limit", "500", "--json", file)
    assert (answer.status, answer.err) == (0, "")
    (written,) = json.loads(file.read_text(encoding="utf-8"))["texts"]
    loaded, text = load_model(plays), tiny_shakespeare("valid")[:500]
    assert isinstance(loaded, CharacterModel)
    ids = loaded.encode(text)
    for window, stride in zip(written["windows"], (8, 4), strict=True):
        likelihood = evaluate_language_model(loaded.model, ids, 499, stride=stride)
        assert window["loss"] == pytest.approx(likelihood.loss, rel=1e-6)
        assert (window["n_tokens"], window["n_bytes"]) == (499, 499)
        figures = likelihood.loss, likelihood.perplexity, likelihood.bits_per_byte
        printed = table(answer.out)[f"windows of 8, every {stride}"]
        assert printed == pytest.approx(figures, abs=1e-4)
    estimate = estimate_loss(loaded.model, ids, generator=torch.Generator().manual_seed(0))
    assert written["estimate"] == pytest.approx(estimate._asdict())
    assert re.search(r"\n +nats per character +perplexity +bits per byte\n", answer.out)
    assert f"{estimate.loss:.4f}           ± {estimate.standard_error:.4f}" in answer.out
    assert "shakespeare, valid: 500 characters" in answer.out
    assert FILES["tinyshakespeare/input.txt"].sha256 in answer.out


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """A folder with a BERT that knows nothing, and the texts for it to read."""
    texts = {
        "train": ["The cat sat on the mat."] * 5 + ["A dog ran over the hill to the cat."],
        "valid": ["The dog sat on the mat.", "A cat ran over the mat to the dog on the hill."],
    }
    monkeypatch.setattr("glassbox.data.english", texts.__getitem__)
    tokenizer = WordPiece.train(texts["train"], 60)
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32, "max_len": 8}
    model = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **sizes))
    FillMask(model, tokenizer).save_pretrained(tmp_path / "bert")
    return str(tmp_path / "bert")


def test_a_bert_is_measured_on_blanks_beside_two_baselines(reader, glassbox, tmp_path):
    answer = glassbox("evaluate", reader, "--json", str(tmp_path / "figures.json"))
    assert answer.status == 0
    (found,) = json.loads((tmp_path / "figures.json").read_text())["blanks"]
    loaded = FillMask.from_pretrained(reader)
    tokenizer = loaded.tokenizer
    train, valid = (
        encode_texts(tokenizer, corpora_of.english(split), 8) for split in ("train", "valid")
    )
    given: dict[str, Any] = {"mask_id": loaded.mask_id, "special_ids": tokenizer.special_ids}
    neighbours = Neighbours(train, len(tokenizer), loaded.mask_id)
    for name, predict in (("BERT", loaded.predict), ("neighbours", neighbours.predict)):
        expected = evaluate_masked(predict, valid, vocab_size=len(tokenizer), **given)
        assert found["guesses"][name] == pytest.approx(expected._asdict())
        assert f"{expected.loss:.4f}" in answer.out
        assert f"{expected.accuracy:.1%}" in answer.out
    assert found["texts"] == 2
    often = found["guesses"]["frequency"]
    assert often["n_tokens"] == found["guesses"]["BERT"]["n_tokens"] == 2
    assert glassbox("evaluate", reader, "--limit", "1").out.count("english, valid: 1 texts") == 1


def test_a_bert_reads_as_many_texts_at_a_time_as_asked(reader, glassbox, monkeypatch):
    predict, sizes = FillMask.predict, []

    def spy(self, token_ids, at):
        sizes.append(len(token_ids))
        return predict(self, token_ids, at)

    monkeypatch.setattr(FillMask, "predict", spy)
    said = [glassbox("evaluate", reader, "--batch-size", n).out for n in (2, 1)]
    assert (sizes, said[0]) == ([2, 1, 1], said[1])


def test_help_says_which_corpus_is_for_which_model_and_what_is_written(glassbox):
    said = " ".join(glassbox("evaluate", "--help").out.split())
    assert "tatoeba or multi30k for a translator, shakespeare for a language model, engl" in said
    assert "MODEL a model in the package, or a folder: runs/mine/model" in said
    assert "--json FILE also write all scores to this file" in said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--data", "tatoeba"], "--data tatoeba needs a translator, not a BERT"),
        (["--data", "shakespeare"], "--data shakespeare needs a language model, not a BERT"),
        (["--to", "fr"], "is a BERT, no translator"),
    ],
)
def test_what_a_bert_cannot_do_is_told(options, says, reader, glassbox):
    answer = glassbox("evaluate", reader, *options)
    assert answer.status == 2
    assert says in answer.err


def test_a_limit_takes_the_first_and_a_language_takes_its_direction(folder, glassbox):
    out = glassbox("evaluate", folder, "--from", "fr", "--limit", "2", "--beams", "1").out
    assert "fr to en: 2 sentences with 1 to 2 references each" in out
    assert "en to fr" not in out
    assert {*table(out)} == {"greedy"}


def test_the_corpus_can_be_said(folder, glassbox):
    """French is in both; Tatoeba comes first."""
    asked = ["evaluate", folder, "--to", "en", "--limit", "1", "--beams", "1"]
    assert "\ntatoeba, test, " in glassbox(*asked).out
    out = glassbox(*asked, "--data", "multi30k", "--split", "test_2018").out
    assert "\nmulti30k, test_2018, fr to en: 1 sentences" in out


REFUSED: dict[str, list[tuple[list[str], str]]] = {
    "folder": [
        (["--data", "shakespeare"], "--data shakespeare needs a language model, not a translator"),
        (["--from", "de"], "--from de: this translator writes only fr (from en) and en (from fr)"),
        (["--from", "en", "--to", "de"], "--from en --to de: this translator writes only fr ("),
        (["--limit", "0"], "--limit=0: expected an int, at least 1"),
        (["--batch-size", "-1"], "--batch-size=-1: expected an int, at least 1"),
        (["--length-penalty", "1", "--beams", "1"], "name more than one of --beams"),
        (["--length-penalty", "nan"], "--length-penalty=nan: "),
        (["--device", "abacus"], "--device abacus: expected cpu"),
        (["--json", "/no such folder/figures.json"], "no folder '/no such folder'"),
        (["--json", "/"], "'/' is a folder; expected the name of a file in one"),
        (["--json", "~"], "is a folder; expected the name of a file in one"),
        (["--json", os.devnull], f"'{os.devnull}' is a device or a pipe"),
    ],
    "german": [
        (
            ["--data", "tatoeba"],
            "translates de to en, and tatoeba does not have such a direction: tatoeba has en, fr",
        ),
    ],
    "spanish": [
        (
            [],
            "translates es to en, and no corpus of the book has such a direction: tatoeba has "
            "en, fr; multi30k has de, en, fr",
        ),
    ],
    "plays": [
        (["--data", "tatoeba"], "--data tatoeba needs a translator, not a language model"),
        (["--to", "en"], "--to: "),
        (["--from", "en"], "--from: "),
        (["--beams", "3"], "--beams: "),
        (["--length-penalty", "0.8"], "--length-penalty: "),
        (["--split", "test"], "'test'"),
        (["--limit", "1"], "a text of 1 tokens: expected 2"),
        (["--limit", "8"], "a text of 8 tokens is too short for windows of max_len=8"),
    ],
}


@pytest.mark.parametrize(
    ("model", "arguments", "says"),
    [(model, *case) for model, cases in REFUSED.items() for case in cases],
)
def test_what_does_not_go_together_is_told_in_a_line(model, arguments, says, request, glassbox):
    answer = glassbox("evaluate", request.getfixturevalue(model), *arguments)
    assert answer.status == 2
    assert answer.err.startswith("glassbox: ")
    assert says in answer.err
    assert answer.err.count("\n") == 1
    assert "windows of" not in answer.out  # before the text is measured


@pytest.mark.parametrize("beams", ["0", "1,0", "-1", "", "five", "1,,5", "1.5"])
def test_beams_are_whole_numbers(beams, folder, glassbox):
    answer = glassbox("evaluate", folder, f"--beams={beams}")
    assert answer.status == 2
    assert f"{beams!r}: expected whole numbers from 1 on with commas between" in answer.err


def test_a_model_that_is_not_there_is_named(glassbox):
    answer = glassbox("evaluate", "no-such-model")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("glassbox: no model 'no-such-model' (no such folder)")


@pytest.mark.parametrize("library", ["sacrebleu", "spacy", "sacremoses"])
def test_a_missing_library_is_told_before_anything_is_translated(
    library, german, glassbox, monkeypatch
):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr(Translator, "translate", None)
    answer = glassbox("evaluate", german)
    assert answer.status == 2
    assert f"glassbox evaluate needs {library}, which is not installed" in answer.err
    assert "pip install 'glassbox[train]'" in answer.err


def test_tatoeba_needs_no_tokenizer_of_words(folder, glassbox, monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    assert glassbox("evaluate", folder, "--limit", "1", "--beams", "1").status == 0


def test_figures_are_written_whole_or_not_at_all(folder, glassbox, tmp_path, monkeypatch):
    file = tmp_path / "figures.json"
    file.write_text("before")

    def fail(*arguments, **options):
        raise ValueError("interrupted")

    monkeypatch.setattr("glassbox.evaluation.evaluate_translator", fail)
    assert glassbox("evaluate", folder, "--limit", "1", "--json", file).status == 2
    assert [path.name for path in tmp_path.iterdir()] == ["figures.json"]
    assert file.read_text() == "before"


def test_a_folder_that_admits_no_file_is_named_before_anything_is_computed(
    folder, glassbox, tmp_path, monkeypatch
):
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write everywhere
    answer = glassbox("evaluate", folder, "--json", tmp_path / "figures.json")
    assert (answer.status, answer.out) == (2, "")
    assert f"no files can be written to the folder {str(tmp_path)!r}" in answer.err
