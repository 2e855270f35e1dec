"""The data and the script with which a page checks an exercise without Python.

The script (`page/`) understands a part of Python and PyTorch. An exercise can be done in a page if
its cases consist of numbers, booleans, tensors and lists of these.
"""

import inspect
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glassbox_book import outputs
from glassbox_book.exercises.exercise import EXERCISES, Exercise
from glassbox_book.exercises.judge import outcome

#: The parts of the script, in this order; its last line passes it ``prelude.txt``.
SCRIPTS = ("tensors.js", "library.js", "python.js", "check.js")
#: A text of JavaScript or Python; within a template of JavaScript, no other.
TEXT = r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`{\\]|\{[^`}]*\})*`"""
#: The maximum number of numbers in the cases of an exercise in a page.
MOST = 3000
#: Number of values kept of a mistake's result, enough to distinguish it from any other; of a small
#: matrix of integers or truth values, all are kept.
SAMPLE, SMALL = 10, 64


def playable() -> list[str]:
    """Return the names of the exercises that can be done in a page."""
    return [name for name, exercise in EXERCISES.items() if _is_simple(exercise)]


def data(name: str) -> str:
    """Return the script that gives a page the data of an exercise.

    Parameters
    ----------
    name : str
        One of :func:`playable`, such as ``"scaled_dot_product.scores"``.

    Returns
    -------
    str
        JavaScript. It contains functions, so each call gets its own values.
    """
    exercise = EXERCISES[name]
    cases = exercise.hidden_cases()
    names = max((list(case.arguments) for case in cases), key=len)
    results = [(case, case.call(exercise.reference)) for case in cases]
    tried = [
        f"{{about: {json.dumps(case.about)}, called: {json.dumps(repr(case))}, "
        f"given: {literal(list(case.arguments.values()))}, expected: {literal(right)}}}"
        for case, right in results
    ]
    mistakes = [
        f"{{says: {json.dumps(sentence)}, gives: "
        f"[{', '.join(_sample(outcome(make, case), right) for case, right in results)}]}}"
        for sentence, make in exercise.mistakes.items()
    ]
    shared = "scaled_dot_product_attention" in inspect.getsource(exercise.flawed)
    return (
        f"{_compact('attention.js') if shared else ''}"
        f"glassboxPage.exercises[{json.dumps(name)}] = {{returns: {json.dumps(exercise.returns)}, "
        f"tolerance: {exercise.tolerance}, arguments: {json.dumps(names)}, "
        f"gradients: {json.dumps(exercise.gradients)},\n"
        f"cases: ({{tensor, permute, tuple}}) => [\n{','.join(tried)}],\n"
        f"mistakes: ({{sample, tuple}}) => [\n{','.join(mistakes)}]}};\n"
    )


def script() -> str:
    """Return the script that checks in a page what a reader writes, without comments and blanks."""
    prelude = re.sub(r"(?m)^(#.*)?\n", "", outputs.read("exercises/page/prelude.txt"))
    load = f"glassboxPage.load({json.dumps(_squeezed(prelude.replace('    ', ' ')))});"
    return f"{_compact(*SCRIPTS)}glassboxPage.exercises = {{}};\n{load}\n"


def write(folder: str | Path) -> None:
    """Write the script, and a file for each exercise that can be done in a page.

    Parameters
    ----------
    folder : str or Path
        The destination, created if it is missing.
    """
    texts = {f"{name}.js": data(name) for name in playable()}
    outputs.write(folder, {"python.js": script(), **texts})


def _compact(*names: str) -> str:
    """Return files of the script as one, without comments and blanks."""
    parts = "\n".join(outputs.read(f"exercises/page/{name}") for name in names)
    code = _squeezed(re.sub(r"(?m)^\s*(//.*\n\s*)*|  // .*$", "", parts))
    return re.sub(r"(?<=[;,{}])\n", "", code).replace(";}", "}")


def _squeezed(code: str) -> str:
    """Leave out the spaces around signs, except in texts and in lines with regular expressions."""
    signs = re.compile(rf"({TEXT})| ?([=*<>?:,;(){{}}&|!\[\]%@]+) ?| ?([-+/]) (?![-+])")
    plain = rf"""(?m)^(?:[^"'`/\\\n]|/ |{TEXT})+$"""
    return re.sub(plain, lambda line: signs.sub(r"\1\2\3", line[0]), code)


def _is_simple(exercise: Exercise) -> bool:
    return _count([[*case.arguments.values()] for case in exercise.hidden_cases()]) <= MOST


def _count(value: Any) -> int | float:
    """Return how many numbers a value contains, or infinity if it contains anything else."""
    if isinstance(value, list):
        return sum(map(_count, value))
    if isinstance(value, Tensor):
        return value.numel()
    return 1 if isinstance(value, bool | int | float) else math.inf


def literal(value: Any) -> str:
    """Write a value in JavaScript, where Python's integers are BigInt.

    Parameters
    ----------
    value : Tensor, list, tuple, str, bool, int or float
        The value.

    Returns
    -------
    str
        An expression with the functions ``tensor``, ``permute`` and ``tuple``.
    """
    if isinstance(value, Tensor) and not value.is_contiguous():  # the result of a transpose
        strides = value.stride()
        order = sorted(range(value.dim()), key=strides.__getitem__, reverse=True)
        back = [order.index(dim) for dim in range(value.dim())]
        return f"permute({literal(value.permute(order).contiguous())}, {back})"
    if isinstance(value, Tensor):
        return f"tensor({_kind(value)}, [{', '.join(_numbers(value.flatten()))}])"
    if isinstance(value, list | tuple):
        parts = ", ".join(map(literal, value))
        return f"[{parts}]" if isinstance(value, list) else f"tuple({parts})"
    return f"{value}n" if type(value) is int else json.dumps(value)  # a bool is an int too


def _sample(value: Any, right: Any) -> str:
    """Write the result of a mistake: of a tensor, some numbers and their positions."""
    if isinstance(value, tuple):
        return f"tuple({', '.join(map(_sample, value, right))})"
    if not isinstance(value, Tensor):
        return literal(value)
    places = [n * value.numel() // SAMPLE for n in range(SAMPLE)]
    if value.numel() <= (SAMPLE if value.is_floating_point() else SMALL):
        places = [*range(value.numel())]
    elif value.shape == right.shape:  # half of them where the mistake makes a difference
        wrong = (value != right).flatten().nonzero()[:, 0].tolist()
        places = [*places[::2], *wrong[:: 1 + 2 * len(wrong) // SAMPLE]]
    places = sorted(set(places)) if value.numel() else []
    numbers = ", ".join(f"{number:.6g}" for number in value.flatten()[places].tolist())
    numbers = numbers.replace("inf", "Infinity").replace("nan", "NaN")
    return f"sample({_kind(value)}, {places}, [{numbers}])"


def _kind(value: Tensor) -> str:
    return f'"{str(value.dtype).removeprefix("torch.")}", {list(value.shape)}'


def _numbers(row: Tensor) -> Iterator[str]:
    if not row.is_floating_point():
        return (str(int(number)) for number in row.tolist())
    if row.dtype == torch.float32:  # NumPy writes the fewest digits that identify a number
        return map(json.dumps, map(float, map(str, row.numpy())))
    return map(json.dumps, row.tolist())
