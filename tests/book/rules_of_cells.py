"""What holds for the code cells of a chapter and for their outputs."""

import ast
import copy
import re
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

import nbformat

from glassbox_site import levels
from tests.book.chapter import Chapter, texts
from tools.notebooks import CHAPTERS, normalise

LONGEST, MEDIAN = 20, 6
MEGABYTE = 1_000_000
SHORTEST_ALT = 20
FEWEST_OPEN, MOST_OPEN = 0.25, 0.5
A_FEW_CELLS = 20
#: What tags say besides what a cell is (`glassbox_site.levels`).
TAGS = {"nbval-ignore-output", "raises-exception"}

#: A folder of somebody's machine, on Unix or Windows; an address in memory.
PATHS = re.compile(
    r"(?<![\w.:/~<-])/(?:Users|app|home|mnt|opt|private|root|srv|tmp|usr|var|work)/[\w.]"
    r"|\b[A-Z]:\\+\w"
    r"|(?i:\bat 0x[0-9a-f]{6,})"
)
REMOTE = re.compile(
    r"""\bsrc\s*=\s*["']?(?:https?:)?//|url\(\s*["']?(?:https?:)?//|@import""", re.I
)


def ran_in_order(chapter: Chapter) -> Iterator[str]:
    """Cells were executed from top to bottom in one go: nbval compares nothing in others."""
    counts = [cell.execution_count for cell in chapter.code]
    if not counts or counts != list(range(1, len(counts) + 1)):
        yield f"execution counts are {counts}, not 1 to {len(counts)}"


def shows_its_outputs(chapter: Chapter) -> Iterator[str]:
    """A cell that prints or ends in a value has kept what it showed."""
    for cell in chapter.code:
        kinds = {output.output_type for output in cell.outputs}
        if prints(cell.source) and "stream" not in kinds:
            yield f"cell {cell.id} prints, and its output is missing"
        if ends_in_value(cell.source) and not kinds & {"execute_result", "display_data"}:
            yield f"cell {cell.id} ends in a value, and its output is missing"
        if "figure" in cell.metadata.get("mystnb", {}) and not cell.outputs:
            yield f"cell {cell.id} has a caption, and its figure is missing"


def prints(source: str) -> bool:
    """Whether a cell calls `print` itself, outside any function it defines."""
    inside = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print":
            return True
        waiting.extend(n for n in ast.iter_child_nodes(node) if not isinstance(n, inside))
    return False


def ends_in_value(source: str) -> bool:
    """Whether the last line is a value for sure; a call may return nothing."""
    body = ast.parse(source).body
    if not body or not isinstance(body[-1], ast.Expr) or source.rstrip().endswith(";"):
        return False
    return not isinstance(body[-1].value, ast.Call)


def no_errors(chapter: Chapter) -> Iterator[str]:
    """Nothing failed, and nothing was written to the error stream."""
    for cell, output in chapter.outputs():
        allowed = "raises-exception" in cell.metadata.get("tags", [])
        if output.output_type == "error" and not allowed:
            yield f"cell {cell.id} failed with {output.ename}"
        if output.get("name") == "stderr":
            yield f"cell {cell.id} wrote to stderr: {output.text[:60]!r}"


def cells_are_short(chapter: Chapter) -> Iterator[str]:
    """At most 20 lines in a cell, and six in the median one."""
    lengths = {cell.id: len(cell.source.splitlines()) for cell in chapter.code}
    for name, length in lengths.items():
        if length > LONGEST:
            yield f"cell {name} has {length} lines, more than {LONGEST}"
    if lengths and median(lengths.values()) > MEDIAN:
        yield f"the median cell has {median(lengths.values())} lines, more than {MEDIAN}"


def tags_are_known(chapter: Chapter) -> Iterator[str]:
    """A tag says what a cell is, once, or how it is run."""
    for cell in chapter.code:
        tags = cell.metadata.get("tags", [])
        for tag in set(tags) - levels.KINDS - TAGS:
            known = sorted(levels.KINDS | TAGS)
            yield f"cell {cell.id} has the tag {tag!r}, which is none of {known}"
        if len(levels.KINDS.intersection(tags)) > 1:
            yield f"cell {cell.id} is said to be more than one thing: {tags}"


def the_ideas_stay_open(chapter: Chapter) -> Iterator[str]:
    """Of the cells before the summary between a quarter and a half are not folded."""
    kinds = []
    for cell in chapter.notebook.cells:
        if cell.cell_type == "code":
            kinds.append(levels.kind(cell.source, cell.metadata))
        elif re.search("^## Summary$", cell.source, re.MULTILINE):
            break
    share = kinds.count("idea") / max(1, len(kinds))
    if len(kinds) > A_FEW_CELLS and not FEWEST_OPEN <= share <= MOST_OPEN:
        yield (
            f"{share:.0%} of the cells stay open, not {FEWEST_OPEN:.0%} to {MOST_OPEN:.0%}: tag "
            "ideas with idea, others with what they are (glassbox_site/levels)"
        )


