"""What an argument is when it is left out is a promise: it changes on purpose, and in this list."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from glassbox_site.objects import modules, public_names

LIST = Path(__file__).with_name("defaults.txt")


def callables(module: str) -> Iterator[tuple[str, object]]:
    """The public functions of a module, its classes, and their public methods."""
    for name in public_names(module):
        thing = getattr(import_module(module), name)
        yield name, thing
        if inspect.isclass(thing):
            for method, function in vars(thing).items():
                function = getattr(function, "__func__", function)
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{name}.{method}", function


def defaults() -> Iterator[str]:
    """A line for each argument that may be left out, and is not None or empty then."""
    for module in modules("glassbox"):
        for name, thing in callables(module):
            try:
                parameters = inspect.signature(thing).parameters.values()  # type: ignore[arg-type]
            except (TypeError, ValueError):
                continue
            for parameter in parameters:
                shown = repr(parameter.default)
                if parameter.default not in (parameter.empty, None) and " object at " not in shown:
                    yield f"{module}.{name}({parameter.name}={shown})"


def test_what_is_left_out_is_what_it_was() -> None:
    assert sorted(set(defaults())) == LIST.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    LIST.write_text("\n".join([*sorted(set(defaults())), ""]), encoding="utf-8")
