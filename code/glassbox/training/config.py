"""The configuration of a training: steps, optimiser, and which checkpoints are kept."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Literal, get_args

from glassbox.checks import check_counts, check_kind, check_number, check_type, check_whole
from glassbox.training.distributed import Sharding
from glassbox.training.schedule import Schedule

Precision = Literal["float32", "bfloat16"]


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained, whatever the model and the task.

    Parameters
    ----------
    schedule : Schedule
        The learning rate at each step.
    steps : int
        Steps of the optimiser.
    betas, eps, weight_decay : tuple of float, float, float
        Settings of AdamW. Matrices decay; biases, gains of norms and other vectors do not.
    clip : float or None
        The maximum norm of all gradients together.
    precision : {"float32", "bfloat16"}
        The precision of matrix products; parameters and sums stay in float32.
    compile : bool
        Whether PyTorch compiles the model first, which pays off with many steps and few shapes.
    sharding : {"none", "full"}
        What several processes divide: see :func:`~glassbox.training.distributed.distribute`.
    seed : int
        Determines the initial weights, the order of the examples and dropout.
    validate_every, checkpoint_every : int
        Steps between measurements on held-out data, and between checkpoints.
    average : int
        Number of last checkpoints to average into the final weights. One more is kept, because one
        may be damaged.
    snapshots : tuple of int
        Steps after which a checkpoint is written and never deleted, to see how the model developed.
        It enters the mean only if a checkpoint was due at that step anyway.

    Raises
    ------
    ValueError
        If a number is out of its range, a kind is unknown, or ``betas`` or ``snapshots`` hold
        anything but numbers.
    TypeError
        If ``seed`` is not an integer, ``compile`` not a bool, ``schedule`` not a schedule, or
        ``betas`` or ``snapshots`` cannot be iterated.

    Notes
    -----
    Vaswani et al. (2017), section 5; Loshchilov and Hutter (2019) on AdamW. Chapter 9.
    """

    schedule: Schedule = field(default_factory=Schedule)
    steps: int = 10_000
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-9
    weight_decay: float = 0.0
    clip: float | None = 1.0
    precision: Precision = "float32"
    compile: bool = False
    sharding: Sharding = "none"
    seed: int = 0
    validate_every: int = 500
    checkpoint_every: int = 500
    average: int = 1
    snapshots: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("betas", "snapshots"):
            check_type(name, given := getattr(self, name), Iterable, "several numbers, in a tuple")
            object.__setattr__(self, name, tuple(given))  # files have only lists
        check_whole("seed", self.seed)
        object.__setattr__(self, "seed", int(self.seed))  # checkpoints have none of NumPy's
        check_counts(self, "steps", "validate_every", "checkpoint_every", "average")
        check_type("schedule", self.schedule, Schedule, "a Schedule, such as Schedule()")
        check_type("compile", self.compile, bool, "True or False")
        check_number("eps", self.eps, "more than 0 and finite")
        check_number("weight_decay", self.weight_decay, "at least 0 and finite")
        if self.clip is not None:
            check_number("clip", self.clip, "more than 0")
        numbers = all(isinstance(x, int | float) and 0 <= x < 1 for x in self.betas)
        if len(self.betas) != 2 or not numbers:
            raise ValueError(f"betas={self.betas}: expected two numbers from 0 to below 1")
        if not all(isinstance(n, int) and 1 <= n <= self.steps for n in self.snapshots):
            raise ValueError(
                f"snapshots={self.snapshots}: expected steps from 1 to steps={self.steps}"
            )
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"seed={self.seed}: expected 0 to {2**32 - 1}")
        check_kind("precision", self.precision, get_args(Precision))
        check_kind("sharding", self.sharding, get_args(Sharding))


#: Entries that may differ when a run is resumed: they change the weights by rounding at most.
FREE = frozenset({"compile", "sharding", "validate_every", "snapshots"})
#: Entries that define a run but may still be changed. No step depends on how many follow it, so the
#: result is that of a run planned with the new number; the schedule has its own end.
GROWS = frozenset({"steps"})


def defining(config: TrainingConfig) -> dict[str, object]:
    """Return the entries of a configuration that determine the trained weights."""
    return {name: entry for name, entry in asdict(config).items() if name not in FREE}
