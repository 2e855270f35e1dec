"""The versions that the book was tested with, read from `requirements.txt`, never typed."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[\w.+]+)(?:\s+#\s*(?P<what>.*))?$", re.MULTILINE)


def pins(requirements: str) -> dict[str, str]:
    """Return the version of each pinned package."""
    return {pin["name"]: pin["version"] for pin in PIN.finditer(requirements)}


def substitute(app: Sphinx, config: Config) -> None:
    """Offer each version as a substitution: `{{ version_torch }}`."""
    found = pins(Path(app.srcdir, "requirements.txt").read_text(encoding="utf-8"))
    config.myst_substitutions = config.myst_substitutions | {
        "version_" + re.sub(r"\W", "_", name).lower(): version for name, version in found.items()
    }


def setup(app: Sphinx) -> None:
    """Read the versions before the pages are parsed."""
    app.connect("config-inited", substitute)
