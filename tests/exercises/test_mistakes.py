"""Every exercise accepts its reference, and tells its known mistakes apart."""

import tomllib
from pathlib import Path

import pytest

from glassbox_book import exercises
from glassbox_book.exercises import EXERCISES, check
from glassbox_book.exercises.compare import difference

pytestmark = pytest.mark.slow

MISTAKES = [
    pytest.param(name, sentence, id=f"{name.partition('.')[2]}-{number}")
    for name, exercise in EXERCISES.items()
    for number, sentence in enumerate(exercise.mistakes)
]


def diagnosis(name, function):
    verdict = check(name, function)
    assert not verdict.passed
    assert max(map(len, repr(verdict).splitlines())) <= 74
    return verdict.text.splitlines()[-1]


@pytest.mark.parametrize("name", EXERCISES)
def test_reference_is_right(name):
    verdict = check(name, EXERCISES[name].reference)
    assert verdict.passed, verdict.text
    assert verdict.text.startswith("Right in all ")


def test_every_exercise_has_mistakes_and_no_other_has():
    found = {
        f"{file.stem}.{function}"
        for file in Path(exercises.__file__).parent.glob("*.toml")
        for function in tomllib.loads(file.read_text(encoding="utf-8"))
    }
    assert found == set(EXERCISES)


@pytest.mark.parametrize("name", EXERCISES)
def test_cases_are_the_same_at_every_call(name):
    exercise = EXERCISES[name]
    for pair in zip(exercise.hidden_cases(), exercise.hidden_cases(), strict=True):
        assert repr(pair[0]) == repr(pair[1])
        one, other = (exercise.reference(*case.arguments.values()) for case in pair)
        assert difference(exercise.returns, one, other, 0.0) is None


@pytest.mark.parametrize("name", ["scaled_dot_product.scores", "tokens_and_embeddings.best_cut"])
def test_verdict_is_the_same_at_every_call(name):
    wrong = next(iter(EXERCISES[name].mistakes.values()))
    assert repr(check(name, wrong)) == repr(check(name, wrong))


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("name", "sentence"), MISTAKES)
def test_mistake_is_recognised(name, sentence):
    assert diagnosis(name, EXERCISES[name].mistakes[sentence]) == sentence
