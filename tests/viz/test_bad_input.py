"""What cannot be drawn is refused in words that name what was given and how to mend it."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from glassbox_book.viz import attention_map, attention_maps, compare_heads, head_view, model_view
from glassbox_book.viz import neuron_view as neuron
from tests.viz.conftest import TOKENS, records

pytestmark = pytest.mark.usefixtures("as_a_reader")

GOOD = records()


def with_weight(value: float) -> list[Any]:
    found = records()
    found[1].weights[0, 2, 3, 4] = value
    return found


def batch_of_two() -> list[Any]:
    return [np.concatenate([each.weights, each.weights]) for each in GOOD]


def without_keys() -> list[Any]:
    return [SimpleNamespace(weights=each.weights, query=each.query, key=None) for each in GOOD]


def short_keys() -> list[Any]:
    found = records()
    found[2].key = found[2].key[:, :, :4]
    return found


def narrow_keys() -> list[Any]:
    found = records()
    found[0].key = found[0].key[..., :6]
    return found


def unlike_layers() -> list[Any]:
    return [*records(layers=1), *records(layers=1, heads=2)]


CASES = {
    "too few tokens": (lambda: head_view(GOOD, TOKENS[:4]), r"4 tokens for weights of 5 queries"),
    "too many tokens": (lambda: model_view(GOOD, [*TOKENS, "x"]), r"6 tokens .* 5 queries"),
    "no tokens": (lambda: neuron(GOOD, []), r"0 tokens .* 5 queries"),
    "key tokens missing": (
        lambda: head_view(records(5, 3), TOKENS),
        r"5 tokens .* 3 keys.*key_tok",
    ),
    "wrong key tokens": (
        lambda: head_view(records(5, 3), TOKENS, key_tokens=["a"]),
        r"1 key_tokens for weights of 3 keys",
    ),
    "no layers": (lambda: head_view([], TOKENS), r"not one layer.*empty list.*record\(model\)"),
    "empty tape": (lambda: neuron({}, TOKENS), r"not one layer.*empty dict"),
    "batch": (lambda: head_view(batch_of_two(), TOKENS), r"batch of 2 texts.*draws 1.*weights\[i"),
    "unknown layer": (lambda: head_view(GOOD, TOKENS, layer=3), r"no layer 3.*0 to 2"),
    "negative layer": (lambda: neuron(GOOD, TOKENS, layer=-1), r"no layer -1.*0 to 2"),
    "layer left out": (
        lambda: head_view(GOOD, TOKENS, layer=1, layers=[0, 2]),
        r"layer 1 is not among .*\[0, 2\]",
    ),
    "unknown head": (lambda: neuron(GOOD, TOKENS, head=12), r"no head 12.*0 to 3"),
    "unknown heads": (lambda: head_view(GOOD, TOKENS, heads=[0, 4]), r"no head 4.*0 to 3"),
    "no heads": (lambda: head_view(GOOD, TOKENS, heads=[]), r"heads=\[\].*at least one"),
    "a head twice": (lambda: model_view(GOOD, TOKENS, heads=[1, 1]), r"heads=\[1, 1\].*twice"),
    "one number": (
        lambda: head_view(GOOD, TOKENS, heads=cast(Any, np.int64(2))),
        r"heads=2 is one number.*\[2\]",
    ),
    "NaN": (
        lambda: head_view(with_weight(np.nan), TOKENS),
        r"layer 1, head 2, query 3, key 4 is nan",
    ),
    "infinity": (lambda: model_view(with_weight(np.inf), TOKENS), r"key 4 is inf"),
    "scores": (lambda: head_view(with_weight(5.25), TOKENS), r"between 0 and 1.*5.25.*softmax"),
    "negative": (lambda: head_view(with_weight(-0.5), TOKENS), r"between 0 and 1.*-0.5"),
    "three axes": (lambda: head_view([GOOD[0].weights[0]], TOKENS), r"\(4, 5, 5\).*four axes"),
    "empty axis": (lambda: head_view([np.zeros((1, 4, 0, 5))], []), r"\(1, 4, 0, 5\)"),
    "unlike layers": (lambda: model_view(unlike_layers(), TOKENS), r"\(4, 5, 5\).*\(2, 5, 5\)"),
    "a number": (lambda: head_view(7, TOKENS), r"cannot find attention in a int"),
    "weights alone": (
        lambda: neuron([r.weights for r in GOOD], TOKENS),
        r"only weights.*head_view",
    ),
    "keys missing": (lambda: neuron(without_keys(), TOKENS), r"layer 0 brings only weights"),
    "short keys": (lambda: neuron(short_keys(), TOKENS), r"layer 2.*\(4, 5, 5\).*\(4, 4, 8\)"),
    "narrow keys": (lambda: neuron(narrow_keys(), TOKENS), r"d_k=8 and keys d_k=6"),
    "unlike models": (
        lambda: compare_heads(GOOD, records(heads=2), TOKENS),
        r"\(3, 4, 5, 5\) and \(3, 2, 5, 5\).*same size",
    ),
    "unlike texts": (
        lambda: compare_heads(GOOD, records(4), TOKENS, view="head"),
        r"\(3, 4, 5, 5\) and \(3, 4, 4, 4\).*same tokens",
    ),
    "unknown view": (
        lambda: compare_heads(GOOD, GOOD, TOKENS, view=cast(Any, "layer")),
        r"view='layer'.*'neuron', 'head' or 'model'",
    ),
    "map with heads": (
        lambda: attention_map(GOOD[0].weights, TOKENS),
        r"\(1, 4, 5, 5\).*weights\[0",
    ),
    "map that does not fit": (
        lambda: attention_map(np.eye(5), TOKENS[:3]),
        r"\(5, 5\) do not fit 3 query tokens and 3 key tokens",
    ),
    "map with NaN": (
        lambda: attention_map(np.full((5, 5), np.nan), TOKENS),
        r"query 0 and key 0 is nan",
    ),
    "map of scores": (
        lambda: attention_map(np.full((5, 5), -2.5), TOKENS),
        r"attention weights lie between 0 and 1, and these between -2.5 and -2.5.*not the scores",
    ),
    "titles": (lambda: attention_maps([np.eye(5)], TOKENS, titles=[]), r"1 maps and 0 titles"),
    "no maps": (lambda: attention_maps([], TOKENS, titles=[]), r"no panels.*at least one head"),
    "no columns": (lambda: attention_map(np.eye(5), TOKENS, columns=0), r"columns=0.*at least 1"),
    "no scale": (lambda: attention_map(np.eye(5), TOKENS, vmax=0), r"vmax=0: must be more than 0"),
    "no end": (lambda: attention_map(np.eye(5), TOKENS, vmax=np.inf), r"vmax=inf: .* and finite"),
    "nothing": (lambda: attention_map(np.eye(0), []), r"weights has shape \(0, 0\)"),
}


@pytest.mark.parametrize(("call", "words"), CASES.values(), ids=CASES)
def test_it_is_refused_with_a_reason(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"(?s){words}"):
        call()
