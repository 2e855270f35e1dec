"""Build the website out of the chapters and their committed outputs, and say where it is."""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT / "_build" / "html" / "index.html"


def build() -> subprocess.CompletedProcess[str]:
    """Build every page afresh; a warning counts as an error, and all of them are reported.

    Afresh, because a page that is taken over from an earlier build also keeps its warnings to
    itself, and does not follow a change of the templates.
    """
    jupyter_book = str(Path(sys.executable).with_name("jupyter-book"))
    return subprocess.run(
        [jupyter_book, "build", ".", "--all", "-W", "-n", "--keep-going"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def main() -> None:
    start = time.perf_counter()
    result = build()
    if result.returncode:
        print(result.stdout)
        sys.exit("The site was not built without warnings; they are above.")
    pages = sum(1 for _ in INDEX.parent.rglob("*.html"))
    print(f"{pages} pages built in {time.perf_counter() - start:.0f} s, without a warning.")
    print(f"Open {INDEX.relative_to(ROOT)}, or serve it: make serve")


if __name__ == "__main__":
    main()
