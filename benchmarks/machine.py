"""The machine that the numbers were measured on."""

import os
import platform
import re
import subprocess
from pathlib import Path

import torch


def processor() -> str:
    """Return the name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        named = re.search(r"^model name\s*: (.+)$", cpuinfo.read_text(), re.MULTILINE)
        if named:
            return named[1].strip()
    if platform.system() == "Darwin":
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return platform.processor() or platform.machine()


def describe(device: str = "cuda") -> dict[str, str | int]:
    """Return what affects the numbers measured on a device of this machine."""
    about: dict[str, str | int] = {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    if device == "cuda" and torch.cuda.is_available():
        about["gpu"] = torch.cuda.get_device_name()
    return about


def name(about: dict[str, str | int]) -> str:
    """Return a name for the file of this machine's results, without a date."""
    decoration = r"\((?:R|TM)\)|\bCPU\b|@.*"
    named = re.sub(decoration, " ", str(about["processor"]), flags=re.IGNORECASE)
    words = f"{named} {about['cores']} cores {about.get('gpu', '')}"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
