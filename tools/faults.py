"""Mutation testing: seed random faults, one at a time, and count those that the tests catch.

    python -m tools.faults [--number 200] [--seed 1] [--jobs 2]

A fault is one wrong operator, comparison, constant, sign or condition in `glassbox`. All tests run
once, to record which functions each enters and how long it takes. Then, for each fault, the tests
that enter its function run, quickest first, and then the others in their files, until one fails. A
fault with which all of them pass has survived, and is listed.
"""

import argparse
import ast
import json
import math
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 240  # a fault that makes a test take longer is caught too

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


#: What each test took, in seconds, and the functions that it entered, by path and first line.
Seen = dict[str, tuple[float, list[tuple[str, int]]]]


@dataclass(frozen=True)
class Fault:
    """A piece of source, and the wrong one that replaces it."""

    path: str
    line: int
    start: int  # in the file's text
    end: int
    was: str
    wrong: str


def parts(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes except annotations and the pieces of f-strings."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
                yield node
                yield from parts(node)


def wrong_forms(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the ways in which a node can be wrong."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        if isinstance(node, ast.BinOp) and any(
            isinstance(side, ast.Constant | ast.JoinedStr)
            and not isinstance(getattr(side, "value", ""), int | float)
            for side in (node.left, node.right)
        ):
            return  # text, and types such as int | None
        yield _with(node, op=SWAPS[type(node.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield _with(node, ops=[SWAPS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1 if isinstance(node.value, int) else node.value * 2 + 0.1)
    elif isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(
        node.test, ast.Compare
    ):
        yield ast.UnaryOp(ast.Not(), node.test)


def _with(node: ast.AST, **changes: object) -> ast.AST:
    return type(node)(**(dict(ast.iter_fields(node)) | changes))


def faults_of(path: Path, root: Path) -> list[Fault]:
    """Return every fault that can be seeded into a module."""
    text = path.read_text(encoding="utf-8")
    lines = [0]
    for line in text.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found = []
    for node in parts(ast.parse(text)):
        for wrong in wrong_forms(node):
            place = node.test if isinstance(node, ast.If | ast.IfExp | ast.While) else node
            start = lines[place.lineno - 1] + place.col_offset  # type: ignore[attr-defined]
            end = lines[place.end_lineno - 1] + place.end_col_offset  # type: ignore[attr-defined]
            was = text.encode()[start:end].decode()
            name = path.relative_to(root).as_posix()
            new = f"({ast.unparse(ast.fix_missing_locations(wrong))})"
            found.append(Fault(name, place.lineno, start, end, was, new))  # type: ignore[attr-defined]
    return found


def seeded(faults: list[Fault], text: bytes) -> bytes:
    """Return a module's source with these faults, none of which overlap."""
    for fault in sorted(faults, key=lambda fault: -fault.start):
        text = text[: fault.start] + fault.wrong.encode() + text[fault.end :]
    return text


#: A pytest plugin that records which functions of the package each test enters.
WATCH = """
import json, os, sys, time
import pytest
seen, entered = {}, set()
root = os.getcwd()  # a test may go elsewhere
place = os.path.join(root, "code", "glassbox")

def trace(frame, event, argument):
    code = frame.f_code
    if code.co_filename.startswith(place):
        entered.add((code.co_filename[len(root) + 1:], code.co_firstlineno))

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    entered.clear()
    start = time.process_time()
    sys.settrace(trace)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        seen[item.nodeid] = time.process_time() - start, sorted(entered)

def pytest_sessionfinish():
    with open("seen.json", "w") as file:
        json.dump(seen, file)
"""


def function_at(path: str, line: int) -> tuple[int, int, int] | None:
    """Return the first line, the body's first line and the last line of the innermost function."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    found = None
    for node in ast.walk(tree):  # outer functions come first
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            last = node.end_lineno or node.lineno
            if node.lineno <= line <= last:
                body = node.body[0] if isinstance(node, ast.FunctionDef) else node.body
                found = node.lineno, body.lineno, last
    return found


def importers(path: str) -> set[str]:
    """Return the paths of the modules that import names from this one."""
    name = path.removeprefix("code/").removesuffix(".py").replace("/", ".")
    modules = (ROOT / "code" / "glassbox").rglob("*.py")
    found = (file for file in modules if f"from {name} import" in file.read_text("utf-8"))
    return {file.relative_to(ROOT).as_posix() for file in found}


def meeting(fault: Fault, seen: Seen) -> list[str]:
    """Return the tests for a fault: those that enter its function or module, quickest first.

    They are followed by the others in the same files, which may have used another test's result
    from a cache or a fixture. For code outside of functions, the list of defaults comes first, and
    the modules that import from this one count as it does.
    """
    span = function_at(fault.path, fault.line)
    paths = {fault.path} if span else {fault.path, *importers(fault.path)}

    def enters(path: str, first: int) -> bool:
        # A function begins at its first decorator.
        return path in paths and (span is None or span[0] - 3 <= first <= span[2])

    direct = {test for test, (_, places) in seen.items() if any(enters(*p) for p in places)}
    files = {test.partition("::")[0] for test in direct}
    beside = {test for test in seen if test.partition("::")[0] in files} - direct
    outside = span is None or fault.line < span[1]
    listed = [test for test in seen if outside and test.startswith("tests/test_defaults.py")]
    return listed + [
        t for tests in (direct, beside) for t in sorted(tests, key=lambda t: seen[t][0])
    ]


WORKER = """
import os, sys, json, signal, traceback
sys.path[:0] = json.loads(sys.argv[1])
os.environ["OMP_NUM_THREADS"] = "1"
import torch, torch.distributed, transformers, tokenizers, sacrebleu, matplotlib, safetensors.torch
import transformers.models.bert.modeling_bert, pytest, hypothesis, nbformat, playwright.sync_api
torch.set_num_threads(1)
for line in sys.stdin:
    tree, out, arguments, seconds = json.loads(line)
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        os.chdir(tree)
        sys.path[:] = [tree, tree + "/code", *sys.path]
        os.environ["PYTHONPATH"] = tree + "/code:" + tree
        log = os.open(out, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(log, 1), os.dup2(log, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        code = 99
        try:
            code = int(pytest.main(arguments))
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
    signal.alarm(seconds)
    _, status = os.waitpid(child, 0)
    signal.alarm(0)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


class Bench:
    """A copy of the tree to seed faults in, and a process that runs tests on it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="faults-"))
        self.tree = self.folder / "tree"
        tracked = subprocess.run(
            ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for name in tracked:
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.tree / name)
        (self.tree / ".venv").symlink_to(Path(sys.executable).parent.parent)
        self.log = self.folder / "log"
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, json.dumps([str(self.tree)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self.tree,
            text=True,
        )

    def run(
        self, faults: list[Fault], arguments: list[str], seconds: int = SECONDS
    ) -> tuple[int, str]:
        """Run tests with these faults; return pytest's status and what it printed."""
        paths = {fault.path for fault in faults}
        for path in paths:
            ours = [fault for fault in faults if fault.path == path]
            (self.tree / path).write_bytes(seeded(ours, (ROOT / path).read_bytes()))
        asked = json.dumps([str(self.tree), str(self.log), arguments, seconds])
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(asked + "\n")
        self.process.stdin.flush()
        status = int(self.process.stdout.readline())
        for path in paths:
            shutil.copy(ROOT / path, self.tree / path)
        return status, self.log.read_text(errors="replace")

    def close(self) -> None:
        """End the process and remove the copy."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder)


OPTIONS = [
    *("-q", "-p", "no:cacheprovider", "--tb=line"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
]


def watch(bench: Bench, marks: str) -> Seen:
    """Run all tests; return how long each took, and the functions that it entered."""
    (bench.tree / "watch.py").write_text(WATCH)
    everything = ["tests", "--ignore=tests/site", "--ignore=tests/book", "-m", marks]
    _, log = bench.run([], ["-p", "watch", *OPTIONS, *everything], seconds=7200)
    print(log.splitlines()[-1], flush=True)
    return json.loads((bench.tree / "seen.json").read_text())


def batches(fault: Fault, seen: Seen, most: float) -> Iterator[list[str]]:
    """Yield the tests for a fault in growing batches, up to this many seconds."""
    batch: list[str] = []
    spent, enough = 0.0, 5
    for test in meeting(fault, seen):
        batch.append(test)
        spent += seen[test][0]
        if spent >= enough:
            yield batch
            most -= spent
            if most < 0:
                return
            batch, spent, enough = [], 0.0, 2 * enough
    if batch:
        yield batch


def look(bench: Bench, fault: Fault, seen: Seen, most: float) -> str:
    """Return the test that catches a fault, if any."""
    for batch in batches(fault, seen, most):
        arguments = ["-x", *OPTIONS, *batch]
        status, log = bench.run([fault], arguments)
        found = re.findall(r"^(?:FAILED|ERROR) (\S+)", log, re.MULTILINE)
        # A status without a failed test counts only if the same tests pass without the fault.
        if found or (status != 0 and bench.run([], arguments)[0] == 0):
            return found[0] if found else f"status {status}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--marks", default="not browser", help="tests to use, as pytest's -m")
    parser.add_argument("--seen", type=Path, help="where to keep what each test enters")
    parser.add_argument("--out", type=Path, default=Path("faults.json"))
    parser.add_argument("--again", type=Path, help="survivors of another run, in place of new ones")
    parser.add_argument("--most", type=float, default=math.inf, help="seconds of tests a fault")
    given = parser.parse_args()
    package = ROOT / "code" / "glassbox"
    modules = sorted(package.rglob("*.py"))
    every = [fault for path in modules for fault in faults_of(path, ROOT)]
    if given.again:
        chosen = [Fault(**fault) for fault in json.loads(given.again.read_text())]
    else:
        chosen = random.Random(given.seed).sample(every, given.number)
    print(f"{len(chosen)} of {len(every)} faults in {len(modules)} modules", flush=True)
    with ExitStack() as stack:
        benches = [stack.enter_context(closing(Bench())) for _ in range(given.jobs)]
        survivors = survive(chosen, benches, given)
    print(f"caught: {len(chosen) - len(survivors)} of {len(chosen)}")
    given.out.write_text(json.dumps([asdict(fault) for fault in survivors], indent=1))


def survive(chosen: list[Fault], benches: list[Bench], given: argparse.Namespace) -> list[Fault]:
    """Seed the faults on all benches at once, and return those that no test catches."""
    if given.seen and given.seen.is_file():
        seen = json.loads(given.seen.read_text())
    else:
        seen = watch(benches[0], given.marks)
        if given.seen:
            given.seen.write_text(json.dumps(seen))
    caught: dict[int, str] = {}
    start = time.perf_counter()

    def work(job: int) -> None:
        for number in range(job, len(chosen), given.jobs):
            fault = chosen[number]
            caught[number] = look(benches[job], fault, seen, given.most)
            took = time.perf_counter() - start
            verdict = caught[number] or "NOT CAUGHT"
            print(
                f"{number:3} {took:5.0f} s {fault.path}:{fault.line} {fault.was!r} -> "
                f"{fault.wrong!r}: {verdict}",
                flush=True,
            )

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(work, range(given.jobs)))
    return [fault for number, fault in enumerate(chosen) if not caught[number]]


if __name__ == "__main__":
    main()
