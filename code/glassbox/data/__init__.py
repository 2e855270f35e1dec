"""The corpora and vocabularies of the book: found here, or fetched once and checked every time."""

from glassbox.data.store import find
from glassbox.data.table import FILES, DataFile

__all__ = ["FILES", "DataFile", "find"]
