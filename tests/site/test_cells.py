"""Maps and tensors on the built pages: the same data are the same picture in light and dark."""

import re

import numpy as np
import pytest

from glassbox_book.viz.tensors import PRINTED, drawn
from tests.site.conftest import SITE, chapters, pages
from tests.site.look import turn

CHAPTER = "chapters/04_scaled_dot_product.html"
#: How far the colour of each cell is from the paper, and its share of the scale.
DISTANCES = """() => {
  const paper = document.body.appendChild(document.createElement('i'));
  paper.style.backgroundColor = 'color-mix(in oklab, var(--gb-paper), var(--gb-paper))';
  const oklab = (element) =>
    getComputedStyle(element).backgroundColor.match(/-?[\\d.]+(e-\\d+)?/g).slice(0, 3).map(Number);
  const zero = oklab(paper);
  return [...document.querySelectorAll('.gb-cells td[style]')].map((cell) => [
    Math.hypot(...oklab(cell).map((part, i) => part - zero[i])),
    +cell.style.getPropertyValue('--v'),
  ]);
}"""


def test_the_same_data_are_the_same_picture_in_both_themes(read):
    page = read(CHAPTER).page
    found = {}
    for theme in ("light", "dark"):
        turn(page, theme, [])
        distances, found[theme] = np.array(page.evaluate(DISTANCES)).T
        assert len(distances) > 100
        assert distances.max() > 0.5  # of the way from black to white
        assert np.allclose(distances / distances.max(), np.abs(found[theme]), atol=0.01)
    assert np.array_equal(found["light"], found["dark"])


@pytest.mark.parametrize("file", ["cells.js", "cells.css"])
def test_a_page_asks_for_script_and_style_once_and_only_where_there_are_cells(file):
    for name in pages():
        page = (SITE / name).read_text(encoding="utf-8")
        assert page.count(f"_static/glassbox/{file}?v=") == ('class="gb-cells' in page), name


def test_no_small_tensor_stays_text(chapter, soup):
    for output in soup(chapter).select(".cell_output pre"):
        printed = PRINTED.finditer(output.text)
        assert not any(drawn(found[1]) for found in printed)


def test_every_map_has_the_words_of_its_figure_for_a_name(soup):
    maps = [each for chapter in chapters() for each in soup(chapter).select(".gb-map")]
    assert len(maps) > 20
    for each in maps:
        assert each.find_parent("figure").figcaption.text
        assert not re.match(r"(Map|\d+ maps), \d+ rows", each["aria-label"])
        assert not each.find("script")


def test_names_of_columns_stand_on_the_ground_around_them(glance, dark):
    page = glance(CHAPTER, dark=dark).page
    grounds = page.evaluate(
        """() => {
          const back = (e) => getComputedStyle(e).backgroundColor;
          return [...document.querySelectorAll('.gb-deeper thead bdi')]
            .map((name) => back(name) === back(name.closest('.gb-deeper')));
        }"""
    )
    assert len(grounds) > 10
    assert all(grounds)


def test_what_goes_on_beyond_the_edge_of_a_phone_fades_there(read):
    for chapter, box in ((CHAPTER, ".gb-panel"), ("chapters/machine.html", ".gb-m-scroll")):
        page = read(chapter, width=390).page
        masks = page.locator(f"{box}:visible").evaluate_all(
            "all => all.map((e) => [e.scrollWidth > e.clientWidth, getComputedStyle(e).maskImage])"
        )
        assert any(goes_on for goes_on, _ in masks)
        assert all(goes_on == (mask != "none") for goes_on, mask in masks), masks


CUT_OFF = """() => [...document.querySelectorAll("button.copybtn")].filter((button) => {
  const { left, right, top, bottom } = button.getBoundingClientRect();
  const cut = (box) => (
    box.left > left + 1 || box.right < right - 1 || box.top > top + 1 || box.bottom < bottom - 1
  );
  for (let part = button; right && (part = part.parentElement) !== document.body;) {
    const { overflowX, overflowY } = getComputedStyle(part);
    const open = overflowX === "visible" && overflowY === "visible";
    if (!open && cut(part.getBoundingClientRect())) return true;
  }
  return right > innerWidth;
}).length"""


def test_no_copy_button_is_cut_off(read, width):
    page = read("chapters/03_self_attention.html", width=width).page
    assert page.locator(".cell_output button.copybtn").count() > 10
    assert page.evaluate(CUT_OFF) == 0


ARROW = """box => {
  const scroller = box.matches(".gb-equation") ? box.querySelector(".gb-formula") : box;
  const shown = () => Number(getComputedStyle(box, "::after").opacity);
  const next = () => new Promise(requestAnimationFrame);
  const frame = async () => { await next(); await next(); };
  return (async () => {
    await frame();
    const before = shown();
    scroller.scrollLeft = scroller.scrollWidth;
    await frame();
    return [scroller.scrollWidth > scroller.clientWidth, before > 0.5, shown() > 0.5];
  })();
}"""


def test_a_table_or_formula_that_goes_on_beyond_the_edge_has_an_arrow_until_its_end(read):
    page = read("chapters/06_positional_encoding.html", width=390).page
    boxes = page.locator(".pst-scrollable-table-container, .gb-equation").all()
    seen = [box.evaluate(ARROW) for box in boxes if box.is_visible()]
    assert {(True, True, False), (False, False, False)} == set(map(tuple, seen))


#: What is read of a table or formula, and before it.
READ = """box => {
  box.scrollIntoView({ block: "center", behavior: "instant" });
  const { left, width } = box.getBoundingClientRect();
  return [box.querySelector("table, .gb-formula"), box.previousElementSibling].filter(Boolean)
    .map((part) => part.getBoundingClientRect())
    .map(({ top, height }) => ({ x: left, y: top, width, height }));
}"""
NO_ARROW = ":is(.gb-equation, .pst-scrollable-table-container)::after { visibility: hidden; }"


def look_the_same_without_arrow(page, place):
    """Yield for each box that scrolls whether it looks the same without its arrow."""
    visible = [box for box in page.locator(place).all() if box.is_visible()]
    boxes = [box for box in visible if box.evaluate(ARROW)[0]]
    assert boxes
    for box in boxes:
        box.evaluate("box => { (box.querySelector('.gb-formula') ?? box).scrollLeft = 0 }")
        clips = box.evaluate(READ)
        seen = [page.screenshot(clip=clip) for clip in clips]
        style = page.add_style_tag(content=NO_ARROW)
        yield seen == [page.screenshot(clip=clip) for clip in clips]
        style.evaluate("style => style.remove()")


def test_an_arrow_hides_no_letter(read):
    page = read("chapters/06_positional_encoding.html", width=390, has_touch=True).page
    page.evaluate("document.fonts.ready")
    assert all(look_the_same_without_arrow(page, ".pst-scrollable-table-container, .gb-equation"))
    page.locator("a.reference[href='#equation-eq-alibi']").tap()
    page.locator(".gb-sheet .gb-equation").wait_for(state="visible")
    assert all(look_the_same_without_arrow(page, ".gb-sheet .gb-equation"))


SCROLLS = """() => [...document.querySelectorAll(".cell_output > .output:has(pre)")]
  .filter((box) => box.tabIndex >= 0).length"""


def test_an_output_that_fits_is_no_stop_of_the_tab_key(read, width):
    page = read("chapters/03_self_attention.html", width=width).page
    page.evaluate("document.fonts.ready")
    assert page.evaluate(SCROLLS) == 0
