"""make test counts what its steps did, and cannot pass by doing nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.check import Step, all_steps, cells, main, perform, portable_steps
from tools.notebooks import ROOT

PYTEST = ("-m", "pytest")


@pytest.mark.parametrize(
    ("command", "output", "status", "counts"),
    [
        (PYTEST, "....\n12 passed in 3.21s", 0, (12, 0, 0)),
        (PYTEST, "== 10 passed, 2 skipped, 1 xfailed in 1s ==", 0, (10, 0, 3)),
        (PYTEST, "1 failed, 10 passed, 2 errors in 1s", 1, (10, 3, 0)),
        (PYTEST, "no tests ran in 0.01s", 5, (0, 1, 0)),
        (PYTEST, "Segmentation fault", 139, (0, 1, 0)),
        (PYTEST, "", 1, (0, 1, 0)),
        (("-m", "mypy"), "", 0, (1, 0, 0)),
        (("-m", "mypy"), "x.py:1: error: no", 1, (0, 1, 0)),
    ],
)
def test_counts_are_read_from_the_summary(command, output, status, counts) -> None:
    step = Step("name", "what", command)
    step.count(output, status)
    assert (step.passed, step.failed, step.skipped) == counts


def test_a_step_may_print_any_bytes() -> None:
    step = Step("name", "what", ("-c", r"import sys; sys.stdout.buffer.write(b'\xff\n')"))
    assert step.run() == "\N{REPLACEMENT CHARACTER}\n"
    assert step.passed == 1


def test_a_step_that_cannot_run_keeps_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    step = Step("name", "what", ())
    with pytest.raises(FileNotFoundError):
        perform(step, {})
    assert step.over.is_set()


def test_reasons_for_skipping_are_kept() -> None:
    step = Step("name", "what", PYTEST)
    shown = (
        "SKIPPED [2] x.py:1: no Chromium\nSKIPPED [1] x.py:9: no Chromium\nXFAIL x.py::a - later"
    )
    step.count(f"{shown}\n1 passed, 3 skipped, 1 xfailed in 1s", 0)
    assert step.reasons == {"no Chromium": 3, "x.py::a - later": 1}


def let_there_be(monkeypatch: pytest.MonkeyPatch, *steps: Step) -> None:
    monkeypatch.setattr("tools.check.all_steps", lambda: list(steps))
    monkeypatch.setattr("tools.check.adopt", lambda: None)  # these tests have other children
    monkeypatch.setattr("tools.check.worked", lambda: 0.0)


def test_the_last_line_says_what_passed(monkeypatch, capsys) -> None:
    let_there_be(monkeypatch, Step("one", "", ("-c", "")), Step("two", "", ("-c", "")))
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 0 failed, 0 skipped"


def test_a_failure_shows_its_output_and_fails_the_whole(monkeypatch, capsys) -> None:
    let_there_be(monkeypatch, Step("bad", "", ("-c", "import sys; sys.exit('why it failed')")))
    assert main([]) == 1
    shown = capsys.readouterr().out
    assert "why it failed" in shown
    assert shown.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_what_needs_a_failed_step_is_not_run_and_not_forgotten(monkeypatch, capsys) -> None:
    after = Step("pages", "pages", ("-c", ""), needs="site")
    let_there_be(monkeypatch, Step("site", "", ("-c", "raise SystemExit(1)")), after)
    assert main([]) == 1
    assert "not run, because site failed" in capsys.readouterr().out
    assert after.failed == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans on")
def test_what_nobody_waits_for_is_counted_too() -> None:
    busy = "import time\nwhile time.process_time() < 1: pass"
    leaving = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {busy!r}])"
    script = (
        "import os, subprocess, sys; from tools.check import adopt, worked; adopt();"
        f"subprocess.run([sys.executable, '-c', {leaving!r}]);"
        "os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT); print(worked())"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True)
    assert float(done.stdout) > 1


def test_a_step_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SystemExit, match="no step lnit"):
        main(["lnit"])


def test_all_names_every_usual_step_and_leaves_room_for_others(monkeypatch, capsys) -> None:
    let_there_be(monkeypatch, Step("one", "", ("-c", "")), Step("two", "", ("-c", "")))
    other = [Step("old", "", ("-c", "")), Step("new", "", ("-c", ""))]
    monkeypatch.setattr("tools.check.portable_steps", lambda: other)
    assert main(["all", "old"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "Checking: one, two, old."


def runs(step: Step, file: Path) -> bool:
    """Whether pytest meets this file in what the step names, and not in what it ignores."""
    around = {str(path) for path in (file, *file.parents)}
    ignored = {part.removeprefix("--ignore=") for part in step.command if "--ignore=" in part}
    return bool(around & {*step.command}) and not around & ignored


def test_every_test_and_chapter_runs_once() -> None:
    steps = [step for step in all_steps() if "pytest" in step.command]
    files = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("chapters/[0-9]*.ipynb")]
    assert len(files) > 100
    for file in files:
        found = [step.name for step in steps if runs(step, file.relative_to(ROOT))]
        assert found in (["cells"], ["book"], ["package"]), file
    commands = {step.name: step.command for step in steps}
    assert "--nbval" in commands["cells"]  # which compares; --nbval-lax does not
    assert "-m" not in commands["package"][2:]  # no test is left out by its marks


def test_steps_run_with_the_python_of_the_environment(monkeypatch) -> None:
    step = Step("who", "", ("-c", "import sys; print(sys.executable)"))
    assert step.run().strip() == sys.executable


def test_cells_run_as_committed_on_every_imitated_processor() -> None:
    steps = {step.name: step for step in portable_steps()}
    assert set(steps) == {"old", "avx2", "shaken"}
    assert {step.command for step in steps.values()} == {cells()}
    assert steps["old"].variables["ATEN_CPU_CAPABILITY"] == "default"
    step = Step("which", "", ("-c", "import os; print(os.environ['MKL_CBWR'])"))
    step.variables = steps["avx2"].variables
    assert step.run().strip() == "AVX2"
