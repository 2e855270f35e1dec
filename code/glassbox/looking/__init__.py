"""Look inside a model: what a forward pass computes, and what changes without some of its heads."""

from glassbox.looking.ablation import without_heads
from glassbox.looking.memory import MemoryCount
from glassbox.looking.record import AttentionRecord, Tape, record
from glassbox.looking.reference import record_reference

__all__ = ["AttentionRecord", "MemoryCount", "Tape", "record", "record_reference", "without_heads"]
