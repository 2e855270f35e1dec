"""The exercises of chapter 6, in the order of the chapter's ideas."""

from glassbox_book.exercises.positional_encoding import added as added
from glassbox_book.exercises.positional_encoding import scores as scores
from glassbox_book.exercises.positional_encoding import turned as turned
