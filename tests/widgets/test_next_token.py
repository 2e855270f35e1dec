"""The sentence that a reader writes: the script leaves and draws what the package would."""

import math
import re
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from playwright.sync_api import Page

from glassbox.generation import GenerationConfig, process
from glassbox_book.templates import fixed
from glassbox_book.widgets import next_token
from glassbox_book.widgets.next_token import FIRST, group_sizes, stored_logits
from tests.widgets.conftest import END, PREFIXES, VOCABULARY, WORDS, Show, sentence
from tests.widgets.test_page import part, slide, texts

NEUTRAL = {"heat": 20, "k": 21, "p": 100, "m": 0}
SETTINGS = [
    NEUTRAL,
    {"heat": 40},
    {"heat": 6},
    {"k": 1},
    {"k": 5},
    {"p": 30},
    {"p": 90},
    {"p": 95, "heat": 40},
    {"m": 5},
    {"m": 40, "heat": 30},
    {"heat": 30, "k": 12, "p": 80, "m": 10},
]


def reshaped(ids: tuple[int, ...], setting: dict[str, int]) -> torch.Tensor:
    """What the package makes of the stored logits."""
    given = NEUTRAL | setting
    config = GenerationConfig(
        sample=True,
        temperature=given["heat"] / 20,
        top_k=given["k"] if given["k"] < 21 else None,
        top_p=given["p"] / 100 if given["p"] < 100 else None,
        min_p=given["m"] / 100 if given["m"] else None,
    )
    none = torch.zeros(1, 0, dtype=torch.int64)
    return process(stored_logits(PREFIXES[ids])[None], config, none, 0)[0]


def rows(page: Page) -> dict[str, list[str]]:
    """What is shown: the name of each row with the model's probability and that of now."""
    found = {}
    for row in page.locator(".gb-next tbody tr:not(.gb-blank)").all():
        name = row.locator("bdi").last.inner_text()
        found[name] = row.locator("td").all_inner_texts()[:2]
    return found


def names(ids: Sequence[int]) -> list[str]:
    return [WORDS[i] if i < len(WORDS) else "</s>" for i in ids]


def test_stored_logits_are_rounded_and_keep_their_order() -> None:
    logits = 4 * torch.randn(200, generator=torch.Generator().manual_seed(0))
    stored = stored_logits(logits)
    order = logits.sort(descending=True).indices
    assert (stored[order].diff() <= 0).all()
    assert (stored[order[:FIRST]] - logits[order[:FIRST]]).abs().max() <= 0.005 + 1e-6
    assert stored.unique().numel() <= FIRST + len(group_sizes(200))
    assert (stored.softmax(0) - logits.softmax(0)).abs().max() < 0.005


@pytest.mark.parametrize("ids", [(), (0,), (0, 2)])
def test_the_script_leaves_what_the_package_leaves(show: Show, ids: tuple[int, ...]) -> None:
    page = show(sentence()).page
    for i in ids:
        page.get_by_role("button", name=WORDS[i]).click()
    offered = [i for i in range(4) if (*ids, i) in PREFIXES or i == END]
    model = stored_logits(PREFIXES[ids]).softmax(dim=0)
    for setting in SETTINGS:
        for name, value in (NEUTRAL | setting).items():
            slide(page, name, value)
        logits = reshaped(ids, setting)
        now, kept = logits.softmax(dim=0), int(logits.isfinite().sum())
        shown = rows(page)
        rest = shown.pop(f"{VOCABULARY - len(shown) + 1} others")
        assert set(shown) <= set(names(offered))
        there = [i for i in offered if names([i])[0] in shown]
        for i in there:
            expected = fixed(now[i].item(), 3) if now[i] else "cut"
            assert shown[names([i])[0]] == [fixed(model[i].item(), 3), expected], setting
        others = 1 - now[there].sum().item()
        if kept > int((now[there] > 0).sum()):
            assert float(rest[1]) == pytest.approx(others, abs=0.00051)
        else:
            assert rest[1] == "cut"
        assert re.match(rf"(All )?{kept} ", texts(page, "told")[0]), setting


