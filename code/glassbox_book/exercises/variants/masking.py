"""Hiding tokens as BERT does, and scoring the guesses at the positions that were chosen."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox.training.masking import IGNORE
from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _apply_fates(
    token_ids: Tensor, chosen: Tensor, fates: Tensor, others: Tensor, mask_id: int, flaw: str = ""
) -> tuple[Tensor, Tensor]:
    if flaw == "reading order":
        chosen = chosen.sort().values
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


def _texts(draw: Draw) -> Iterator[Case]:
    def case(
        about: str,
        ids: list[int],
        chosen: list[int],
        fates: list[float],
        others: list[int],
        mask_id: int = 4,
    ) -> Case:
        return Case(
            about,
            token_ids=torch.tensor(ids),
            chosen=torch.tensor(chosen),
            fates=torch.tensor(fates),
            others=torch.tensor(others),
            mask_id=mask_id,
        )

    short = [2, 17, 30, 51, 3]
    long = [2, 17, 0, 51, 8, 25, 9, 3]
    yield case("a token that becomes [MASK]", short, [2], [0.31], [25])
    yield case("a token that is replaced", short, [1], [0.84], [25])
    yield case("a token that stays", short, [3], [0.97], [25])
    yield case("each of the three", long, [3, 4, 6], [0.12, 0.88, 0.93], [11, 12, 13])
    yield case("not in reading order", long, [6, 2, 5], [0.93, 0.06, 0.85], [11, 12, 13])
    yield case("another [MASK]", short, [3, 1], [0.55, 0.02], [7, 9], mask_id=103)


apply_fates = Exercise("variants.apply_fates", _apply_fates, _texts, returns=("inputs", "labels"))

# Scores --------------------------------------------------------------------------------------


def _score_blanks(logits: Tensor, labels: Tensor, flaw: str = "") -> tuple[float, float]:
    counted = {"everywhere": labels > -200, "zero": labels > 0}.get(flaw, labels != IGNORE)
    shown = labels.clamp(min=0)[..., None]
    logs = logits.log_softmax(-1).gather(-1, shown)[..., 0]
    if flaw == "logits":
        logs = logits.gather(-1, shown)[..., 0]
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


def _guesses(draw: Draw) -> Iterator[Case]:
    def case(about: str, labels: list[list[int]], known: float = 2.0, vocab_size: int = 6) -> Case:
        table = torch.tensor(labels)
        answers = F.one_hot(table.clamp(min=0), vocab_size)
        return Case(about, logits=draw(*table.shape, vocab_size) + known * answers, labels=table)

    no = IGNORE
    yield case("one text, one chosen token", [[no, no, 4, no]])
    yield case("two chosen tokens", [[no, 3, no, no, 5]], known=1.0)
    yield case("a token with the id 0", [[no, 0, no, 2, no]])
    yield case("two texts", [[no, 3, no, no, no], [1, no, 5, 2, no]], known=1.5)
    yield case("every token chosen", [[4, 1, 2], [3, 0, 5]], known=1.0)
    yield case("guesses that are mostly wrong", [[no, 1, 2, no], [3, no, no, no]], known=-1.0)


score_blanks = Exercise(
    "variants.score_blanks", _score_blanks, _guesses, returns=("loss", "accuracy")
)
