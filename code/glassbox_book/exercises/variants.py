"""Chapter 11: a gate, masked tokens, entities, and missing spans."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox.training.masking import IGNORE
from glassbox_book.exercises.exercise import Cases, Draw, Given, cases_of


def _swiglu(x: Tensor, W_g: Tensor, W_1: Tensor, W_2: Tensor, flaw: str) -> Tensor:
    gate, inner = x @ W_g, x @ W_1
    ways = {
        "no bend": gate * inner,
        "sigmoid": gate.sigmoid() * inner,
        "gelu": F.gelu(gate) * inner,
        "relu": gate.relu() * inner,
        "wrong map": gate * F.silu(inner),
        "both": F.silu(gate) * F.silu(inner),
        "after": F.silu(gate * inner),
        "added": F.silu(gate) + inner,
        "no gate": F.silu(inner),
        "no second map": F.silu(gate),
    }
    result = ways.get(flaw, F.silu(gate) * inner) @ W_2
    return x + result if flaw == "residual" else result


@cases_of(_swiglu, returns=("output",), gradients=True)
def _networks(draw: Draw) -> Cases:
    def case(about: str, *shape: int, d_ff: int, dtype: torch.dtype = torch.float32) -> Given:
        d = shape[-1]
        sizes = shape, (d, d_ff), (d, d_ff), (d_ff, d)
        return about, *(draw(*size).to(dtype) for size in sizes)

    yield case("three positions", 3, 4, d_ff=6)
    yield case("one vector without other axes", 4, d_ff=5)
    yield case("as wide inside as outside", 2, 4, d_ff=4)
    yield case("a batch of sequences", 2, 5, 6, d_ff=16)
    yield case("double precision", 3, 4, d_ff=6, dtype=torch.float64)
    yield case("a batch of one", 1, 4, d_ff=6)
    yield "large numbers", 100 * draw(2, 4), draw(4, 6), draw(4, 6), draw(6, 4)


def _apply_fates(
    token_ids: Tensor, chosen: Tensor, fates: Tensor, others: Tensor, mask_id: int, flaw: str
) -> tuple[Tensor, Tensor]:
    chosen = chosen.sort().values if flaw == "reading order" else chosen
    right, masks = token_ids[chosen], torch.full_like(chosen, mask_id)
    hidden, replaced = fates < 0.8, fates < 0.9
    ways = {
        "always": masks,
        "overwritten": torch.where(replaced, others, right),
        "exchanged": torch.where(hidden, masks, torch.where(replaced, right, others)),
    }
    seen = ways.get(flaw, torch.where(hidden, masks, torch.where(replaced, others, right)))
    inputs = token_ids.clone()
    inputs[chosen] = seen

    targets = {
        "only hidden": right.masked_fill(~hidden, IGNORE),
        "only changed": right.masked_fill(~replaced, IGNORE),
        "seen": seen,
    }
    labels = torch.full_like(token_ids, 0 if flaw == "zero" else IGNORE)
    labels[chosen] = targets.get(flaw, right)
    return inputs, token_ids.clone() if flaw == "everywhere" else labels


@cases_of(_apply_fates, returns=("inputs", "labels"))
def _texts(draw: Draw) -> Cases:
    def case(about: str, *lists: list[Any], mask_id: int = 4) -> Given:
        token_ids, chosen, _, others = map(torch.tensor, lists)
        fates = torch.tensor(lists[2], dtype=torch.float64)  # Python's own 0.8 and 0.9
        return about, token_ids, chosen, fates, others, mask_id

    short = [2, 17, 30, 51, 3]
    long = [2, 17, 0, 51, 8, 25, 9, 3]
    yield case("a token that becomes [MASK]", short, [2], [0.31], [25])
    yield case("a token that is replaced", short, [1], [0.84], [25])
    yield case("a token that stays", short, [3], [0.97], [25])
    yield case("each of the three", long, [3, 4, 6], [0.12, 0.88, 0.93], [11, 12, 13])
    yield case("not in reading order", long, [6, 2, 5], [0.93, 0.06, 0.85], [11, 12, 13])
    yield case("fates on the borders", long, [3, 4, 6], [0.79, 0.8, 0.9], [11, 12, 13])
    yield case("two replaced tokens", long, [4, 1], [0.85, 0.84], [12, 11])
    yield case("another [MASK]", short, [3, 1], [0.55, 0.02], [7, 9], mask_id=103)


# Scores --------------------------------------------------------------------------------------


def _score_blanks(logits: Tensor, labels: Tensor, flaw: str) -> tuple[float, float]:
    counted = {"everywhere": labels > -200, "zero": labels > 0}.get(flaw, labels != IGNORE)
    shown = labels.clamp(min=0)[..., None]
    logs = (logits if flaw == "logits" else logits.log_softmax(-1)).gather(-1, shown)[..., 0]
    right = (logits.argmax(-1) == shown[..., 0]).float()
    if flaw == "texts":
        means = [
            [x[row][counted[row]].mean() for row in range(len(x)) if counted[row].any()]
            for x in (logs, right)
        ]
        loss, accuracy = (torch.stack(each).mean().item() for each in means)
        return -loss, accuracy
    n = labels.numel() if flaw == "all" else int(counted.sum())
    loss, accuracy = ((x * counted).sum().item() / n for x in (-logs, right))
    flaws = {
        "sign": (-loss, accuracy),
        "mean first": (-logs[counted].exp().mean().log().item(), accuracy),
        "probability": (loss, logs[counted].exp().mean().item()),
        "accuracy of all": (loss, (right * counted).sum().item() / labels.numel()),
    }
    return flaws.get(flaw, (loss, accuracy))


@cases_of(_score_blanks, returns=("loss", "accuracy"))
def _guesses(draw: Draw) -> Cases:
    def case(about: str, labels: list[list[int]], known: float = 2.0, vocab_size: int = 6) -> Given:
        table = torch.tensor(labels)
        answers = F.one_hot(table.clamp(min=0), vocab_size)
        return about, draw(*table.shape, vocab_size) + known * answers, table

    no = IGNORE
    yield case("one text, one chosen token", [[no, no, 4, no]])
    yield case("two chosen tokens", [[no, 3, no, no, 5]], known=1.0)
    yield case("a token with the id 0", [[no, 0, no, 2, no]])
    yield case("two texts", [[no, 3, no, no, no], [1, no, 5, 2, no]], known=1.5)
    yield case("every token chosen", [[4, 1, 2], [3, 0, 5]], known=1.0)
    yield case("guesses that are mostly wrong", [[no, 1, 2, no], [3, no, no, no]], known=-1.0)
    yield "large logits", 100 * draw(1, 3, 6), torch.tensor([[no, 2, 4]])


def _entities(tags: Sequence[str], flaw: str) -> set[tuple[int, int, str]]:
    found = set()
    start, kind = 0, ""
    for place, tag in enumerate([*tags, *([] if flaw == "last" else ["O"])]):
        mark, _, named = tag.partition("-")
        joined = {"merged": named == kind, "another kind": mark == "I"}
        if kind and not joined.get(flaw, mark == "I" and named == kind):
            found.add((start, place, kind))
            kind = ""
        if named and not kind and (mark == "B" or flaw != "orphans"):
            start, kind = place, named
    return found


def _entity_f1(predicted: Sequence[str], expected: Sequence[str], flaw: str) -> float:
    ours, theirs = _entities(predicted, flaw), _entities(expected, flaw)
    # A name is its start, its end and its kind: what is compared of it.
    kept = {"kinds": slice(0, 2), "ends": slice(0, 3, 2)}.get(flaw, slice(0, 3))
    right = len({name[kept] for name in ours} & {name[kept] for name in theirs})
    given, there = len(ours), len(theirs)
    same = [a == b for a, b in zip(predicted, expected, strict=True)]
    if flaw == "words":
        right = sum(alike for alike, tag in zip(same, expected, strict=True) if tag != "O")
        given, there = (sum(tag != "O" for tag in tags) for tags in (predicted, expected))
    precision, recall = right / max(given, 1), right / max(there, 1)
    flaws = {
        "accuracy": sum(same) / len(same),
        "precision": precision,
        "recall": recall,
        "mean": (precision + recall) / 2,
    }
    return flaws.get(flaw, 2 * right / max(given + there, 1))


@cases_of(_entity_f1, returns=("score",))
def _sentences(draw: Draw) -> Cases:
    def case(about: str, predicted: str, expected: str) -> Given:
        full = {"P": "person", "L": "location", "W": "creative-work"}

        def tags(short: str) -> list[str]:
            return [tag if tag == "O" else f"{tag[0]}-{full[tag[1]]}" for tag in short.split()]

        return about, tags(predicted), tags(expected)

    yield case("two names, both found", "BP IP O O BL O", "BP IP O O BL O")
    yield case("half a name", "BP O O BL O", "BP IP O BL O")
    yield case("a name of the wrong kind", "O BP IP O BL O", "O BW IW O BL O")
    yield case("one of three found", "O BP O O O O O", "O BP O BL O BW IW")
    yield case("a name too many at the end", "BL O O BP IP", "BL O O O O")
    yield case("two people in a row", "BP IP O BL O", "BP BP O BL O")
    yield case("a name that begins with I-", "O IL IL O BP O", "O BL IL O BP O")
    yield case("a kind that changes within", "BP IL O O BP", "BP BL O O BP")
    yield case("a name too long", "BW IW IW O BP O", "BW IW O O BP O")
    yield case("no names", "O O O O", "O O O O")
    yield case("a name in the wrong place", "BP O O O", "O O BP O")
    yield case("one name, none found", "O O O", "O BP O")
    yield case("a name that begins with I- after an O", "BP O IP", "BP O BP")


def _corrupt_spans(
    token_ids: Tensor, spans: Tensor, marks: Tensor, flaw: str
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


@cases_of(_corrupt_spans, returns=("source", "target"))
def _damages(draw: Draw) -> Cases:
    def case(about: str, length: int, spans: list[list[int]], n_marks: int) -> Given:
        token_ids = (torch.arange(length) * 7) % 31 + 5
        marks = (torch.arange(n_marks) * 5) % 8 + 90
        return about, token_ids, torch.tensor(spans), marks

    yield case("one span of two tokens", 6, [[2, 4]], 2)
    yield case("the chapter's two spans", 10, [[2, 4], [8, 9]], 3)
    yield case("a span at the beginning", 7, [[0, 3], [5, 6]], 3)
    yield case("a span at the end", 8, [[1, 2], [5, 8]], 3)
    yield case("more marks than needed", 12, [[1, 4], [6, 8], [10, 11]], 8)
    yield case("nothing but a span", 3, [[0, 3]], 2)
    twice = torch.tensor([5, 6, 5, 7, 6, 8])
    yield "repeated tokens", twice, torch.tensor([[1, 3]]), torch.tensor([90, 95])
