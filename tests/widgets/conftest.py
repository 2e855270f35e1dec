"""Widgets of every kind, and pages that hold them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from glassbox_book.widgets import (
    Row,
    Widget,
    assets,
    attention_playground,
    next_token,
    positional_encoding,
    rotary_arrows,
    softmax_temperature,
    stepper,
    vocabulary_slider,
)
from tests.conftest import Open, Visit

WORDS = ["time", "flies", "arrow"]
QUERY = [[0.0, 3.0], [3.0, 0.0], [0.0, 3.0]]
KEY = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
VALUE = [[1.0, 0.5], [-2.0, 1.25], [0.0, -1.0]]
SCORES = [2.1, 1.0, 0.25, -1.0]


def playground(words: list[str] = WORDS, **options: Any) -> Widget:
    return attention_playground(words, QUERY, KEY, VALUE, **options)


def alone() -> Widget:
    """The playground of one vector for each token."""
    return attention_playground(WORDS, VALUE)


def merges(words: list[str] = WORDS) -> Widget:
    start = [Row([("t", "faint"), *words[1:]], "5 times"), words]
    pair = [[(words[0], "active", 17), (words[1], "active", -0.5)], [(words[2], "query", "id 7")]]
    return stepper([("Letters.", start), ("A pair.", pair), ("A token.", [[("ug", "new")]])])


VOCABULARY, END = 40, 3
GENERATOR = torch.Generator().manual_seed(3)
PREFIXES: dict[tuple[int, ...], torch.Tensor] = {
    ids: 3
    * torch.randn(VOCABULARY, generator=GENERATOR).index_fill(0, torch.tensor([0, 1, 2, END]), 1.5)
    + torch.arange(VOCABULARY) / 100
    for ids in ((), (0,), (1,), (0, 2), (2,))
}


def sentence(words: list[str] = WORDS) -> Widget:
    def name(token: int) -> str:
        return words[token] if token < len(words) else "</s>"

    def decode(ids: Sequence[int]) -> str:
        return " ".join(name(i) for i in ids)

    return next_token(PREFIXES, END, token=name, decode=decode, source=words[0])


MERGES = [("Ġ", "s"), ("l", "o"), ("lo", "w"), ("Ġs", "low"), ("Ã", "¯"), ("e", "r")]

WIDGETS: dict[str, Callable[[list[str]], Widget]] = {
    "softmax_temperature": lambda words: softmax_temperature([*SCORES[:3]], words),
    "attention_playground": playground,
    "positional_encoding": lambda words: positional_encoding(16, 32, position=3, shift=2),
    "rotary_arrows": lambda words: rotary_arrows([1, 0.2, 0.5, -1], [0.8, 0, -0.3, 0.9], 32),
    "stepper": merges,
    "next_token": sentence,
    "vocabulary_slider": lambda words: vocabulary_slider(MERGES, "slower naïve", start=25),
}


def every_widget(words: list[str] = WORDS) -> list[Widget]:
    return [make(words) for make in WIDGETS.values()]


#: The site's own pages, the few lines of them that matter here; a page of JupyterLab.
SITE = (
    '<link rel="stylesheet" href="palette.css"><link rel="stylesheet" href="glassbox/widgets.css">'
    '<script defer src="glassbox/widgets.js"></script>'
)
LAB = '<script id="jupyter-config-data" type="application/json">{"baseUrl": "/"}</script>'
PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="{theme}"><head><meta charset="utf-8"><title>Widgets</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
{head}<style>html {{ color-scheme: {theme}; }}
body {{ margin: 16px auto; max-width: 720px; background: var(--gb-paper, Canvas); }}</style></head>
<body {body}><main><h1>Widgets</h1>{content}</main></body></html>"""

Show = Callable[..., Visit]


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is served as long as tests run, with what the site serves."""
    folder = tmp_path_factory.mktemp("pages")
    for place in ("glassbox", "static/glassbox"):
        assets.write(folder / place)
    palette = Path(__file__).parents[2] / "code/glassbox_site/static/palette.css"
    (folder / "palette.css").write_bytes(palette.read_bytes())
    return folder


@pytest.fixture
def show(
    pages: Path, serve: Callable[[Path], str], revisit: Open, monkeypatch: pytest.MonkeyPatch
) -> Show:
    """Return a function that puts widgets on a page and opens it."""

    def show(
        *widgets: Widget,
        mode: str = "linked",
        head: str = SITE,
        body: str = "",
        dark: bool = False,
        **options: Any,
    ) -> Visit:
        monkeypatch.setenv("GLASSBOX_VIEW_SCRIPTS", mode)
        content = "\n".join(widget.html() for widget in widgets)
        theme = "dark" if dark else "light"
        html = PAGE.format(theme=theme, head=head, body=body, content=content)
        (pages / "page.html").write_text(html, encoding="utf-8")
        return revisit(f"{serve(pages)}page.html", dark=dark, **options)

    return show
