"""The exercises of chapter 7, and the explanation of each mistake in them."""

from glassbox_book.exercises.encoder.senses import sense_gap
from glassbox_book.exercises.encoder.sizes import parameters
from glassbox_book.exercises.encoder.sublayers import feed_forward, layer_norm, residual

__all__ = ["feed_forward", "layer_norm", "parameters", "residual", "sense_gap"]
