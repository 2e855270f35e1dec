"""The exercises of chapter 2, in the order of the chapter's ideas."""

from glassbox_book.exercises.tokens_and_embeddings import pieces as pieces
from glassbox_book.exercises.tokens_and_embeddings import vectors as vectors
