"""Exercises that check themselves by running the reader's function on hidden cases.

One module per chapter declares its exercises; importing it here registers them.
"""

from glassbox_book.exercises import (  # noqa: F401
    architecture,
    decoder,
    efficiency_and_scale,
    encoder,
    generation,
    multi_head_attention,
    positional_encoding,
    scaled_dot_product,
    self_attention,
    tokens_and_embeddings,
    training,
    variants,
)
from glassbox_book.exercises.exercise import EXERCISES, Case, Exercise
from glassbox_book.exercises.judge import Verdict, check

__all__ = ["EXERCISES", "Case", "Exercise", "Verdict", "check"]
