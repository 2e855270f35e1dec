"""How many of the names in a sentence were found: F1 of entities."""

from collections.abc import Iterator, Sequence

from glassbox_book.exercises.exercise import Case, Draw, Exercise


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


def _entity_f1(predicted: Sequence[str], expected: Sequence[str], flaw: str = "") -> float:
    ours, theirs = _entities(predicted, flaw), _entities(expected, flaw)
    right = len(ours & theirs)
    if flaw == "kinds":
        right = len({name[:2] for name in ours} & {name[:2] for name in theirs})
    if flaw == "ends":
        right = len({(start, kind) for start, _, kind in ours} & {(s, k) for s, _, k in theirs})
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


def _sentences(draw: Draw) -> Iterator[Case]:
    def case(about: str, predicted: str, expected: str) -> Case:
        full = {"P": "person", "L": "location", "W": "creative-work"}

        def tags(short: str) -> list[str]:
            return [tag if tag == "O" else f"{tag[0]}-{full[tag[1]]}" for tag in short.split()]

        return Case(about, predicted=tags(predicted), expected=tags(expected))

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


entity_f1 = Exercise("variants.entity_f1", _entity_f1, _sentences, returns=("score",))
