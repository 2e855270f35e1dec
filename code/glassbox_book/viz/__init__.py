"""Figures and attention views of the book."""

from glassbox_book.viz.attention import attention_map, attention_maps
from glassbox_book.viz.bars import bar_chart, bar_charts
from glassbox_book.viz.compare import compare_heads
from glassbox_book.viz.distributions import reshaped
from glassbox_book.viz.dots import dot_charts
from glassbox_book.viz.lattice import lattice
from glassbox_book.viz.lines import curves, line_charts, spread_chart
from glassbox_book.viz.matrices import heat_map, heat_maps
from glassbox_book.viz.points import scatter, scatters, trade_off
from glassbox_book.viz.schemes import position_scheme
from glassbox_book.viz.source import Source
from glassbox_book.viz.style import use_book_style
from glassbox_book.viz.tables import Table
from glassbox_book.viz.tensors import tensor
from glassbox_book.viz.trees import Node, search_tree
from glassbox_book.viz.vectors import vectors
from glassbox_book.viz.views import head_view, model_view, neuron_view

__all__ = [
    "Node",
    "Source",
    "Table",
    "attention_map",
    "attention_maps",
    "bar_chart",
    "bar_charts",
    "compare_heads",
    "curves",
    "dot_charts",
    "head_view",
    "heat_map",
    "heat_maps",
    "lattice",
    "line_charts",
    "model_view",
    "neuron_view",
    "position_scheme",
    "reshaped",
    "scatter",
    "scatters",
    "search_tree",
    "spread_chart",
    "tensor",
    "trade_off",
    "use_book_style",
    "vectors",
]
