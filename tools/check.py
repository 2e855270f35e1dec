"""Check everything: style, types, package, every cell of every chapter, the site, the browser.

Two lanes run side by side, because two cores are what the smallest machine has: the package in one,
the book in the other. The last lines say what passed, with counts, and what was skipped and why.
`check.py STEP ...` runs only the steps named.
"""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from tools.notebooks import ROOT, notebooks

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
COUNTS = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed)\b")


@dataclass
class Step:
    """One thing to check, by a command of Python."""

    name: str
    what: str
    command: tuple[str, ...]
    needs: str | None = None  # a step that has to have passed
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    reasons: list[str] = field(default_factory=list)

    def run(self) -> str:
        """Run the command, count, and return what it printed."""
        start = time.perf_counter()
        result = subprocess.run(
            [sys.executable, *self.command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.seconds = time.perf_counter() - start
        self.count(result.stdout, result.returncode)
        return result.stdout

    def count(self, output: str, status: int) -> None:
        """Read pytest's summary; any other command counts as one check."""
        lines = output.rstrip().splitlines()
        counts = {word: int(number) for number, word in COUNTS.findall(lines[-1] if lines else "")}
        if "pytest" in self.command and counts:
            self.passed = counts.get("passed", 0)
            self.failed = sum(counts.get(word, 0) for word in ("failed", "error", "errors"))
            self.skipped = counts.get("skipped", 0) + counts.get("xfailed", 0)
            self.reasons = [line for line in lines if line.startswith(("SKIPPED", "XFAIL"))]
        elif not status:
            self.passed = 1
        if status and not self.failed:  # a crash, or no test found
            self.failed = 1

    def line(self) -> str:
        """One row of the summary."""
        verdict = "FAILED" if self.failed else "ok" if self.passed else "not run"
        counts = f"{self.passed} passed"
        counts += f", {self.failed} failed" if self.failed else ""
        counts += f", {self.skipped} skipped" if self.skipped else ""
        row = f"{self.name:<9}{verdict:<8}{counts:<32}{self.seconds:6.1f} s   {self.what}"
        return row.rstrip()


def lanes() -> tuple[list[Step], list[Step]]:
    """Return what runs side by side."""
    cells = (
        *(*PYTEST, "--nbval", "--nbval-current-env", "--nbval-cell-timeout=300"),
        *("--nbval-sanitize-with=tests/book/sanitize.cfg",),
        # Without a file pytest would run every test there is; an empty book names one to fail on.
        *([str(path.relative_to(ROOT)) for path in notebooks()] or ["no notebook in _toc.yml"]),
    )
    site = ("tests/book", "tests/site")
    package = [
        Step("lint", "ruff check", ("-m", "ruff", "check", "--quiet")),
        Step("format", "ruff format", ("-m", "ruff", "format", "--check", "--quiet")),
        Step("types", "mypy", ("-m", "mypy", "--no-error-summary")),
        Step(
            "package",
            "units, properties, parity",
            (*PYTEST, "tests", *(f"--ignore={folder}" for folder in site)),
        ),
    ]
    book = [
        Step("cells", "every cell executed and compared", cells),
        Step("site", "built with warnings as errors", ("-m", "tools.build_site")),
        Step(
            "book",
            "structure of the chapters, pages in a browser",
            (*PYTEST, *(folder for folder in site if Path(ROOT, folder).is_dir())),
            needs="site",
        ),
    ]
    return package, book


def run_lane(steps: list[Step]) -> None:
    """Run steps one after the other and show each one's output when it is done."""
    failed: set[str] = set()
    for step in steps:
        if step.needs in failed:
            step.failed = 1
            step.what += f" (not run, because {step.needs} failed)"
            continue
        output = step.run()
        if step.failed:
            failed.add(step.name)
        shown = output if step.failed or "pytest" in step.command else ""
        print(f"\n--- {step.name}: {step.what}\n{shown.strip()}\n{step.line()}", flush=True)


def main(names: list[str]) -> int:
    chosen = [[s for s in lane if not names or s.name in names] for lane in lanes()]
    steps = list(chain.from_iterable(chosen))
    if unknown := set(names) - {step.name for step in steps}:
        sys.exit(f"There is no step {', '.join(sorted(unknown))}.")
    print(f"Checking: {', '.join(step.name for step in steps)}.", flush=True)
    os.environ.setdefault("PYTHONFAULTHANDLER", "1")
    start = time.perf_counter()
    with ThreadPoolExecutor(len(chosen)) as pool:
        list(pool.map(run_lane, chosen))
    print(
        f"\n=== All of it, in {time.perf_counter() - start:.0f} s",
        *(s.line() for s in steps),
        sep="\n",
    )
    if reasons := sorted({reason for step in steps for reason in step.reasons}):
        print("Skipped:", *reasons, sep="\n  ")
    passed, failed, skipped = (
        sum(getattr(step, kind) for step in steps) for kind in ("passed", "failed", "skipped")
    )
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
