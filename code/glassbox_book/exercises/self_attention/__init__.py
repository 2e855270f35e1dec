"""The exercises of chapter 3, in the order of the chapter's ideas."""

from glassbox_book.exercises.self_attention import averages as averages
from glassbox_book.exercises.self_attention import layers as layers
from glassbox_book.exercises.self_attention import neighbours as neighbours
