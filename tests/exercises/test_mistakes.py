"""Every exercise accepts its reference, and tells its known mistakes apart."""

import pytest

from glassbox.exercises import EXERCISES, check

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


@pytest.mark.parametrize("name", EXERCISES)
def test_verdict_is_the_same_at_every_call(name):
    wrong = next(iter(EXERCISES[name].mistakes.values()))
    assert repr(check(name, wrong)) == repr(check(name, wrong))


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("name", "sentence"), MISTAKES)
def test_mistake_is_recognised(name, sentence):
    """Two mistakes at once may look like one of them, where it hides the other."""
    mistakes = EXERCISES[name].mistakes
    parts = [one for one in mistakes if one != sentence and one in sentence]
    found = diagnosis(name, mistakes[sentence])
    if parts:
        assert found in mistakes
        assert any(part in found for part in parts)
    else:
        assert found == sentence
