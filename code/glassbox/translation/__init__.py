"""Translation: a Transformer, its tokenizer, and the languages between which it translates.

``tokenizer`` turns sentences into token ids, ``language`` identifies the language of a sentence,
``translator`` translates.
"""

from glassbox.translation.tokenizer import TranslationTokenizer
from glassbox.translation.translator import Alternative, Translator

__all__ = ["Alternative", "TranslationTokenizer", "Translator"]
