"""Measures of a model: its translations against references, its probability of a text.

``bleu`` is BLEU from scratch; ``scores`` calls sacreBLEU, whose signature makes figures comparable;
``published`` reproduces the measures of two published runs. ``likelihood``, ``language_models`` and
``translators`` measure how probable a model finds human text, ``masked_language_models`` how well
it guesses hidden words, and ``entities`` which names it finds. ``corpora`` and ``models`` find test
sets and models by name, and ``report`` combines all.
"""

from glassbox.data.entities import score_entities
from glassbox.evaluation.alignment import score_alignment, word_attention
from glassbox.evaluation.bleu import clipped_matches, corpus_bleu
from glassbox.evaluation.corpora import parallel_test
from glassbox.evaluation.language_models import estimate_loss, evaluate_language_model
from glassbox.evaluation.masked_language_models import MaskedScores, Neighbours, evaluate_masked
from glassbox.evaluation.models import load_model
from glassbox.evaluation.published import moses_bleu, spacy_bleu
from glassbox.evaluation.scores import score_translations
from glassbox.evaluation.translators import evaluate_translator

__all__ = [
    "MaskedScores",
    "Neighbours",
    "clipped_matches",
    "corpus_bleu",
    "estimate_loss",
    "evaluate_language_model",
    "evaluate_masked",
    "evaluate_translator",
    "load_model",
    "moses_bleu",
    "parallel_test",
    "score_alignment",
    "score_entities",
    "score_translations",
    "spacy_bleu",
    "word_attention",
]
