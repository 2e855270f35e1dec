"""The exercises of chapter 11, and the explanation of each mistake in them."""

from glassbox_book.exercises.variants import gates as gates
from glassbox_book.exercises.variants import masking as masking
from glassbox_book.exercises.variants import names as names
from glassbox_book.exercises.variants import spans as spans
