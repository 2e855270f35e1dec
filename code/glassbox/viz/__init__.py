"""Figures and attention views of the book."""

from glassbox.viz.bars import bar_chart, bar_charts
from glassbox.viz.charts import line_charts
from glassbox.viz.compare import compare_heads
from glassbox.viz.curves import curves
from glassbox.viz.distributions import reshaped
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
from glassbox.viz.tradeoff import trade_off
from glassbox.viz.trees import Node, search_tree
from glassbox.viz.vectors import vector_sums, vectors
from glassbox.viz.views import head_view, model_view, neuron_view

__all__ = [
    "AMBER",
    "HIGHLIGHT",
    "KEY",
    "QUERY",
    "TEXT",
    "VALUE",
    "Node",
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
    "reshaped",
    "scatter",
    "scatters",
    "search_tree",
    "spread_chart",
    "trade_off",
    "use_book_style",
    "vector_sums",
    "vectors",
]
