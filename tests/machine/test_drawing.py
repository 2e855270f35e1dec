"""A reader cannot tell what Python drew before a click from what the scripts draw after it."""

from typing import Any

import pytest
import torch

from glassbox_book.machine import scene
from glassbox_book.templates import environment, fixed
from glassbox_book.viz.tokens import visible

pytestmark = pytest.mark.browser
DRAW = "import('./machine/draw.js').then((draw) => draw[name](...given))"


@pytest.fixture(scope="module")
def draw(machine):
    """Call a function of `draw.js`."""

    def call(name: str, *given: Any) -> Any:
        return machine.page.evaluate(f"([name, given]) => {DRAW}", [name, given])

    return call


def weights(rows: int, columns: int, *, causal: bool = False) -> list[list[float]]:
    """Return random weights; causal ones are as long as what is written."""
    drawn = torch.rand(rows, columns, generator=torch.Generator().manual_seed(rows))
    return [row[: i + 1] if causal else row for i, row in enumerate(drawn.tolist())]


MAPS = {
    "wide": weights(3, 5),
    "high": weights(6, 2),
    "causal": weights(4, 4, causal=True),
    "limits": [[0.0, 0.04, 0.06, 0.94, 0.96, 1.0]],
}


@pytest.mark.parametrize("name", MAPS)
def test_a_small_map_is_the_same(name, draw):
    assert draw("smallMap", MAPS[name]) == scene._small_map(MAPS[name])


@pytest.mark.parametrize("name", MAPS)
def test_a_large_map_has_each_weight_at_its_query_and_its_key(name, draw, machine):
    given = MAPS[name]
    width = max(map(len, given))
    rows, columns = [f"q<{i}" for i in range(len(given))], [f"k<{j}" for j in range(width)]
    html = draw("largeMap", given, rows, columns, [len(given) - 1, 0], 0)
    found = machine.page.evaluate(
        """(html) => {
          const table = document.createElement("table");
          table.innerHTML = html;
          const texts = (all) => [...all].map((one) => one.textContent);
          return {
            columns: texts(table.querySelectorAll("thead th")),
            rows: texts(table.querySelectorAll("tbody th")),
            steps: [...table.tBodies[0].rows].map((row) => "step" in row.dataset),
            cells: [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")].map(
              (cell) => ({ ink: cell.style.getPropertyValue("--v"), text: cell.textContent,
                           tone: cell.dataset.tone, chosen: "chosen" in cell.dataset }))),
          };
        }""",
        html,
    )
    assert (found["rows"], found["columns"]) == (rows, columns)
    assert found["steps"] == [i == 0 for i in range(len(given))]
    for i, (row, cells) in enumerate(zip(given, found["cells"], strict=True)):
        assert [float(cell["ink"]) for cell in cells[: len(row)]] == pytest.approx(row, abs=6e-5)
        assert [float(cell["text"]) for cell in cells[: len(row)]] == pytest.approx(row, abs=6e-3)
        assert [cell["tone"] for cell in cells[: len(row)]] == [scene._tone(one) for one in row]
        assert [cell["chosen"] for cell in cells] == [
            (i, j) == (len(given) - 1, 0) for j in range(width)
        ]
        assert all(cell["text"] == cell["ink"] == "" for cell in cells[len(row) :])


def test_bars_are_the_same(draw):
    likely = [(7, "␣a<b", 0.61249), (9, "&", 0.25), (12, '"', 0.0004)]
    given = [dict(zip(("id", "piece", "probability"), one, strict=True)) for one in likely]
    parts: Any = environment().get_template("machine/page/parts.html").module
    escaped = str(parts.bars(likely, 9)).replace("&amp;", "&#38;").replace("&lt;", "&#60;")
    assert draw("bars", given, 9) == escaped


@pytest.mark.parametrize("number", [-2.2064, -0.0004, 0.0, 5.6569])
def test_a_number_has_the_same_sign(number, draw):
    assert draw("fixed", number, 3) == fixed(number, 3)


@pytest.mark.parametrize(
    "piece",
    [
        *(" dog ", "\u00a0\u3000!\u202f", "", "a\x00b", "\x1b", "\x7f"),
        *("\u202egnp", "\u200bx", "\u2028", "é", "🦜", "<i>"),
    ],
)
def test_what_is_invisible_has_the_same_name(piece, draw):
    assert draw("visible", piece) == visible(piece)


@pytest.mark.parametrize(
    ("keys", "there"),
    [
        ("ArrowRight", 1),
        ("ArrowDown", 3),
        ("ArrowDown ArrowRight ArrowUp", 1),
        ("ArrowLeft", 0),
        ("ArrowUp", 0),
        ("End", 5),
        ("End ArrowDown", 5),
        ("End ArrowLeft Home", 0),
    ],
)
def test_arrow_keys_move_among_buttons_in_rows_of_three(keys, there, machine):
    page = machine.page
    page.evaluate("""async () => {
        const { rove } = await import("./machine/draw.js");
        document.body.innerHTML = "<div>" + "<button>x</button>".repeat(6) + "</div>";
        rove(document.body.firstChild, "button", () => 3)();
        document.querySelector("button").focus();
    }""")
    for key in keys.split():
        page.keyboard.press(key)
    buttons = page.locator("button")
    focused = [buttons.nth(i).evaluate("one => one === document.activeElement") for i in range(6)]
    assert focused == [i == there for i in range(6)]
    assert [buttons.nth(i).get_attribute("tabindex") for i in range(6)] == [
        "0" if i == there else "-1" for i in range(6)
    ]
