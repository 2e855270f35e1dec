"""What tests share: seeds and devices, a real browser that reaches this machine alone, a server."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Protocol
from urllib.parse import urlsplit

import hypothesis
import jaxtyping
import pytest
from jaxtyping import install_import_hook
from playwright.sync_api import Browser, Page, Playwright, Request, sync_playwright

from tools.serve import serving

gc.disable()  # until all tests are collected: what is imported stays

# Execute the shapes that annotations give, and only in the modules that give any. At once: the
# conftest of a folder, which pytest reads before any hook runs, may import them.
CODE = Path(__file__).resolve().parents[1] / "code"
install_import_hook(
    [
        ".".join(path.relative_to(CODE).with_suffix("").parts).removesuffix(".__init__")
        for path in CODE.rglob("*.py")
        if "from jaxtyping import" in path.read_text(encoding="utf-8")
    ],
    "beartype.beartype",
)

# The same examples in every run: a test that fails, fails for everybody.
hypothesis.settings.register_profile("glassbox", derandomize=True, deadline=None, max_examples=60)
hypothesis.settings.load_profile("glassbox")

#: Debian's `chromium-headless-shell` is a Chromium without windows, and lighter.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ON_MACOS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
NO_BROWSER = (
    "no Chromium found: install it (Debian: sudo apt-get install chromium-headless-shell; Ubuntu: "
    "chromium; anywhere: .venv/bin/python -m playwright install chromium), or name one: "
    "CHROMIUM=/path/to/chromium"
)
#: No sandbox, because containers have none to give; nothing fetched that the page did not ask for,
#: and no other host found.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    # Two of the address bar's menus are pages themselves, loaded anew for each window.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)


def find_chromium(playwright: Playwright | None = None) -> str | None:
    """Return the path of a Chromium: the one named, an installed one, Playwright's, or none."""
    if named := os.environ.get("CHROMIUM"):
        return shutil.which(named)
    candidates = [shutil.which(name) for name in NAMES]
    if playwright is not None:
        candidates.append(playwright.chromium.executable_path)
    candidates.extend(ON_MACOS)
    return next((path for path in candidates if path and Path(path).is_file()), None)


@contextmanager
def chromium() -> Iterator[Browser | None]:
    """Start a Chromium, and end it afterwards; give None if there is none."""
    with sync_playwright() as playwright:
        path = find_chromium(playwright)
        if path is None:
            yield None
            return
        with playwright.chromium.launch(executable_path=path, args=ARGUMENTS) as browser:
            yield browser


def do_without_browser() -> NoReturn:
    """Skip the test, saying why; where `CI` is set the browser is required, and the test fails."""
    if os.environ.get("CI"):
        pytest.fail(NO_BROWSER, pytrace=False)
    pytest.skip(NO_BROWSER)


