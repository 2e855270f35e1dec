"""The exercises of chapter 4, in the order of the chapter's ideas."""

from glassbox_book.exercises.scaled_dot_product import attention as attention
from glassbox_book.exercises.scaled_dot_product import masks as masks
from glassbox_book.exercises.scaled_dot_product import softmax as softmax
