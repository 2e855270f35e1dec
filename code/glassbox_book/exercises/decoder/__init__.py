"""The exercises of chapter 8, in the order of the chapter's ideas."""

from glassbox_book.exercises.decoder import alignment as alignment
from glassbox_book.exercises.decoder import layer as layer
from glassbox_book.exercises.decoder import parameters as parameters
from glassbox_book.exercises.decoder import shift as shift
