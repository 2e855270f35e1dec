"""Refreshing: the same notebook every time, whole or not at all."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode, v4

from glassbox_book.quiz.questions import parse
from tools import lab, new_chapter, refresh
from tools.notebooks import ROOT, merged, normalise, table_of_contents, write


def notebook(*sources: str) -> NotebookNode:
    return v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])


def stream(text: str, name: str = "stdout") -> NotebookNode:
    return v4.new_output("stream", name=name, text=text)


def test_normal_form_forgets_frontend_and_run() -> None:
    book = notebook("1", "2")
    book.metadata.update(widgets={"state": {}}, kernelspec={"name": "mine", "display_name": "Mine"})
    book.cells[0].metadata.update(execution={"iopub.status.busy": "now"}, tags=["hide-input"])
    book.cells[0].update(execution_count=7, outputs=[stream("a"), stream("b")])
    book.cells[1].update(
        execution_count=9,
        outputs=[v4.new_output("execute_result", {"text/plain": "2"}, execution_count=9)],
    )
    normalise(book)
    assert set(book.metadata) == {"kernelspec", "language_info"}
    assert book.metadata["kernelspec"]["name"] == "python3"
    assert book.cells[0].metadata == {"tags": ["hide-input"]}
    assert [cell.execution_count for cell in book.cells] == [1, 2]
    assert book.cells[1].outputs[0].execution_count == 2
    assert book.cells[0].outputs == [stream("ab")]


def test_normal_form_is_reached_in_one_step() -> None:
    once = normalise(notebook("1", "1", "2"))
    text = nbformat.writes(once)
    assert nbformat.writes(normalise(nbformat.reads(text, as_version=4))) == text


def test_ids_of_cells_are_kept_and_missing_or_double_ones_are_made_from_the_cell() -> None:
    def fresh() -> NotebookNode:
        book = notebook("1", "2", "3")
        book.cells[0].id = book.cells[1].id = "same"
        del book.cells[2]["id"]
        return normalise(book)

    ids = [cell.id for cell in fresh().cells]
    assert ids[0] == "same"
    assert len(set(ids)) == 3
    assert ids == [cell.id for cell in fresh().cells]


def test_only_neighbours_of_one_stream_are_joined() -> None:
    parts = [stream("a"), stream("b"), stream("e", "stderr"), stream("c")]
    assert [output.text for output in merged(parts)] == ["ab", "e", "c"]


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    write(normalise(notebook("1")), path)
    before = path.read_bytes()
    broken = notebook("2")
    broken.cells[0].outputs = [{"output_type": "nothing that exists"}]
    with pytest.raises(nbformat.ValidationError):
        write(broken, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_refreshing_twice_in_an_empty_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    write(notebook("import os", "print(os.environ['GLASSBOX_VIEW_SCRIPTS'], os.listdir())"), path)
    refresh.refresh(path)
    once = path.read_bytes()
    assert b"linked []" in once
    refresh.refresh(path)
    assert path.read_bytes() == once


@pytest.mark.slow
def test_a_failing_cell_leaves_the_chapter_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    write(notebook("x = 1", "1 / 0"), path)
    before = path.read_bytes()
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        refresh.refresh(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("which", ["04", "4", "04_attention", "04_attention.ipynb"])
def test_a_chapter_is_found_by_its_number_or_name(tmp_path: Path, which: str) -> None:
    for name in ("04_attention", "14_mistakes", "_template"):
        (tmp_path / f"{name}.ipynb").touch()
    assert [path.stem for path in refresh.chosen(which, tmp_path)] == ["04_attention"]


def test_a_chapter_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "04_attention.ipynb").touch()
    with pytest.raises(SystemExit, match=r"no chapter 05.*04_attention"):
        refresh.chosen("05", tmp_path)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "chapters").mkdir()
    for name in ("intro.md", "chapters/notation.md", "chapters/glossary.md"):
        (tmp_path / name).touch()
    (tmp_path / "_toc.yml").write_text(
        "# The order of the book.\nformat: jb-book\nroot: intro\nparts:\n"
        "  - caption: Front matter\n    chapters:\n      - file: chapters/notation\n"
        "  - caption: Back matter\n    chapters:\n      - file: chapters/glossary\n"
    )
    return tmp_path


def test_new_chapters_stand_in_their_part_and_in_their_order(book: Path) -> None:
    for number, name in ((5, "multi_head_attention"), (1, "architecture"), (4, "dot_product")):
        new_chapter.start(number, name, name.capitalize(), book)
    assert [path.stem for path in table_of_contents(book)] == [
        *("intro", "notation", "01_architecture"),
        *("04_dot_product", "05_multi_head_attention", "glossary"),
    ]
    text = (book / "_toc.yml").read_text()
    assert text.startswith("# The order of the book.\n")
    assert "\n  - caption: Back matter\n    chapters:\n      - file: chapters/glossary\n" in text


def test_a_new_chapter_has_its_title_and_its_own_labels(book: Path) -> None:
    path = new_chapter.start(5, "multi_head_attention", 'Why "more" heads', book)
    text = path.read_text(encoding="utf-8")
    assert (
        nbformat.reads(text, as_version=4)
        .cells[0]
        .source.startswith('(ch-multi-head-attention)=\n# Why "more" heads\n')
    )
    assert "eq-multi-head-attention-scores" in text
    assert "-template" not in text


def test_a_new_chapter_has_a_quiz_of_its_own_that_can_be_read(book: Path) -> None:
    path = new_chapter.start(5, "heads", "Heads", book)
    assert 'quiz(\\"heads\\")' in path.read_text(encoding="utf-8")
    questions = book / "code" / "glassbox_book" / "quiz" / "heads.toml"
    assert len(parse(questions.read_text(encoding="utf-8"), "heads.toml")) == 3


@pytest.mark.parametrize(
    ("number", "name", "message"),
    [(5, "Multi-Head", "lower-case"), (0, "zero", "1 to 14"), (99, "late", "1 to 14")],
)
def test_a_new_chapter_needs_a_number_and_a_name(
    book: Path, number: int, name: str, message: str
) -> None:
    with pytest.raises(SystemExit, match=message):
        new_chapter.start(number, name, "Title", book)


def test_a_number_is_given_once(book: Path) -> None:
    new_chapter.start(5, "heads", "Heads", book)
    with pytest.raises(SystemExit, match="05_heads"):
        new_chapter.start(5, "more_heads", "More heads", book)


def test_a_new_chapter_leaves_the_quiz_of_another_alone(book: Path) -> None:
    new_chapter.start(5, "heads", "Heads", book)
    questions = book / "code" / "glassbox_book" / "quiz" / "heads.toml"
    questions.write_text("written since")
    with pytest.raises(SystemExit, match=r"NAME=heads is taken: its quiz is .*heads\.toml"):
        new_chapter.start(6, "heads", "More heads", book)
    assert questions.read_text() == "written since"
    assert not (book / "chapters" / "06_heads.ipynb").exists()


def test_the_lab_says_at_once_that_it_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def prepare() -> None:
        assert capsys.readouterr().out == "Starting JupyterLab; Ctrl+C here ends it.\n"
        raise KeyboardInterrupt

    monkeypatch.setattr(lab, "prepare", prepare)
    with pytest.raises(KeyboardInterrupt):
        lab.main()


def test_parts_are_called_as_in_the_contents_of_the_book() -> None:
    captions = re.findall(r"caption: (Part .+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert captions
    assert set(captions) <= set(new_chapter.PARTS.values())
