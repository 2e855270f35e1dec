"""What the page shows before anything is loaded: one sentence, worked out by the package."""

import inspect
import json
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from glassbox.attention import scaled_dot_product
from glassbox.generation import choice
from glassbox.looking.record import Tape, record
from glassbox.modes import evaluating
from glassbox.translation import Translator
from glassbox_book.machine.assets import MODEL, page_file, size, version
from glassbox_book.viz.tokens import visible

SENTENCE, LANGUAGE = "time flies like an arrow", "fr"
#: The map that is shown large, and its cell that is opened: where the arrow was written.
LARGE, HEAD, CELL = "decoder.layers.2.cross_attention", 7, (5, 7)
#: How many next tokens are shown.
N_BARS = 8
#: Steps in which the ink of a small map is given.
LEVELS = 10
SCENE_FILE = "first.safetensors"
STACKS = {"encoder": ["self_attention"], "decoder": ["self_attention", "cross_attention"]}
KINDS = {"self_attention": "self-attention", "cross_attention": "cross-attention"}


class Scene:
    """The sentence as the translator reads and writes it, greedily.

    Attributes
    ----------
    source, target : list of str
        The tokens, as a page shows them.
    text : str
        The translation.
    probabilities : Tensor
        ``(target_len, vocab)``: of the next token, at every step.
    tape : Tape
        All attentions.
    """

    def __init__(self) -> None:
        translator = Translator.from_pretrained(MODEL)
        self.tokenizer = tokenizer = translator.tokenizer
        (best,) = translator.alternatives(SENTENCE, LANGUAGE, n=1, n_beams=1)
        source = tokenizer.encode_source(SENTENCE, LANGUAGE)
        self.target_ids = [tokenizer.bpe.token_id(token) for token in best.tokens]
        before = [tokenizer.bos_id, *self.target_ids[:-1]]
        model = translator.model
        with evaluating(model), torch.inference_mode(), record(model) as tape:
            logits = model(torch.tensor([source]), torch.tensor([before]))[0]
        self.tape: Tape = tape
        self.probabilities = logits.softmax(-1)
        self.text = best.text
        self.source = [visible(tokenizer.piece(token)) for token in source]
        self.target = [visible(tokenizer.piece(token)) for token in self.target_ids]

    def rows(self, name: str) -> list[str]:
        """Return the tokens at the rows of a map: those that ask."""
        return self.source if name.startswith("encoder") else ["<s>", *self.target[:-1]]

    def columns(self, name: str) -> list[str]:
        """Return the tokens at the columns of a map: those that are asked."""
        return self.source if "cross" in name else self.rows(name)

    def likely(self, step: int) -> list[tuple[int, str, float]]:
        """Return the most probable tokens of a step: id, text, probability."""
        top = self.probabilities[step].topk(N_BARS)
        return [
            (token, visible(self.tokenizer.piece(token)), probability)
            for token, probability in zip(top.indices.tolist(), top.values.tolist(), strict=True)
        ]


@cache
def first_scene() -> Scene:
    """Return the sentence of the page, worked out once."""
    return Scene()


def scene_file(scene: Scene) -> bytes:
    """Return the queries and keys of all attentions, as safetensors: all maps follow from them."""
    tensors: dict[str, Tensor] = {}
    for name, attention in scene.tape.items():
        for kind in ("query", "key"):
            rows = getattr(attention, kind)[0].flatten(0, 1)  # (heads * length, d_k)
            tensors[f"{name}/{kind}"] = rows.clone(memory_format=torch.contiguous_format)
    return save(tensors)


def write_scene(folder: str | Path) -> None:
    """Write :func:`scene_file` into ``folder``.

    Parameters
    ----------
    folder : str or path
        Where the scripts are.
    """
    (Path(folder) / SCENE_FILE).write_bytes(scene_file(first_scene()))


