"""The exercises of chapter 10, in the order of the chapter's ideas."""

from glassbox_book.exercises.generation import cutting as cutting
from glassbox_book.exercises.generation import ranking as ranking
from glassbox_book.exercises.generation import speed as speed
