"""What a widget puts into a notebook: whole without a script, the same every time."""

import math
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
import torch

from glassbox import scaled_dot_product_attention
from glassbox.attention import simple_self_attention
from glassbox.data import everyday
from glassbox.positional import RotaryPositions, rotate, sinusoidal_encoding
from glassbox.tokenization import BPE
from glassbox_book.outputs import read
from glassbox_book.templates import at, fixed
from glassbox_book.widgets import (
    Token,
    assets,
    positional_encoding,
    rotary_arrows,
    softmax_temperature,
    stepper,
    vocabulary_slider,
)
from glassbox_book.widgets.vocabulary_slider import cut, merges_at
from tests.viz.conftest import HOSTILE
from tests.widgets.conftest import KEY, QUERY, SCORES, VALUE, WIDGETS, WORDS, alone, playground
from tools.same_output import same

each = pytest.mark.parametrize("make", WIDGETS.values(), ids=WIDGETS)


@pytest.fixture(autouse=True)
def _linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSBOX_VIEW_SCRIPTS", "linked")


class Tags(HTMLParser):
    """Collects what a browser would make of the output."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag != "input":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def cells(html: str, part: str) -> list[str]:
    """The texts of the cells of one part."""
    return re.findall(rf'<td data-part="{part}"[^>]*>([^<]*)</td>', html)


@each
def test_the_same_numbers_give_the_same_bytes(make: Any) -> None:
    assert make(WORDS).html() == make(WORDS).html()


@each
def test_a_notebook_gets_html_and_text(make: Any) -> None:
    bundle = make(WORDS)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert "object at 0x" not in bundle["text/plain"]
    assert bundle["text/plain"] == repr(make(WORDS))


@each
def test_html_is_well_formed_without_ids_and_without_other_hosts(make: Any) -> None:
    html = make(WORDS).html()
    tags = Tags(html)
    assert not tags.open
    assert not [attrs for _, attrs in tags.found if "id" in attrs]
    assert "//" not in re.sub(r"//[^\n]*\n", "", html)


@each
def test_hostile_words_stay_text(make: Any) -> None:
    words = list(HOSTILE)
    for start in range(0, len(words) - 2, 3):
        tags = Tags(make(words[start : start + 3]).html())
        kept = Tags(make(WORDS).html())
        assert [tag for tag, _ in tags.found] == [tag for tag, _ in kept.found]
        attributes = {name for _, attrs in tags.found for name in attrs}
        assert not [name for name in attributes if name.startswith("on")]
        without = ("positional_encoding", "rotary_arrows", "vocabulary_slider")
        if make not in [WIDGETS[name] for name in without]:
            for word in words[start : start + 3]:
                assert HOSTILE[word] in tags.text


@each
def test_controls_wait_for_their_script(make: Any) -> None:
    """Each is disabled, itself or with its set of fields, and what has no other use is hidden."""
    html = make(WORDS).html()
    for control in re.findall(r"<(?:input type=.range|button type=.button)[^>]*>", html):
        assert " disabled" in control or "reset" in control
    html = re.sub(r"<fieldset disabled>.*?</fieldset>", "", html, flags=re.DOTALL)
    html = re.sub(r'<div class="gb-controls" hidden>.*', "", html, count=1, flags=re.DOTALL)
    assert not re.findall(r"<(?:input|button)\b", html)


@each
def test_a_committed_output_carries_no_script_but_the_call_for_it(make: Any) -> None:
    html = make(WORDS).html()
    assert "define(" not in html
    assert "<style>" not in html
    assert len(html) < 16_000


def test_an_output_of_its_own_carries_its_script_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GLASSBOX_VIEW_SCRIPTS", "inline")
    html = stepper([("A word.", [["word"]])]).html()
    assert "define('stepper'" in html
    assert "define('softmax_temperature'" not in html
    assert "http" not in html
    assert len(html) < 30_000


def test_an_unknown_way_to_find_scripts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSBOX_VIEW_SCRIPTS", "cdn")
    with pytest.raises(ValueError, match=r"GLASSBOX_VIEW_SCRIPTS is 'cdn'.*'inline'.*'linked'"):
        playground().html()


def test_every_kind_has_a_script_that_defines_it() -> None:
    assert assets.kinds() == sorted(WIDGETS)
    for kind in assets.kinds():
        assert f"define('{kind}'" in read(f"widgets/page/{kind}.js")


def test_script_and_style_of_all_widgets_are_light() -> None:
    assert len(assets.script(*assets.kinds())) < 32_000
    assert len(read("widgets/page/widgets.css")) < 21_000


def test_numbers_are_rounded_half_away_from_zero_and_zero_has_no_sign() -> None:
    assert [fixed(n) for n in (0.125, -0.125, -0.004, 2.0, 1e-9)] == [
        *("0.13", "−0.13", "0.00", "2.00", "0.00")
    ]
    assert [fixed(n, d) for n, d in ((2.5, 0), (-2.5, 0), (0.0625, 3))] == ["3", "−3", "0.063"]
    assert [at(n) for n in (0.25, -0.25, -0.04, 3.0)] == ["0.3", "-0.2", "0.0", "3.0"]


def test_weights_are_those_of_the_softmax() -> None:
    for temperature in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0):
        html = softmax_temperature(SCORES, list("abcd"), temperature=temperature).html()
        scaled = torch.tensor(SCORES, dtype=torch.float64) / temperature
        assert cells(html, "weight") == [fixed(a, 3) for a in scaled.softmax(dim=0).tolist()]
        assert cells(html, "scaled") == [fixed(s) for s in scaled.tolist()]


def test_equal_scores_are_as_even_as_can_be() -> None:
    text = repr(softmax_temperature([1.0, 1.0, 1.0, 1.0], list("abcd"), temperature=0.05))
    assert "entropy 2.00 bits" in text
    assert text.count("weight 0.250") == 4


def test_tables_are_those_of_the_attention_function() -> None:
    html = playground().html()
    q, k, v = (torch.tensor(array) for array in (QUERY, KEY, VALUE))
    context, weights = scaled_dot_product_attention(q, k, v)
    for part, table in {
        "product": q @ k.T,
        "score": q @ k.T / 2**0.5,
        "weight": weights,
        "context": context,
    }.items():
        assert cells(html, part) == [fixed(number) for number in table.flatten().tolist()]


def test_one_vector_is_query_key_and_value() -> None:
    html = alone().html()
    x = torch.tensor(VALUE)
    context, weights = simple_self_attention(x)
    for part, table in {"score": x @ x.T, "weight": weights, "context": context}.items():
        assert cells(html, part) == [fixed(number) for number in table.flatten().tolist()]
    assert not cells(html, "product")
    assert html.count('data-part="vector"') == x.numel()


def test_components_are_those_of_the_encoding() -> None:
    html = positional_encoding(16, 32, base=500.0, position=3, shift=2).html()
    here, there = sinusoidal_encoding(torch.tensor([3, 5]), 16, base=500.0)
    rows = torch.stack([here.view(-1, 2), there.view(-1, 2)], dim=1).flatten().tolist()
    assert cells(html, "component") == [fixed(number) for number in rows]
    assert f"dot product {fixed((here @ there).item())} of at most 8" in html


def test_turned_arrows_have_the_score_of_the_package() -> None:
    q, k = [1.0, 0.2, 0.5, -1.0], [0.8, 0.0, -0.3, 0.9]
    rotary = RotaryPositions(4, base=100.0, interleaved=True)
    for position, distance in ((0, 0), (7, 3), (31, 16)):
        places = [torch.tensor([place]) for place in (position + distance, position)]
        one, two = (
            rotate(torch.tensor([x]), rotary.rotation(at))[0]
            for x, at in zip((q, k), places, strict=True)
        )
        widget = rotary_arrows(q, k, 32, base=100.0, position=position, distance=distance)
        assert f"score {fixed((one @ two).item())}, " in repr(widget)
        shares = re.findall(r'data-part="share">([^<]*)<', widget.html())
        assert shares == [fixed(share) for share in (one * two).view(2, 2).sum(dim=1).tolist()]


def test_steps_are_all_there_in_order() -> None:
    tags = Tags(WIDGETS["stepper"](WORDS).html())
    text = "".join(tags.text)
    assert text.index("Letters.") < text.index("A pair.") < text.index("A token.")
    assert [tag for tag, _ in tags.found if tag in ("mark", "ins")] == ["mark", "mark", "ins"]
    assert repr(WIDGETS["stepper"](WORDS)).splitlines() == [
        *("Letters.", "  5 times: t flies arrow", "  time flies arrow", ""),
        *("A pair.", "  ~time~(17) ~flies~(−0.50)", "  arrow(id 7)", ""),
        *("A token.", "  *ug*"),
    ]


@pytest.mark.usefixtures("as_a_reader")
def test_numbers_of_numpy_stand_below_a_token_as_those_of_python_do() -> None:
    given: Any = [
        ("a", "", number) for number in (np.float32(1 / 3), np.float64(-0.001), np.int64(7))
    ]
    assert repr(stepper([("Numbers.", [given])])).splitlines()[1] == "  a(0.33) a(0.00) a(7)"


def test_a_number_without_end_stands_below_a_token_as_python_writes_it() -> None:
    token = Token("a", number=-math.inf)
    assert token.below == "-inf"
    assert repr(stepper([("A step.", [[token]])])) == "A step.\n  a(-inf)"


def test_a_share_is_drawn_to_a_tenth_of_a_per_cent_also_where_it_is_zero() -> None:
    row = [("none", "", None, 0), ("half", "", None, 0.50049), ("not said",)]
    tags = Tags(stepper([("Shares.", [row])]).html())
    drawn = [attrs.get("style") for tag, attrs in tags.found if tag == "code"]
    assert drawn == ["--share:0.0%", "--share:50.0%", None]


@pytest.mark.parametrize("name", ["softmax_temperature", "attention_playground"])
def test_another_processor_s_rounding_is_within_what_is_compared(name: str) -> None:
    def shown(slip: float) -> str:
        q, k, v = (torch.tensor(array) * (1 + slip) for array in (QUERY, KEY, VALUE))
        if name == "softmax_temperature":
            return softmax_temperature(q[:, 0] * k[:, 0] + v[:, 1], WORDS).html()
        from glassbox_book.widgets import attention_playground

        return attention_playground(WORDS, q, k, v).html()

    assert same(shown(0.0), shown(2e-6))


def test_a_hostile_text_is_cut_and_stays_text() -> None:
    for word in (word for word in HOSTILE if word != "\ud800"):
        tags = Tags(vocabulary_slider([("l", "</script>")], word).html())
        assert not tags.open
        assert "img" not in {tag for tag, _ in tags.found}
        assert [tag for tag, _ in tags.found].count("script") == 2


@pytest.mark.parametrize("count", [50, 600, 5740])
def test_each_step_of_the_vocabulary_s_slider_adds_a_merge(count: int) -> None:
    used = [merges_at(place, count) for place in range(51)]
    assert used == sorted(set(used))
    assert (used[0], used[-1]) == (0, count)


def test_all_merges_give_the_tokens_of_the_tokenizer() -> None:
    bpe = BPE.train(everyday(), 500, add_prefix_space=True)
    for sentence in everyday()[:10]:
        tokens = [token.replace("Ġ", "␣") for token in bpe.tokenize(sentence)]
        assert cut(sentence, bpe.merges) == tokens


def test_part_of_a_character_is_written_as_its_bytes() -> None:
    assert cut("é", []) == ["␣", "⟨c3⟩", "⟨a9⟩"]
    assert cut("é", [("Ã", "©")]) == ["␣", "é"]
