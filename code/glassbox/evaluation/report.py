"""Translate a test set, and score the translations in every way that applies."""

import time
from typing import Any

from glassbox.evaluation.corpora import ParallelTest
from glassbox.evaluation.published import moses_bleu, spacy_bleu
from glassbox.evaluation.scores import score_translations
from glassbox.translation import Translator


def measure_translations(
    translator: Translator, test: ParallelTest, n_beams: int, batch_size: int = 64
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
    batch_size : int, optional
        Sentences at a time.

    Returns
    -------
    dict
        Scores and signatures, ignoring case if the translator writes only lower case, and the
        seconds that it took to translate.
    """
    begin = time.perf_counter()
    translations = translator.translate(
        test.sources, test.to, source=test.source, n_beams=n_beams, batch_size=batch_size
    )
    seconds = time.perf_counter() - begin
    lowercase = translator.tokenizer.lowercase
    scores = score_translations(translations, test.references, lowercase=lowercase)._asdict()
    if test.corpus == "multi30k":
        for name, measure in (("spacy_bleu", spacy_bleu), ("moses_bleu", moses_bleu)):
            scores[name] = measure(translations, test.references, test.to).score
    return {"n_beams": n_beams, **scores, "seconds": seconds}
