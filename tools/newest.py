"""Print `requirements.txt` without its pins, to try the book with the newest versions.

A comment `newest: SPEC` keeps that bound: some releases are a different program.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"^(?P<name>[\w.-]+)==[^\s#]+\s*(?:#\s*newest: (?P<bound>[^\s;]+))?")


def unpinned(requirements: str) -> str:
    """Return the requirements with bounds instead of pins; other lines are unchanged."""
    lines = []
    for line in requirements.splitlines():
        pin = PIN.match(line)
        lines.append(pin["name"] + (pin["bound"] or "") if pin else line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(unpinned((ROOT / "requirements.txt").read_text(encoding="utf-8")), end="")
