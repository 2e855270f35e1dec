"""A text with spans missing, and the text that restores them, as T5 learns it."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _corrupt_spans(
    token_ids: Tensor, spans: Tensor, marks: Tensor, flaw: str = ""
) -> tuple[Tensor, Tensor]:
    ids, numbered = token_ids.tolist(), marks.tolist()
    source: list[int] = []
    target: list[int] = []
    done = 0
    for number, (start, end) in enumerate(spans.tolist()):
        mark = numbered[0 if flaw == "one mark" else number]
        end += flaw == "end included"
        missing = ids[start:end]
        source += ids[done:start] + [mark] * (len(missing) if flaw == "each token" else 1)
        source += missing if flaw == "kept" else []
        written = {"mark after": [*missing, mark], "no marks": missing}
        target += written.get(flaw, [mark, *missing])
        done = end
    source += [] if flaw == "no rest" else ids[done:]
    if flaw == "shifted":
        source = list(ids)
        for mark, (start, end) in zip(numbered, spans.tolist(), strict=False):
            source[start:end] = [mark]
    closing = {"no last mark": [], "last of all": numbered[-1:]}
    target += closing.get(flaw, [numbered[len(spans)]])
    return torch.tensor(source), torch.tensor(ids if flaw == "whole text" else target)


def _damages(draw: Draw) -> Iterator[Case]:
    def case(about: str, length: int, spans: list[list[int]], n_marks: int) -> Case:
        return Case(
            about,
            token_ids=(torch.arange(length) * 7) % 31 + 5,
            spans=torch.tensor(spans),
            marks=99 - torch.arange(n_marks),
        )

    yield case("one span of two tokens", 6, [[2, 4]], 2)
    yield case("the chapter's two spans", 10, [[2, 4], [8, 9]], 3)
    yield case("a span at the beginning", 7, [[0, 3], [5, 6]], 3)
    yield case("a span at the end", 8, [[1, 2], [5, 8]], 3)
    yield case("more marks than needed", 12, [[1, 4], [6, 8], [10, 11]], 8)
    yield case("nothing but a span", 3, [[0, 3]], 2)


corrupt_spans = Exercise(
    "variants.corrupt_spans", _corrupt_spans, _damages, returns=("source", "target")
)