def _small_map(weights: Sequence[Sequence[float]]) -> str:
    """Draw a map as one path for each step of ink; ``draw.js`` does the same."""
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
    """Return the line of a source that holds ``needle``.

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
    """The lines that compute each step of a cell, in JavaScript and in Python."""
    python = inspect.getsource(scaled_dot_product)
    attention = page_file("attention.js")
    return {
        "score": (
            _line_of(attention, "dot(q, k) * scale"),
            _line_of(python, "return query @ key"),
        ),
        "scale": (_line_of(attention, "const scale ="), _line_of(python, "scale = 1 /")),
        "weight": (
            _line_of(attention, "const powers ="),
            _line_of(python, "return scores.softmax"),
        ),
        "choice": (
            _line_of(page_file("generation.js"), "if (logits[id] > logits[best])"),
            _line_of(inspect.getsource(choice), "return logits.argmax"),
        ),
    }


def _code(step: str) -> str:
    javascript, python = _lines()[step]
    return (
        '<dl class="gb-m-code">'
        f"<div><dt>JavaScript</dt><dd><code>{escape(javascript)}</code></dd></div>"
        f"<div><dt>Python</dt><dd><code>{escape(python)}</code></dd></div></dl>"
    )


def _title(name: str) -> str:
    stack, _, layer, kind = name.split(".")
    return f"{stack.capitalize()}, layer {int(layer) + 1}, {KINDS[kind]}"


def _tokens(tokens: Iterable[str], kind: str) -> str:
    return "".join(f"<li><{kind}>{escape(token)}</{kind}></li>" for token in tokens)


def _stack(scene: Scene, stack: str) -> str:
    parts = []
    n_layers = len([name for name in scene.tape if name.startswith(f"{stack}.")])
    for layer in range(n_layers // len(STACKS[stack])):
        boxes = "".join(
            _attention(scene, f"{stack}.layers.{layer}.{kind}") for kind in STACKS[stack]
        )
        parts.append(
            f'<li class="gb-m-layer"><p>Layer {layer + 1}</p>{boxes}'
            '<p class="gb-m-part gb-m-feed-forward">feed-forward</p></li>'
        )
    return "".join(parts)


def _attention(scene: Scene, name: str) -> str:
    kind = name.rsplit(".", 1)[1]
    maps = "".join(
        f'<button type="button" data-name="{name}" data-head="{head}" tabindex="-1"'
        f' aria-label="{_title(name)}, head {head + 1}"'
        f' aria-pressed="{str((name, head) == (LARGE, HEAD)).lower()}">'
        f"{_small_map(weights)}</button>"
        for head, weights in enumerate(scene.tape[name].weights[0].tolist())
    )
    return (
        f'<div class="gb-m-part gb-m-attention"><span>{KINDS[kind]}</span>'
        f'<div class="gb-m-minis">{maps}</div></div>'
    )


def _bars(scene: Scene, step: int) -> str:
    return "".join(
        f'<li><button type="button" data-id="{token}" style="--v:{probability:.4f}"'
        f' aria-pressed="{str(token == scene.target_ids[step]).lower()}">'
        f"<b>{escape(piece)}</b><i></i><span>{probability:.3f}</span></button></li>"
        for token, piece, probability in scene.likely(step)
    )


def _steps(scene: Scene) -> dict[str, object]:
    """What a script needs to step through the sentence before anything is loaded."""
    likely = [
        [dict(zip(("id", "piece", "probability"), one, strict=True)) for one in scene.likely(step)]
        for step in range(len(scene.target))
    ]
    return {"targetIds": scene.target_ids, "to": LANGUAGE, "likely": likely}


def _large(scene: Scene) -> str:
    weights = scene.tape[LARGE].weights[0, HEAD].tolist()
    head = "".join(f'<th scope="col">{escape(token)}</th>' for token in scene.columns(LARGE))
    body = "".join(
        f'<tr><th scope="row">{escape(token)}</th>'
        + "".join(
            f'<td style="--v:{weight:.4f}" data-tone="{_tone(weight)}"'
            f"{' data-chosen' if (i, j) == CELL else ''}>"
            f'<button type="button" tabindex="-1">{weight:.2f}</button></td>'
            for j, weight in enumerate(row)
        )
        + "</tr>"
        for i, (token, row) in enumerate(zip(scene.rows(LARGE), weights, strict=True))
    )
    return f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody>"


def _tone(weight: float) -> str:
    """Say how dark a cell is: what is written on it has to stand out, in light and in dark."""
    return "low" if weight < 0.53 else "middle" if weight < 0.7 else "high"


def _strip(numbers: Sequence[float]) -> str:
    return "".join(f'<i style="--s:{number:.3f}"></i>' for number in numbers)


def _cell(scene: Scene) -> dict[str, str]:
    """The slots of the opened cell, by their names."""
    (i, j), attention = CELL, scene.tape[LARGE]
    query, key = attention.query[0, HEAD, i], attention.key[0, HEAD, j]
    scores, weight = attention.scores[0, HEAD, i], attention.weights[0, HEAD, i, j].item()
    return {
        "asks": escape(scene.rows(LARGE)[i]),
        "asked": escape(scene.columns(LARGE)[j]),
        "query": _strip(query.tolist()),
        "key": _strip(key.tolist()),
        "products": _strip((query * key).tolist()),
        "dot": f"{query.dot(key).item():.3f}",
        "score": f"{scores[j].item():.3f}",
        "power": f"{scores[j].exp().item():.3f}",
        "total": f"{scores.exp().sum().item():.3f}",
        "weight": f"{weight:.4f}",
    }


def html(scene: Scene | None = None) -> str:
    """Return the machine as it stands in its page, in its first state and without a script.

    Parameters
    ----------
    scene : Scene, optional
        The first state; the sentence of the page if left out.

    Returns
    -------
    str
        HTML, which ``machine.js`` makes alive.

    Raises
    ------
    ValueError
        If the template has a slot that nothing fills.
    """
    scene = first_scene() if scene is None else scene
    template = page_file("machine.html")
    slots = {
        "sentence": escape(SENTENCE),
        "translation": escape(scene.text),
        "source": _tokens(scene.source, "span"),
        "target": _tokens(scene.target, 'button type="button" tabindex="-1"').replace(
            '</button type="button" tabindex="-1">', "</button>"
        ),
        "encoder": _stack(scene, "encoder"),
        "decoder": _stack(scene, "decoder"),
        "bars": _bars(scene, 0),
        "step": "1",
        "steps": str(len(scene.target)),
        "row": escape(scene.rows(LARGE)[0]),
        "first": json.dumps(_steps(scene)).replace("<", r"\u003c"),
        "large-title": f"{_title(LARGE)}, head {HEAD + 1}",
        "large": _large(scene),
        "megabytes": f"{size() / 1e6:.0f}",
        "size": str(size()),
        "version": version(),
        "large-name": LARGE,
        "large-head": str(HEAD),
        "cell": f"{CELL[0]} {CELL[1]}",
        **{f"code-{step}": _code(step) for step in ("score", "scale", "weight", "choice")},
        **_cell(scene),
    }
    for name, content in slots.items():
        template = template.replace("{{ " + name + " }}", content)
    if "{{" in template:
        raise ValueError(f"a slot is left: {template[template.index('{{') :][:40]}")
    return template
