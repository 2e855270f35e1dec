"""Long measurements, one by one: what a file of results has is not measured again."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import machine
from glassbox.files import atomic_write

#: Where a result is kept, by keys from the outside in, and the function that measures it.
Study = tuple[tuple[str, ...], Callable[[], Any]]


def measure_missing(file: Path, studies: Iterable[Study]) -> None:
    """Measure what a file of results lacks, and write the file after each measurement.

    Studies are drawn one at a time, so one may depend on the results of those before it.
    """
    for keys, measure in studies:
        kept = read_results(file) | {"machine": machine.describe()}
        *outer, name = keys
        place = kept
        for key in outer:
            place = place.setdefault(key, {})
        if name in place:
            continue
        place[name] = measure()
        print(*keys, place[name], flush=True)
        with atomic_write(file) as part:
            part.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def read_results(file: Path) -> dict[str, Any]:
    """Return what a file of results has; nothing if there is none."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
