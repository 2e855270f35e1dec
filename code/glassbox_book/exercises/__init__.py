"""Exercises that check themselves by running the reader's function on hidden cases.

One module per chapter declares its exercises; importing all modules here registers them.
"""

from importlib import import_module
from pkgutil import iter_modules

from glassbox_book.exercises.exercise import EXERCISES as EXERCISES
from glassbox_book.exercises.exercise import Case as Case
from glassbox_book.exercises.exercise import Exercise as Exercise
from glassbox_book.exercises.judge import Verdict as Verdict
from glassbox_book.exercises.judge import check as check

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")
