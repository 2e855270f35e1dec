"""Look inside a model: what a forward pass computed, and what is missing without a part of it."""

from glassbox.looking.ablation import without_heads
from glassbox.looking.record import AttentionRecord, Tape, record
from glassbox.looking.reference import record_reference

__all__ = [
    "AttentionRecord",
    "Tape",
    "record",
    "record_reference",
    "without_heads",
]
