"""Build the website from the chapters and their committed outputs, and print its location."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT / "_build" / "html" / "index.html"
BUILT = ROOT / "_build" / "built"
#: Folders that do not contribute to any page.
ASIDE = {"_build", "tests", "__pycache__"}
#: Jupyter Book without two things that take a third of its time: the garbage collector walks
#: through every page again and again and finds nothing to free, and `rfc3987_syntax` compiles a
#: grammar of addresses that is not used here.
JUPYTER_BOOK = """
import gc, sys
gc.disable()
sys.modules["rfc3987_syntax"] = None
from jupyter_book.cli.main import main
main()
"""


def build() -> subprocess.CompletedProcess[str]:
    """Build every page from scratch; a warning counts as an error, and all are reported.

    From scratch, because a page kept from an earlier build does not repeat its warnings and does
    not follow a change of the templates.
    """
    return subprocess.run(
        [sys.executable, "-c", JUPYTER_BOOK, "build", ".", "--all", "-W", "-n", "--keep-going"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def inputs() -> str:
    """Return a digest of everything that determines the build.

    It covers all files of the book except its tests, the versions of Python and every package, and
    the name of the repository, which GitHub's workflows set.
    """
    releases = sorted(f"{package.name}=={package.version}" for package in distributions())
    settings = [sys.version, os.environ.get("GITHUB_REPOSITORY", ""), *releases]
    return digest(ROOT, settings)


def outputs() -> str:
    """Return a digest of the built site."""
    return digest(INDEX.parent)


def digest(folder: Path, more: list[str] | None = None) -> str:
    """Return a digest of the names and contents of the files below a folder, and of some texts."""
    found = hashlib.sha256(repr(more).encode())
    for path in files(folder):
        content = path.read_bytes()
        found.update(f"{path.relative_to(folder)}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, in order, except those that are hidden or in `ASIDE`."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in ASIDE:
            continue
        if path.is_dir():
            yield from files(path)
        elif path.is_file():
            yield path


def main(arguments: list[str]) -> None:
    start = time.perf_counter()
    now = inputs()
    place = f"Open {INDEX.relative_to(ROOT)}, or serve it: make serve"
    built = BUILT.read_text(encoding="utf-8").split() if BUILT.is_file() else []
    if "--if-changed" in arguments and INDEX.is_file() and built == [now, outputs()]:
        print(f"Nothing has changed since the site was built. {place}")
        return
    BUILT.unlink(missing_ok=True)
    result = build()
    if result.returncode:
        print(result.stdout)
        sys.exit("The site was not built without warnings; they are above.")
    BUILT.write_text(f"{now}\n{outputs()}\n", encoding="utf-8")
    pages = sum(1 for _ in INDEX.parent.rglob("*.html"))
    print(f"{pages} pages built in {time.perf_counter() - start:.0f} s, without a warning.")
    print(place)


if __name__ == "__main__":
    main(sys.argv[1:])
