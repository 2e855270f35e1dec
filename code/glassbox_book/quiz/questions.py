"""Quiz questions: one TOML file per chapter, checked when read.

A file is a list of ``[[question]]``, each with ``id``, ``text`` and three to five
``[[question.option]]``; these have ``text``, ``why`` and, for the right one, ``right = true``.
Texts may contain `code` and *emphasis* as in Markdown.
"""

import re
import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any, TypeVar

Part = TypeVar("Part", "Option", "Question")


@dataclass(frozen=True)
class Option:
    """An answer to choose, and its explanation.

    Parameters
    ----------
    text : str
        The answer.
    why : str
        The explanation shown once it is chosen.
    right : bool, optional
        Whether it is the right answer.
    """

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question and its options, of which exactly one is right.

    Parameters
    ----------
    id : str
        The question's id in the page.
    text : str
        The question.
    option : tuple of Option
        Three to five options.
    """

    id: str
    text: str
    option: tuple[Option, ...]


def load(chapter: str) -> list[Question]:
    """Read the questions of a chapter.

    Parameters
    ----------
    chapter : str
        The chapter's name, such as ``"scaled_dot_product"``.

    Returns
    -------
    list of Question
        The questions in the order of the file.

    Raises
    ------
    ValueError
        If the chapter has no questions or its file is invalid.
    """
    folder = files("glassbox_book.quiz")
    chapters = sorted(file.name[:-5] for file in folder.iterdir() if file.name.endswith(".toml"))
    if chapter not in chapters:
        raise ValueError(f"no questions for {chapter!r}. There are some for: {', '.join(chapters)}")
    return parse((folder / f"{chapter}.toml").read_text(encoding="utf-8"), f"{chapter}.toml")


def parse(source: str, name: str) -> list[Question]:
    """Read questions from TOML and check them.

    Parameters
    ----------
    source : str
        The text of the file.
    name : str
        The file's name in errors.

    Returns
    -------
    list of Question
        The questions in the order of the file.

    Raises
    ------
    ValueError
        If the file is not TOML or a question is invalid; the message says which and why.
    """
    try:
        table = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is not TOML: {error}") from error
    if list(table) != ["question"] or not isinstance(table["question"], list):
        raise ValueError(f"{name} has {', '.join(table) or 'nothing'}; expected [[question]] only")
    questions: list[Question] = []
    for number, entry in enumerate(table["question"], 1):
        where = f"{name}, question {number}"
        if isinstance(entry, dict) and isinstance(entry.get("option"), list):
            options = enumerate(entry["option"], 1)
            parts = (_part(Option, one, f"{where}, option {n}") for n, one in options)
            entry["option"] = tuple(parts)
        question = _part(Question, entry, where)
        right = sum(option.right for option in question.option)
        if right != 1:
            raise ValueError(f"{where} has {right} right options; expected exactly one")
        if not 3 <= len(question.option) <= 5:
            raise ValueError(f"{where} has {len(question.option)} options; expected three to five")
        if any(question.id == other.id for other in questions):
            raise ValueError(f"{where} has the id {question.id!r}, which another has already")
        questions.append(question)
    return questions


def _part(cls: type[Part], entry: Any, where: str) -> Part:
    if not isinstance(entry, dict):
        raise ValueError(f"{where} is {entry!r}; expected a table")
    kinds = {"right": (bool, "true or false"), "option": (tuple, "list of [[question.option]]")}
    names = [field.name for field in fields(cls)]
    if unknown := entry.keys() - set(names):
        raise ValueError(f"{where} has {sorted(unknown)}; expected {names}")
    for name in names:
        if name == "right" and name not in entry:
            continue
        value, (kind, words) = entry.get(name), kinds.get(name, (str, "text"))
        if not isinstance(value, kind) or value == "":
            raise ValueError(f"{where} has {name} = {value!r}; expected {words}")
    if not re.fullmatch("[a-z0-9-]+", entry.get("id", "-")):  # it becomes an id in the page
        raise ValueError(f"{where} has id = {entry['id']!r}; expected lower-case-words")
    return cls(**entry)
