"""The exercises of chapter 1, in the order of the chapter's ideas."""

from glassbox.exercises.architecture import dependencies as dependencies
from glassbox.exercises.architecture import loop as loop
from glassbox.exercises.architecture import steps as steps
