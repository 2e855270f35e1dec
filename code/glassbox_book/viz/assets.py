"""The scripts of the attention views, and the packages they come from.

The libraries are not copied into this package: D3 comes from ``mpld3``, jQuery from
``sphinxcontrib-jquery``, the drawing itself from ``bertviz``. They are bundled into one file with
the frame's own scripts, which make the drawing keyboard accessible, legible in light and dark, and
as wide as its page.
"""

import base64
import gzip
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from glassbox_book import outputs
from glassbox_book.outputs import read

#: Name of the file that :func:`write` creates and that frames of committed outputs load.
SCRIPT_NAME = "attention-views.js"

#: Its folder on a site, below the root.
SITE_FOLDER = "_static/glassbox"

#: The frame's own scripts, in the order they are needed.
_FRAME_SCRIPTS = [f"viz/frame/{name}.js" for name in ("draw", "readout", "access", "start")]

_LIBRARIES = (
    ("mpld3", "js/d3.v5.min.js", "D3 5.7.0, BSD-3-Clause, Mike Bostock"),
    ("sphinxcontrib.jquery", "jquery.js", "jQuery 3.6.0, MIT, OpenJS Foundation"),
)


def write(folder: str | Path) -> Path:
    """Write the file the frames load into ``folder`` and return its path.

    The site build calls this for ``_static/glassbox/``; a server of notebooks with committed
    outputs can do the same for ``static/glassbox/``.
    """
    return outputs.write(folder, {SCRIPT_NAME: bundle()})[0]


@cache
def bundle() -> str:
    """Return libraries, bertviz's three views and the frame's scripts as one script."""
    parts = [
        f"/* {notice} */\n{_package_file(package, name)}" for package, name, notice in _LIBRARIES
    ]
    views = ",\n".join(  # with their own console, which drops their debugging messages
        f"{view}: function (console) {{\n{_package_file('bertviz', f'{view}_view.js')}\n}}"
        for view in ("head", "model", "neuron")
    )
    parts.append("/* bertviz, Apache-2.0, Jesse Vig; unmodified */")
    parts.append(f"const bertviz = {{\n{views}\n}};")
    parts.append(f"const FRAME_STYLE = {json.dumps(read('viz/frame/frame.css'))};")
    parts.append("(() => {\n'use strict';\n" + "\n".join(map(read, _FRAME_SCRIPTS)) + "})();")
    return "\n;\n".join(parts) + "\n"


@cache
def packed_bundle() -> str:
    """Return :func:`bundle` compressed and as base64, for outputs that include it."""
    packed = gzip.compress(bundle().encode(), compresslevel=9, mtime=0)
    return base64.b64encode(packed).decode("ascii")


def _package_file(package: str, name: str) -> str:
    """Read a file of an installed package without importing the package."""
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / name
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(
        f"the attention views need {name} of the package {package}, which is not installed here; "
        "install the book's requirements.txt"
    )
