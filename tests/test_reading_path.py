"""How much a reader must follow from a call to its result."""

import ast
import inspect
import io
import sys
import textwrap
import tokenize
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
import torch

import glassbox
from glassbox import MultiHeadAttention, Transformer, TransformerConfig
from glassbox.models import Bert

FOLDER = str(Path(glassbox.__file__).parent)
LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
IDS = torch.tensor([[3, 4, 5]])


def followed(call: Callable[[], object]) -> list[CodeType]:
    """The functions of the package that a call runs, each once."""
    entered: dict[tuple[str, int], CodeType] = {}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code.co_filename.startswith(FOLDER) and not code.co_name.startswith("<"):
            entered.setdefault((code.co_filename, code.co_firstlineno), code)

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(entered.values())


def lines_of_code(source: str) -> int:
    """How many lines of a function are neither docstring nor comment nor blank."""
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    used: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            used.update(range(token.start[0], token.end[0] + 1))
    if ast.get_docstring(function) is not None:
        first = function.body[0]
        used -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(used)


def small_transformer() -> Callable[[], object]:
    model = Transformer(TransformerConfig.tiny(vocab_size=9)).eval()
    return lambda: model(IDS, IDS)


def attention() -> Callable[[], object]:
    module, x = MultiHeadAttention(64, 4), torch.randn(2, 5, 64)
    return lambda: module(x)


def bert() -> Callable[[], object]:
    model = Bert.from_pretrained()
    return lambda: model(IDS)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("make", "most"),
    [
        (small_transformer, {"files": 6, "functions": 24, "lines": 480, "code": 260}),
        (attention, {"files": 2, "functions": 5, "lines": 120, "code": 80}),
        (bert, {"files": 5, "functions": 14, "lines": 260, "code": 150}),
    ],
    ids=["Transformer", "MultiHeadAttention", "Bert"],
)
def test_the_path_is_short(make: Callable[[], Callable[[], object]], most: dict[str, int]) -> None:
    with torch.no_grad():
        path = followed(make())
    sources = [textwrap.dedent("".join(inspect.getsourcelines(code)[0])) for code in path]
    measured = {
        "files": len({code.co_filename for code in path}),
        "functions": len(path),
        "lines": sum(source.count("\n") for source in sources),
        "code": sum(map(lines_of_code, sources)),
    }
    longer = {what: n for what, n in measured.items() if n > most[what]}
    assert not longer, [code.co_qualname for code in path]
