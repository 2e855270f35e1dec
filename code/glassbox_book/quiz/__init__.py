"""Quiz questions that answer in the page, without script or kernel and by keyboard alone."""

from glassbox_book.quiz.questions import Option as Option
from glassbox_book.quiz.questions import Question as Question
from glassbox_book.quiz.questions import load as load
from glassbox_book.quiz.view import Quiz as Quiz
from glassbox_book.quiz.view import quiz as quiz
