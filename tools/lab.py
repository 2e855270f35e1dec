"""Open the chapters in JupyterLab: trusted, with the scripts that their outputs load."""

import json
import os
import subprocess
import sys

from glassbox_book.viz import assets as views
from glassbox_book.viz import cells
from glassbox_book.widgets import assets as widgets
from tools.notebooks import ROOT, notebooks

STATIC = ROOT / ".venv" / "share" / "glassbox" / "static"
SETTINGS = ROOT / ".venv" / "etc" / "jupyter" / "labconfig" / "default_setting_overrides.json"
#: No prompts about news, and no requests to other hosts.
QUIET = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}
}


def command(*more: str) -> list[str]:
    """Return the command that starts JupyterLab with the chapters in view."""
    return [
        *(sys.executable, "-m", "jupyterlab"),
        f"--ServerApp.root_dir={ROOT}",
        "--LabApp.default_url=/lab/tree/chapters",
        f"--ServerApp.extra_static_paths=['{STATIC}']",
        *(["--allow-root"] if os.geteuid() == 0 else []),  # root in a container is the only user
        *more,
    ]


def prepare() -> None:
    """Write the scripts that committed outputs load, and trust those outputs."""
    for assets in (views, widgets, cells):
        assets.write(STATIC / "glassbox")
    SETTINGS.parent.mkdir(parents=True, exist_ok=True)
    SETTINGS.write_text(json.dumps(QUIET))
    trust = [sys.executable, "-m", "jupyter", "trust", *map(str, notebooks())]
    subprocess.run(trust, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    print("Starting JupyterLab; Ctrl+C here ends it.", flush=True)
    prepare()
    os.chdir(ROOT)
    os.execv(sys.executable, command(*sys.argv[1:]))


if __name__ == "__main__":
    main()
