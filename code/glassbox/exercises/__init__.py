"""Exercises that check themselves: the reader's function is tried on hidden cases.

One module per chapter declares its exercises; importing it here is all that registers them.
"""

from glassbox.exercises import scaled_dot_product as scaled_dot_product
from glassbox.exercises.exercise import EXERCISES, Case, Exercise, slips
from glassbox.exercises.judge import Verdict, check

__all__ = ["EXERCISES", "Case", "Exercise", "Verdict", "check", "slips"]
