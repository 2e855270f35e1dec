"""What a reader can choose in a view, and what follows from it."""

from itertools import pairwise
from typing import Any

import pytest

from glassbox_book.viz import compare_heads, head_view, model_view, neuron_view
from tests.viz.conftest import D_K, HEADS, LAYERS, TOKENS, VIEWS, Show, records, switch


def test_layers_and_heads_left_out_keep_their_numbers(show: Show) -> None:
    found = records()
    shown = show(
        neuron_view(found, TOKENS, layers=[1, 2], layer=2, head=1),
        head_view(found, TOKENS, layers=[0, 2], layer=2, heads=[1]),
        model_view(found, TOKENS, layers=[2], heads=[1, 3]),
    )
    neuron, head, model = shown.frames
    assert neuron.locator("#layer option").all_text_contents() == ["1", "2"]
    assert neuron.locator("#layer option:checked").text_content() == "2"
    assert head.locator("#layer").input_value() == "2"
    names = [each.get_attribute("aria-label") for each in model.locator(".map").all()]
    assert names == ["Layer 2, head 1", "Layer 2, head 3"]
    expected = sorted((f"{weight:.3f}" for weight in found[2].weights[0, 1, 0]), reverse=True)
    model.locator(".map").first.click()
    for frame in shown.frames:
        frame.locator("text[role=button]:visible").first.hover()
        said = [text.split()[-1] for text in frame.locator(".weight").all_text_contents()]
        assert said == expected


def test_a_view_begins_with_what_was_asked_for(show: Show) -> None:
    shown = show(
        neuron_view(records(), TOKENS, layer=1, head=2, expanded=True),
        head_view(records(), TOKENS, layer=1, heads=[3]),
    )
    neuron, head = shown.frames
    assert neuron.locator("#layer").input_value() == "1"
    assert neuron.locator("#att_head").input_value() == "2"
    assert neuron.locator("#expanded").get_attribute("visibility") == "visible"
    assert head.locator("#layer").input_value() == "1"
    on = [square.get_attribute("aria-checked") for square in head.locator("[role=checkbox]").all()]
    assert on == ["false"] * (HEADS - 1) + ["true"]
    heights = "[...document.querySelectorAll('iframe')].map((f) => f.style.height)"
    assert shown.page.evaluate(heights) == ["", ""]


def test_the_table_follows_what_is_chosen(show: Show) -> None:
    found = records()
    shown = show(head_view(found, TOKENS, heads=[3]), model_view(found, TOKENS))
    shown.frames[0].select_option("#layer", str(LAYERS - 1))
    shown.frames[1].locator(".map").nth(LAYERS * HEADS - 1).click()
    head, model = shown.page.locator(".glassbox-view").all()
    assert head.locator("summary").text_content() == "The weights of layer 2, head 3 as a table"
    expected = found[2].weights[0, 3].ravel()
    for view in (head, model):
        assert "layer 2, head 3" in (view.locator("caption").text_content() or "")
        cells = [float(cell) for cell in view.locator("td").all_text_contents()]
        assert cells == pytest.approx(expected, abs=0.006)


def test_each_head_that_is_shown_has_its_table(show: Show) -> None:
    found = records()
    shown = show(head_view(found, TOKENS, layer=1, heads=[3, 1]))
    summary, tables = shown.page.locator("summary"), shown.page.locator(".glassbox-scroll")
    several = "The weights of layer 1 as tables, one for each head"

    def are_those_of(*heads: int) -> None:
        assert tables.count() == len(heads)
        for table, head in zip(tables.all(), heads, strict=True):
            assert f"layer 1, head {head} " in (table.locator("caption").text_content() or "")
            assert (table.get_attribute("aria-label") or "").endswith(f"layer 1, head {head}")
            cells = [float(cell) for cell in table.locator("td").all_text_contents()]
            assert cells == pytest.approx(found[1].weights[0, head].ravel(), abs=0.006)

    assert summary.text_content() == several
    are_those_of(3, 1)
    button = shown.frame.locator(".alone")
    button.click()
    assert summary.text_content() == "The weights of layer 1, head 1 as a table"
    are_those_of(1)
    button.click()
    assert summary.text_content() == several
    are_those_of(*range(HEADS))


def test_numbers_of_a_key_are_those_of_its_column(show: Show) -> None:
    found = records()
    frame = show(head_view(found, TOKENS, layer=1, heads=[2])).frame
    frame.locator("#right text").nth(3).hover()
    said = frame.locator(".weight").all_text_contents()
    expected = sorted((f"{weight:.3f}" for weight in found[1].weights[0, 2, :, 3]), reverse=True)
    assert [text.split()[-1] for text in said] == expected
    assert (frame.locator(".readout").text_content() or "").startswith("like is attended to by")


