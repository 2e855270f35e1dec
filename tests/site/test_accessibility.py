"""No page breaks a rule of WCAG 2.2, levels A and AA, frames of the views included."""

from axe_playwright_python.base import AXE_SCRIPT

from tests.site.conftest import open_views

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
AXE = "([place, rules]) => axe.run(place, {runOnly: rules, resultTypes: ['violations']})"
#: Letters of drawings on the page's own paper that stand out too little from it. What stands on a
#: coloured cell of a map is chosen cell by cell where the map is drawn.
FAINT_LETTERS = """() => {
    const light = (colour) => {
        const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255)
            .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const paper = light(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll('.gb-drawing text:not(svg [id] *)')].filter((text) => {
        const [low, high] = [light(getComputedStyle(text).fill), paper].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05) < 4.5;
    }).map((text) => text.textContent);
}"""


def violations(page, place="html", rules=RULES):
    """What axe finds in a place of a page and in its frames, one line each."""
    for frame in page.frames:
        frame.evaluate(AXE_SCRIPT)
    found = page.evaluate(AXE, [place, rules])
    assert found["passes"], "axe has looked at nothing"
    return [
        f"{rule['id']}: {node['target']} {node['html'][:120]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def test_axe_finds_nothing(look, any_page, width, dark):
    assert violations(look(any_page, width=width, dark=dark).page) == []


def test_axe_finds_nothing_in_what_unfolds(read, chapter, dark):
    page = read(chapter, dark=dark).page
    page.evaluate(
        """for (const fold of document.querySelectorAll('.bd-article details')) {
            fold.name = '';  // of one name only one can be open
            fold.open = true;
        }"""
    )
    assert page.locator("details.solution[open]").count() > 3
    assert violations(page, "details") == []


def test_axe_would_find_a_fault_in_a_frame(read, chapter):
    page = read(chapter).page
    frame = (*open_views(page), page)[0]
    frame.evaluate("document.body.append(document.createElement('button'))")
    assert any(line.startswith("button-name") for line in violations(page, rules=["button-name"]))


def test_letters_in_diagrams_stand_out_from_the_page(look, any_page, dark):
    # axe passes over letters in SVG.
    assert look(any_page, width=1400, dark=dark).page.evaluate(FAINT_LETTERS) == []


def test_faint_letters_in_a_diagram_would_be_found(read, dark):
    page = read("intro.html", dark=dark).page
    page.add_style_tag(content=".gb-drawing text { fill: #777 !important; }")
    assert "feed-forward network" in page.evaluate(FAINT_LETTERS)
