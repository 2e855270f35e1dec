"""Train a small model in one process or in several, and report what each process holds.

    python -m torch.distributed.run --standalone --nproc-per-node 2 -m glassbox_book.together

is a run of two processes that chapter 12 compares with one.
"""

import json
from typing import get_args

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from glassbox.models import GPT2, GPT2Config
from glassbox.training import Processes, cross_entropy, distribute, processes
from glassbox.training.distributed import Sharding

SIZES = GPT2Config(
    vocab_size=64, d_model=64, n_heads=4, n_layers=4, max_len=32, dropout=0.0, embedding_dropout=0.0
)


def learn(group: Processes, sharding: Sharding, steps: int = 4) -> list[float]:
    """Train a small GPT-2 on eight texts, together with the other processes.

    Parameters
    ----------
    group : Processes
        The processes, of which this is one. A collective: every process must call it.
    sharding : {"none", "full"}
        As for :func:`glassbox.training.distribute`.
    steps : int, optional
        Number of updates.

    Returns
    -------
    list of float
        The loss of each step over all texts, then the share of the parameters, of the gradients
        and of the optimiser's states that this process holds.
    """
    model, optimizer = build(group, sharding)
    ids = torch.randint(64, (8, 17), generator=torch.Generator().manual_seed(0))
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        mine = ids[group.shard([*range(len(ids))])]
        loss = cross_entropy(model(mine[:, :-1]), mine[:, 1:])
        total, count = group.all_reduce(torch.stack([loss.total.detach(), loss.count]))
        # The processes' gradients are averaged, and the texts of all of them count alike.
        (loss.total * group.count / count).backward()
        optimizer.step()
        losses.append((total / count).item())
    return losses + shares(model, optimizer)


def build(group: Processes, sharding: Sharding) -> tuple[nn.Module, torch.optim.Optimizer]:
    """Return the same model in every process, and its optimiser.

    Parameters
    ----------
    group : Processes
        The processes, of which this is one.
    sharding : {"none", "full"}
        As for :func:`glassbox.training.distribute`.

    Returns
    -------
    tuple of Module and Optimizer
        What is sharded holds this process's part.
    """
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = distribute(GPT2(SIZES).to(group.device), group, sharding)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


def shares(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[float]:
    """Return the shares of parameters, gradients and optimiser states that this process holds.

    Parameters
    ----------
    model : Module
        After at least one step.
    optimizer : Optimizer
        Of the model's parameters.

    Returns
    -------
    list of float
        Three shares, of the numbers that all processes hold together.
    """
    parameters = list(model.parameters())
    gradients = [p.grad for p in parameters if p.grad is not None]
    kept = [entry for p in parameters for entry in optimizer.state[p].values()]
    states = [x for x in kept if isinstance(x, Tensor) and x.dim()]
    return [here(x) for x in (parameters, gradients, states)]


def here(tensors: list[Tensor] | list[nn.Parameter]) -> float:
    """Return the share of the tensors' numbers that is in this process."""
    local = sum((x.to_local() if isinstance(x, DTensor) else x).numel() for x in tensors)
    return local / sum(x.numel() for x in tensors)


def main() -> None:
    """Train both ways; the first process prints what came of each."""
    with processes("cpu") as group:
        found = {kind: learn(group, kind) for kind in get_args(Sharding)}
        if group.first:
            print(json.dumps(found))


if __name__ == "__main__":
    main()
