"""Check everything: style, types, package, every cell of every chapter, the site, the browser.

Four steps run in parallel: the smallest machine has two cores, but a browser often waits, and a
long step that starts last would leave a core idle. The last lines say what passed, with counts, and
what was skipped and why. `check.py STEP ...` runs only the named steps; this is also how the cells
run on imitated processors.
"""

import ctypes
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from threading import Event

from tools.notebooks import ROOT, notebooks

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
AT_ONCE = 4
#: Python keeps what it has compiled even where a container forbids it: otherwise every step and
#: every kernel would compile the package and the tests again. One core each: threads would wait.
ENVIRONMENT = {"OMP_NUM_THREADS": "1"} | os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
SKIPPED = re.compile(r"^(?:SKIPPED \[(\d+)\] \S+:|XFAIL) (.+)$", re.MULTILINE)
COUNTS = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed)\b")


@dataclass
class Step:
    """One check, by a Python command."""

    name: str
    what: str
    command: tuple[str, ...]
    needs: str = ""  # a step that must have passed
    variables: dict[str, str] = field(default_factory=dict)  # environment variables to set
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0  # wall-clock time
    processor: float = 0.0  # processor time, without a browser's pages: nobody waits for those
    reasons: Counter[str] = field(default_factory=Counter)  # for skipping, with counts
    over: Event = field(default_factory=Event)

    def run(self) -> str:
        """Run the command, count, and return what it printed."""
        start = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, *self.command],
            cwd=ROOT,
            env=ENVIRONMENT | self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",  # a test may print any bytes
        ) as process:
            assert process.stdout is not None
            output = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)  # includes its children
            process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.perf_counter() - start
        self.processor = used.ru_utime + used.ru_stime
        self.count(output, process.returncode)
        return output

    def count(self, output: str, status: int) -> None:
        """Read pytest's summary; any other command counts as one check."""
        lines = output.rstrip().splitlines()
        counts = {word: int(number) for number, word in COUNTS.findall(lines[-1] if lines else "")}
        if "pytest" in self.command and counts:
            self.passed = counts.get("passed", 0)
            self.failed = sum(counts.get(word, 0) for word in ("failed", "error", "errors"))
            self.skipped = counts.get("skipped", 0) + counts.get("xfailed", 0)
            for number, reason in SKIPPED.findall(output):
                self.reasons[reason] += int(number or 1)
        elif not status:
            self.passed = 1
        if status and not self.failed:  # a crash, or no test found
            self.failed = 1

    def line(self) -> str:
        """Return a row of the summary."""
        verdict = "FAILED" if self.failed else "ok" if self.passed else "not run"
        counts = f"{self.passed} passed"
        counts += f", {self.failed} failed" if self.failed else ""
        counts += f", {self.skipped} skipped" if self.skipped else ""
        times = f"{self.seconds:6.1f} s {self.processor:6.1f} s"
        return f"{self.name:<9}{verdict:<8}{counts:<32}{times}   {self.what}".rstrip()


#: Processors that this one can imitate, by variables that its libraries read. The first two use the
#: instructions of older processors; the third rounds differently (`tools/shaken.py`).
PROCESSORS = {
    "old": {
        "MKL_CBWR": "COMPATIBLE",
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "OMP_NUM_THREADS": "1",
    },
    "avx2": {
        "MKL_CBWR": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "OMP_NUM_THREADS": "2",
    },
    "shaken": {"GLASSBOX_SHAKEN": "1", "OMP_NUM_THREADS": "1"},
}


def cells() -> tuple[str, ...]:
    """Return the command that executes every cell of every chapter and compares the outputs."""
    return (
        *(*PYTEST, "--nbval", "--nbval-current-env", "--nbval-cell-timeout=300"),
        *("--nbval-sanitize-with=tests/book/sanitize.cfg",),
        # Without a file, pytest would run every test; an empty book names one that fails.
        *([str(path.relative_to(ROOT)) for path in notebooks()] or ["no notebook in _toc.yml"]),
    )


def portable_steps() -> list[Step]:
    """Return the steps that run every cell on each imitated processor."""
    what = "every cell, on an imitated processor"
    return [Step(name, what, cells(), variables=given) for name, given in PROCESSORS.items()]


def all_steps() -> list[Step]:
    """Return all steps."""
    pages = [folder for folder in ("tests/book", "tests/site") if Path(ROOT, folder).is_dir()]
    package = (*PYTEST, "tests", *(f"--ignore={folder}" for folder in pages))
    # Pages call only what the package's own tests have executed, with shapes checked.
    book, unchecked = (*PYTEST, *pages), {"JAXTYPING_DISABLE": "1"}
    # `make book` builds with the same command, and notes the files from which and to which.
    site = ("-m", "tools.build_site", "--if-changed")
    return [
        Step("lint", "ruff check", ("-m", "ruff", "check", "--quiet")),
        Step("format", "ruff format", ("-m", "ruff", "format", "--check", "--quiet")),
        Step("site", "built from these very files, with warnings as errors", site),
        Step("package", "units, properties, parity, and what trains or needs a browser", package),
        Step("cells", "every cell executed and compared", cells()),
        Step("book", "rules of the chapters, pages in a browser", book, "site", unchecked),
        Step("types", "mypy", ("-m", "mypy", "--no-error-summary")),
    ]


def adopt() -> None:
    """Become the parent of what a browser leaves behind, where the system can (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def worked() -> float:
    """Return the processor time of everything that was started, browsers' pages included."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:  # there are no more
        pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def perform(step: Step, others: dict[str, Step]) -> None:
    """Run a step after those that it needs, and show its output in one piece."""
    needed = others.get(step.needs)
    try:
        if needed is not None:
            needed.over.wait()
        if needed is not None and needed.failed:
            step.failed = 1
            step.what += f" (not run, because {step.needs} failed)"
            return
        output = step.run()
    finally:
        step.over.set()  # even if it could not run: others may be waiting for it
    shown = output.strip() if step.failed or "pytest" in step.command else ""
    print(f"\n--- {step.name}: {step.what}", shown, step.line(), sep="\n", flush=True)


def main(names: list[str]) -> int:
    usual = all_steps()
    if not names or "all" in names:
        names = [*names, *(step.name for step in usual)]
    steps = {step.name: step for step in [*usual, *portable_steps()] if step.name in names}
    if unknown := set(names) - {"all", *steps}:
        sys.exit(f"There is no step {', '.join(sorted(unknown))}.")
    print(f"Checking: {', '.join(steps)}.", flush=True)
    start = time.perf_counter()
    adopt()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(perform, steps.values(), repeat(steps)))
    took = time.perf_counter() - start
    rows = [step.line() for step in steps.values()]
    print(f"\n=== All of it, in {took:.0f} s; processors worked {worked():.0f} s", *rows, sep="\n")
    reasons = sum((step.reasons for step in steps.values()), Counter[str]())
    for reason, number in reasons.items():
        print(f"{number} skipped: {reason}")
    passed, failed, skipped = (
        sum(getattr(step, kind) for step in steps.values())
        for kind in ("passed", "failed", "skipped")
    )
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
