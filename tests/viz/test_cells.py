"""Coloured cells in a browser: the same in light and dark, and each says where and what it is."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import glassbox_site
from glassbox_book.viz import attention_maps, heat_map, heat_maps, tensor
from glassbox_book.viz.cells import Cells
from tests import axe
from tests.conftest import Open, Visit
from tests.viz.conftest import PAGE, records, site

PALETTE = Path(glassbox_site.__file__).parent / "static" / "palette.css"
WORDS = "in the end our experienced colleagues translated every single sentence themselves ."
RAMP = np.linspace(0, 1, 21)
MAPS = {
    "weights": heat_map([RAMP], row_label="row", column_label="column", annotate="{:.2f}"),
    "signed": heat_map([2 * RAMP - 1], row_label="row", column_label="column", annotate="{:.2f}"),
    "picture": heat_map(
        np.add.outer(np.linspace(-1, 0, 32), np.linspace(0, 1, 32)),
        row_label="query",
        column_label="key",
    ),
    "words": attention_maps(
        [*records(12)[0].weights[0, :2]], WORDS.split(), titles=["one", "other"]
    ),
    "heads": heat_maps(
        {"a": torch.rand(6, 12), "b": torch.rand(6, 12)}, row_label="layer", column_label="head"
    ),
    "vector": tensor(torch.tensor([0.25, -0.5])),
    "tensor": tensor(torch.tensor([[0.25, -0.5], [1.0, 0.75]]), "query", "key"),
    "panels": tensor(torch.eye(3)[None].repeat(2, 1, 1)),
}
Show = Callable[..., Visit]


@pytest.fixture
def show(
    pages: Path, serve: Callable[[Path], str], revisit: Open, monkeypatch: pytest.MonkeyPatch
) -> Show:
    """Return a function that opens a page of the site with cells on it."""
    monkeypatch.setenv("GLASSBOX_VIEW_SCRIPTS", "inline")

    def show(*cells: Cells, dark: bool = False, **options: Any) -> Visit:
        content = "".join(part.html() for part in cells or MAPS.values())
        style = f"<style>{PALETTE.read_text()} body {{ background: var(--gb-paper) }}</style>"
        attributes = site("dark" if dark else "light")
        html = PAGE.format(attributes=attributes, head=style, body="", content=content)
        (pages / "cells.html").write_text(html, encoding="utf-8")
        return revisit(f"{serve(pages)}cells.html", **options)

    return show


COLOURS = """() => {
  const probe = document.body.appendChild(document.createElement('i'));
  const numbers = (element, property) =>
    getComputedStyle(element)[property].match(/[-.\\de]+/g).slice(0, 3).map(Number);
  probe.style.color = 'color-mix(in oklab, var(--gb-paper), var(--gb-paper))';
  const paper = numbers(probe, 'color');
  return [...document.querySelectorAll('tbody td')].map((cell) => [
    numbers(cell, 'backgroundColor').map((part, i) => part - paper[i]),
    cell.style.getPropertyValue('--v'),
  ]);
}"""


@pytest.mark.parametrize("name", ["weights", "signed"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_distance_from_the_paper_is_in_proportion_to_the_number(
    show: Show, name: str, dark: bool
) -> None:
    found = show(MAPS[name], dark=dark).page.evaluate(COLOURS)
    distances = np.array([np.linalg.norm(colour) for colour, _ in found])
    values = np.array([float(value) for _, value in found])
    for side in (values >= 0, values <= 0):
        if side.sum() > 1:
            largest = distances[side][np.abs(values[side]).argmax()]
            assert largest > 0.5  # of the way from black to white
            assert np.allclose(distances[side] / largest, np.abs(values[side]), atol=0.002)


def test_signs_have_two_hues(show: Show) -> None:
    found = show(MAPS["signed"]).page.evaluate(COLOURS)
    (less, *_), *_, (more, *_) = found
    assert less[2] - more[2] > 0.1  # yellow against blue


def oklab(colours: np.ndarray) -> np.ndarray:
    """Return colours of a screen, from 0 to 1, in the space in which distances are as seen."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    cones = linear @ np.array(
        [[0.4122, 0.2119, 0.0883], [0.5363, 0.6807, 0.2817], [0.0514, 0.1074, 0.6300]]
    )
    return np.cbrt(cones) @ np.array(
        [[0.2105, 1.9780, 0.0259], [0.7936, -2.4286, 0.7828], [-0.0041, 0.4506, -0.8087]]
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pixels_of_a_picture_are_coloured_in_the_same_proportion(
    show: Show, dark: bool, tmp_path: Path
) -> None:
    """Opacity mixes in another space than cells do, which makes a few hundredths."""
    page = show(MAPS["picture"], dark=dark).page
    page.locator(".gb-picture").screenshot(path=tmp_path / "picture.png")
    colours = oklab(np.asarray(Image.open(tmp_path / "picture.png").convert("RGB")) / 255)
    places = [(np.arange(32) + 0.5) * size / 32 for size in colours.shape[:2]]
    rows, columns = (place.astype(int) for place in places)
    paper = colours[rows[0], columns[-1]]
    rising, falling = colours[rows, columns[-1]], colours[rows[0], columns[::-1]]
    for side in (rising, falling):
        distances = np.linalg.norm(side - paper, axis=-1)
        assert distances[-1] > 0.5
        assert np.allclose(distances / distances[-1], np.linspace(0, 1, 32), atol=0.05)
    assert falling[-1, 2] > 0 > rising[-1, 2], "yellow against blue"


CONTRASTS = """() => {
  const context = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const luminance = (color) => {
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((part) => part / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [...document.querySelectorAll('tbody td:not(.gb-picture)')].map((cell) => {
    const {color, backgroundColor} = getComputedStyle(cell);
    const [less, more] = [luminance(color), luminance(backgroundColor)].sort((a, b) => a - b);
    return (more + 0.05) / (less + 0.05);
  });
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_numbers_stand_out_from_their_cells(show: Show, dark: bool) -> None:
    numbers = np.linspace(-1, 1, 400).reshape(20, 20)
    ramp = heat_map(numbers, row_label="row", column_label="column")
    assert min(show(ramp, dark=dark).page.evaluate(CONTRASTS)) >= 4.45  # rounded to whole colours


LABELS = """() => [...document.querySelectorAll('.gb-map table')].map((table) =>
  [...table.querySelectorAll('thead bdi')].filter((name) => name.textContent).map((name) => {
    const {left, right, top, bottom} = name.getBoundingClientRect();
    return {left, right, top, bottom, size: parseFloat(getComputedStyle(name).fontSize)};
  }))"""


@pytest.mark.parametrize("width", [1400, 390])
def test_names_of_columns_are_level_legible_and_apart(show: Show, width: int) -> None:
    page = show(width=width).page
    for names in page.evaluate(LABELS):
        assert min(name["size"] for name in names) >= 10
        lines: dict[float, list[Any]] = {name["top"]: [] for name in names}
        for name in names:
            assert name["bottom"] - name["top"] < 24
            lines[name["top"]].append(name)
        for line in lines.values():
            assert all(one["right"] <= other["left"] + 1 for one, other in pairwise(line))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('.gb-cells :is(td, th, p, span, caption)')]
            .filter((part) => part.textContent)
            .map((part) => parseFloat(getComputedStyle(part).fontSize)).filter((size) => size)"""
    )
    assert min(sizes) >= 10


