"""Training: forward, loss, backward, update, and recovery from interruptions (chapter 9).

The files in the order in which they build on one another: ``loss`` and ``schedule`` are pure
functions; ``batches`` selects the examples of each step, and ``distributed`` divides them among
processes. ``state`` is a training in progress, and ``loop`` takes its steps, for any ``task``.
Callbacks attach to the loop: ``resuming`` keeps each ``checkpoint`` and makes one model of the last
ones by ``averaging``, ``metrics`` logs progress, ``stopping`` ends training early. ``tasks`` has
the tasks of this book, and ``runs`` reads from a file which task to train, and how.
"""

from glassbox.training.averaging import average
from glassbox.training.batches import stream
from glassbox.training.checkpoint import checkpoints
from glassbox.training.config import TrainingConfig
from glassbox.training.distributed import Processes, distribute, processes
from glassbox.training.loop import make_optimizer, train, training_loop
from glassbox.training.loss import cross_entropy
from glassbox.training.masking import mask_tokens
from glassbox.training.metrics import read_metrics
from glassbox.training.runs import read_run
from glassbox.training.schedule import Schedule
from glassbox.training.tasks.classification import ClassificationConfig, ClassificationTask
from glassbox.training.tasks.language_model import LanguageModelTask, LanguageModelTaskConfig
from glassbox.training.tasks.masked_language_model import (
    MaskedLanguageModelConfig,
    MaskedLanguageModelTask,
)
from glassbox.training.tasks.translation import TranslationConfig, TranslationTask

__all__ = [
    "ClassificationConfig",
    "ClassificationTask",
    "LanguageModelTask",
    "LanguageModelTaskConfig",
    "MaskedLanguageModelConfig",
    "MaskedLanguageModelTask",
    "Processes",
    "Schedule",
    "TrainingConfig",
    "TranslationConfig",
    "TranslationTask",
    "average",
    "checkpoints",
    "cross_entropy",
    "distribute",
    "make_optimizer",
    "mask_tokens",
    "processes",
    "read_metrics",
    "read_run",
    "stream",
    "train",
    "training_loop",
]
