"""How training goes: numbers of steps, the optimiser, what is kept when."""

from dataclasses import asdict, dataclass, field
from typing import Literal, get_args

from glassbox.checks import check_kind
from glassbox.training.distributed import Sharding
from glassbox.training.schedule import Schedule

Precision = Literal["float32", "bfloat16"]


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained, whatever it is and whatever it learns.

    Parameters
    ----------
    schedule : Schedule
        The learning rate at each step.
    steps : int
        Steps of the optimiser.
    betas, eps, weight_decay : tuple of float, float, float
        Of AdamW. Matrices decay; biases, norms' gains and single vectors do not.
    clip : float or None
        The largest norm of all gradients together.
    precision : {"float32", "bfloat16"}
        What matrix products are computed in; parameters and sums stay in float32.
    compile : bool
        Whether PyTorch compiles the model first, which pays where steps are many and shapes few.
    sharding : {"none", "full"}
        What several processes divide, see :func:`~glassbox.training.distributed.distribute`.
    seed : int
        What the first weights, the order of the examples and dropout follow from.
    validate_every, checkpoint_every : int
        Steps between measurements on held-out data, and between checkpoints.
    average : int
        How many of the last checkpoints the final weights are the mean of. So many are kept, and
        one before them, since one may be damaged.
    snapshots : tuple of int
        Steps after which there is a checkpoint that is kept for good, to see how the model became
        what it is. They do not count for the mean, unless one was due there anyway.

    Raises
    ------
    ValueError
        If a number is out of its range or a kind is not known.

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
            object.__setattr__(self, name, tuple(getattr(self, name)))  # files know lists only
        for name in ("steps", "validate_every", "checkpoint_every", "average"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1")
        for name in ("eps", "clip"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)}: must be more than 0")
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas={self.betas}: expected two numbers from 0 to below 1")
        if not self.weight_decay >= 0:
            raise ValueError(f"weight_decay={self.weight_decay}: must not be negative")
        if any(not 1 <= step <= self.steps for step in self.snapshots):
            raise ValueError(
                f"snapshots={self.snapshots}: expected steps from 1 to steps={self.steps}"
            )
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"seed={self.seed}: expected 0 to {2**32 - 1}")
        check_kind("precision", self.precision, get_args(Precision))
        check_kind("sharding", self.sharding, get_args(Sharding))


#: What may differ between a run and its continuation: at most rounding follows from it.
FREE = frozenset({"compile", "sharding", "validate_every", "snapshots"})
#: What may differ as well, though it defines a run: no step follows from how many come after it. So
#: more steps give what a run would have given that had so many from the beginning. The learning
#: rate has an end of its own, which stays.
GROWS = frozenset({"steps"})


def defining(config: TrainingConfig) -> dict[str, object]:
    """Return the entries of a configuration that the trained weights follow from."""
    return {name: entry for name, entry in asdict(config).items() if name not in FREE}
