"""Training: forward, loss, backward, update, and recovery from interruptions (chapter 9).

The files in the order in which they build on one another: ``loss`` and ``schedule`` are pure
functions; ``batches`` selects the examples of each step, and ``distributed`` divides them among
processes. ``state`` is a training in progress, and ``loop`` takes its steps, for any ``task``.
Callbacks attach to the loop: ``resuming`` keeps each ``checkpoint`` and makes one model of the last
ones by ``averaging``, ``metrics`` logs progress, ``stopping`` ends training early. ``tasks`` has
the tasks of this book, and ``runs`` reads from a file which task to train, and how.
"""

from glassbox.training.averaging import average as average
from glassbox.training.batches import stream as stream
from glassbox.training.checkpoint import checkpoints as checkpoints
from glassbox.training.config import TrainingConfig as TrainingConfig
from glassbox.training.distributed import Processes as Processes
from glassbox.training.distributed import distribute as distribute
from glassbox.training.distributed import processes as processes
from glassbox.training.loop import make_optimizer as make_optimizer
from glassbox.training.loop import train as train
from glassbox.training.loop import training_loop as training_loop
from glassbox.training.loss import cross_entropy as cross_entropy
from glassbox.training.masking import mask_tokens as mask_tokens
from glassbox.training.metrics import read_metrics as read_metrics
from glassbox.training.runs import read_run as read_run
from glassbox.training.schedule import Schedule as Schedule
from glassbox.training.tasks import ClassificationConfig as ClassificationConfig
from glassbox.training.tasks import ClassificationTask as ClassificationTask
from glassbox.training.tasks import LanguageModelTask as LanguageModelTask
from glassbox.training.tasks import LanguageModelTaskConfig as LanguageModelTaskConfig
from glassbox.training.tasks import MaskedLanguageModelConfig as MaskedLanguageModelConfig
from glassbox.training.tasks import MaskedLanguageModelTask as MaskedLanguageModelTask
from glassbox.training.tasks import TranslationConfig as TranslationConfig
from glassbox.training.tasks import TranslationTask as TranslationTask
