"""Defaults, and which values cannot be changed, are promises: they change on purpose, in a list."""

import inspect
from collections.abc import Iterator
from dataclasses import is_dataclass
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
    """A line for each argument that may be left out and is not None then, and each frozen class."""
    for module in modules("glassbox"):
        for name, thing in callables(module):
            if is_dataclass(thing) and thing.__dataclass_params__.frozen:  # type: ignore[union-attr]
                yield f"{module}.{name} is frozen"
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
