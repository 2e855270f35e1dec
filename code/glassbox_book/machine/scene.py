"""What the page shows before anything is loaded: one sentence, computed by the package."""

import inspect
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from glassbox_book.machine.assets import MODEL, model_files, page_file, size, version
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
KINDS = {"self_attention": "self-attention", "cross_attention": "cross-attention"}
OPTIONS = """\
<div class="gb-m-controls" data-part="controls" hidden>\
<label>into <select data-part="to"><option value="">the other language</option>\
<option value="fr">French</option><option value="en">English</option></select></label>
<label><input type="checkbox" data-part="beams"> follow five candidates at once (beam search)\
</label>
</div>
"""
SWAP = '<button type="button" data-part="swap">Translate it back</button>'
ANSWER = '<p class="gb-m-answer" data-part="answer"><i>{{ text }}</i></p>'
ALL_ON = '<button type="button" data-part="all-on" hidden>Switch all heads on</button>'
OFF = """\
<p class="gb-m-controls" data-part="controls" hidden>\
<button type="button" data-part="off" aria-pressed="false">Switch this head off</button> \
{{ all-on }}</p>
<p class="gb-m-note" data-part="is-off" hidden>\
This head is off: zeros take the place of its output. The map still shows where it looks.</p>
{{ answer }}"""
#: What the signs mean, for those who come here first; in a chapter they are known.
READS = """
<p class="gb-m-note">The first token names the language to write, ␣ is the space before a word, \
and &lt;/s&gt; ends the sentence.</p>"""
MAPS = """\
<p class="gb-m-note">Each small square shows one <i>head</i>: it has a row for each token that \
looks and a column for each token that is looked at, and the stronger the colour, the larger the \
weight. A <i>layer</i> has eight heads for each kind of attention. The encoder's layers read the \
sentence once; the decoder's run once for each token that is written.</p>
"""
HINT = """\
<p class="gb-m-note gb-m-alive">\
Click a map to switch its head off, and again to switch it on.</p>"""
BAR = """\
<div class="gb-m-bar">{{ answer }}<p class="gb-m-controls" data-part="controls" hidden>\
{{ all-on }}</p></div>"""
TEMPERATURE = """\
<div class="gb-m-controls" data-part="controls" hidden><label>temperature \
<input type="range" data-part="temperature" min="0.1" max="2" step="0.1" value="1"> \
<output data-part="temperature-shown">1.0</output></label>
<button type="button" data-part="draw">Draw a token</button></div>
"""


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
        source = tokenizer.encode_source(SENTENCE, LANGUAGE)
        self.target_ids = [tokenizer.bpe.token_id(token) for token in best.tokens]
        before = [tokenizer.bos_id, *self.target_ids[:-1]]
        model = translator.model
        with evaluating(model), torch.inference_mode(), record(model) as tape:
            logits = model(torch.tensor([source]), torch.tensor([before]))[0]
        self.tape: Tape = tape
        self.probabilities = logits.softmax(-1)
        self.text = best.text
        self.source_ids = source
        self.source = [visible(tokenizer.piece(token)) for token in source]
        self.target = [visible(tokenizer.piece(token)) for token in self.target_ids]

    def rows(self, name: str) -> list[str]:
        """Return the tokens of a map's rows, the queries."""
        return self.source if name.startswith("encoder") else ["<s>", *self.target[:-1]]

    def columns(self, name: str) -> list[str]:
        """Return the tokens of a map's columns, the keys."""
        return self.source if "cross" in name else self.rows(name)

    def likely(self, step: int) -> list[tuple[int, str, float]]:
        """Return the id, text and probability of the most probable tokens of a step."""
        top = self.probabilities[step].topk(N_BARS)
        return [
            (token, visible(self.tokenizer.piece(token)), probability)
            for token, probability in zip(top.indices.tolist(), top.values.tolist(), strict=True)
        ]


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


def write_scene(folder: str | Path) -> None:
    """Write :func:`scene_file` into ``folder``.

    Parameters
    ----------
    folder : str or path
        The folder of the scripts.
    """
    (Path(folder) / SCENE_FILE).write_bytes(scene_file(first_scene()))


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
    return f"{stack.capitalize()}, layer {layer}, {KINDS[kind]}"


def _tokens(tokens: Iterable[str], kind: str, ids: Iterable[int] | None = None) -> str:
    below = None if ids is None else [f"<small>{each}</small>" for each in ids]
    return "".join(
        f"<li><{kind}>{escape(token)}</{kind.split()[0]}>{below[i] if below else ''}</li>"
        for i, token in enumerate(tokens)
    )


