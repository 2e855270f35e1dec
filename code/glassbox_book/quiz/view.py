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
    questions : list of Question
        The questions in their order.
    """

    chapter: str
    questions: list[Question]

    def _repr_html_(self) -> str:
        style = read("quiz/quiz.css")
        html = fill("quiz/quiz.html", style=style, markdown=_inline, **vars(self))
        return html.rstrip("\n")

    def __repr__(self) -> str:
        """List questions and options without revealing the answers."""
        lines = []
        for number, question in enumerate(self.questions, 1):
            lines.append(f"{number}. {question.text}")
            options = zip("abcde", question.option, strict=False)
            lines += [f"   ({letter}) {option.text}" for letter, option in options]
        return "\n".join(lines)


def quiz(chapter: str) -> Quiz:
    """Ask the questions of a chapter.

    Parameters
    ----------
    chapter : str
        The chapter's name, such as ``"scaled_dot_product"``.

    Returns
    -------
    Quiz
        A cell displays it.

    Raises
    ------
    ValueError
        If the chapter has no questions.
    """
    return Quiz(chapter, load(chapter))
