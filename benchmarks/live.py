"""The translator in a reader's page against the same translator in PyTorch, token by token."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page

from benchmarks.timing import Comparison, compare
from glassbox.translation import Translator
from glassbox_book.machine import assets
from tests.conftest import chromium
from tools.serve import serving

SENTENCE = "I have never seen such a beautiful house."
START = """async ([folder, size, version]) => {
  const { Client } = await import(new URL(`${folder}/client.js`, document.baseURI));
  window.client = new Client();
  await client.ask({ type: "load", size, version });
}"""
WRITE = "async (text) => (await client.ask({ type: 'translate', text })).target.length"


def measure(seconds: float = 10.0) -> Iterator[Comparison]:
    """Time it in a headless Chromium; yield nothing if there is none."""
    with chromium() as browser, TemporaryDirectory() as folder:
        if browser is None:
            return
        assets.write_files(folder)
        Path(folder, "index.html").write_text("<!doctype html><title>The machine</title>")
        with serving(Path(folder)) as url:
            page = browser.new_page()
            page.goto(url)
            yield time_in(page, ".", seconds)


def time_in(page: Page, folder: str, seconds: float, least: int = 20) -> Comparison:
    """Time a token of a translation, including the worker's answer to the page.

    Parameters
    ----------
    page : Page
        A page of a site that serves the machine's files.
    folder : str
        The folder of these files, relative to the page.
    seconds, least : float, int
        How long to compare, and the least number of rounds.

    Returns
    -------
    Comparison
        Seconds per token.

    Raises
    ------
    ValueError
        If the two write different numbers of tokens.
    """
    page.evaluate(START, [folder, assets.size(), assets.version()])
    translator = Translator.from_pretrained(assets.MODEL)
    n_tokens = len(translator.alternatives(SENTENCE, n=1, n_beams=1)[0].tokens)
    written = page.evaluate(WRITE, SENTENCE)
    if written != n_tokens:
        raise ValueError(f"the page writes {written} tokens, and the package {n_tokens}")
    done = compare(
        "a token of the translator in the page, greedily",
        "glassbox in PyTorch",
        lambda: page.evaluate(WRITE, SENTENCE),
        lambda: translator.translate(SENTENCE, n_beams=1),
        seconds=seconds,
        least=least,
    )
    ours, theirs = ([time / n_tokens for time in times] for times in (done.ours, done.theirs))
    return replace(done, ours=tuple(ours), theirs=tuple(theirs))
