"""What the repository says about itself is so."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tools.notebooks import ROOT

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_that_a_document_names_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = re.findall(r"(?:`|^)(?:[A-Z_]+=\S+ )?make ([a-z-]+)", text, re.MULTILINE)
    assert named
    assert set(named) <= set(targets)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_file_that_a_document_points_to_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (ROOT / target).exists(), target


def test_the_examples_in_the_readme_run(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(compile(first, "README.md", "exec"), {})
    assert capsys.readouterr().out == "torch.Size([1, 12, 7, 7])\n"
    second = second.replace("runs/mine/model", "shakespeare")  # a model of the same kind
    exec(compile(second, "README.md", "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("Once upon")
    assert len(said) == len("Once upon") + 200 + 1


def test_rules_of_style_are_numbered_without_a_gap() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    numbers: dict[str, list[int]] = {}
    for letter, number in re.findall(r"^- \*\*([A-Z])(\d+)\*\*", text, re.MULTILINE):
        numbers.setdefault(letter, []).append(int(number))
    assert set(numbers) == set("PCFKTM")
    assert all(given == list(range(1, len(given) + 1)) for given in numbers.values())


def test_the_version_is_the_same_everywhere() -> None:
    import glassbox

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert project["version"] == citation["version"] == glassbox.__version__
    assert f"## {project['version']} " in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_valid_and_its_actions_are_pinned(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"]["contents"] == "read"
    assert True in workflow or "on" in workflow  # YAML 1.1 reads `on` as true
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            if "uses" in step:
                assert re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])


def test_continuous_integration_runs_what_a_reader_runs() -> None:
    runs = [
        step.get("run")
        for path in WORKFLOWS
        for job in yaml.safe_load(path.read_text())["jobs"].values()
        for step in job["steps"]
    ]
    assert {"bash .ci/run", "make book", "make links"} <= set(runs)
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()
    bash = shutil.which("bash")
    assert bash is not None
    subprocess.run([bash, "-n", str(script)], check=True)
