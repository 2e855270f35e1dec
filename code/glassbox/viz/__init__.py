"""Figures and attention views of the book."""

from glassbox.viz.bars import bar_chart, bar_charts
from glassbox.viz.charts import line_charts
from glassbox.viz.compare import compare_heads
from glassbox.viz.curves import curves
from glassbox.viz.heatmap import attention_map, attention_maps
from glassbox.viz.matrices import heat_map, heat_maps
from glassbox.viz.scatter import scatter, scatters
from glassbox.viz.schemes import position_scheme
from glassbox.viz.source import Source
from glassbox.viz.spreads import spread_chart
from glassbox.viz.style import (
    AMBER,
    HIGHLIGHT,
    KEY,
    QUERY,
    TEXT,
    VALUE,
    use_book_style,
)
from glassbox.viz.tables import Table
from glassbox.viz.vectors import vector_sums, vectors
from glassbox.viz.views import head_view, model_view, neuron_view

__all__ = [
    "AMBER",
    "HIGHLIGHT",
    "KEY",
    "QUERY",
    "TEXT",
    "VALUE",
    "Source",
    "Table",
    "attention_map",
    "attention_maps",
    "bar_chart",
    "bar_charts",
    "compare_heads",
    "curves",
    "head_view",
    "heat_map",
    "heat_maps",
    "line_charts",
    "model_view",
    "neuron_view",
    "position_scheme",
    "scatter",
    "scatters",
    "spread_chart",
    "use_book_style",
    "vector_sums",
    "vectors",
]