def open_cells_have_prose_between(chapter: Chapter) -> Iterator[str]:
    """Something is said between two cells whose code a reader sees."""
    for cell, following in pairwise(chapter.notebook.cells):
        both = [c for c in (cell, following) if c.cell_type == "code"]
        if [levels.kind(c.source, c.metadata) for c in both] == ["idea", "idea"]:
            yield f"cells {cell.id} and {following.id} are open, and nothing is said between them"


def one_output_each(chapter: Chapter) -> Iterator[str]:
    """A cell shows one thing."""
    for cell in chapter.code:
        if len(cell.outputs) > 1:
            yield f"cell {cell.id} has {len(cell.outputs)} outputs"


def figures_are_described(chapter: Chapter) -> Iterator[str]:
    """A drawn output has a label, a caption, and words for whoever cannot see it."""
    for cell, output in chapter.outputs():
        kinds = set(texts(output)) | set(output.get("data", {}))
        html = texts(output).get("text/html", "")
        picture = (
            any(kind.startswith("image/") for kind in kinds) or 'class="gb-cells gb-map' in html
        )
        frame = "<iframe" in html or 'class="gb-widget"' in html
        options = cell.metadata.get("mystnb", {})
        figure, alt = options.get("figure", {}), options.get("image", {}).get("alt", "")
        if picture or frame:
            if not str(figure.get("name", "")).startswith("fig-"):
                yield f"cell {cell.id}: its figure has no label that starts with fig-"
            if not str(figure.get("caption", "")).strip():
                yield f"cell {cell.id}: its figure has no caption"
        if picture and len(alt) < SHORTEST_ALT:
            yield f"cell {cell.id}: its figure has no alternative text"
        for tag in re.findall(r"<iframe\b[^>]*>|<img\b[^>]*>", html):
            wanted = "title" if tag.startswith("<iframe") else "alt"
            if not re.search(rf"""\b{wanted}\s*=\s*["'][^"']""", tag):
                yield f"cell {cell.id}: {tag[:40]} has no {wanted}"


def names_files_that_are_there(chapter: Chapter) -> Iterator[str]:
    """A file of the package that text or a caption names is where they say."""
    for cell in chapter.notebook.cells:
        caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "")
        for name in re.findall(r"\bglassbox\w*/[\w/]+\.\w+", cell.source + str(caption)):
            if not (CHAPTERS.parent / "code" / name).is_file():
                yield f"cell {cell.id} names {name}, which is not there"


def no_traces_of_a_machine(chapter: Chapter) -> Iterator[str]:
    """No path of somebody's disk and no address in memory, in sources or outputs."""
    for cell in chapter.notebook.cells:
        parts = [cell.source]
        parts += [text for o in cell.get("outputs", []) for text in texts(o).values()]
        for found in (PATHS.search(part) for part in parts):
            if found:
                place = found.string[max(0, found.start() - 10) : found.end() + 30]
                yield f"cell {cell.id} shows {place!r}"


def outputs_stay_on_the_site(chapter: Chapter) -> Iterator[str]:
    """No output loads anything from another host."""
    for cell, output in chapter.outputs():
        for kind, text in texts(output).items():
            if kind in ("text/html", "image/svg+xml") and REMOTE.search(text):
                yield f"cell {cell.id}: its {kind} output loads from another host"


def is_under_a_megabyte(chapter: Chapter) -> Iterator[str]:
    """A notebook with all its outputs is at most 1 MB."""
    size = len(nbformat.writes(chapter.notebook).encode())
    if size > MEGABYTE:
        yield f"the notebook has {size:,} bytes, more than {MEGABYTE:,}"


def is_in_normal_form(chapter: Chapter) -> Iterator[str]:
    """`make refresh` wrote it: nothing in it is of one run or one frontend."""
    if nbformat.writes(normalise(copy.deepcopy(chapter.notebook))) != nbformat.writes(
        chapter.notebook
    ):
        yield "the notebook carries what differs from run to run; make refresh removes it"


RULES = (
    ran_in_order,
    shows_its_outputs,
    no_errors,
    cells_are_short,
    tags_are_known,
    the_ideas_stay_open,
    open_cells_have_prose_between,
    one_output_each,
    figures_are_described,
    names_files_that_are_there,
    no_traces_of_a_machine,
    outputs_stay_on_the_site,
    is_under_a_megabyte,
    is_in_normal_form,
)
