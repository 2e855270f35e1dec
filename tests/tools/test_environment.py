"""The environment: when it counts as ready, and what it says when it cannot be made."""

import errno
import os
import re
import shutil
import subprocess
import sys
import venv as standard_venv
from functools import partial
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tools import constraints, environment, newest
from tools.notebooks import ROOT

MADE_OF = ("requirements.txt", "constraints.txt", "pyproject.toml")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with nothing but what the environment is made of."""
    for name in (*MADE_OF, "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "environment.py", tmp_path / "tools")
    return tmp_path


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call make there, as a reader would."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments],
        cwd=checkout,
        env=clean | {"PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def stub(path: Path, script: str) -> str:
    """An executable that stands in for a Python."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", MADE_OF)
def test_the_key_follows_what_the_environment_is_made_of(checkout: Path, name: str) -> None:
    before = environment.key(checkout)
    text = (checkout / name).read_text()
    (checkout / name).write_text(text.replace("numpy==", "numpy!=").replace("0.1.0", "0.2.0"))
    assert (checkout / name).read_text() != text
    assert environment.key(checkout) != before


def test_the_key_stays_when_files_are_touched_or_lint_rules_change(checkout: Path) -> None:
    before = environment.key(checkout)
    for name in MADE_OF:
        os.utime(checkout / name, (1, 1))
    with (checkout / "pyproject.toml").open("a") as file:
        file.write('\n[tool.coverage]\nnote = "x"\n')
    assert environment.key(checkout) == before


def test_a_moved_checkout_has_another_key(checkout: Path, tmp_path_factory) -> None:
    moved = shutil.copytree(checkout, tmp_path_factory.mktemp("elsewhere") / "book")
    assert environment.key(moved) != environment.key(checkout)