def test_two_models_move_together(show: Show) -> None:
    shown = show(compare_heads(records(), records(seed=1), TOKENS, layer=0, head=1))
    frame, page = shown.frame, shown.page
    switch(frame, "both")
    one, other = (frame.locator(f"#view-{number}") for number in (0, 1))
    for chosen, follows, layer, head in ((one, other, "2", "3"), (other, one, "1", "0")):
        chosen.locator("#layer").select_option(layer)
        chosen.locator("#att_head").select_option(head)
        assert follows.locator("#layer").input_value() == layer
        assert follows.locator("#att_head").input_value() == head
    where, _, number = (page.locator(".glassbox-difference").text_content() or "").partition(": ")
    assert where == "Largest difference in layer 1, head 0"
    said = frame.locator(".readout").text_content() or ""
    assert said.startswith(f"Layer 1, head 0: largest difference {number}")
    one.locator("#collapsed #leftText text").nth(2).hover()
    for each in (one, other):
        lit = each.locator("#collapsed #leftText .highlight")
        assert lit.evaluate_all("(all) => all.map((e) => +e.style.opacity)") == [0, 0, 1, 0, 0]
    other.locator(".expand").click()
    for each in (one, other):
        assert each.locator("#expanded").get_attribute("visibility") == "visible"
    assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert shown.is_clean()


def test_the_expanded_view_always_shows_a_computation(show: Show) -> None:
    lit = "(all) => all.map((e) => +e.style.opacity)"
    shown = show(compare_heads(records(), records(seed=1), TOKENS))
    frame = shown.frame
    switch(frame, "both")
    frame.locator(".expand").first.click()

    def chosen() -> list[list[float]]:
        return [
            frame.locator(f"#view-{i} #expanded #leftText .highlight").evaluate_all(lit)
            for i in (0, 1)
        ]

    first, third = [[float(index == which) for index in range(5)] for which in (0, 2)]
    assert chosen() == [first, first]
    said = frame.locator(".readout").text_content() or ""
    assert "[CLS] attends to" in said
    frame.locator("#view-0 #expanded #leftText text").nth(2).hover()
    shown.page.mouse.move(1, 1)
    assert chosen() == [third, third]
    frame.locator("#att_head").first.select_option("3")
    assert chosen() == [third, third]
    assert "flies attends to" in (frame.locator(".readout").text_content() or "")
    for number in (0, 1):
        place = frame.locator(f"#view-{number} #placeholder")
        assert place.evaluate("e => e.style.opacity") == "0"
    frame.locator(".expand").first.click()
    lines = frame.locator("#view-0 #collapsed .attn-line-group").evaluate_all(lit)
    assert lines == [1] * 5
    assert "attends" not in (frame.locator(".readout").text_content() or "")


def test_columns_of_the_neuron_view_are_what_their_headings_say(show: Show) -> None:
    found = records()
    frame = show(neuron_view(found, TOKENS, layer=1, head=2, expanded=True)).frame
    heads = frame.locator("#heading text:not(#placeholder)")
    assert [text.strip() for text in heads.all_text_contents()] == [
        "Query q", "Key k", "q × k (elementwise)", "q·k / √8", "Softmax",
    ]  # fmt: skip
    assert "divided by √8" in (frame.locator(".legend").text_content() or "")
    read = "(all) => all.map((e) => +e.dataset.value)"
    scores = frame.locator("#dotproducts rect").evaluate_all(read)
    query, key = found[1].query[0, 2].round(2), found[1].key[0, 2].round(2)
    assert scores == pytest.approx(query[0] @ key.T / D_K**0.5, abs=1e-6)
    products = frame.locator("#product .element").evaluate_all(read)
    assert products == pytest.approx((query[0] * key).ravel(), abs=1e-6)
    shades = frame.locator("#expanded #rightText .highlight")
    seen = shades.evaluate_all("(all) => all.map((e) => +e.style.opacity)")
    assert seen == pytest.approx(found[1].weights[0, 2, 0], abs=6e-4)


@pytest.mark.parametrize("width", [1400, 390])
def test_headings_of_the_neuron_view_keep_clear_of_one_another(show: Show, width: int) -> None:
    view = neuron_view(records(d_k=128), TOKENS, expanded=True)
    frame = show(view, width=width).frame
    boxes = frame.locator("#heading text:not(#placeholder)").evaluate_all(
        "(all) => all.map((e) => e.getBBox()).map(({x, width}) => [x, x + width])"
    )
    gaps = [right[0] - left[1] for left, right in pairwise(boxes)]
    assert min(gaps) > 3


