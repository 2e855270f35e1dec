"""Every public class and function says what it takes, gives, refuses, and where it comes from."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from glassbox_site.docstrings import entries, names, sections
from glassbox_site.objects import home, is_ours, look_up, modules, public_names

#: What the book teaches. Whatever can be imported from here names its source or its chapter.
TAUGHT = (
    *("attention", "blockwise", "cache", "feed_forward", "generation", "layers", "masks", "models"),
    *("multi_head_attention", "normalization", "positional", "record", "tokenization"),
    "transformer",
)
SOURCE = re.compile(r"\(\d{4}[a-z]?\)|\bChapter \d+")
#: The numbers in "chapter 7", "Chapters 4, 7 and 11" and "chapters 3 to 5".
NUMBERS = re.compile(r"\b[Cc]hapters? (\d+(?:(?:,| and|, and| to) \d+)*)")
ROOT = Path(__file__).parents[1]
TOLD = re.compile(rf"\bchapters? \d+|{SOURCE.pattern}")


def public(module: str) -> Iterator[tuple[str, Any]]:
    """The classes and functions of a module, and the methods and properties of its classes."""
    for name in public_names(module):
        thing = getattr(import_module(module), name)
        yield name, thing
        for part, member in vars(thing).items() if isinstance(thing, type) else ():
            method = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            described = inspect.isfunction(method) or isinstance(method, property)
            if described and not part.startswith("_") and not generated(thing, part):
                yield f"{name}.{part}", method


def offered(module: str) -> Iterator[tuple[str, Any]]:
    """What readers call: it is imported from a package, or its module is one of the first rank.

    Not the helpers and checks of a package, and not what a base class has described.
    """
    for path, thing in public(module):
        name, _, part = path.partition(".")
        bases = getattr(import_module(module), name).__mro__[1:] if part else ()
        described = any(is_ours(base) and hasattr(base, part) for base in bases)
        first_rank = module.count(".") == 1 and not module.endswith(".checks")
        if (home(module, name) != module or first_rank) and not described:
            yield path, thing


def generated(owner: type, part: str) -> bool:
    """Whether a member is written by nobody: those that `NamedTuple` brings."""
    return hasattr(owner, "_fields") and part in (*owner._fields, "count", "index")


def text(thing: Any) -> str:
    return inspect.getdoc(thing) or ""


def parts(thing: Any) -> dict[str, list[str]]:
    return dict(sections(text(thing).splitlines()))


def listed(thing: Any, section: str) -> list[str]:
    """The names that a section of a docstring describes."""
    return [name for line in entries(parts(thing).get(section, [])) for name in names(line)]


def call(thing: Any) -> Any:
    """The function behind a property, or the thing itself."""
    return thing.fget if isinstance(thing, property) else thing


def is_made(thing: type) -> bool:
    """Whether a class says itself how it is made; a protocol is not made at all."""
    declared = "__init__" in vars(thing) or is_dataclass(thing) or hasattr(thing, "_fields")
    return declared and not getattr(thing, "_is_protocol", False)


def arguments(thing: Any) -> list[str]:
    """What a caller passes; nothing of its own if a class does not say how it is made."""
    if isinstance(thing, property):
        return []
    if isinstance(thing, type) and not is_made(thing):
        return []
    parameters = inspect.signature(thing).parameters
    return [name for name in parameters if name not in ("self", "cls") and not name.startswith("_")]


def inherited(thing: Any) -> set[str]:
    """The arguments of a class that the classes above it describe."""
    above = thing.__mro__[1:] if isinstance(thing, type) else ()
    return {name for base in above if is_ours(base) for name in arguments(base)}


def returns_something(thing: Any) -> bool:
    if isinstance(thing, type):
        return False
    given = inspect.signature(call(thing)).return_annotation
    return given not in (None, "None", inspect.Signature.empty)


def raised(thing: Any) -> set[str]:
    """The exceptions that a function raises itself; a class does so while it is made."""
    makers = ("__post_init__",) if is_dataclass(thing) else ("__init__",)
    calls = [call(thing)]
    if isinstance(thing, type):
        calls = [vars(thing).get(name) for name in makers if is_made(thing)]
    found = set()
    for function in filter(None, calls):
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
        for node in ast.walk(tree):
            error = node.exc if isinstance(node, ast.Raise) else None
            error = error.func if isinstance(error, ast.Call) else error
            if isinstance(error, ast.Name) and error.id[0].isupper():
                found.add(error.id)
    return found - {"NotImplementedError"}  # what a class leaves to those that derive from it


def is_described(thing: Any) -> str:
    return "" if text(thing) else "no docstring"


def names_its_arguments(thing: Any) -> str:
    """Either a section lists them all, or the text says what each is."""
    wanted, found = arguments(thing), listed(thing, "Parameters")
    missing = {*wanted} - {*found} - inherited(thing)
    if found and (missing or not {*found} <= {*wanted} or len({*found}) < len(found)):
        return f"takes {wanted}, describes {found}"
    missing = {name for name in missing if not re.search(rf"\b{name}\b", text(thing))}
    return f"does not mention {sorted(missing)}" if missing else ""


def says_what_it_returns(thing: Any) -> str:
    """In a section, or in a first sentence that has no other purpose; "draw" is one."""
    found = parts(thing)
    if (
        {"Returns", "Yields"} & set(found)
        or not returns_something(thing)
        or "Parameters" not in found
    ):
        return ""
    return (
        "" if text(thing).startswith("Return ") else "returns something that it does not describe"
    )


def lists_what_it_raises(thing: Any) -> str:
    missing = raised(thing) - set(listed(thing, "Raises"))
    return f"raises {sorted(missing)}, which it does not list" if missing else ""


def lists_only_exceptions(thing: Any) -> str:
    module = getattr(thing, "__module__", "") or ""
    for name in listed(thing, "Raises"):
        error = look_up(name, module)
        if not (isinstance(error, type) and issubclass(error, BaseException)):
            return f"lists {name!r}, which is no exception"
    return ""


EVERYWHERE = [is_described, lists_what_it_raises, lists_only_exceptions]
OFFERED = [names_its_arguments, says_what_it_returns]


@pytest.mark.parametrize("rule", EVERYWHERE, ids=lambda rule: rule.__name__)
def test_every_public_name(rule):
    assert faults(rule, public) == {}


@pytest.mark.parametrize("rule", OFFERED, ids=lambda rule: rule.__name__)
def test_everything_that_is_offered(rule):
    assert faults(rule, offered) == {}


def faults(
    rule: Callable[[Any], str], names_of: Callable[[str], Iterator[tuple[str, Any]]]
) -> dict[str, str]:
    """What a rule finds in all modules, by the full name of where it is."""
    found = {f"{m}.{name}": rule(thing) for m in modules() for name, thing in names_of(m)}
    assert len(found) > 300
    return {name: fault for name, fault in found.items() if fault}


def test_every_module_says_what_it_is():
    assert [module for module in modules() if not text(import_module(module))] == []


def test_what_the_book_teaches_names_its_source_or_its_chapter():
    """A function or a part of a model does in its notes; what only holds values, in its module."""
    taught = [module for module in modules() if module.partition(".")[2].startswith(TAUGHT)]
    assert len(taught) > 50
    assert [name for module in taught for name in silent(module)] == []


def silent(module: str) -> list[str]:
    """What names neither, though it should."""
    found = [getattr(import_module(module), name) for name in public_names(module)]
    told = TOLD.search(text(import_module(module)))
    names = {name for name, _ in offered(module)}
    holds = [thing for thing in found if is_dataclass(thing) or hasattr(thing, "_fields")]
    helps = [thing for thing in found if thing.__name__ not in names]
    excused = holds + helps if told else []
    return [f"{module}.{x.__name__}" for x in found if not has_source(x) and x not in excused]


def test_every_chapter_that_is_named_is_in_the_book():
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    there = {int(number) for number in re.findall(r"chapters/(\d\d)_", contents)}
    named = {
        (int(number), file.name)
        for file in (ROOT / "code").rglob("*.py")
        for numbers in NUMBERS.findall(re.sub(r"\s+", " ", file.read_text(encoding="utf-8")))
        for number in re.findall(r"\d+", numbers)
    }
    assert len(named) > 50
    assert sorted((number, file) for number, file in named if number not in there) == []


def has_source(thing: Any) -> bool:
    return bool(SOURCE.search("\n".join(parts(thing).get("Notes", []))))


def good(x: int, y: int = 1) -> int:
    """Add.

    Parameters
    ----------
    x, y : int
        What to add.

    Returns
    -------
    int
        The sum.

    Raises
    ------
    ValueError
        If ``x`` is negative.
    """
    if x < 0:
        raise ValueError(x)
    return x + y


GOOD = inspect.getdoc(good) or ""  # without the indentation, which some Pythons keep


def changed(old: str, new: str) -> Callable[..., Any]:
    """The good function with a changed docstring."""

    def function(x: int, y: int = 1) -> int:
        if x < 0:
            raise ValueError(x)
        return x + y

    assert old in GOOD
    function.__doc__ = GOOD.replace(old, new)
    return function


FAULTS = {
    "nothing": (changed(GOOD, ""), is_described, "no docstring"),
    "an argument left out": (changed("x, y : int", "x : int"), names_its_arguments, "['x']"),
    "an argument too many": (changed("x, y :", "x, y, z :"), names_its_arguments, "'z'"),
    "an argument described twice": (
        changed("x, y :", "x, y, y :"),
        names_its_arguments,
        "'y', 'y'",
    ),
    "an argument not mentioned": (
        changed(GOOD, "Add to ``x``."),
        names_its_arguments,
        "['y']",
    ),
    "no result": (
        changed("Returns\n-------", "Also\n----"),
        says_what_it_returns,
        "returns",
    ),
    "another exception": (changed("ValueError", "TypeError"), lists_what_it_raises, "ValueError"),
    "no exception": (changed("ValueError", "ValueEror"), lists_only_exceptions, "ValueEror"),
}


@pytest.mark.parametrize(("thing", "rule", "says"), FAULTS.values(), ids=FAULTS)
def test_a_fault_would_be_found(thing, rule, says):
    assert says in rule(thing)
    assert [rule(good) for rule in EVERYWHERE + OFFERED] == [""] * 5


def test_every_rule_has_a_fault_that_it_finds():
    assert {rule for _, rule, _ in FAULTS.values()} == set(EVERYWHERE + OFFERED)
