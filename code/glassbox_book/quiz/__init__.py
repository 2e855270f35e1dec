"""Quiz questions that answer in the page, without script or kernel and by keyboard alone."""

from glassbox_book.quiz.questions import Option, Question, load
from glassbox_book.quiz.view import Quiz, quiz

__all__ = ["Option", "Question", "Quiz", "load", "quiz"]