def test_each_of_two_models_shows_its_own_numbers(show: Show) -> None:
    ours, theirs = records(), records(seed=1)
    frame = show(compare_heads(ours, theirs, TOKENS, layer=1, head=2)).frame
    switch(frame, "both")
    for number, found in enumerate((ours, theirs)):
        lines = frame.locator(f"#view-{number} #collapsed .attn-line-group line")
        drawn = lines.evaluate_all("(all) => all.map((e) => +e.getAttribute('stroke-opacity'))")
        assert drawn == pytest.approx(found[1].weights[0, 2].ravel(), abs=6e-4)


def test_heads_of_two_models_are_switched_together(show: Show) -> None:
    view = compare_heads(records(), records(seed=1), TOKENS, layer=0, head=1, view="head")
    frame = show(view).frame
    switch(frame, "both")
    frame.locator("#view-1 [role=checkbox]").nth(3).click()
    for number in (0, 1):
        squares = frame.locator(f"#view-{number} [role=checkbox]").all()
        on = [square.get_attribute("aria-checked") for square in squares]
        assert on == ["false", "true", "false", "true"]
    frame.locator("#view-0 #right text").nth(4).hover()
    assert frame.locator("#view-1 line[visibility=visible]").count() == HEADS * len(TOKENS)


def test_maps_of_two_models_are_opened_and_closed_together(show: Show) -> None:
    ours, theirs = records(), records(seed=1)
    shown = show(compare_heads(ours, theirs, TOKENS, view="model"))
    frame, page = shown.frame, shown.page
    switch(frame, "both")
    one, other = (frame.locator(f"#view-{number}") for number in (0, 1))
    for chosen, follows, layer, head in ((one, other, 1, 2), (other, one, 2, 0)):
        chosen.locator(".map").nth(layer * HEADS + head).click()
        for each in (chosen, follows):
            opened = each.locator("[aria-expanded=true]")
            assert opened.get_attribute("aria-label") == f"Layer {layer}, head {head}"
        largest = abs(ours[layer].weights[0, head] - theirs[layer].weights[0, head]).max()
        where = f"ayer {layer}, head {head}"
        said = frame.locator(".readout").text_content() or ""
        assert said.startswith(f"L{where}: largest difference {largest:.5f}")
        below = page.locator(".glassbox-difference").text_content()
        assert below == f"Largest difference in l{where}: {largest:.5f}."
    one.locator(".detail > g > [role=button]").nth(3).hover()
    for each in (one, other):
        lit = each.locator(".attn-line-group")
        assert lit.evaluate_all("(all) => all.map((e) => +e.style.opacity)") == [0, 0, 0, 1, 0]
    one.locator(".map").nth(2 * HEADS).click()
    assert frame.locator("[aria-expanded=true], .detail").count() == 0
    assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert shown.is_clean()


def test_a_click_holds_a_token_while_the_pointer_leaves(show: Show) -> None:
    shown = show(head_view(records(), TOKENS))
    shown.frame.locator("#left text").nth(2).click()
    shown.page.mouse.move(1, 1)
    held = shown.frame.locator("line[visibility=visible][left-token-index='2']")
    assert held.count() == HEADS * len(TOKENS)


@pytest.mark.parametrize("name", ["compare", "compare heads", "compare models"])
def test_a_comparison_shows_one_model_the_other_or_both(show: Show, name: str) -> None:
    shown = show(VIEWS[name](TOKENS))
    frame = shown.frame
    choices = {"ours": [0], "reference": [1], "difference": [2], "both": [0, 1]}
    for choice, numbers in choices.items():
        switch(frame, choice)
        seen = [frame.locator(f"#view-{number}").is_visible() for number in range(3)]
        assert [number for number in range(3) if seen[number]] == numbers
        assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert shown.is_clean()


def test_the_difference_is_drawn_on_the_scale_that_is_said(show: Show) -> None:
    ours, theirs = records(), records()
    for place, by in (((0, 2, 0, 3), 0.125), ((0, 2, 4, 1), 0.03125)):
        theirs[1].weights[place] += by if theirs[1].weights[place] < 0.5 else -by
    frame = show(compare_heads(ours, theirs, TOKENS, layer=1, head=2)).frame
    switch(frame, "difference")
    assert "full strength is a difference of 0.12500" in frame.locator(".readout").inner_text()
    lines = frame.locator("#view-2 #collapsed .attn-line-group line")
    drawn = lines.evaluate_all("(all) => all.map((e) => +getComputedStyle(e).strokeOpacity)")
    expected = [0.0] * 25
    expected[3], expected[4 * 5 + 1] = 1.0, 0.25
    assert drawn == pytest.approx(expected, abs=1e-4)
    frame.locator("#view-2 #collapsed #leftText text").last.hover()
    said = frame.locator(".weight").first.text_content() or ""
    assert said == "time 0.03125"
    assert frame.locator("#view-2 .expand").count() == 0
    assert not frame.locator(".scroller[data-nothing]").count()


