"""The exercises of chapter 9, in the order of the chapter's ideas."""

from glassbox_book.exercises.training import loss as loss
from glassbox_book.exercises.training import score as score
from glassbox_book.exercises.training import steps as steps
