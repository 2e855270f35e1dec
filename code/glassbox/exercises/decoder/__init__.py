"""The exercises of chapter 8, in the order of the chapter's ideas."""

from glassbox.exercises.decoder import alignment as alignment
from glassbox.exercises.decoder import layer as layer
from glassbox.exercises.decoder import parameters as parameters
from glassbox.exercises.decoder import shift as shift
