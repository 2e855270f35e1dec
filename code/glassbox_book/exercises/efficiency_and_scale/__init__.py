"""The exercises of chapter 12, in the order of the chapter's ideas."""

from glassbox_book.exercises.efficiency_and_scale import counting as counting
from glassbox_book.exercises.efficiency_and_scale import online as online
from glassbox_book.exercises.efficiency_and_scale import quantising as quantising
