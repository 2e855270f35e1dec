"""The command line as a whole: what it offers, how it refuses, how it ends."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import glassbox as package
from glassbox import cli


@pytest.fixture
def command(monkeypatch):
    """Return a function that puts another `run` in the place of `glassbox bench`'s."""

    def command(run: Any) -> list[str]:
        imported: list[str] = []
        module = ModuleType("glassbox.cli.bench")
        module.__dict__.update(add_arguments=lambda parser: parser.add_argument("--x"), run=run)

        def import_module(name: str) -> ModuleType:
            imported.append(name)
            return module

        monkeypatch.setattr(cli, "import_module", import_module)
        return imported

    return command


def raising(error):
    def run(_):
        raise error

    return run


def test_help_lists_every_command_with_what_it_does(glassbox):
    answer = glassbox("--help")
    assert answer.status == 0
    said = re.sub(r"\s+", " ", answer.out)
    for name, purpose in cli.COMMANDS.items():
        assert f"{name} {purpose}" in said
    assert answer.err == ""


def test_the_version_is_the_package_s(glassbox):
    assert glassbox("--version").out == f"glassbox {package.__version__}\n"


def no_reader() -> int:
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.parametrize(
    ("opened", "status", "said"),
    [
        (no_reader, 141, ""),
        (
            lambda: os.open(os.devnull, os.O_RDONLY),
            2,
            "glassbox: [Errno 9] Bad file descriptor: 'standard output'\n",
        ),
    ],
)
def test_output_that_cannot_be_written_is_given_up(opened, status, said, glassbox, monkeypatch):
    with open(opened(), "w", encoding="utf-8") as output:
        monkeypatch.setattr(sys, "stdout", output)
        answer = glassbox("--version")  # with which argparse ends the program
        assert (answer.status, answer.err) == (status, said)


def test_only_the_command_that_is_asked_for_is_imported(glassbox, command):
    imported = command(lambda arguments: int(arguments.x or 0))
    assert glassbox("--help").status == 0
    assert imported == []
    assert glassbox("bench").status == 0
    assert glassbox("bench", "--x", "7").status == 7
    assert imported == ["glassbox.cli.bench"] * 2


@pytest.mark.slow
def test_commands_describe_themselves_without_what_they_compute_with():
    """Help is there at once, so neither models nor libraries of measures are read for it."""
    code = (
        "import sys; from glassbox.cli import COMMANDS, main\n"
        "for name in COMMANDS:\n"
        "    try: main([name, '--help'])\n"
        "    except SystemExit as end: assert end.code == 0\n"
        "heavy = {'glassbox.translation', 'glassbox.evaluation', 'glassbox.training', 'sacrebleu',"
        "'matplotlib', 'transformers'}; sys.exit(sorted(heavy & {*sys.modules}) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    said = re.sub(r"\s+", " ", done.stdout)
    for name, purpose in cli.COMMANDS.items():
        assert f"usage: glassbox {name}" in said
        assert f" {purpose[0].upper()}{purpose[1:]}. " in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["translat"], "invalid choice: 'translat'"),
        (["bench", "--second", "x"], "invalid float value: 'x'"),
        (["bench", "--colour"], "usage: glassbox bench [-h] [--seconds SECONDS]"),
        (["bench", "--colour"], "glassbox bench: error: unrecognized arguments: --colour"),
    ],
)
def test_what_is_not_understood_is_said_with_status_2(arguments, says, glassbox):
    answer = glassbox(*arguments)
    assert answer.status == 2
    assert says in answer.err
    assert answer.out == ""


@pytest.mark.parametrize(
    "error",
    [
        ValueError("d_model=10 does not divide"),
        FileNotFoundError("no folder 'x'"),
        ConnectionError("cannot be fetched"),
        PermissionError(13, "Permission denied", "x"),
    ],
)
def test_what_a_user_can_mend_is_said_in_a_line(error, glassbox, command):
    command(raising(error))
    answer = glassbox("bench")
    assert (answer.status, answer.out, answer.err) == (2, "", f"glassbox: {error}\n")


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (ModuleNotFoundError("No module named 'regex'"), 2),
        (ModuleNotFoundError("fetching needs pooch: pip install pooch"), 1),
    ],
)
def test_what_to_install_is_said_once(error, lines, glassbox, command):
    command(raising(error))
    answer = glassbox("bench").err.splitlines()
    assert answer[0] == f"glassbox: {error}"
    assert len(answer) == lines
    assert "pip install" in answer[-1]
    assert lines == 1 or answer[-1].endswith("pip install 'glassbox[book,train]'")


def test_the_notes_of_an_error_are_said_too(glassbox, command):
    error = ValueError("altered")
    error.add_note("Delete it.")
    command(raising(error))
    assert glassbox("bench").err == "glassbox: altered\nglassbox: Delete it.\n"


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda _: torch.empty(10**15), " can't allocate memory: you tried to allocate 4000000000"),
        (lambda _: torch.empty(10**18, 10), "(Storage size calculation overflowed with sizes=[10"),
        (lambda _: torch.ones(1).expand(10**18, 10**18), "multiplication overflow"),
        (lambda _: [0] * 10**15, "glassbox: not enough memory: use a smaller batch, fewer beams, "),
    ],
)
def test_too_little_memory_is_told_in_one_line(ask, says, glassbox, command):
    command(ask)
    answer = glassbox("bench")
    assert (answer.status, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert answer.err.startswith("glassbox: not enough memory")
    assert says in answer.err


def test_who_has_no_home_folder_is_told_in_one_line(glassbox, command, monkeypatch):
    monkeypatch.setenv("HOME", "~")
    command(lambda _: Path("~/runs").expanduser())
    said = "glassbox: Could not determine home directory. Set the variable HOME, or write paths "
    answer = glassbox("bench")
    assert (answer.status, answer.err) == (2, said + "without ~\n")


def test_messages_do_not_go_to_standard_output_where_standard_error_is_closed(
    glassbox, command, monkeypatch
):
    def run(_):
        print("a hint", file=sys.stderr)
        raise ValueError("wrong")

    command(run)
    monkeypatch.setattr(sys, "stderr", None)
    answer = glassbox("bench")
    sys.stderr.close()
    assert (answer.status, answer.out) == (2, "")


@pytest.mark.parametrize("error", [TypeError("ours"), RuntimeError("ours"), KeyError("ours")])
def test_a_mistake_of_ours_keeps_its_traceback(error, glassbox, command):
    command(raising(error))
    with pytest.raises(type(error)):
        glassbox("bench")


def test_an_interrupt_ends_with_130_and_no_word(glassbox, command):
    command(raising(KeyboardInterrupt()))
    answer = glassbox("bench")
    assert (answer.status, answer.out, answer.err) == (130, "", "")


def test_a_script_of_that_name_is_installed():
    """The environment of the tests may have it elsewhere: what is declared is what counts."""
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"glassbox": "glassbox.cli:main"}
    assert os.fspath(Path(cli.__file__).parent).endswith("glassbox/cli")


def test_every_file_of_the_package_is_installed_with_it():
    """A reader who installs it from the repository has no checkout: chapters read these files."""
    import tomllib

    package = Path(cli.__file__).parents[1]
    project = tomllib.loads((package.parents[1] / "pyproject.toml").read_text())
    patterns = (*project["tool"]["setuptools"]["package-data"]["*"], "*.py", "*.pyc")
    left_out = [
        path
        for path in package.rglob("*")
        if path.is_file() and not any(path.match(pattern) for pattern in patterns)
    ]
    assert left_out == []
