"""Look inside a model: what a forward pass computes, and what changes without some of its heads."""

from glassbox.looking.ablation import without_heads as without_heads
from glassbox.looking.memory import MemoryCount as MemoryCount
from glassbox.looking.record import AttentionRecord as AttentionRecord
from glassbox.looking.record import Tape as Tape
from glassbox.looking.record import record as record
from glassbox.looking.reference import record_reference as record_reference
