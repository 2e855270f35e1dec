"""The models that the package carries are as good as their cards say."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from glassbox.data import english, tiny_shakespeare
from glassbox.evaluation import evaluate_language_model, evaluate_masked, load_model
from glassbox.evaluation.corpora import parallel_test
from glassbox.evaluation.report import measure_translations
from glassbox.models.character_model import CharacterModel
from glassbox.models.fill_mask import FillMask
from glassbox.results import RUNS
from glassbox.training.tasks.masked_language_model import encode_texts
from glassbox.translation import Translator

PACKAGED = Path(str(files("glassbox"))) / "pretrained_weights"
#: Each model that is carried, and the run that it comes from.
SHIPPED = {note.read_text().strip(): note.parent for note in sorted(RUNS.glob("*/shipped.txt"))}
MB = 1_000_000
ENGLISH = (
    "tatoeba_eng_fra/fra-eng.zip",
    "multi30k/val.en.gz",
    "classification_sst2/dev.tsv",
    "ner_wnut17/emerging.dev.conll",
    "tinyshakespeare/input.txt",
)


def scores(name: str) -> dict[str, Any]:
    """Return the scores of a carried model, as they are committed."""
    (file,) = SHIPPED[name].glob("seed-*/scores-*.json")
    report: dict[str, Any] = json.loads(file.read_text())
    return report


def test_each_model_that_is_carried_comes_from_a_run() -> None:
    assert {folder.name for folder in PACKAGED.iterdir() if folder.is_dir()} == {*SHIPPED}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_model_carries_its_card(name: str) -> None:
    assert (PACKAGED / name / "CARD.md").read_text() == (SHIPPED[name] / "CARD.md").read_text()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_model_is_small_enough_to_be_carried(name: str) -> None:
    size = sum(file.stat().st_size for file in (PACKAGED / name).iterdir())
    limit = 2 * MB if isinstance(load_model(name), CharacterModel) else 20 * MB
    assert size <= limit


@pytest.mark.slow
@pytest.mark.usefixtures("as_a_reader")  # a hundred thousand calls
@pytest.mark.parametrize("name", SHIPPED)
def test_a_model_has_the_scores_of_its_card(name: str, data: Callable[[str], Path]) -> None:
    model, report = load_model(name), scores(name)
    if isinstance(model, CharacterModel):
        for expected in report["texts"]:
            check_language_model(model, expected, data)
    elif isinstance(model, FillMask):
        for expected in report["blanks"]:
            check_blanks(model, expected, data)
    else:
        for expected in report["directions"]:
            check_translator(model, expected, data)


def check_language_model(
    model: CharacterModel, expected: dict[str, Any], data: Callable[[str], Path]
) -> None:
    data("tinyshakespeare/input.txt")
    ids = model.encode(tiny_shakespeare(expected["split"]))
    window = expected["windows"][0]
    measured = evaluate_language_model(model.model, ids, window["n_bytes"], stride=window["stride"])
    assert measured.loss == pytest.approx(window["loss"], abs=1e-5)


def check_blanks(model: FillMask, expected: dict[str, Any], data: Callable[[str], Path]) -> None:
    for name in ENGLISH:
        data(name)
    texts = encode_texts(model.tokenizer, english(expected["split"]), model.model.config.max_len)
    assert len(texts) == expected["texts"]
    scores = evaluate_masked(
        model.predict,
        texts,
        mask_id=model.mask_id,
        vocab_size=len(model.tokenizer),
        special_ids=model.tokenizer.special_ids,
    )
    measured = expected["guesses"]["BERT"]
    assert scores.n_tokens == measured["n_tokens"]
    assert scores.loss == pytest.approx(measured["loss"], abs=1e-4)
    assert scores.accuracy == pytest.approx(measured["accuracy"], abs=1e-3)


def check_translator(
    model: Translator, expected: dict[str, Any], data: Callable[[str], Path]
) -> None:
    data("tatoeba_eng_fra/fra-eng.zip")
    test = parallel_test("tatoeba", expected["split"], expected["source"], expected["to"])
    assert len(test.sources) == expected["sources"]
    (greedy,) = (way for way in expected["decoding"] if way["n_beams"] == 1)
    measured = measure_translations(model, test, n_beams=1, batch_size=256)  # faster than by 64
    # Another processor rounds differently, which may decide between two words that are equally
    # probable; in 2,000 sentences that is seen in the second decimal at most.
    assert measured["bleu"] == pytest.approx(greedy["bleu"], abs=0.1)
    assert measured["chrf"] == pytest.approx(greedy["chrf"], abs=0.1)
    assert measured["bleu_signature"] == greedy["bleu_signature"]
