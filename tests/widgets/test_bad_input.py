"""What a widget cannot show is refused in words that name what was given and how to mend it."""

from typing import Any, cast

import numpy as np
import pytest

from glassbox_book.widgets import (
    Frame,
    Row,
    Token,
    attention_playground,
    positional_encoding,
    rotary_arrows,
    softmax_temperature,
    stepper,
    vocabulary_slider,
)

pytestmark = pytest.mark.usefixtures("as_a_reader")

NAN = float("nan")
WORDS = ["time", "flies", "arrow"]
PAIRS = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
FRAME = ("A word.", [["w", "ord"]])


def play(tokens: Any = WORDS, query: Any = PAIRS, value: Any = PAIRS, **options: Any) -> Any:
    return attention_playground(tokens, query, PAIRS, value, **options)


SOFTMAX = {
    "no scores": (lambda: softmax_temperature([], []), ValueError, ["(0,)", "2 to 12"]),
    "one score": (lambda: softmax_temperature([1.0], ["a"]), ValueError, ["(1,)", "2 to 12"]),
    "too many scores": (
        lambda: softmax_temperature([0.0] * 13, ["a"] * 13),
        ValueError,
        ["(13,)", "2 to 12"],
    ),
    "a matrix": (lambda: softmax_temperature([[1, 2]], ["a", "b"]), ValueError, ["(1, 2)", "row"]),
    "a hidden score": (
        lambda: softmax_temperature([1.0, float("-inf")], ["a", "b"]),
        ValueError,
        ["scores[1] is -inf", "finite"],
    ),
    "words for scores": (
        lambda: softmax_temperature(["a", "b"], ["a", "b"]),
        TypeError,
        ["scores is ['a', 'b']", "numbers"],
    ),
    "a label too few": (
        lambda: softmax_temperature([1, 2], ["a"]),
        ValueError,
        ["1 labels for 2 scores", "['a']"],
    ),
    "one string of labels": (
        lambda: softmax_temperature([1, 2], "ab"),
        TypeError,
        ["single string 'ab'"],
    ),
    "a label that is no string": (
        lambda: softmax_temperature([1, 2], cast(Any, ["a", 2])),
        TypeError,
        ["position 1 is 2", "int"],
    ),
    "no temperature": (
        lambda: softmax_temperature([1, 2], ["a", "b"], temperature=0.0),
        ValueError,
        ["temperature=0.0", "0.05 to 20"],
    ),
    "a temperature that is no number": (
        lambda: softmax_temperature([1, 2], ["a", "b"], temperature=NAN),
        ValueError,
        ["temperature=nan"],
    ),
}
PLAYGROUND = {
    "one token": (lambda: play(["a"]), ValueError, ["1 tokens", "2 to 5"]),
    "six tokens": (lambda: play(["a"] * 6), ValueError, ["6 tokens", "2 to 5"]),
    "a sentence": (lambda: play("time"), TypeError, ["single string 'time'"]),
    "a query too few": (
        lambda: play(query=PAIRS[:2]),
        ValueError,
        ["query has shape (2, 2)", "3 tokens", "(3, 2)"],
    ),
    "three components": (
        lambda: play(value=[[1, 2, 3]] * 3),
        ValueError,
        ["value has shape (3, 3)", "two numbers"],
    ),
    "rows of different lengths": (
        lambda: play(query=[[1, 2], [3]]),
        TypeError,
        ["query is [[1, 2], [3]]", "numbers"],
    ),
    "a number beyond the plane": (
        lambda: play(value=[[0, 0], [0, 10], [0, 0]]),
        ValueError,
        ["value has 10", "±9"],
    ),
    "a number that is none": (
        lambda: play(query=[[0, 0], [0, NAN], [0, 0]]),
        ValueError,
        ["query[1, 1] is nan"],
    ),
    "three features": (
        lambda: play(features=("x", "y", "z")),
        ValueError,
        ["3 features for 2 components"],
    ),
    "nobody who asks": (lambda: play(asking=3), ValueError, ["asking=3", "0 to 2"]),
    "keys without values": (
        lambda: attention_playground(WORDS, PAIRS, PAIRS),
        ValueError,
        ["only one of key and value", "both, or neither"],
    ),
    "one vector too few": (
        lambda: attention_playground(WORDS, PAIRS[:2]),
        ValueError,
        ["vector has shape (2, 2)", "(3, 2)"],
    ),
}
POSITIONS = {
    "an odd width": (lambda: positional_encoding(31), ValueError, ["d_model=31", "even"]),
    "too narrow": (lambda: positional_encoding(2), ValueError, ["d_model=2", "4 to 128"]),
    "too wide": (lambda: positional_encoding(512), ValueError, ["d_model=512", "4 to 128"]),
    "few positions": (
        lambda: positional_encoding(n_positions=4),
        ValueError,
        ["n_positions=4", "8 to 512"],
    ),
    "a base of one": (lambda: positional_encoding(base=1.0), ValueError, ["base=1.0"]),
    "a position beyond the last": (
        lambda: positional_encoding(position=64),
        ValueError,
        ["position=64", "0 to 63"],
    ),
    "a shift beyond half": (
        lambda: positional_encoding(shift=33),
        ValueError,
        ["shift=33", "0 to 32"],
    ),
}
ARROWS = {
    "one pair": (lambda: rotary_arrows([1, 0], [1, 0]), ValueError, ["(2,)", "4 to 12"]),
    "half a pair": (lambda: rotary_arrows([1] * 5, [1] * 5), ValueError, ["(5,)", "pairs"]),
    "a key of another width": (
        lambda: rotary_arrows([1] * 6, [1] * 4),
        ValueError,
        ["query has shape (6,), key (4,)"],
    ),
    "an infinite query": (
        lambda: rotary_arrows([float("inf")] * 4, [1] * 4),
        ValueError,
        ["query[0] is inf"],
    ),
    "a distance beyond half": (
        lambda: rotary_arrows([1] * 4, [1] * 4, distance=33),
        ValueError,
        ["distance=33", "0 to 32"],
    ),
    "a base that slows nothing": (
        lambda: rotary_arrows([1] * 4, [1] * 4, base=1.0),
        ValueError,
        ["base=1.0"],
    ),
}
STEPPER = {
    "no frames": (lambda: stepper([]), ValueError, ["frames is empty"]),
    "a caption alone": (
        lambda: stepper(cast(Any, ["A word."])),
        TypeError,
        ["frames[0] is 'A word.'", "a caption and rows"],
    ),
    "a row that is a string": (
        lambda: stepper([FRAME, ("A word.", ["word"])]),
        TypeError,
        ["frames[1]", "'word'", "list of tokens"],
    ),
    "rows that are a string": (
        lambda: stepper([("A word.", "word")]),
        TypeError,
        ["frames[0]", "'w'", "list of tokens"],
    ),
    "a token that is a number": (
        lambda: stepper([Frame("A word.", [Row(cast(Any, [7]))])]),
        TypeError,
        ["token 7", "int", "string"],
    ),
    "a token of too many parts": (
        lambda: stepper([("A word.", [[("w", "new", 1, 0.5, 2)]])]),
        TypeError,
        ["('w', 'new', 1, 0.5, 2)", "text, kind, number and share"],
    ),
    "an unknown kind": (
        lambda: stepper([("A word.", [[("w", "merged")]])]),
        ValueError,
        ["kind='merged'", "'active', 'new', 'faint'"],
    ),
    "a token of an unknown kind": (lambda: Token("w", "old"), ValueError, ["kind='old'"]),
    "a share above one": (lambda: Token("w", share=1.5), ValueError, ["share=1.5", "0 to 1"]),
    "a share that is text": (
        lambda: Token("w", share=cast(Any, "half")),
        TypeError,
        ["share", "'half'"],
    ),
    "a start after the end": (
        lambda: stepper([FRAME], start=1),
        ValueError,
        ["start=1", "0 to 0"],
    ),
    "no time": (lambda: stepper([FRAME], seconds=0), ValueError, ["seconds=0", "0.2 to 60"]),
}
VOCABULARY = {
    "no merges": (lambda: vocabulary_slider([], "low"), ValueError, ["merges is empty"]),
    "a text that is a list": (
        lambda: vocabulary_slider([("l", "o")], cast(Any, ["low"])),
        TypeError,
        ["['low']", "list", "string"],
    ),
    "lines of a file": (
        lambda: vocabulary_slider(cast(Any, ["l o", "lo w"]), "low"),
        ValueError,
        ["'l o' is not a merge", "pairs of tokens"],
    ),
    "a merge of one": (
        lambda: vocabulary_slider(cast(Any, [("l", "o"), ("low",)]), "low"),
        ValueError,
        ["('low',) is not a merge"],
    ),
    "a place beyond the slider": (
        lambda: vocabulary_slider([("l", "o")], "low", start=51),
        ValueError,
        ["start=51", "0 to 50"],
    ),
}
CASES = SOFTMAX | PLAYGROUND | POSITIONS | ARROWS | STEPPER | VOCABULARY


@pytest.mark.parametrize(("attempt", "error", "says"), CASES.values(), ids=CASES)
def test_refused_with_what_was_given(attempt, error, says):
    with pytest.raises(error) as caught:
        attempt()
    for part in says:
        assert part in str(caught.value)


def test_no_two_cases_have_one_name():
    parts = (SOFTMAX, PLAYGROUND, POSITIONS, ARROWS, STEPPER, VOCABULARY)
    assert len(CASES) == sum(len(part) for part in parts)


def test_the_smallest_and_the_largest_that_fit_are_not_refused():
    for temperature in cast(Any, (0.05, 20.0, np.float32(1))):
        assert softmax_temperature([0, 0], ["a", "a"], temperature=temperature).html()
    assert softmax_temperature(range(12), [str(i) for i in range(12)]).html()
    assert play(["a", "b", "c"], value=[[9, -9]] * 3, asking=np.int64(2)).html()
    assert positional_encoding(4, 8, position=7, shift=4).html()
    assert positional_encoding(128, 512, position=511, shift=256).html()
    assert rotary_arrows([0] * 12, [9] * 12, 8, position=7, distance=4).html()
    assert stepper([("", [])]).html()
