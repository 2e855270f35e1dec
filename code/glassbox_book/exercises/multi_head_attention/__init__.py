"""The exercises of chapter 5."""

from glassbox_book.exercises.multi_head_attention import heads as heads
from glassbox_book.exercises.multi_head_attention import sharing as sharing
