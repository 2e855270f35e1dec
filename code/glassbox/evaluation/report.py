"""Translate a test set, and score the translations in every way that applies."""

import time
from typing import Any

from glassbox.evaluation.corpora import ParallelTest
from glassbox.evaluation.published import moses_bleu, spacy_bleu
from glassbox.evaluation.scores import score_translations
from glassbox.translation import Translator


def measure_translations(
    translator: Translator, test: ParallelTest, n_beams: int
) -> dict[str, Any]:
    """Translate a test set and score the translations.

    Parameters
    ----------
    translator : Translator
        The translator.
    test : ParallelTest
        The sentences. Those of Multi30k are also scored as in published runs.
    n_beams : int
        Number of beams; 1 is greedy.

    Returns
    -------
    dict
        Scores and signatures, ignoring case if the translator writes only lower case, the brevity
        penalty and both lengths behind the score in Moses's words, and the seconds that it took to
        translate.
    """
    begin = time.perf_counter()
    translations = translator.translate(test.sources, test.to, source=test.source, n_beams=n_beams)
    seconds = time.perf_counter() - begin
    lowercase = translator.tokenizer.lowercase
    scores = score_translations(translations, test.references, lowercase=lowercase)._asdict()
    if test.corpus == "multi30k":
        scores["spacy_bleu"] = spacy_bleu(translations, test.references, test.to).score
        moses = moses_bleu(translations, test.references, test.to)
        scores["moses_bleu"] = moses.score
        scores["moses_brevity_penalty"] = moses.brevity_penalty
        scores["moses_lengths"] = [moses.hypothesis_length, moses.reference_length]
    return {"n_beams": n_beams, **scores, "seconds": seconds}
