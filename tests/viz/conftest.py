"""Small models' attention to draw, and pages that hold views."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from playwright.sync_api import Browser, Frame

from glassbox_book.viz import assets, compare_heads, head_view, model_view, neuron_view, paper
from glassbox_book.viz.style import PHONE_WIDTH, use_book_style
from glassbox_book.viz.view import View
from tests.conftest import Open, Visit, pages_of

TOKENS = ["[CLS]", "time", "flies", "like", "[SEP]"]
LAYERS, HEADS, D_K = 3, 4, 8

#: What a token may hold, and how it is shown.
HOSTILE = {
    "<script>alert(1)</script>": "<script>alert(1)</script>",
    "</script>": "</script>",
    "\"'`&amp;<!--": "\"'`&amp;<!--",
    "\u202eabc\u202c": "⟨U+202E⟩abc⟨U+202C⟩",
    "\u200f": "⟨U+200F⟩",
    "שלום": "שלום",
    "a\x00b\n\x7f": "a␀b␊␡",
    "\ud800": "\ufffd",
    "👩\u200d💻": "👩\u200d💻",
    " the ": "␣the␣",
    "\u00a0\u202f!\u3000": "␣␣!␣",
    "": "⟨empty⟩",
    "]]>'><img src=x onerror=alert(1)>": "]]>'><img src=x onerror=alert(1)>",
    "W" * 400: "W" * 400,
    "${alert(1)}": "${alert(1)}",
}


def softmax(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))


def records(
    q_len: int = 5,
    k_len: int | None = None,
    *,
    layers: int = LAYERS,
    heads: int = HEADS,
    d_k: int = D_K,
    seed: int = 0,
) -> list[Any]:
    """Return records as `glassbox.record` keeps them, of random queries and keys."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(layers):
        query = 2 * random.normal(size=(1, heads, q_len, d_k))
        key = 2 * random.normal(size=(1, heads, k_len or q_len, d_k))
        weights = softmax(query @ key.swapaxes(-1, -2) / np.sqrt(d_k))
        found.append(SimpleNamespace(query=query, key=key, weights=weights))
    return found


@pytest.fixture
def book_style() -> Iterator[None]:
    """The style of the book for one test."""
    with matplotlib.rc_context():
        use_book_style()
        yield
        plt.close("all")


def as_on_a_telephone(draw: Callable[..., Figure], *args: Any, **options: Any) -> Figure:
    """Draw a figure as it is drawn for a telephone."""
    token = paper._WIDTH.set(PHONE_WIDTH)
    try:
        return draw(*args, **options)
    finally:
        paper._WIDTH.reset(token)


PAGE = """<!DOCTYPE html>
<html lang="en" {attributes}><head><meta charset="utf-8"><title>Views</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
{head}<style>body {{ margin: 16px; max-width: 720px; }}</style></head>
<body {body}>{content}</body></html>"""


def site(theme: str) -> str:
    """Return the attributes of the root element of a page of the site."""
    return f'data-content_root="./" data-theme="{theme}"'


@dataclass
class Shown:
    """A page with views, and the frames of the views."""

    visit: Visit
    frames: list[Frame]

    @property
    def page(self) -> Any:
        return self.visit.page

    @property
    def frame(self) -> Frame:
        return self.frames[0]

    def is_clean(self) -> bool:
        assert self.visit.foreign == []
        assert self.visit.problems == []
        return True


Show = Callable[..., Shown]
Drawn = Callable[[str], Shown]


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is served as long as tests run."""
    return tmp_path_factory.mktemp("pages")


def draw(
    visit: Callable[..., Visit],
    pages: Path,
    root: str,
    *views: View,
    mode: str = "linked",
    attributes: str = site("light"),
    head: str = "",
    body: str = "",
    before: str = "",
    folder: str = assets.SITE_FOLDER,
    drawn: bool = True,
    **options: Any,
) -> Shown:
    """Put views on a page of a folder, open it and wait until they are drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLASSBOX_VIEW_SCRIPTS", mode)
        content = before + "".join(view.html() for view in views)
    if mode == "linked":
        assets.write(pages / folder)
    html = PAGE.format(attributes=attributes, head=head, body=body, content=content)
    (pages / "page.html").write_text(html, encoding="utf-8")
    visited = visit(f"{root}page.html", **options)
    page = visited.page
    frames = []
    for element in page.query_selector_all("iframe"):
        frame = element.content_frame()
        assert frame is not None
        if drawn:
            element.evaluate("e => e.scrollIntoView()")
            frame.wait_for_selector("#vis svg")
        frames.append(frame)
    page.evaluate("scrollTo(0, 0)")
    return Shown(visited, frames)


@pytest.fixture
def show(pages: Path, serve: Callable[[Path], str], revisit: Open) -> Show:
    """Return a function that puts views on a page, opens it and waits until they are drawn."""
    return partial(draw, revisit, pages, serve(pages))


@pytest.fixture(scope="session")
def drawn(pages: Path, serve: Callable[[Path], str], browser: Browser) -> Iterator[Drawn]:
    """Return a function that shows every view in a theme: once, for all tests that only look."""
    with pages_of(browser) as visit:
        yield cache(
            lambda theme: draw(
                visit, pages, serve(pages), *every_view(), attributes=site(theme), width=1400
            )
        )


VIEWS: dict[str, Callable[[list[str]], View]] = {
    "head": lambda tokens: head_view(records(len(tokens)), tokens),
    "model": lambda tokens: model_view(records(len(tokens)), tokens),
    "neuron": lambda tokens: neuron_view(records(len(tokens)), tokens),
    "compare": lambda tokens: compare_heads(
        records(len(tokens)), records(len(tokens), seed=1), tokens
    ),
    "compare heads": lambda tokens: compare_heads(
        records(len(tokens)), records(len(tokens), seed=1), tokens, view="head"
    ),
    "compare models": lambda tokens: compare_heads(
        records(len(tokens)), records(len(tokens), seed=1), tokens, view="model"
    ),
}


SINGLE = ("head", "model", "neuron")  # without those of two models
COMPARED = ("compare", "compare heads", "compare models")


def switch(frame: Frame, shown: str) -> None:
    """Choose what a comparison shows."""
    frame.get_by_role("radio", name=shown).check()


def every_view(tokens: list[str] = TOKENS, names: Iterable[str] = tuple(VIEWS)) -> list[View]:
    return [VIEWS[name](tokens) for name in names]


def luminance(color: Sequence[float]) -> float:
    """Return the relative luminance of a colour of three numbers from 0 to 255."""
    parts = [c / 255 for c in color]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))
