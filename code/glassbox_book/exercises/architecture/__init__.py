"""The exercises of chapter 1, in the order of the chapter's ideas."""

from glassbox_book.exercises.architecture import dependencies as dependencies
from glassbox_book.exercises.architecture import loop as loop
from glassbox_book.exercises.architecture import steps as steps
