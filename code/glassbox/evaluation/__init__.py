"""Measures of a model: its translations against references, its probability of a text.

``bleu`` is BLEU from scratch; ``scores`` calls sacreBLEU, whose signature makes figures comparable;
``published`` reproduces the measures of two published runs. ``likelihood``, ``language_models`` and
``translators`` measure how probable a model finds human text, ``masked_language_models`` how well
it guesses hidden words, and ``alignment`` how well its attention aligns words. ``score_entities``,
from :mod:`glassbox.data`, measures which names it finds. ``corpora`` and ``models`` find test sets
and models by name, and ``report`` combines all.
"""

from glassbox.data.entities import score_entities as score_entities
from glassbox.evaluation.alignment import score_alignment as score_alignment
from glassbox.evaluation.alignment import word_attention as word_attention
from glassbox.evaluation.bleu import clipped_matches as clipped_matches
from glassbox.evaluation.bleu import corpus_bleu as corpus_bleu
from glassbox.evaluation.corpora import parallel_test as parallel_test
from glassbox.evaluation.language_models import estimate_loss as estimate_loss
from glassbox.evaluation.language_models import evaluate_language_model as evaluate_language_model
from glassbox.evaluation.masked_language_models import MaskedScores as MaskedScores
from glassbox.evaluation.masked_language_models import Neighbours as Neighbours
from glassbox.evaluation.masked_language_models import evaluate_masked as evaluate_masked
from glassbox.evaluation.models import load_model as load_model
from glassbox.evaluation.published import moses_bleu as moses_bleu
from glassbox.evaluation.published import spacy_bleu as spacy_bleu
from glassbox.evaluation.scores import score_translations as score_translations
from glassbox.evaluation.translators import evaluate_translator as evaluate_translator
