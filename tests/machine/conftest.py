"""The machine in a browser, served below a path, and the package that it has to equal."""

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser
from torch import Tensor

from glassbox.translation import Translator
from glassbox_book.machine import assets
from tests.conftest import Open, Visit, pages_of

#: Where the scripts lie, below the root of the server.
PLACE = "some/where/below"
PAGE = "<!doctype html><title>The machine</title><link rel=icon href=data:,>"
#: Loads the translator without a worker, so that every array can be asked for.
START = """async () => {
  const { Translator } = await import("./machine/translation.js");
  const read = async (name) => (await fetch(`machine/model/${name}`)).arrayBuffer();
  window.translator = await Translator.load(read);
  window.pack = ({ tape, logits, ...result }) => {
    const found = Object.entries(tape.attentions).flatMap(([name, kinds]) => (
      Object.entries(kinds).map(([kind, heads]) => [`${name}/${kind}`, heads])
    ));
    const outputs = Object.entries(tape.outputs).map(([name, rows]) => [name, [rows]]);
    const shapes = [], numbers = [];
    for (const [name, heads] of [...found, ...outputs, ["logits", [logits]]]) {
      const width = Math.max(...heads[0].map((row) => row.length));
      shapes.push([name, [heads.length, heads[0].length, width]]);
      for (const row of heads.flat()) numbers.push(...row, ...Array(width - row.length).fill(0));
    }
    const bytes = new Uint8Array(Float32Array.from(numbers).buffer);
    const letters = Array.from(bytes, (byte) => String.fromCharCode(byte));
    return { ...result, shapes, numbers: btoa(letters.join("")) };
  };
}"""


@dataclass
class Translation:
    """What the page computed for one sentence."""

    source: list[int]
    target: list[int]
    text: str
    tensors: dict[str, Tensor]  # by name, (heads, rows, width)


class Machine:
    """The translator in the page."""

    def __init__(self, seen: Visit) -> None:
        self.page, self.problems = seen.page, seen.problems

    def translate(self, text: str, **options: Any) -> Translation:
        call = "([text, options]) => pack(translator.translate(text, options))"
        found = self.page.evaluate(call, [text, options])
        numbers = torch.frombuffer(bytearray(base64.b64decode(found["numbers"])), dtype=torch.float)
        sizes = [torch.Size(shape).numel() for _, shape in found["shapes"]]
        parts = zip(found["shapes"], numbers.split(sizes), strict=True)
        tensors = {name: part.view(shape) for (name, shape), part in parts}
        return Translation(found["source"], found["target"], found["text"], tensors)


@pytest.fixture(scope="session")
def machine_url(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], str]) -> str:
    """The address of an empty page beside the machine's files."""
    root = tmp_path_factory.mktemp("site")
    assets.write_files(root / PLACE / "machine")
    (root / PLACE / "index.html").write_text(PAGE, encoding="utf-8")
    return f"{serve(root)}{PLACE}/"


@pytest.fixture(scope="session")
def pages(browser: Browser) -> Iterator[Open]:
    """Open pages for as long as the tests run."""
    with pages_of(browser) as visit:
        yield visit


@pytest.fixture(scope="session")
def machine(machine_url: str, pages: Open) -> Machine:
    """The translator in a page."""
    seen = pages(machine_url)
    seen.page.evaluate(START)
    return Machine(seen)


@pytest.fixture(scope="session")
def translator() -> Translator:
    """The translator of the package."""
    return Translator.from_pretrained(assets.MODEL)