READ = {
    "words": "one · query position 0 in · key position 2 end: ",
    "heads": "a · layer 0 · head 2: ",
    "vector": "[1]: ",
    "tensor": "query 0 · key 1: ",
    "panels": "[0, 0, 1]: ",
}


def read(page: Any, text: str) -> None:
    """Wait until the line below the cells begins with a text."""
    page.wait_for_function(
        "text => document.querySelector('.gb-read').textContent.startsWith(text)", arg=text
    )


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("name", READ)
def test_the_cell_under_the_pointer_is_put_into_words_and_nothing_moves(
    show: Show, name: str, width: int
) -> None:
    page = show(MAPS[name], MAPS["weights"], width=width).page
    below = page.locator(".gb-cells").nth(1)
    before = below.bounding_box()
    cell = page.locator("tbody td").nth(2 if name in ("words", "heads") else 1)
    cell.hover()
    read(page, READ[name] + (cell.text_content() or ""))
    assert below.bounding_box() == before


def test_the_pixel_under_the_pointer_is_put_into_words(show: Show) -> None:
    page = show(MAPS["picture"]).page
    box = page.locator(".gb-picture").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 2)
    read(page, "query 0 · key 31: 0.0")
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    read(page, "query 0 · key 0: −1.0")


def test_a_browser_that_returns_noise_for_what_is_drawn_shows_no_wrong_number(show: Show) -> None:
    page = show(MAPS["picture"], own=True).page
    page.evaluate(
        """() => {
          OffscreenCanvasRenderingContext2D.prototype.getImageData = (x, y, width, height) => (
            { data: Array.from({ length: 4 * width * height }, () => 256 * Math.random() | 0) }
          );
        }"""
    )
    box = page.locator(".gb-picture").bounding_box()
    assert box
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    read(page, "query 0 · key 0: hidden by this browser")


def test_arrow_keys_go_from_cell_to_cell(show: Show) -> None:
    page = show(MAPS["tensor"]).page
    page.keyboard.press("Tab")
    read(page, "query 0 · key 0: 0.2500")
    for key, said in (
        ("ArrowRight", "query 0 · key 1: -0.5000"),
        ("ArrowDown", "query 1 · key 1: 0.7500"),
        ("ArrowDown", "query 1 · key 1: 0.7500"),
        ("Home", "query 1 · key 0: 1.0000"),
    ):
        page.keyboard.press(key)
        read(page, said)
    assert page.locator("td.gb-at").count() == 1


def test_a_finger_reads_a_cell(show: Show) -> None:
    page = show(MAPS["heads"], width=390, own=True, has_touch=True).page
    page.locator("tbody td").nth(13).tap()
    read(page, "a · layer 1 · head 1: ")


@pytest.mark.parametrize("width", [1400, 390])
def test_axe_finds_nothing_to_complain_about(show: Show, width: int) -> None:
    page = show(width=width).page
    assert axe.run(page, "body", runOnly=axe.RULES) == []


def test_cells_hold_their_numbers_without_a_script(show: Show) -> None:
    page = show(MAPS["tensor"], own=True, java_script_enabled=False).page
    assert page.locator("tbody td").all_inner_texts() == ["0.2500", "-0.5000", "1.0000", "0.7500"]
