"""Training: forward, loss, backward, update, and recovery from interruptions (chapter 9).

The files in the order in which they build on one another: ``loss`` and ``schedule`` are pure
functions; ``batches`` selects the examples of each step, and ``distributed`` divides them among
processes. ``state`` is a training in progress, and ``loop`` takes its steps, for any ``task``.
Callbacks attach to the loop: ``resuming`` keeps each ``checkpoint`` and makes one model of the last
ones by ``averaging``, ``metrics`` logs progress, ``stopping`` ends training early. ``tasks`` has
the tasks of this book, and ``runs`` reads from a file which task to train, and how.
"""

from glassbox.training.averaging import average
from glassbox.training.batches import LengthBatches, RandomBlocks, Step, stream
from glassbox.training.checkpoint import (
    CheckpointError,
    checkpoints,
    load_checkpoint,
    save_checkpoint,
)
from glassbox.training.config import TrainingConfig
from glassbox.training.distributed import OtherProcessError, Processes, distribute, processes
from glassbox.training.loop import make_optimizer, train, training_loop
from glassbox.training.loss import Loss, cross_entropy
from glassbox.training.masking import mask_tokens, n_chosen
from glassbox.training.metrics import Metrics, ProgressBar, read_metrics
from glassbox.training.runs import Run, read_run
from glassbox.training.schedule import Schedule
from glassbox.training.state import Progress, TrainingState
from glassbox.training.task import Task
from glassbox.training.tasks import (
    ClassificationConfig,
    ClassificationTask,
    LanguageModelTask,
    LanguageModelTaskConfig,
    MaskedLanguageModelConfig,
    MaskedLanguageModelTask,
    TranslationConfig,
    TranslationTask,
)

__all__ = [
    "CheckpointError",
    "ClassificationConfig",
    "ClassificationTask",
    "LanguageModelTask",
    "LanguageModelTaskConfig",
    "LengthBatches",
    "Loss",
    "MaskedLanguageModelConfig",
    "MaskedLanguageModelTask",
    "Metrics",
    "OtherProcessError",
    "Processes",
    "Progress",
    "ProgressBar",
    "RandomBlocks",
    "Run",
    "Schedule",
    "Step",
    "Task",
    "TrainingConfig",
    "TrainingState",
    "TranslationConfig",
    "TranslationTask",
    "average",
    "checkpoints",
    "cross_entropy",
    "distribute",
    "load_checkpoint",
    "make_optimizer",
    "mask_tokens",
    "n_chosen",
    "processes",
    "read_metrics",
    "read_run",
    "save_checkpoint",
    "stream",
    "train",
    "training_loop",
]
