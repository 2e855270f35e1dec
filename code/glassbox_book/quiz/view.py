"""Show quiz questions in a notebook and on the site, with HTML and CSS alone."""

from dataclasses import dataclass

from markdown_it import MarkdownIt

from glassbox_book.outputs import read
from glassbox_book.quiz.questions import Question, load
from glassbox_book.templates import fill

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
        style = read("quiz/quiz.css")
        html = fill("quiz/quiz.html", style=style, markdown=_inline, **vars(self))
        return html.rstrip("\n")

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
