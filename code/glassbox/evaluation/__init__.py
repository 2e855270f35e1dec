"""Measures of a model: its translations against references, its probability of a text.

``bleu`` is BLEU from scratch; ``scores`` calls sacreBLEU, whose signature makes figures comparable;
``published`` reproduces the measures of two published runs. ``likelihood``, ``language_models`` and
``translators`` measure how probable a model finds human text, ``masked_language_models`` how well
it guesses hidden words, and ``entities`` which names it finds. ``corpora`` and ``models`` find test
sets and models by name, and ``report`` combines all.
"""

from glassbox.data.entities import Entity, EntityScores, entities, score_entities
from glassbox.evaluation.alignment import (
    AlignmentScores,
    score_alignment,
    word_attention,
    word_numbers,
    word_weights,
)
from glassbox.evaluation.bleu import (
    CorpusBleu,
    brevity_penalty,
    clipped_matches,
    corpus_bleu,
    count_ngrams,
)
from glassbox.evaluation.corpora import ParallelTest, TextTest, parallel_test, text_test
from glassbox.evaluation.language_models import (
    LossEstimate,
    estimate_loss,
    evaluate_language_model,
)
from glassbox.evaluation.likelihood import Likelihood
from glassbox.evaluation.masked_language_models import (
    MaskedScores,
    Neighbours,
    evaluate_masked,
)
from glassbox.evaluation.models import load_model
from glassbox.evaluation.published import moses_bleu, moses_tokens, spacy_bleu, spacy_tokens
from glassbox.evaluation.report import measure_translations
from glassbox.evaluation.scores import TranslationScores, score_translations
from glassbox.evaluation.translators import evaluate_translator

__all__ = [
    "AlignmentScores",
    "CorpusBleu",
    "Entity",
    "EntityScores",
    "Likelihood",
    "LossEstimate",
    "MaskedScores",
    "Neighbours",
    "ParallelTest",
    "TextTest",
    "TranslationScores",
    "brevity_penalty",
    "clipped_matches",
    "corpus_bleu",
    "count_ngrams",
    "entities",
    "estimate_loss",
    "evaluate_language_model",
    "evaluate_masked",
    "evaluate_translator",
    "load_model",
    "measure_translations",
    "moses_bleu",
    "moses_tokens",
    "parallel_test",
    "score_alignment",
    "score_entities",
    "score_translations",
    "spacy_bleu",
    "spacy_tokens",
    "text_test",
    "word_attention",
    "word_numbers",
    "word_weights",
]
