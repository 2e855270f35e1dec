"""The BERT in a page: the package's numbers, and what a reader can do."""

import random

import pytest
import torch

from glassbox.data import everyday
from glassbox.models.fill_mask import FillMask
from glassbox_book import machine as written
from glassbox_book.machine import assets, blank
from tests.axe import RULES, run
from tests.machine.conftest import PLACE
from tests.machine.test_pieces import PAGE, Piece

LOAD = """async () => {
  const { FillMask } = await import("./machine/fill_mask.js");
  const read = async (name) => (await fetch(`machine/bert/${name}`)).arrayBuffer();
  window.fillMask = await FillMask.load(read);
}"""
BLANKS = ["The dog is [MASK] in the water.", "[MASK] are you?", "She [MASK] [MASK] to him."]


@pytest.fixture(scope="module")
def fill_mask():
    return FillMask.from_pretrained(assets.BERT)


@pytest.fixture(scope="module")
def page(machine_url, pages):
    seen = pages(machine_url)
    seen.page.evaluate(LOAD)
    return seen.page


@pytest.fixture
def piece(visit, tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("blank")
    written.write(root / PLACE / "machine")
    (root / PLACE / "blank.html").write_text(PAGE.format(blank.html()), encoding="utf-8")
    address = f"{serve(root)}{PLACE}/blank.html"
    return lambda **options: Piece(visit, address, **options)


def strings(number):
    """Texts of letters, accents, signs and scripts, put together at random."""
    draw = random.Random(0)
    signs = "\u200b \x1f \t \n — … 10% x don't ##ing [MASK] [mask] ¿"
    parts = [
        *["a", "b", "Z", "é", "É", "ß", "ẞ", "Σ", "ς", "ΟΔΟΣ", "東京", "한글", "नमस्ते"],
        *signs.split(" "),
        " ",
    ]
    return ["".join(draw.choices(parts, k=draw.randint(1, 12))) for _ in range(number)]


def test_its_pieces_are_the_package_s(page, fill_mask):
    texts = [*everyday(), *strings(300)]
    found = page.evaluate("(texts) => texts.map((text) => fillMask.tokenizer.encode(text))", texts)
    for text, ids in zip(texts, found, strict=True):
        assert ids == fill_mask.tokenizer.encode(text), text


@pytest.mark.parametrize("text", [*BLANKS, everyday()[0]])
def test_its_logits_are_the_package_s_at_every_position(page, fill_mask, text):
    call = """(text) => {
      const { model } = fillMask;
      return model.logits(model.hidden(fillMask.encode(text))).map((row) => [...row]);
    }"""
    ids = torch.tensor(fill_mask.tokenizer.encode(text))
    expected = fill_mask.predict(ids, torch.ones_like(ids, dtype=torch.bool))
    torch.testing.assert_close(torch.tensor(page.evaluate(call, text)), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("text", BLANKS)
def test_it_fills_blanks_as_the_package_does(page, fill_mask, text):
    call = """(text) => [...fillMask.fill(fillMask.encode(text)).values()].map((row) => [...row])"""
    found = torch.tensor(page.evaluate(call, text.replace("[MASK]", "___")))
    for row, guesses in zip(found, fill_mask(text, top=5), strict=True):
        best = row.topk(5)
        assert [fill_mask.tokenizer.tokens[i] for i in best.indices] == [g.token for g in guesses]
        assert best.values.tolist() == pytest.approx([g.probability for g in guesses], abs=1e-4)


def test_the_error_function_is_exact_to_six_digits(page):
    x = torch.linspace(-5, 5, 301)
    call = "async (x) => x.map((await import('./machine/bert.js')).erf)"
    found = torch.tensor(page.evaluate(call, x.tolist()))
    torch.testing.assert_close(found, torch.erf(x), atol=1e-6, rtol=0)


def test_a_model_of_another_kind_is_refused(page):
    call = """async () => {
      const { BertForMaskedLM } = await import("./machine/bert.js");
      const config = await (await fetch("machine/bert/config.json")).json();
      config.hidden_act = "relu";
      try { new BertForMaskedLM(config, {}); } catch ({ message }) { return message; }
    }"""
    assert page.evaluate(call) == "a BERT of another kind: hidden_act=relu"


def test_it_is_whole_without_a_script(piece, fill_mask):
    shown = piece(java_script_enabled=False)
    (expected,) = fill_mask(blank.SENTENCE.replace("___", "[MASK]"), top=8)
    bars = shown.part("bars").locator("li").all_inner_texts()
    assert [bar.split()[0] for bar in bars] == [guess.token for guess in expected]
    numbers = [float(bar.split()[-1]) for bar in bars]
    assert numbers == pytest.approx([guess.probability for guess in expected], abs=6e-4)
    assert not shown.page.locator("[data-machine='fill']").is_visible()
    assert not [url for url in shown.requests if "/bert/" in url]


def guesses(shown):
    """The word pieces that the bars show."""
    return shown.part("bars").locator("b").all_inner_texts()


def wait(shown, said):
    shown.page.wait_for_function(
        "said => document.querySelector('[data-part=status]').textContent.includes(said)", arg=said
    )


def test_a_reader_types_hides_and_puts_in(piece, fill_mask):
    shown = piece()
    field, pieces = shown.page.locator("[data-machine='text']"), shown.part("pieces")
    pieces.locator("button").nth(1).click()
    assert "load it first" in shown.part("status").inner_text()
    assert not [url for url in shown.requests if "/bert/" in url]
    field.fill("She ___ never seen the sea.")
    field.press("Enter")
    wait(shown, "1 blank filled")
    (expected,) = fill_mask("She [MASK] never seen the sea.", top=8)
    assert guesses(shown) == [guess.token for guess in expected]

    pieces.locator("button", has_text="sea").click()
    wait(shown, "2 blanks filled")
    first, second = fill_mask("She [MASK] never seen the [MASK].", top=8)
    assert guesses(shown) == [guess.token for guess in second]
    assert shown.part("title").inner_text() == "What fills blank 2 of 2"
    pieces.locator("button").nth(1).click()
    shown.page.wait_for_function(
        "document.querySelector('[data-part=title]').textContent.includes('1 of 2')"
    )
    assert guesses(shown) == [guess.token for guess in first]

    shown.part("bars").locator("button").nth(1).click()
    wait(shown, "1 blank filled")
    assert pieces.locator("button").nth(1).inner_text() == first[1].token
    (expected,) = fill_mask(f"She {first[1].token} never seen the [MASK].", top=8)
    assert guesses(shown) == [guess.token for guess in expected]

    for text, said in (("", "nothing to read"), ("a " * 70, "70 pieces, and this model reads 62")):
        field.fill(text)
        field.press("Enter")
        wait(shown, said)
        # What is below is not of this text, and says so.
        belongs = "What is below still belongs to “She ___ never seen the sea.”"
        assert belongs in shown.part("status").inner_text()
    field.fill("No blank here.")
    field.press("Enter")
    wait(shown, "choose a piece to hide it")
    assert not shown.part("bars").is_visible()  # there is nothing to guess
    assert pieces.get_by_label("blank").count() == 0
    pieces.locator("button", has_text="here").click()
    wait(shown, "1 blank filled")
    assert shown.part("bars").is_visible()
    assert pieces.get_by_label("blank").inner_text() == "___"
    assert shown.seen.problems == []


def test_a_guess_may_be_chosen_before_the_model_is_loaded(piece):
    shown = piece()
    place = shown.part("pieces").get_by_label("blank").get_attribute("data-position")
    guess = shown.part("bars").locator("button").nth(1)
    token = guess.locator("b").inner_text()
    guess.click()
    shown.part("answer").locator("button").click()
    wait(shown, "No blank")
    assert shown.part("pieces").locator(f"[data-position='{place}']").inner_text() == token
    assert shown.seen.problems == []


def test_a_piece_chosen_before_the_model_is_loaded_is_hidden_once_it_is(piece):
    shown = piece()
    shown.part("pieces").locator("button").nth(1).click()
    shown.page.keyboard.press("Enter")
    wait(shown, "2 blanks filled")
    assert shown.part("pieces").locator("button").nth(1).inner_text() == "___"


def test_it_is_accessible_on_a_phone(piece):
    shown = piece(width=390)
    assert run(shown.page, ".gb-machine", runOnly=RULES) == []
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
