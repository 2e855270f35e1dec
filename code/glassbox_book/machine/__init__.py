"""The machine in the page: the book's own translator, run by the reader's browser.

The modules of ``page`` are the forward pass once more, in JavaScript, with the names and the order
of the package: they read the same ``model.safetensors`` and give the same numbers, which
``tests/machine`` holds them to.
"""

from glassbox_book.machine.assets import write

__all__ = ["write"]
