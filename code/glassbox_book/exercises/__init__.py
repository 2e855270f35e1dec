"""Exercises that check themselves by running the reader's function on hidden cases.

One module per chapter declares its exercises; importing all modules here registers them.
"""

from importlib import import_module
from pkgutil import iter_modules

from glassbox_book.exercises.exercise import EXERCISES, Case, Exercise
from glassbox_book.exercises.judge import Verdict, check

__all__ = ["EXERCISES", "Case", "Exercise", "Verdict", "check"]

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")
