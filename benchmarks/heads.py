"""How a BERT's heads developed: where each of them looked at each snapshot of its training.

    python -m benchmarks.heads bert runs/bert

reads the snapshots that the run keeps (`snapshots` in its `run.toml`) and writes `heads.json` next
to its log: for each snapshot, the share of its weight that each head gives to the token before, to
the token itself and so on, in the book's everyday sentences, and the loss on held-out text, beside
what counting gives on the same texts.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.snapshots import ask, snapshots
from glassbox.data import everyday
from glassbox.evaluation import MaskedScores, Neighbours, evaluate_masked
from glassbox.evaluation.masked_language_models import Predict
from glassbox.looking.record import record
from glassbox.models import Bert
from glassbox.models.fill_mask import FillMask
from glassbox.results import RUNS
from glassbox.tokenization.wordpiece import MASK
from glassbox.training.runs import read_run
from glassbox.training.tasks.masked_language_model import MaskedLanguageModelTask

QUESTIONS = (
    "the token before",
    "itself",
    "the token after",
    "[CLS]",
    "[SEP]",
    "punctuation",
    "an even share",
)
TEXTS = 1000  # held-out texts on which the loss is measured


def shares(weights: Tensor, tokens: Sequence[str]) -> Tensor:
    """Return ``(questions, layers, heads)``: what each head gives of its weight.

    ``weights`` are of one sentence, ``(layers, heads, tokens, tokens)``; the queries of [CLS] and
    [SEP] do not count.
    """
    inner = weights[:, :, 1:-1]
    marks = [i for i, token in enumerate(tokens) if token in ",.?!"]
    diagonals = [inner.diagonal(offset, -2, -1) for offset in (0, 1, 2)]
    given = [inner[..., 0], inner[..., -1], inner[..., marks].sum(dim=-1)]
    even = torch.full_like(given[0], 1 / len(tokens))
    return torch.stack([share.mean(dim=-1) for share in (*diagonals, *given, even)])


@torch.inference_mode()
def mean_shares(bert: Bert, fill_mask: FillMask, sentences: Sequence[str]) -> Tensor:
    """Return the mean of :func:`shares` over sentences."""
    found = []
    for sentence in sentences:
        ids = fill_mask.tokenizer.encode(sentence)
        with record(bert) as tape:
            bert(torch.tensor([ids]))
        weights = torch.stack([run.weights[0] for run in tape.values()])
        found.append(shares(weights, [fill_mask.tokenizer.tokens[i] for i in ids]))
    return torch.stack(found).mean(dim=0)


def score(predict: Predict, task: MaskedLanguageModelTask, masked: float = 1.0) -> MaskedScores:
    """Return how well a part of the held-out texts is guessed, of which this share is hidden."""
    return evaluate_masked(
        predict,
        task.held_out[:: len(task.held_out) // TEXTS],
        mask_id=task.tokenizer.token_id(MASK),
        vocab_size=len(task.tokenizer),
        special_ids=task.tokenizer.special_ids,
        masked=masked,
    )


def counted(task: MaskedLanguageModelTask) -> dict[str, float]:
    """Return the losses of counting: on the held-out texts, and on the tokens of the sentences."""
    guesses = Neighbours(task.texts, len(task.tokenizer), task.tokenizer.token_id(MASK))
    frequency = guesses.frequency.log()
    ways: dict[str, Predict] = {
        "neighbours": guesses.predict,
        "frequency": lambda ids, at: frequency.expand(int(at.sum()), -1),
    }
    losses = {name: round(score(way, task).loss, 4) for name, way in ways.items()}
    ids = torch.tensor([i for s in everyday() for i in task.tokenizer.encode(s)[1:-1]])
    return losses | {"frequency, everyday": round(-frequency[ids].mean().item(), 4)}


def measure(name: str, folder: Path) -> None:
    """Measure the snapshots of the run `name` in `folder`, and keep the results."""
    run = read_run(RUNS / name / "run.toml")
    task = MaskedLanguageModelTask(run.task_config, run.training.seed)
    patterns, losses, right = [], [], []
    for model in snapshots(run.training.snapshots, task.build, folder):
        fill_mask = FillMask(model, task.tokenizer)
        scores = score(fill_mask.predict, task)
        losses.append(round(scores.loss, 4))
        right.append(round(scores.accuracy, 4))
        means = mean_shares(model.bert, fill_mask, everyday())
        patterns.append([[[round(x, 4) for x in row] for row in one] for one in means.tolist()])
    kept = {
        "steps": list(run.training.snapshots),
        "questions": QUESTIONS,
        "shares": patterns,
        "loss": losses,
        "accuracy": right,
        "counted": counted(task),
    }
    place = RUNS / name / f"seed-{run.training.seed}"
    (place / "heads.json").write_text(json.dumps(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    measure(*ask(__doc__))
