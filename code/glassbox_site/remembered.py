"""Cache what Sphinx and its extensions would otherwise compute again and again."""

from functools import cache

from pybtex import plugin
from sphinx.application import Sphinx
from sphinx.errors import PycodeError
from sphinx.pycode import ModuleAnalyzer

from glassbox_site.objects import modules

read_source = ModuleAnalyzer.for_module


def read_our_source(module: str) -> ModuleAnalyzer:
    """Read the source of a module for the comments on its attributes; other packages have none."""
    if module not in modules():
        raise PycodeError(f"{module} is not of this package")
    return read_source(module)


def setup(app: Sphinx) -> None:
    """Cache the plugins of the bibliography, and read only our source."""
    plugin._load_entry_point = cache(plugin._load_entry_point)
    ModuleAnalyzer.for_module = staticmethod(read_our_source)  # type: ignore