def test_draws_follow_chance_and_say_so_when_they_fall_on_others(show: Show) -> None:
    page = show(sentence()).page
    shares = {name: float(now) for name, (_, now) in rows(page).items()}
    before = list(shares)[: list(shares).index("time")]
    chance = sum(shares[name] for name in before) + shares["time"] / 2
    page.evaluate("Math.random = () => 0.9999")
    part(page, "draw").click()
    assert "fell on one of the others" in texts(page, "told")[0]
    page.evaluate(f"Math.random = () => {chance}")
    part(page, "draw").click()
    assert texts(page, "written") == ["time"]
    part(page, "again").click()
    assert texts(page, "written") == ["nothing yet"]


def test_all_others_stand_right_below_what_is_offered_and_empty_rows_show_nothing(
    show: Show,
) -> None:
    page = show(sentence()).page
    page.get_by_role("button", name="time").click()
    order = page.locator(".gb-next tbody tr").evaluate_all(
        "(all) => all.map((row) => row.className + row.dataset.part)"
    )
    assert order == ["offer"] * (len(order) - 1 - order.count("gb-blankoffer")) + ["others"] + [
        "gb-blankoffer"
    ] * order.count("gb-blankoffer")
    assert order.count("gb-blankoffer") > 0
    lines = page.locator(".gb-blank > *").evaluate_all(
        "(all) => all.map((cell) => getComputedStyle(cell).borderTopColor)"
    )
    assert set(lines) == {"rgba(0, 0, 0, 0)"}


def test_a_sentence_is_written_to_its_end_by_keyboard_and_taken_back(show: Show) -> None:
    page = show(sentence()).page
    page.get_by_role("button", name="time").focus()
    page.keyboard.press("Enter")
    assert texts(page, "written") == ["time"]
    page.get_by_role("button", name="arrow").press("Enter")
    assert texts(page, "written") == ["time arrow"]
    page.get_by_role("button", name="</s>").press("Enter")
    assert "has ended" in texts(page, "told")[0]
    logs = [
        stored_logits(PREFIXES[ids]).log_softmax(0)[i].item()
        for ids, i in (((), 0), ((0,), 2), ((0, 2), END))
    ]
    chance = math.exp(sum(logs))
    said = "less than 0.001" if chance < 0.001 else fixed(chance, 3)
    assert said in texts(page, "told")[0]
    assert part(page, "draw").get_attribute("aria-disabled") == "true"
    part(page, "best").click(force=True)
    assert texts(page, "written") == ["time arrow"]
    part(page, "undo").click()
    part(page, "undo").click()
    assert texts(page, "written") == ["time"]


def test_the_focus_stays_in_the_list_when_its_row_goes(show: Show) -> None:
    page = show(sentence()).page
    shown = page.locator(".gb-next tbody tr:not(.gb-blank)[data-part=offer] button")
    before, lost = shown.count(), "document.activeElement.closest('.gb-blank') ?? ''"
    shown.last.press("Enter")
    assert shown.count() < before
    assert page.evaluate("document.activeElement.tagName") == "BUTTON"
    assert page.evaluate(lost) == ""


def test_what_is_cut_off_cannot_be_chosen(show: Show) -> None:
    page = show(sentence()).page
    slide(page, "k", 1)
    cut = [name for name, (_, now) in rows(page).items() if now == "cut" and "others" not in name]
    assert cut
    page.get_by_role("button", name=cut[0]).click(force=True)
    assert texts(page, "written") == ["nothing yet"]


@pytest.mark.parametrize(
    ("prefixes", "message"),
    [
        ({(0,): torch.zeros(4)}, r"prefixes has no \(\)"),
        ({(): torch.zeros(2, 4)}, r"after \(\) have shape \(2, 4\)"),
        ({(): torch.tensor([0.0, math.inf])}, r"after \(\) have shape \(2,\)"),
        (
            {(): torch.tensor([1.0, 0.0]), (0,): torch.ones(4)},
            r"after \(0,\) have shape \(4,\).*as many",
        ),
        ({(): torch.zeros(3)}, r"the prefix \(\) has no continuation"),
        ({(): torch.zeros(4), (1, 1): torch.zeros(4)}, r"1 prefixes cannot be reached"),
    ],
)
def test_prefixes_that_lead_nowhere_are_refused(prefixes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        next_token(prefixes, 3, token=str, decode=str, source="x")
