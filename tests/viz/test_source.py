"""A chapter shows the package's own code: all of it but the docstrings."""

import ast
import inspect
import textwrap

import pytest

from glassbox.attention import masked_softmax, scaled_dot_product_attention
from glassbox.attention.multi_head import MultiHeadAttention
from glassbox_book.viz import Source


@pytest.mark.parametrize("thing", [scaled_dot_product_attention, masked_softmax])
def test_the_code_shown_is_the_code_that_runs(thing):
    shown = ast.parse(repr(Source(thing))).body[0]
    assert isinstance(shown, ast.FunctionDef)
    assert shown.name == thing.__name__
    assert ast.get_docstring(shown) is None
    written = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    assert isinstance(written, ast.FunctionDef)
    del written.body[0]  # its docstring
    assert ast.dump(shown) == ast.dump(written)


def test_comments_stay():
    assert "# A row of -inf alone would be 0/0" in repr(Source(masked_softmax))


def test_a_class_loses_the_docstrings_of_its_methods_too():
    shown = repr(Source(MultiHeadAttention))
    assert '"""' not in shown
    assert "def forward(" in shown
    ast.parse(shown)


def test_several_stand_beneath_one_another_in_the_order_given():
    shown = repr(Source(scaled_dot_product_attention, masked_softmax))
    assert shown.index("def scaled_dot") < shown.index("def masked_softmax")


def test_a_notebook_gets_it_highlighted():
    source = Source(masked_softmax)
    assert source._repr_markdown_() == f"```python\n{source!r}\n```"


def test_what_is_not_written_in_python_is_refused():
    with pytest.raises(TypeError, match=r"len.* has no Python source"):
        Source(len)