@pytest.fixture(autouse=True)
def _seed() -> None:
    """Start every test that computes from the same random numbers."""
    if torch := sys.modules.get("torch"):
        torch.default_generator.manual_seed(0)
        if torch.version.cuda:  # torch.manual_seed keeps a traceback for a GPU that is not there
            torch.cuda.manual_seed_all(0)


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Let Ctrl-C interrupt: a shell takes that from what it starts in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A running Chromium."""
    with chromium() as browser:
        if browser is None:
            do_without_browser()
        yield browser


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """Return a function that serves a folder on the loopback address and returns its URL."""
    urls: dict[Path, str] = {}
    with ExitStack() as stack:

        def serve(folder: Path) -> str:
            if folder not in urls:
                urls[folder] = stack.enter_context(serving(folder))
            return urls[folder]

        yield serve


@dataclass
class Visit:
    """A page, and what it did that it should not have done."""

    page: Page
    foreign: list[str] = field(default_factory=list)  # requests to other hosts; none is found
    problems: list[str] = field(default_factory=list)  # errors on the console or uncaught


class Open(Protocol):
    """What the fixture `visit` gives."""

    def __call__(
        self, url: str = ..., *, width: int = ..., dark: bool = ..., **context: Any
    ) -> Visit: ...


def is_local(url: str) -> bool:
    """Whether an address stays on this machine."""
    parts = urlsplit(url)
    return parts.scheme in ("about", "blob", "data", "file") or parts.hostname in (
        "127.0.0.1",
        "localhost",
    )


def window_options(width: int, dark: bool) -> dict[str, Any]:
    """Return what a window is opened with."""
    return {
        "viewport": {"width": width, "height": 900},
        "color_scheme": "dark" if dark else "light",
        "reduced_motion": "reduce",
    }


def open_window(browser: Browser, **options: Any) -> Visit:
    """Open a window that cannot reach any other host, and note what goes wrong in it."""
    window = browser.new_context(**options)
    window.set_default_timeout(120_000)  # milliseconds: a busy machine is slow
    seen = Visit(window.new_page())

    def note(request: Request) -> None:
        if not is_local(request.url):
            seen.foreign.append(request.url)

    window.on("request", note)
    seen.page.on("pageerror", lambda error: seen.problems.append(str(error)))
    seen.page.on(
        "console",
        lambda line: seen.problems.append(line.text) if line.type == "error" else None,
    )
    return seen


@contextmanager
def pages_of(browser: Browser) -> Iterator[Open]:
    """Give a function that opens pages which cannot reach any other host; close them at the end."""
    with ExitStack() as stack:

        def visit(
            url: str = "about:blank", *, width: int = 1400, dark: bool = False, **context: Any
        ) -> Visit:
            seen = open_window(browser, **(window_options(width, dark) | context))
            stack.callback(seen.page.context.close)
            if url != "about:blank":
                seen.page.goto(url)
            return seen

        yield visit


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    """Return a function that opens pages which cannot reach any other host."""
    with pages_of(browser) as visit:
        yield visit


def draws(seen: Visit) -> bool:
    """Whether a window still draws: of thousands, one that was used for long stopped."""
    answer = seen.page.evaluate("""() => Promise.race([
      new Promise((done) => requestAnimationFrame(() => done(true))),
      new Promise((done) => setTimeout(done, 20000, false)),
    ])""")
    return bool(answer)


@pytest.fixture(scope="session")
def _windows(browser: Browser) -> list[Visit]:
    """Windows that no test is using at present."""
    return []


@pytest.fixture
def revisit(browser: Browser, visit: Open, _windows: list[Visit]) -> Iterator[Open]:
    """Return what `visit` does, in windows that earlier tests have left: opening takes long.

    A test that changes its window for good, as by setting its clock, asks for one of its `own`.
    """
    used: list[Visit] = []

    def revisit(
        url: str = "about:blank",
        *,
        width: int = 1400,
        dark: bool = False,
        own: bool = False,
        **context: Any,
    ) -> Visit:
        if own or context:
            return visit(url, width=width, dark=dark, **context)
        options = window_options(width, dark)
        seen = _windows.pop() if _windows else open_window(browser, **options)
        if not draws(seen):
            seen.page.context.close()
            seen = open_window(browser, **options)
        used.append(seen)
        seen.page.set_viewport_size(options["viewport"])
        seen.page.emulate_media(media="null", color_scheme=options["color_scheme"])
        if url != "about:blank":
            seen.page.goto(url)
        return seen

    yield revisit
    for seen in used:
        seen.page.goto("about:blank")  # what is still to come of the page comes now
        seen.page.mouse.move(0, 0)
        seen.foreign.clear()
        seen.problems.clear()
    _windows.extend(used)


@pytest.fixture(autouse=True)
def _measured(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Note by how much the two sides differ in every comparison with a reference."""
    if not request.path.stem.endswith("_parity"):
        return
    import torch  # the tests of the site do without it

    from tests.references.differences import LARGEST

    component = request.path.stem.removeprefix("test_").removesuffix("parity").removesuffix("_")
    component = component or request.path.parent.name
    compare = torch.testing.assert_close

    def assert_close(actual: Any, expected: Any, **options: Any) -> None:
        LARGEST.note(component, actual, expected)
        compare(actual, expected, **options)

    monkeypatch.setattr(torch.testing, "assert_close", assert_close)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the table of largest differences."""
    measured = sys.modules.get("tests.references.differences")
    if measured is not None and measured.LARGEST.largest:
        terminalreporter.section("largest difference of each component from its reference")
        for line in measured.LARGEST.lines():
            terminalreporter.line(line)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a `device` on every device present."""
    if "device" in metafunc.fixturenames:
        import torch

        present = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
        metafunc.parametrize("device", present, scope="session")


@pytest.fixture
def as_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the annotations unexecuted, as they are outside the tests.

    They refuse most bad input before the package's own checks see it; readers meet the latter.
    """
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture
def compiler(as_a_reader: None) -> None:
    """Forget what was compiled before. The compiler cannot look into executed annotations."""
    import torch

    torch.compiler.reset()


@pytest.fixture(scope="session")
def data() -> Callable[[str], Path]:
    """Return a function that finds a data file by its name (`glassbox.data.find`).

    A test whose file is neither here nor to be fetched is skipped, saying so. Where
    `GLASSBOX_DATA` names a folder the file is required, and the test fails.
    """
    from glassbox.data import find

    unreachable: list[ConnectionError] = []  # asking again would only take longer

    def find_or_skip(name: str) -> Path:
        try:
            if unreachable:
                raise unreachable[0]
            return find(name)
        except ConnectionError as error:
            if os.environ.get("GLASSBOX_DATA"):
                raise
            unreachable.append(error)
            pytest.skip("no network to fetch data files; GLASSBOX_DATA can name a folder of them")

    return find_or_skip


#: Fixtures that say of every test that uses them in which part of `make test` it belongs.
MARKS = {"browser": "browser", "compiler": "slow"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a browser or a compiler, so that `make unit` can leave it out."""
    for item in items:
        for name in MARKS.keys() & getattr(item, "fixturenames", ()):
            item.add_marker(MARKS[name])


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays for good: libraries, and thousands of tests."""
    gc.collect()
    gc.freeze()
    gc.enable()
