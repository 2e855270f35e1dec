"""What is trained: the model, its examples, and how well it does on text that it has not seen."""

from glassbox.training.tasks.language_model import LanguageModelTask, LanguageModelTaskConfig
from glassbox.training.tasks.translation import TranslationConfig, TranslationTask

#: The tasks by name, each with its configuration.
TASKS = {
    "language_model": (LanguageModelTask, LanguageModelTaskConfig),
    "translation": (TranslationTask, TranslationConfig),
}

__all__ = [
    "TASKS",
    "LanguageModelTask",
    "LanguageModelTaskConfig",
    "TranslationConfig",
    "TranslationTask",
]
