"""Make `.venv` ready: create it, update it, or find that it is up to date.

Run by the Makefile with the system's Python, so it uses only the standard library. The file
`.venv/ready` holds a key of everything the environment was made from; it is removed before
installation and written after it, so an interrupted installation never counts as ready.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
READY = VENV / "ready"
LARGE = 20.0  # MB; larger downloads get a line


def key(root: Path = ROOT) -> str:
    """Return a digest of what determines the contents of the environment, and of its location.

    It covers contents, not times, so that a fresh clone or a touched file changes nothing; and of
    `pyproject.toml` only what the installation reads, so that a lint rule does not reinstall torch.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text())
    packaging = [project["build-system"], project["project"], project["tool"]["setuptools"]]
    parts = [
        str(root),  # a virtual environment cannot be moved
        sys.version.split()[0],
        (root / "requirements.txt").read_text(),
        (root / "constraints.txt").read_text(),
        repr(packaging),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def is_whole() -> bool:
    """Return whether the environment exists and is complete, if perhaps out of date."""
    return (VENV / "bin" / "python").exists() and READY.is_file()


def is_ready() -> bool:
    """Return whether the environment is whole and current."""
    return is_whole() and READY.read_text() == key()


def create() -> None:
    """Create an empty environment, replacing any that exists."""
    try:
        import ensurepip  # noqa: F401  (Debian splits it off, and then venv cannot work)
        import venv
    except ImportError:
        release = f"{sys.version_info.major}.{sys.version_info.minor}"
        sys.exit(
            f"Python {release} came without its venv module. Install it and run make again; on "
            f"Debian and Ubuntu: sudo apt-get install python{release}-venv"
        )
    if VENV.exists():
        shutil.rmtree(VENV)
    venv.create(VENV, with_pip=True)


def install() -> None:
    """Install everything in `requirements.txt` at the versions of `constraints.txt`."""
    command = [
        str(VENV / "bin" / "python"),
        *("-m", "pip", "install", "--disable-pip-version-check", "--no-input"),
        *("-r", "requirements.txt", "-c", "constraints.txt"),
    ]
    log: list[str] = []
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            log.append(line)
            if news := progress(line):
                print(f"  {news}", flush=True)
    if pip.returncode:
        sys.stderr.writelines(log[-25:])
        sys.exit(
            "The installation stopped; pip's last lines are above. Run make again: it begins anew, "
            "and takes from pip's cache what was downloaded."
        )


def progress(line: str) -> str:
    """Return what the user should see of a line of pip's output; mostly nothing."""
    if download := re.search(r"Downloading (\S+) \((\d+\.\d) MB\)", line):
        name, size = Path(download[1]).name, float(download[2])
        return f"downloading {name} ({size:.0f} MB)" if size >= LARGE else ""
    if line.startswith("Installing collected packages:"):
        return f"installing {line.count(',') + 1} packages"
    return ""


def main() -> None:
    if is_ready():
        return
    try:
        set_up()
    except OSError as error:
        sys.exit(
            f"{VENV} cannot be set up: {error}. The book needs a folder that can be written to."
        )


def set_up() -> None:
    """Create or update the environment, and mark it when it is complete."""
    release = sys.version.split()[0]
    if is_whole() and (VENV / "pyvenv.cfg").read_text().count(f"version = {release}\n"):
        print(f"Bringing .venv up to date (Python {release}).", flush=True)
    else:
        print(f"Setting up .venv (Python {release}); this takes some minutes once.", flush=True)
        create()
    READY.unlink(missing_ok=True)
    install()
    READY.write_text(key())
    print("The environment is ready.", flush=True)


if __name__ == "__main__":
    main()
