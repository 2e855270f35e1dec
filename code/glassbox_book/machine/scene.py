"""What the page shows before anything is loaded: one sentence, computed by the package."""

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from glassbox.attention import scaled_dot_product
from glassbox.generation import choice
from glassbox.translation import Translator
from glassbox_book.machine.assets import MODEL, model_files, size, version
from glassbox_book.outputs import read
from glassbox_book.templates import fill
from glassbox_book.viz.tokens import visible

SENTENCE, LANGUAGE = "time flies like an arrow", "fr"
#: The attention map that is shown large, and its open cell: where the arrow was written.
LARGE, HEAD, CELL = "decoder.layers.2.cross_attention", 7, (5, 7)
#: Number of next tokens shown.
N_BARS = 8
#: Number of ink levels of a small map.
LEVELS = 10
SCENE_FILE = "first.safetensors"
STACKS = {"encoder": ["self_attention"], "decoder": ["self_attention", "cross_attention"]}


#: What to look for in which script and in which module or function, for each step of a cell.
_CODE: dict[str, tuple[str, str, Any, str]] = {
    "score": ("attention", "dot(q, k) * scale", scaled_dot_product, "return query @ key"),
    "scale": ("attention", "const scale =", scaled_dot_product, "scale = 1 /"),
    "weight": ("attention", "const powers =", scaled_dot_product, "return scores.softmax"),
    "choice": ("generation", "if (logits[id] > logits[best])", choice, "return logits.argmax"),
}


@dataclass(frozen=True)
class Piece:
    """A part of the machine for a chapter.

    Attributes
    ----------
    sections : tuple of str
        The sections of the page that it contains.
    maps : tuple of str
        The attentions whose maps it shows; all if empty.
    title : str
        The title above the maps.
    large : str
        The attention of the map that is shown large.
    head : int
        The head of that map.
    cell : tuple of int
        The open cell of that map.
    """

    sections: tuple[str, ...]
    maps: tuple[str, ...] = ()
    title: str = "The machine, with its 72 maps"
    large: str = LARGE
    head: int = HEAD
    cell: tuple[int, int] = CELL


#: The pieces by name; the whole machine has no name.
PIECES = {
    "": Piece(("flow", "step", "plan", "large", "cell")),
    "tokens": Piece(("flow",)),
    "head": Piece(
        ("plan", "large", "cell"),
        ("encoder.layers.0.self_attention",),
        "The eight maps of the encoder's first layer",
        "encoder.layers.0.self_attention",
        0,
        (1, 2),
    ),
    "heads-off": Piece(("flow", "plan")),
    "memory": Piece(
        ("flow", "step", "plan", "large"),
        ("decoder.layers.2.self_attention", "decoder.layers.2.cross_attention"),
        "The third layer of the decoder: its own past, and the memory",
        "decoder.layers.2.self_attention",
        0,
        (8, 8),
    ),
    "next-token": Piece(("flow", "step")),
}


class Scene:
    """The sentence as the translator reads and writes it, greedily.

    Attributes
    ----------
    source, target : list of str
        The tokens as a page shows them.
    source_ids, target_ids : list of int
        Their ids.
    text : str
        The translation.
    probabilities : Tensor
        ``(target_len, vocab)``: the next token's probabilities at every step.
    tape : Tape
        The record of all attentions.
    """

    def __init__(self) -> None:
        translator = Translator.from_pretrained(MODEL)
        self.tokenizer = tokenizer = translator.tokenizer
        (best,) = translator.alternatives(SENTENCE, LANGUAGE, n=1, n_beams=1)
        self.source_ids = tokenizer.encode_source(SENTENCE, LANGUAGE)
        self.target_ids = [tokenizer.bpe.token_id(token) for token in best.tokens]
        before = [tokenizer.bos_id, *self.target_ids[:-1]]
        self.tape, logits = translator.reread(self.source_ids, before)
        self.probabilities = logits.softmax(-1)
        self.text = best.text
        self.source = [visible(tokenizer.piece(token)) for token in self.source_ids]
        self.target = [visible(tokenizer.piece(token)) for token in self.target_ids]

    def rows(self, name: str) -> list[str]:
        """Return the tokens of a map's rows, the queries."""
        return self.source if name.startswith("encoder") else ["<s>", *self.target[:-1]]

    def columns(self, name: str) -> list[str]:
        """Return the tokens of a map's columns, the keys."""
        return self.source if "cross" in name else self.rows(name)

    def likely(self, step: int) -> list[tuple[int, str, float]]:
        """Return the id, text and probability of the most probable tokens of a step."""
        return likely(self.probabilities[step], lambda token: visible(self.tokenizer.piece(token)))


