"""The tasks: a model, its examples, and how well it does on held-out text."""

from glassbox.training.tasks.classification import ClassificationConfig, ClassificationTask
from glassbox.training.tasks.language_model import LanguageModelTask, LanguageModelTaskConfig
from glassbox.training.tasks.masked_language_model import (
    MaskedLanguageModelConfig,
    MaskedLanguageModelTask,
)
from glassbox.training.tasks.translation import TranslationConfig, TranslationTask

#: The tasks by name, each with its configuration.
TASKS = {
    "classification": (ClassificationTask, ClassificationConfig),
    "language_model": (LanguageModelTask, LanguageModelTaskConfig),
    "masked_language_model": (MaskedLanguageModelTask, MaskedLanguageModelConfig),
    "translation": (TranslationTask, TranslationConfig),
}