@pytest.mark.parametrize("view", ["neuron", "head", "model"])
def test_no_difference_draws_nothing_and_says_so(show: Show, view: Any) -> None:
    alike = compare_heads(records(), records(), TOKENS, view=view)
    frame = show(alike).frame
    switch(frame, "difference")
    readout = frame.locator(".readout").inner_text()
    assert "Nothing is drawn: no two weights, of any layer and head here, differ" in readout
    assert "0.000005" in readout
    assert frame.locator("#view-2 .scroller").get_attribute("data-nothing") == "no difference"
    lines = frame.locator("#view-2 :is(#attention, .attn-line-group, .model svg > g) line")
    drawn = lines.evaluate_all("(all) => all.map((e) => +getComputedStyle(e).strokeOpacity)")
    assert len(drawn) >= 25
    assert set(drawn) == {0}


def test_a_token_stays_chosen_when_the_model_is_switched(show: Show) -> None:
    shown = show(compare_heads(records(), records(seed=1), TOKENS, layer=1, head=2))
    frame = shown.frame
    frame.locator("#view-0 #collapsed #leftText text").nth(2).click()
    switch(frame, "reference")
    shown.page.mouse.move(1, 1)
    lit = frame.locator("#view-1 #collapsed .attn-line-group")
    assert lit.evaluate_all("(all) => all.map((e) => +e.style.opacity)") == [0, 0, 1, 0, 0]
    said = [text.split()[-1] for text in frame.locator(".weight").all_text_contents()]
    row = records(seed=1)[1].weights[0, 2, 2]
    assert said == sorted((f"{weight:.3f}" for weight in row), reverse=True)
    shown.page.keyboard.press("Escape")
    assert lit.evaluate_all("(all) => all.map((e) => +e.style.opacity)") == [1] * 5


def test_queries_and_keys_appear_without_moving_the_drawings(show: Show) -> None:
    frame = show(compare_heads(records(), records(seed=1), TOKENS)).frame
    switch(frame, "both")
    places = "[...document.querySelectorAll('.panel')].map((e) => [e.offsetLeft, e.offsetTop])"
    before = frame.evaluate(places)
    frame.locator(".expand").first.click()
    assert frame.evaluate(places) == before
    assert before[0][1] == before[1][1]
    scroll = "e => { e.scrollLeft = 40; }"
    frame.locator("#view-1 .scroller").evaluate(scroll)
    frame.wait_for_function("document.querySelector('.scroller').scrollLeft === 40")


def test_one_button_shows_a_head_alone_and_all_again(show: Show) -> None:
    frame = show(head_view(records(), TOKENS, heads=[1, 3])).frame
    on = "(all) => all.map((e) => e.getAttribute('aria-checked') === 'true')"
    squares, button = frame.locator("[role=checkbox]"), frame.locator(".alone")
    assert button.inner_text() == "Show head 1 alone"
    button.click()
    assert squares.evaluate_all(on) == [False, True, False, False]
    button.click()
    assert squares.evaluate_all(on) == [True] * 4
    assert button.inner_text() == "Show head 1 alone"
    button.click()
    assert squares.evaluate_all(on) == [False, True, False, False]


def test_fingers_do_what_a_mouse_does_and_are_told_so(show: Show) -> None:
    found = records()
    views = head_view(found, TOKENS, heads=[1]), model_view(found, TOKENS)
    shown = show(*views, width=390, has_touch=True, is_mobile=True)
    head, model = shown.frames
    assert "Tap a token" in head.locator(".readout").inner_text()
    head.locator("#left text").nth(1).tap()
    said = [text.split()[-1] for text in head.locator(".weight").all_text_contents()]
    row = found[0].weights[0, 1, 1]
    assert said == sorted((f"{weight:.3f}" for weight in row), reverse=True)
    head.locator("[role=checkbox]").nth(2).tap()
    assert head.locator("[aria-checked=true]").count() == 2
    assert "Tap a map" in model.locator(".readout").inner_text()
    model.locator(".map").nth(1).tap()
    assert model.locator("text.detail").text_content() == "Layer 0, Head 1"
    assert shown.is_clean()