def likely(probabilities: Tensor, text: Callable[[int], str]) -> list[tuple[int, str, float]]:
    """Return the id, text and probability of the most probable tokens.

    Parameters
    ----------
    probabilities : Tensor
        ``(vocab,)``.
    text : callable
        Returns a token as a page shows it.

    Returns
    -------
    list of tuple
        The most probable first.
    """
    values, tokens = (found.tolist() for found in probabilities.topk(N_BARS))
    return [(token, text(token), value) for token, value in zip(tokens, values, strict=True)]


@cache
def first_scene() -> Scene:
    """Return the sentence of the page, computed once."""
    return Scene()


def scene_file(scene: Scene) -> bytes:
    """Return the queries and keys of all attentions, which determine all maps, as safetensors."""
    tensors: dict[str, Tensor] = {}
    for name, attention in scene.tape.items():
        for kind in ("query", "key"):
            rows = getattr(attention, kind)[0].flatten(0, 1)  # (heads * length, d_k)
            tensors[f"{name}/{kind}"] = rows.clone(memory_format=torch.contiguous_format)
    return save(tensors)


def _small_map(weights: Sequence[Sequence[float]]) -> str:
    """Draw a map as one path for each ink level; ``draw.js`` does the same."""
    paths = [""] * (LEVELS + 1)
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            paths[int(weight * LEVELS + 0.5)] += f"M{j} {i}h1v1h-1z"
    width, height = max(map(len, weights)), len(weights)
    drawn = "".join(
        f'<path style="--v:{level / LEVELS:g}" d="{path}"/>'
        for level, path in enumerate(paths)
        if level and path
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" aria-hidden="true">'
        f"{drawn}</svg>"
    )


def _line_of(source: str, needle: str) -> str:
    """Return the only line of a source that contains ``needle``.

    Raises
    ------
    ValueError
        If there is none, or more than one.
    """
    found = [line.strip() for line in source.splitlines() if needle in line]
    if len(found) != 1:
        raise ValueError(f"{len(found)} lines hold {needle!r}; expected one")
    return found[0]


def _lines() -> dict[str, tuple[str, str]]:
    """Return the lines that compute each step of a cell, in JavaScript and in Python."""
    return {
        step: (_line_of(read(f"machine/page/{file}.js"), js), _line_of(inspect.getsource(of), py))
        for step, (file, js, of, py) in _CODE.items()
    }


def _title(name: str) -> str:
    stack, _, layer, kind = name.split(".")
    return f"{stack.capitalize()}, layer {layer}, {kind.replace('_', '-')}"


def _steps(scene: Scene) -> dict[str, object]:
    """Return what a script needs to step through the sentence before anything is loaded."""
    names = ("id", "piece", "probability")
    steps = map(scene.likely, range(len(scene.target)))
    likely = [[dict(zip(names, token, strict=True)) for token in step] for step in steps]
    return {
        "sentence": SENTENCE,
        "source": scene.source,
        "sourceIds": scene.source_ids,
        "target": scene.target,
        "targetIds": scene.target_ids,
        "text": scene.text,
        "to": LANGUAGE,
        "likely": likely,
    }


def _tone(weight: float) -> str:
    """Return how dark a cell is, for a text colour that is legible in light and dark themes."""
    return "low" if weight < 0.53 else "middle" if weight < 0.72 else "high"


def html(name: str = "") -> str:
    """Return the HTML of the machine in its initial state, without a script.

    Parameters
    ----------
    name : str, optional
        The name of a piece. Defaults to the whole machine.

    Returns
    -------
    str
        HTML, which ``machine.js`` makes interactive.

    Raises
    ------
    ValueError
        If there is no such piece.
    """
    if name not in PIECES:
        known = ", ".join(filter(None, PIECES))
        raise ValueError(f"the machine has no piece {name!r}; it has {known}")
    scene, piece = first_scene(), PIECES[name]
    tokenizer = sum(file.stat().st_size for file in model_files()[:-1])
    attention, (i, j) = scene.tape[piece.large], piece.cell
    return fill(
        "machine/page/machine.html",
        name=name,
        scene=scene,
        piece=piece,
        sentence=SENTENCE,
        to=LANGUAGE,
        stacks=STACKS,
        lines=_lines(),
        steps=json.dumps(_steps(scene)).replace("<", r"\u003c"),
        step=len(scene.target) - 1 if name == "memory" else 0,
        size=tokenizer if name == "tokens" else size(),
        version=version(),
        large=attention.weights[0, piece.head].tolist(),
        query=attention.query[0, piece.head, i],
        key=attention.key[0, piece.head, j],
        scores=attention.scores[0, piece.head, i],
        title=_title,
        small_map=_small_map,
        tone=_tone,
    )
