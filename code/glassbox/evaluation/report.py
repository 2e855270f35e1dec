"""Translate a test set, and score the translations in every way that applies."""

import time
from typing import Any

from glassbox.evaluation.corpora import ParallelTest
from glassbox.evaluation.published import moses_bleu, spacy_bleu
from glassbox.evaluation.scores import score_translations
from glassbox.translation import Translator


def measure_translations(
    translator: Translator,
    test: ParallelTest,
    n_beams: int,
    batch_size: int = 64,
    length_penalty: float | None = None,
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
    length_penalty : float, optional
        Of the beam search; the translator's default if left out. Ignored by greedy decoding.

    Returns
    -------
    dict
        Scores and signatures, ignoring case if the translator writes only lower case, the brevity
        penalty and both lengths behind the score in Moses's words, and the seconds that it took to
        translate.
    """
    options: dict[str, Any] = {"n_beams": n_beams}
    if n_beams > 1 and length_penalty is not None:
        options["length_penalty"] = length_penalty
    begin = time.perf_counter()
    translations = translator.translate(
        test.sources, test.to, source=test.source, batch_size=batch_size, **options
    )
    seconds = time.perf_counter() - begin
    lowercase = translator.tokenizer.lowercase
    scores = score_translations(translations, test.references, lowercase=lowercase)._asdict()
    if test.corpus == "multi30k":
        scores["spacy_bleu"] = spacy_bleu(translations, test.references, test.to).score
        moses = moses_bleu(translations, test.references, test.to)
        scores["moses_bleu"] = moses.score
        scores["moses_brevity_penalty"] = moses.brevity_penalty
        scores["moses_lengths"] = [moses.hypothesis_length, moses.reference_length]
    return {**options, **scores, "seconds": seconds}
