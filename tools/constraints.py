"""Pin every package in `.venv` in `constraints.txt`.

A line there installs nothing, it only fixes the version of what is installed, so packages for a
single platform may be in the list for all. Torch's CUDA companions are left to torch, which pins
them itself, on the platforms that have them.
"""

import argparse
import importlib.metadata
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = """\
# Every package that requirements.txt brings along, pinned, for all platforms: a line here installs
# nothing, it only fixes the version of what is installed. Written by `make constraints`. Left out
# on purpose: the CUDA libraries and triton, which torch pins itself where it has them.
"""
OURS_AND_TORCHS = re.compile(r"glassbox|pip|triton|nvidia-.*|cuda-.*")
ELSEWHERE = {"appnope": "1.0.0"}  # ipykernel needs it on macOS


def pins(installed: dict[str, str]) -> list[str]:
    """Return the lines of the file, sorted, without local version labels such as `+cpu`."""
    named = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in installed.items()}
    return [
        f"{name}=={version.split('+')[0]}"
        for name, version in sorted((ELSEWHERE | named).items())
        if not OURS_AND_TORCHS.fullmatch(name)
    ]


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()  # it takes none
    installed = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}
    (ROOT / "constraints.txt").write_text(HEADER + "\n".join(pins(installed)) + "\n")
    print(f"constraints.txt pins {len(pins(installed))} packages.")


if __name__ == "__main__":
    main()
