"""Measure everything, print the table, and write it under `benchmarks/results/`."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import torch

from benchmarks import attention, bert, machine
from benchmarks.timing import Comparison

RESULTS = Path(__file__).parent / "results"
SUITES = (attention, bert)


def table(about: dict[str, str | int], comparisons: Sequence[Comparison]) -> str:
    """Return the results as a page of markdown."""
    lines = [
        f"# {about['processor']}",
        "",
        ", ".join(f"{key} {value}" for key, value in about.items() if key != "processor"),
        "",
        "Ratio of the medians of interleaved rounds, ours / theirs: below 1, ours is faster.",
        "Beside it the quartiles of the ratio within rounds.",
        "",
        "| work | against | on | ours, ms | theirs, ms | ratio | quartiles | rounds |",
        "|---|---|---|---:|---:|---:|---|---:|",
    ]
    for done in comparisons:
        ours, theirs = (1000 * median(times) for times in (done.ours, done.theirs))
        low, high = done.spread
        lines.append(
            f"| {done.what} | {done.against} | {done.device} | {ours:.2f} | {theirs:.2f} "
            f"| {done.ratio:.3f} | {low:.2f} to {high:.2f} | {len(done.ours)} |"
        )
    return "\n".join(lines) + "\n"


def record(about: dict[str, str | int], comparisons: Sequence[Comparison]) -> str:
    """Return the results as JSON, for the pages that show them."""
    rows = [
        {
            "what": done.what,
            "against": done.against,
            "device": done.device,
            "ours_ms": round(1000 * median(done.ours), 3),
            "theirs_ms": round(1000 * median(done.theirs), 3),
            "ratio": round(done.ratio, 4),
            "quartiles": [round(end, 4) for end in done.spread],
            "rounds": len(done.ours),
        }
        for done in comparisons
    ]
    return json.dumps({"machine": about, "results": rows}, indent=1) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each comparison")
    seconds = parser.parse_args().seconds
    about = machine.describe()
    comparisons = []
    for device in ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]:
        for suite in SUITES:
            for done in suite.measure(device, seconds):
                print(f"{done.ratio:6.3f}  {done.what}, {device}", flush=True)
                comparisons.append(done)
    RESULTS.mkdir(exist_ok=True)
    name = machine.name(about)
    (RESULTS / f"{name}.md").write_text(table(about, comparisons), encoding="utf-8")
    (RESULTS / f"{name}.json").write_text(record(about, comparisons), encoding="utf-8")
    print(f"\n{table(about, comparisons)}\nWritten to benchmarks/results/{name}.md and .json.")


if __name__ == "__main__":
    main()
