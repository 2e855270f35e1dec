"""Run the reader's function on hidden cases, and say what is wrong and why.

If the reader's results are those of a known mistake, the verdict says so.
"""

import copy
import dis
import inspect
import io
import re
import textwrap
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from glassbox_book.exercises.compare import difference, kind, resemblance
from glassbox_book.exercises.exercise import EXERCISES, Case, Exercise

#: Arguments that say what is hidden, and the advice on NaN in a gradient with and without them.
_HIDDEN = {"mask", "memory_mask", "source_ids", "scores"}
_HIDES = (
    "\nReplacing NaN afterwards does not keep it out of the gradient: the operation that produced "
    "it still passes NaN back. masked_fill on the scores stops it; adding -inf does not."
)
_OVERFLOWS = (
    "\nIf you use exp, it overflows: exp(89) is too large for float32, and infinity times 0 is "
    "NaN. torch.sigmoid and torch.softmax do not overflow."
)

#: What a reader's function may raise. Ctrl-C is not included: it stops the check itself.
FAILURES = (Exception, SystemExit)


@dataclass(frozen=True)
class Verdict:
    """The result of the check: ``passed``, and the text that a notebook shows."""

    passed: bool
    text: str

    def __repr__(self) -> str:
        page = textwrap.TextWrapper(74, subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join(page.fill(line) for line in self.text.splitlines())


def check(exercise: str, answer: Any) -> Verdict:
    """Run the reader's function on hidden cases and judge its results.

    Parameters
    ----------
    exercise : str
        Name of the exercise, such as ``"scaled_dot_product.scores"``.
    answer : callable
        The reader's function. Its errors are reported in the verdict, not raised.

    Returns
    -------
    Verdict
        A notebook displays it; ``verdict.passed`` says whether everything was right.

    Raises
    ------
    ValueError
        If there is no exercise of that name.
    """
    if exercise not in EXERCISES:
        names = "".join(f"\n  {name}" for name in EXERCISES)
        raise ValueError(f"there is no exercise called {exercise!r}. There are:{names}")
    cpu = torch.device("cpu")  # the device of the cases, whatever the default; slow if not needed
    with nullcontext() if torch.get_default_device() == cpu else cpu, torch.inference_mode(False):
        return _judge(EXERCISES[exercise], answer)


def _judge(exercise: Exercise, answer: Any) -> Verdict:
    if not callable(answer):
        return Verdict(
            False,
            f"Not yet: this is a value of type {kind(answer)}. Hand over the function itself, "
            "without calling it: its name, no brackets.",
        )
    cases = exercise.hidden_cases()
    if _is_untouched(answer):
        return Verdict(False, f"Not tried yet: {len(cases)} cases wait for your function.")
    faults = {case: _fault(exercise, case, answer) for case in cases}
    wrong = [case for case in cases if faults[case]]
    if not wrong:
        gradients = "; gradients too" if exercise.gradients else ""
        tried = "; ".join(case.about for case in cases)
        return Verdict(True, f"Right in all {len(cases)} cases: {tried}{gradients}.")
    first = wrong[0]
    right = len(cases) - len(wrong)
    lines = [
        f"Not yet: {right} of {len(cases)} cases {'is' if right == 1 else 'are'} right. "
        f"The first that is not: {first.about}.",
        f"Called with {first}.",
        faults[first],
        _diagnosis(exercise, faults, answer),
    ]
    return Verdict(False, "\n".join(filter(None, lines)))


def _is_untouched(answer: Callable[..., Any]) -> bool:
    """Return whether a function's body is still ``...``, as in the book."""
    code = getattr(answer, "__code__", None)
    return code is not None and _instructions(code) == _instructions((lambda: None).__code__)


def _instructions(code: CodeType) -> list[tuple[str, Any]]:
    return [(each.opname, each.argval) for each in dis.get_instructions(code)]


def _fault(exercise: Exercise, case: Case, answer: Callable[..., Any]) -> str | None:
    expected = case.call(exercise.reference)
    given = copy.deepcopy(case.arguments)
    if fault := _refusal(answer, given):
        return fault
    try:
        got = answer(*given.values())
    except FAILURES as error:
        return _raised(error, answer)
    for name, before in case.arguments.items():
        if not _untouched(before, given[name]):
            return f"Your function changed its argument {name} in place. {_advice(before)}"
    fault = difference(exercise.returns, expected, got, exercise.tolerance)
    if fault or not exercise.gradients:
        return fault
    try:
        gradients = _gradients(answer, case)
    except FAILURES as error:
        if "modified by an inplace operation" in str(error):
            return (
                "The values are right, but no gradient can be computed: a number that it needs was "
                "changed in place. Write e = e / total instead of e /= total, torch.where(...) "
                "instead of w[...] = 0, and use methods without _ at the end."
            )
        return _raised(error, answer) + " This happened when gradients were computed."
    if gradients is None:
        return (
            "The values are right, but no gradient comes back: .detach(), .item(), .numpy() and "
            "torch.tensor(...) cut a result off from what it was computed from."
        )
    right = _gradients(exercise.reference, case) or {}
    faults = (
        difference([f"gradient of {name}"], right[name], gradients[name], 10 * exercise.tolerance)
        for name in right
    )
    fault = next(filter(None, faults), None)
    if fault and "nan" in fault:
        fault += _HIDES if _HIDDEN & set(case.arguments) else _OVERFLOWS
    return fault and f"The values are right, a gradient is not.\n{fault}"


def _advice(changed: Any) -> str:
    if isinstance(changed, Tensor):
        return "Work on a new tensor: x = x - 1 makes one, x -= 1 and x.sub_(1) do not."
    return "Work on a copy."


def _diagnosis(
    exercise: Exercise, faults: Mapping[Case, str | None], answer: Callable[..., Any]
) -> str | None:
    """Find the mistake that gives the reader's first wrong result and explains the most results.

    Right results count too: it has to explain at least as many as no mistake would.
    """
    kinds, right = exercise.returns, exercise.reference
    outcomes = [(case, outcome(answer, case)) for case in faults]
    wrong = [(case, mine) for case, mine in outcomes if faults[case]]
    wrong = [(case, mine) for case, mine in wrong if not _alike(kinds, outcome(right, case), mine)]
    if not wrong:  # an argument changed in place, or a gradient alone is wrong
        return None
    (first, seen), best, most = wrong[0], None, max(1, len(outcomes) - len(wrong) - 1)
    for sentence, mistake in exercise.mistakes.items():
        if _alike(kinds, outcome(mistake, first), seen):
            fits = sum(_alike(kinds, outcome(mistake, case), mine) for case, mine in outcomes)
            if fits > most:
                best, most = sentence, fits
    if best is not None and most < len(outcomes):
        return f"This would explain some of your results: {best}"
    return best or resemblance(kinds, outcome(right, first), seen, exercise.tolerance)


def outcome(function: Callable[..., Any], case: Case) -> Any:
    """Return a function's result in a case, or the message of the error it raises.

    Parameters
    ----------
    function : callable
        The function.
    case : Case
        The case.

    Returns
    -------
    Any
        The result, or the message.
    """
    try:
        with redirect_stdout(io.StringIO()):  # its output has been shown
            return case.call(function)
    except FAILURES as error:
        return _message(error)


def _alike(names: Sequence[str], one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    tolerance = 0.0 if isinstance(one, int | float) and not one else 1e-4  # every share of 0 is 0
    return difference(names, one, other, tolerance) is None


def _gradients(function: Callable[..., Any], case: Case) -> dict[str, Tensor] | None:
    given = copy.deepcopy(case.arguments)
    inputs = {
        name: value.requires_grad_()
        for name, value in given.items()
        if isinstance(value, Tensor) and value.is_floating_point()
    }
    with redirect_stdout(io.StringIO()):
        results = function(*given.values())
    results = results if isinstance(results, tuple | list) else [results]
    # Every entry has a different weight, so no two mistakes cancel.
    weighted = [part * torch.arange(part.numel()).cos().view(part.shape) for part in results]
    total = sum(part.sum() for part in weighted)
    if not total.requires_grad:
        return None
    found = torch.autograd.grad(total, list(inputs.values()), materialize_grads=True)
    return dict(zip(inputs, found, strict=True))


def _refusal(answer: Callable[..., Any], given: Mapping[str, Any]) -> str | None:
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):  # some functions written in C have none
        return None
    try:
        signature.bind(*given.values())
    except TypeError:
        names = ", ".join(signature.parameters) or "nothing"
        order = ", in this order" if len(given) > 1 else ""
        return f"Your function takes {names}; it is called with {', '.join(given)}{order}."
    return None


def _raised(error: BaseException, answer: Callable[..., Any]) -> str:
    code = getattr(answer, "__code__", None) or getattr(type(answer).__call__, "__code__", None)
    file = getattr(code, "co_filename", None)
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == file]
    where = f" in line {frames[-1].lineno}" if frames else ""
    line = f"\n    {frames[-1].line}" if frames and frames[-1].line else ""
    return f"Your function raised an error{where}:{line}\n    {_message(error)}"


def _message(error: BaseException) -> str:
    told = traceback.TracebackException.from_exception(error)
    told.__notes__ = None  # they would follow the message
    first_line = [*told.format_exception_only()][-1].strip().partition("\n")[0]
    return re.sub(r"\b0x[0-9a-f]+", "0x...", first_line)  # the same in every run


def _untouched(before: Any, after: Any) -> bool:
    if isinstance(before, Tensor):
        return isinstance(after, Tensor) and torch.equal(before, after)
    if isinstance(before, list):
        return len(before) == len(after) and all(map(_untouched, before, after))
    return bool(before == after)