@pytest.fixture
def venv(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that looks whole, and whose installation is only noted."""
    folder = checkout / ".venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    monkeypatch.setattr(environment, "ROOT", checkout)
    monkeypatch.setattr(environment, "VENV", folder)
    monkeypatch.setattr(environment, "READY", folder / "ready")
    monkeypatch.setattr(environment, "key", lambda: "the key")
    return folder


def test_a_ready_environment_is_left_alone(venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (venv / "ready").write_text("the key")
    monkeypatch.setattr(environment, "install", lambda: pytest.fail("installed again"))
    environment.main()


def test_an_installation_that_was_cut_off_does_not_count(
    venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off() -> None:
        assert not (venv / "ready").exists()
        raise KeyboardInterrupt

    made: list[str] = []
    (venv / "ready").write_text("an older key")
    release = sys.version.split()[0]
    (venv / "pyvenv.cfg").write_text(f"version = {release}\n")
    monkeypatch.setattr(environment, "create", lambda: made.append("created"))
    monkeypatch.setattr(environment, "install", cut_off)
    with pytest.raises(KeyboardInterrupt):
        environment.main()
    assert not environment.is_ready()
    assert made == []  # it was to be brought up to date
    monkeypatch.setattr(environment, "install", lambda: made.append("installed"))
    environment.main()
    assert made == ["created", "installed"]  # what was cut off is not built upon
    assert environment.is_ready()


def test_an_installation_that_stops_says_that_the_next_one_begins_anew(
    venv: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stub(venv / "bin" / "python", "echo killed by pip; exit 1")
    with pytest.raises(SystemExit, match=r"stopped; .* Run make again: it begins anew, and takes"):
        environment.install()
    assert capsys.readouterr().err == "killed by pip\n"


def test_a_checkout_that_cannot_be_written_to_is_named_in_one_line(
    venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create() -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(venv))

    monkeypatch.setattr(environment, "create", create)
    message = rf"^{venv} cannot be set up: .*Read-only file system: '{venv}'\. The book needs a"
    with pytest.raises(SystemExit, match=message):
        environment.main()


def test_an_environment_of_another_python_is_made_anew(
    venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (venv / "ready").write_text("an older key")
    (venv / "pyvenv.cfg").write_text("version = 3.9.1\n")
    (venv / "left_over").touch()
    seen: list[str] = []

    def install() -> None:
        command = [str(venv / "bin" / "python"), "-c", "import sys; print(sys.prefix)"]
        seen.append(subprocess.check_output(command, text=True).strip())

    quick = partial(standard_venv.create, symlinks=True)
    monkeypatch.setattr(standard_venv, "create", lambda path, with_pip: quick(path))
    monkeypatch.setattr(environment, "install", install)
    environment.main()
    assert seen == [str(venv)]  # a Python that runs, and installs into its own folder
    assert f"version = {sys.version.split()[0]}\n" in (venv / "pyvenv.cfg").read_text()
    assert not (venv / "left_over").exists()
    assert environment.is_ready()


def test_an_environment_without_its_python_is_not_ready(venv: Path) -> None:
    (venv / "ready").write_text("the key")
    assert environment.is_ready()
    (venv / "bin" / "python").unlink()
    assert not environment.is_ready()


def test_an_environment_without_its_python_is_made_anew(
    venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (venv / "ready").write_text("the key")
    (venv / "pyvenv.cfg").write_text(f"version = {sys.version.split()[0]}\n")
    (venv / "bin" / "python").unlink()
    made: list[str] = []
    monkeypatch.setattr(environment, "create", lambda: made.append("created"))
    monkeypatch.setattr(environment, "install", lambda: made.append("installed"))
    environment.main()
    assert made == ["created", "installed"]


@pytest.mark.parametrize(
    ("line", "news"),
    [
        (
            "  Downloading torch-2.13.0-cp311.whl (812.4 MB)",
            "downloading torch-2.13.0-cp311.whl (812 MB)",
        ),
        ("  Downloading idna-3.20-py3-none-any.whl (1.1 MB)", ""),
        ("Installing collected packages: a, b, c", "installing 3 packages"),
        ("Requirement already satisfied: numpy", ""),
    ],
)
def test_of_pips_output_only_what_takes_long_is_told(line: str, news: str) -> None:
    assert environment.progress(line) == news


@pytest.mark.parametrize("target", ["book", "test"])
def test_without_python_one_line_says_how_to_mend_it(checkout: Path, target: str) -> None:
    run = make(checkout, target, "PYTHON=/nonexistent/python")
    assert run.returncode
    first = run.stderr.splitlines()[0]
    assert "/nonexistent/python" in first
    assert f"make PYTHON=python3.12 {target}" in first
    assert not (checkout / ".venv").exists()


def test_a_python_that_is_too_old_is_refused(checkout: Path, tmp_path: Path) -> None:
    old = stub(tmp_path / "python2", "exit 1")  # what the question for the version gives there
    run = make(checkout, "book", f"PYTHON={old}")
    assert run.returncode
    assert "is not a Python 3.11 or newer" in run.stderr


def test_without_the_venv_module_one_line_says_how_to_mend_it(
    checkout: Path, tmp_path: Path
) -> None:
    without = tmp_path / "without"
    without.mkdir()
    (without / "ensurepip.py").write_text("raise ImportError('split off')")
    python = stub(tmp_path / "python", f'PYTHONPATH={without} exec {sys.executable} "$@"')
    run = make(checkout, "book", f"PYTHON={python}")
    assert run.returncode
    line = next(line for line in run.stderr.splitlines() if "venv module" in line)
    assert re.search(r"sudo apt-get install python3\.\d+-venv", line)
    assert "Traceback" not in run.stderr
    assert not (checkout / ".venv").exists()


def test_help_lists_every_command() -> None:
    shown = make(ROOT, "help").stdout
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"book", "test", "lab", "serve", "refresh", "bench", "help"} <= set(targets)
    for target in set(targets) - {"env"}:
        assert f"make {target} " in shown


REQUIREMENTS = (ROOT / "requirements.txt").read_text().splitlines()
PINS = dict(
    line.split("==")
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if not line.startswith("#")
)


def test_every_direct_dependency_is_pinned_with_a_reason() -> None:
    for line in REQUIREMENTS[:-1]:
        assert not line or line.startswith("#") or re.fullmatch(r"[\w.-]+==[\w.]+ +# \S.+", line)
    assert REQUIREMENTS[-1] == "-e ."


def test_requirements_and_constraints_agree() -> None:
    for line in REQUIREMENTS:
        if pin := re.match(r"([\w.-]+)==(\S+)", line):
            name = re.sub(r"[-_.]+", "-", pin[1]).lower()
            assert PINS[name] == pin[2], f"{name}: run make constraints"


def test_constraints_hold_for_every_platform() -> None:
    for name, version in PINS.items():
        assert "+" not in version
        assert not name.startswith(("nvidia-", "cuda-", "triton"))


def test_what_is_pinned_runs_on_the_oldest_python_that_is_promised() -> None:
    for package in distributions():
        name = re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower()
        if PINS.get(name) == package.version and "Requires-Python" in package.metadata:
            needs = package.metadata["Requires-Python"]
            assert "3.11.0" in SpecifierSet(needs), f"{name} {package.version} needs {needs}"


def test_constraints_pin_what_is_installed_without_its_build() -> None:
    installed = {"torch": "2.13.0+cpu", "Sphinx": "7.4.7", "nvidia-cublas": "13.1", "pip": "26"}
    assert constraints.pins(installed) == ["appnope==1.0.0", "sphinx==7.4.7", "torch==2.13.0"]


def test_newest_takes_the_pins_away_and_keeps_the_bounds() -> None:
    text = "torch==2.13.0   # tensors\njupyter-book==1.0.4.post1  # newest: <2; a reason\n-e .\n"
    assert newest.unpinned(text) == "torch\njupyter-book<2\n-e .\n"
    assert "==" not in newest.unpinned("\n".join(REQUIREMENTS)).replace("l6-v2==0.1.0", "")
