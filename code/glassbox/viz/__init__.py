"""Figures and attention views of the book."""

from glassbox.viz.charts import line_charts
from glassbox.viz.compare import compare_heads
from glassbox.viz.heatmap import attention_map, attention_maps
from glassbox.viz.source import Source
from glassbox.viz.style import (
    AMBER,
    HIGHLIGHT,
    KEY,
    QUERY,
    TEXT,
    VALUE,
    use_book_style,
)
from glassbox.viz.views import head_view, model_view, neuron_view

__all__ = [
    "AMBER",
    "HIGHLIGHT",
    "KEY",
    "QUERY",
    "TEXT",
    "VALUE",
    "Source",
    "attention_map",
    "attention_maps",
    "compare_heads",
    "head_view",
    "line_charts",
    "model_view",
    "neuron_view",
    "use_book_style",
]
