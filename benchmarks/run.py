"""Measure everything, print the tables, and write them under `benchmarks/results/`."""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch

from benchmarks import (
    attention,
    bert,
    decoding,
    growth,
    kernels,
    live,
    machine,
    page,
    paint,
    roofline,
    training,
)
from benchmarks.growth import Growth
from benchmarks.timing import Comparison
from glassbox.results import SPEED, SPEED_ON_GPU

RESULTS = Path(__file__).parent / "results"
SUITES = (attention, bert, training, kernels, decoding)
Result = Comparison | Growth | decoding.Share | paint.Paint | roofline.Roof


def measure(device: str, seconds: float) -> Iterator[Result]:
    """Yield every result as soon as it is available."""
    for suite in SUITES:
        yield from suite.measure(device, seconds)
    yield decoding.share_of_bandwidth(device)
    yield from growth.measure(device)
    yield from roofline.measure(device)
    if device == "cpu":
        yield from live.measure(seconds)
        if painted := paint.measure():
            yield painted


def table(about: dict[str, str | int], results: Sequence[Result]) -> str:
    """Return the results as a Markdown page."""
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
    for done in results:
        if isinstance(done, Comparison):
            ours, theirs = (1000 * median(times) for times in (done.ours, done.theirs))
            low, high = done.spread
            lines.append(
                f"| {done.what} | {done.against} | {done.device} | {ours:.2f} | {theirs:.2f} "
                f"| {done.ratio:.3f} | {low:.2f} to {high:.2f} | {len(done.ours)} |"
            )
    grown = [done for done in results if isinstance(done, Growth)]
    if grown:
        lines += [
            "",
            "Cost by length of the text, and the exponent of the power law through it: 0 is flat, "
            "1 linear, 2 quadratic.",
            "",
            "| work | on | lengths | cost | exponent |",
            "|---|---|---|---|---:|",
        ]
    for law in grown:
        lengths = ", ".join(f"{length:,}" for length in law.lengths)
        costs = ", ".join(f"{cost:.3g}" for cost in law.costs)
        lines.append(
            f"| {law.what} | {law.device} | {lengths} | {costs} {law.unit} | {law.exponent:.2f} |"
        )
    for done in results:
        if isinstance(done, decoding.Share | paint.Paint | roofline.Roof):
            lines += ["", done.sentence()]
    return "\n".join(lines) + "\n"


def record(about: dict[str, str | int], results: Sequence[Result]) -> str:
    """Return the results as JSON, for the pages that show them."""
    return json.dumps({"machine": about, "results": [*map(row, results)]}, indent=1) + "\n"


def row(done: Result) -> dict[str, Any]:
    """Return one result in numbers, with more digits than are shown: nothing is rounded twice."""
    if isinstance(done, Comparison):
        return {
            "what": done.what,
            "against": done.against,
            "device": done.device,
            "ours_ms": round(1000 * median(done.ours), 6),
            "theirs_ms": round(1000 * median(done.theirs), 6),
            "ratio": round(done.ratio, 6),
            "quartiles": [round(end, 6) for end in done.spread],
            "rounds": len(done.ours),
        }
    if isinstance(done, Growth):
        return {
            "what": done.what,
            "device": done.device,
            "unit": done.unit,
            "lengths": list(done.lengths),
            "costs": [round(cost, 6) for cost in done.costs],
            "exponent": round(done.exponent, 6),
        }
    if isinstance(done, paint.Paint):
        return {"what": paint.WHAT, "paint_ms": {k: round(v) for k, v in done.pages.items()}}
    if isinstance(done, roofline.Roof):
        return {"what": done.what, **roofline.row(done)}
    return {
        "what": done.what,
        "device": done.device,
        "limit_ms": round(1000 * done.limit, 6),
        "token_ms": round(1000 * done.token, 6),
        "share": round(done.share, 6),
    }


def line(done: Result) -> str:
    """Return one result as a line to print while the others are measured."""
    if isinstance(done, Comparison):
        return f"{done.ratio:6.3f}  {done.what}, {done.device}"
    if isinstance(done, Growth):
        return f"n^{done.exponent:4.2f}  {done.what}, {done.device}"
    if isinstance(done, paint.Paint | roofline.Roof):
        return done.sentence()
    return f"{done.share:6.3f}  {done.what}, {done.device}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each comparison")
    present = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    parser.add_argument("--device", choices=present, help="what to measure (default: all there is)")
    arguments = parser.parse_args()
    for device in [arguments.device] if arguments.device else present:
        about = machine.describe(device)
        results = []
        for done in measure(device, arguments.seconds):
            print(line(done), flush=True)
            results.append(done)
        write(about, results, device)
        print(f"\n{table(about, results)}\nWritten to benchmarks/results/.")
    page.write()


def write(about: dict[str, str | int], results: Sequence[Result], device: str) -> None:
    """Write the results, for the results page and for chapter 12."""
    RESULTS.mkdir(exist_ok=True)
    name = machine.name(about)
    (RESULTS / f"{name}.md").write_text(table(about, results), encoding="utf-8")
    for file in (RESULTS / f"{name}.json", SPEED if device == "cpu" else SPEED_ON_GPU):
        file.write_text(record(about, results), encoding="utf-8")


if __name__ == "__main__":
    main()