def _plan(scene: Scene, piece: Piece, chosen: tuple[str, int]) -> str:
    if piece.maps:
        maps = "".join(_attention(scene, name, chosen) for name in piece.maps)
        return f'<div class="gb-m-stack" data-part="maps">{maps}</div>'
    embedding = '<p class="gb-m-part gb-m-embedding">embedding + position</p>'
    return (
        '<div class="gb-m-stacks" data-part="maps">\n'
        f'<div class="gb-m-stack">{embedding}\n<h3>Encoder</h3>'
        f"<ol>{_stack(scene, 'encoder', chosen)}</ol>"
        '<p class="gb-m-part gb-m-memory">memory →</p></div>\n'
        f'<div class="gb-m-stack">{embedding}\n<h3>Decoder</h3>'
        f"<ol>{_stack(scene, 'decoder', chosen)}</ol>"
        '<p class="gb-m-part gb-m-output">probabilities</p></div>\n</div>'
    )


def _stack(scene: Scene, stack: str, chosen: tuple[str, int]) -> str:
    parts = []
    n_layers = len([name for name in scene.tape if name.startswith(f"{stack}.")])
    for layer in range(n_layers // len(STACKS[stack])):
        boxes = "".join(
            _attention(scene, f"{stack}.layers.{layer}.{kind}", chosen) for kind in STACKS[stack]
        )
        parts.append(
            f'<li class="gb-m-layer"><p>Layer {layer}</p>{boxes}'
            '<p class="gb-m-part gb-m-feed-forward">feed-forward</p></li>'
        )
    return "".join(parts)


def _attention(scene: Scene, name: str, chosen: tuple[str, int]) -> str:
    kind = name.rsplit(".", 1)[1]
    maps = "".join(
        f'<button type="button" data-name="{name}" data-head="{head}" tabindex="-1"'
        f' aria-label="{_title(name)}, head {head}"'
        f' aria-pressed="{str((name, head) == chosen).lower()}">'
        f"{_small_map(weights)}</button>"
        for head, weights in enumerate(scene.tape[name].weights[0].tolist())
    )
    return (
        f'<div class="gb-m-part gb-m-attention"><span>{KINDS[kind]}</span>'
        f'<div class="gb-m-minis">{maps}</div></div>'
    )


def bars(likely: Iterable[tuple[int, str, float]], written: int | None = None) -> str:
    """Draw tokens, each an id, a text and a probability, as clickable bars."""
    return "".join(
        f'<li><button type="button" tabindex="-1" data-id="{token}" style="--v:{probability:.4f}"'
        f' aria-pressed="{str(token == written).lower()}">'
        f"<b>{escape(piece)}</b><i></i><span>{probability:.3f}</span></button></li>"
        for token, piece, probability in likely
    )


def _steps(scene: Scene) -> dict[str, object]:
    """Return what a script needs to step through the sentence before anything is loaded."""
    likely = [
        [dict(zip(("id", "piece", "probability"), one, strict=True)) for one in scene.likely(step)]
        for step in range(len(scene.target))
    ]
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


def _large(scene: Scene, piece: Piece, step: int) -> str:
    name = piece.large
    step = -1 if name.startswith("encoder") else step
    weights = scene.tape[name].weights[0, piece.head].tolist()
    head = "".join(f'<th scope="col">{escape(token)}</th>' for token in scene.columns(name))
    body = "".join(
        f'<tr{" data-step" * (i == step)}><th scope="row">{escape(token)}</th>'
        + "".join(
            f'<td style="--v:{weight:.4f}" data-tone="{_tone(weight)}"'
            f"{' data-chosen' if (i, j) == piece.cell else ''}>"
            f'<button type="button" tabindex="-1">{weight:.2f}</button></td>'
            for j, weight in enumerate(row)
        )
        + "</tr>"
        for i, (token, row) in enumerate(zip(scene.rows(name), weights, strict=True))
    )
    return f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody>"


def _tone(weight: float) -> str:
    """Return how dark a cell is, for a text colour that is legible in light and dark themes."""
    return "low" if weight < 0.53 else "middle" if weight < 0.7 else "high"


def _strip(numbers: Sequence[float]) -> str:
    return "".join(f'<i style="--s:{number:.3f}"></i>' for number in numbers)


def _cell(scene: Scene, piece: Piece) -> dict[str, str]:
    """Return the slots of the open cell by their names."""
    (i, j), head, attention = piece.cell, piece.head, scene.tape[piece.large]
    query, key = attention.query[0, head, i], attention.key[0, head, j]
    scores, weight = attention.scores[0, head, i], attention.weights[0, head, i, j].item()
    return {
        "asks": escape(scene.rows(piece.large)[i]),
        "asked": escape(scene.columns(piece.large)[j]),
        "query": _strip(query.tolist()),
        "key": _strip(key.tolist()),
        "products": _strip((query * key).tolist()),
        "dot": f"{query.dot(key).item():.3f}",
        "score": f"{scores[j].item():.3f}",
        "power": f"{scores[j].exp().item():.3f}",
        "total": f"{scores.exp().sum().item():.3f}",
        "weight": f"{weight:.4f}",
    }


def _template(name: str, piece: Piece) -> str:
    """Return the template with the sections of a piece, under its own ids and headings."""
    template = re.sub(
        r'\n<section class="gb-m-(\w+)".*?</section>',
        lambda section: section[0] if section[1] in piece.sections else "",
        page_file("machine.html"),
        flags=re.DOTALL,
    )
    if not name:
        return template
    if name == "tokens":  # nothing is written
        template = re.sub(r'\n<div class="gb-m-writes">.*?</div>', "", template, flags=re.DOTALL)
    template = re.sub(r'( (?:id|for|aria-labelledby)="gb-m-[\w-]+)"', rf'\1-{name}"', template)
    return re.sub(r"(</?)h2\b", r"\1h3", template)


def html(name: str = "", scene: Scene | None = None) -> str:
    """Return the HTML of the machine in its initial state, without a script.

    Parameters
    ----------
    name : str, optional
        The name of a piece. Defaults to the whole machine.
    scene : Scene, optional
        The initial state. Defaults to the sentence of the page.

    Returns
    -------
    str
        HTML, which ``machine.js`` makes interactive.

    Raises
    ------
    ValueError
        If there is no such piece, or the template has a slot that nothing fills.
    """
    if name not in PIECES:
        known = ", ".join(filter(None, PIECES))
        raise ValueError(f"the machine has no piece {name!r}; it has {known}")
    scene, piece = first_scene() if scene is None else scene, PIECES[name]
    template, tokens = _template(name, piece), name == "tokens"
    act = {"tokens": "cut it into tokens", "head": "show the maps"}.get(name, "translate")
    loaded = sum(file.stat().st_size for file in model_files()[:-1]) if tokens else size()
    megabytes = f"{loaded / 1e6:.1f}" if tokens else f"{loaded / 1e6:.0f}"
    step = len(scene.target) - 1 if name == "memory" else 0
    plan = _plan(scene, piece, (piece.large, -1 if name == "heads-off" else piece.head))
    written = 'button type="button" tabindex="-1"'
    if not name:
        plan = MAPS + plan
    if name == "heads-off":
        plan, written = HINT + plan + BAR, "span"
    slots = {
        "piece": f' data-piece="{name}"' if name else "",
        "options": "" if name else OPTIONS,
        "swap": "" if name else SWAP,
        "reads": "" if name else READS,
        "temperature": TEMPERATURE if name == "next-token" else "",
        "act": f"Load the {'tokenizer' if tokens else 'translator'} ({megabytes} MB) and {act}",
        "then": act.capitalize(),
        "ids": " data-ids" if tokens else "",
        "sentence": escape(SENTENCE),
        "translation": escape(scene.text),
        "source": _tokens(scene.source, "span", scene.source_ids if tokens else None),
        "target": _tokens(scene.target, written),
        "plan": plan,
        "plan-title": piece.title,
        "bars": bars(scene.likely(step), scene.target_ids[step]),
        "off": OFF if "flow" in piece.sections else "",
        "all-on": ALL_ON,
        "answer": ANSWER,
        "text": escape(scene.text),
        "decoding": " hidden" if piece.large.startswith("encoder") else "",
        "written": escape(scene.target[step]),
        "step-title": "Writing" if name == "memory" else "The next token",
        "step": str(step + 1),
        "steps": str(len(scene.target)),
        "row": escape(scene.rows("decoder")[step]),
        "first": json.dumps(_steps(scene)).replace("<", r"\u003c"),
        "large-title": f"{_title(piece.large)}, head {piece.head}",
        "large": _large(scene, piece, step),
        "size": str(loaded),
        "version": version(),
        "large-name": piece.large,
        "large-head": str(piece.head),
        "cell": f"{piece.cell[0]} {piece.cell[1]}",
        **{f"code-{step}": _code(step) for step in ("score", "scale", "weight", "choice")},
        **_cell(scene, piece),
    }
    for slot, content in slots.items():
        template = template.replace("{{ " + slot + " }}", content)
    if "{{" in template:
        raise ValueError(f"a slot is left: {template[template.index('{{') :][:40]}")
    return template
