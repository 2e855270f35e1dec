"""Translation: a Transformer, its tokenizer, and the languages between which it translates.

``tokenizer`` turns sentences into token ids, ``language`` identifies the language of a sentence,
``translator`` translates.
"""

from glassbox.translation.tokenizer import TranslationTokenizer as TranslationTokenizer
from glassbox.translation.translator import Alternative as Alternative
from glassbox.translation.translator import Translator as Translator
