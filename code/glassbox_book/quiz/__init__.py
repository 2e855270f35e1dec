"""Quiz questions that answer in the page: no script, no kernel, the keyboard suffices."""

from glassbox_book.quiz.questions import Option, Question, load
from glassbox_book.quiz.view import Quiz, quiz

__all__ = ["Option", "Question", "Quiz", "load", "quiz"]
