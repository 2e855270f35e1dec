"""Quiz questions that answer in the page: no script, no kernel, the keyboard suffices."""

from glassbox.quiz.questions import Option, Question, load
from glassbox.quiz.view import Quiz, quiz

__all__ = ["Option", "Question", "Quiz", "load", "quiz"]
