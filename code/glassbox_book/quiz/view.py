"""Show quiz questions in a notebook and on the site, with HTML and CSS alone."""

import html
from dataclasses import dataclass
from importlib.resources import files

from markdown_it import MarkdownIt

from glassbox_book.quiz.questions import Option, Question, load

_inline = MarkdownIt("zero").enable(["backticks", "emphasis", "escape"]).renderInline


@dataclass(frozen=True)
class Quiz:
    """Questions of a chapter, displayed as HTML or, without HTML, as text.

    Parameters
    ----------
    chapter : str
        The chapter's name, such as ``"scaled_dot_product"``.
    questions : dict of int to Question
        The questions by their numbers in the chapter.
    """

    chapter: str
    questions: dict[int, Question]

    def _repr_html_(self) -> str:
        style = files("glassbox_book.quiz").joinpath("quiz.css").read_text(encoding="utf-8")
        sections = [self._section(*question) for question in self.questions.items()]
        return "\n".join([f"<style>\n{style}</style>", *sections])

    def _section(self, number: int, question: Question) -> str:
        name = html.escape(f"quiz-{self.chapter}-{question.id}")
        options = "\n".join(_details(name, option) for option in question.option)
        return (
            f'<section class="gb-quiz" role="group" aria-labelledby="{name}">\n'
            f'<p class="gb-question" id="{name}">{number}. {_inline(question.text)}</p>\n'
            f"{options}\n</section>"
        )

    def __repr__(self) -> str:
        """List questions and options without revealing the answers."""
        lines = []
        for number, question in self.questions.items():
            lines.append(f"{number}. {question.text}")
            lines += [
                f"   ({letter}) {option.text}"
                for letter, option in zip("abcde", question.option, strict=False)
            ]
        return "\n".join(lines)


def quiz(chapter: str, *numbers: int) -> Quiz:
    """Ask the questions of a chapter.

    Parameters
    ----------
    chapter : str
        The chapter's name, such as ``"scaled_dot_product"``.
    *numbers : int
        Numbers of questions, counted from 1. Defaults to all.

    Returns
    -------
    Quiz
        A cell displays it.

    Raises
    ------
    ValueError
        If the chapter has no questions, or no question of a given number.
    """
    questions = dict(enumerate(load(chapter), 1))
    for number in numbers:
        if number not in questions:
            raise ValueError(f"{chapter} has questions 1 to {len(questions)}, but no {number}")
    return Quiz(chapter, {number: questions[number] for number in numbers or questions})


def _details(name: str, option: Option) -> str:
    """Return one option that unfolds; a browser keeps one per name open at a time."""
    side, word = ("right", "Right") if option.right else ("wrong", "Wrong")
    return (
        f'<details class="gb-option gb-{side}" name="{name}">'
        f"<summary>{_inline(option.text)}</summary>"
        f"<p><strong>{word}.</strong> {_inline(option.why)}</p></details>"
    )
