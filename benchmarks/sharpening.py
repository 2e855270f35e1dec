"""How cross-attention developed: where a model looked at each snapshot of its training.

    python -m benchmarks.sharpening multi30k-en-fr runs/en-fr

reads the snapshots that the run keeps (`snapshots` in its `run.toml`) and writes, next to its log,
`attention.safetensors`, the maps of every head for the sentences below, and `attention.json`, how
diffuse the heads' attention is over all validation pairs: the entropy of a row of weights, in nats,
averaged over the rows.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from benchmarks.snapshots import ask, snapshots
from glassbox.data.padding import pad
from glassbox.looking.record import record
from glassbox.results import RUNS
from glassbox.training.runs import read_run
from glassbox.training.tasks.translation import Example, TranslationTask
from glassbox.transformer import Transformer

#: Pairs written for this, in the style of the corpus; adjectives change places.
SENTENCES = {
    "two black dogs are running in the white snow .": (
        "deux chiens noirs courent dans la neige blanche ."
    ),
    "a man in a blue shirt is on a red bicycle .": (
        "un homme en chemise bleue est sur un vélo rouge ."
    ),
}
BATCH = 128


def cross_weights(model: Transformer, pairs: list[Example], pad_id: int) -> Tensor:
    """Return ``(layers, batch, heads, target, source)``: where the model looks for each token."""
    (source, mask), (target, _) = (pad(side, pad_id) for side in zip(*pairs, strict=True))
    with torch.inference_mode(), record(model) as tape:
        model(source, target[:, :-1], mask)
    names = [name for name in tape if name.endswith("cross_attention")]
    return torch.stack([tape[name].weights for name in names])


def entropy(model: Transformer, pairs: list[Example], pad_id: int) -> Tensor:
    """Return ``(layers, heads)``: the entropy of a row of weights, averaged over all real rows."""
    total, rows = torch.zeros(()), 0
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        weights = cross_weights(model, batch, pad_id)
        lengths = torch.tensor([len(target) - 1 for _, target in batch])
        real = torch.arange(weights.shape[3]) < lengths[:, None]
        total = total + torch.einsum("lbhts,bt->lh", torch.special.entr(weights), real.float())
        rows += int(lengths.sum())
    return total / rows


def measure(name: str, folder: Path) -> None:
    """Measure the snapshots of the run `name` in `folder`, and keep the results."""
    run = read_run(RUNS / name / "run.toml")
    task = TranslationTask(run.task_config, run.training.seed)
    ((_, to),), tokenizer = run.task_config.directions, task.tokenizer
    pairs = [
        (tokenizer.encode_source(a, to), tokenizer.encode_target(b)) for a, b in SENTENCES.items()
    ]
    maps, spread = {}, []
    steps = run.training.snapshots
    for step, model in zip(steps, snapshots(steps, task.build, folder), strict=True):
        for number, pair in enumerate(pairs):
            weights = cross_weights(model, [pair], tokenizer.pad_id)[:, 0]
            maps[f"step-{step}/sentence-{number}"] = weights.half().contiguous()
        means = entropy(model, task.held_out, tokenizer.pad_id)
        spread.append([[round(mean, 4) for mean in layer] for layer in means.tolist()])
    place = RUNS / name / f"seed-{run.training.seed}"
    save_file(maps, place / "attention.safetensors")
    sentences = [
        {
            "source": list(map(tokenizer.piece, source)),
            "target": list(map(tokenizer.piece, target[1:])),
        }
        for source, target in pairs
    ]
    kept = {"steps": list(steps), "sentences": sentences, "entropy": spread}
    (place / "attention.json").write_text(json.dumps(kept, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    measure(*ask(__doc__))
