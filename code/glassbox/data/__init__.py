"""The corpora and vocabularies of the book: downloaded once if missing, and verified every time."""

from glassbox.data.alignments import alignments
from glassbox.data.english import english
from glassbox.data.parallel import multi30k, references, tatoeba
from glassbox.data.phrases import phrases
from glassbox.data.sentences import sst2, wnut17
from glassbox.data.store import FILES, find
from glassbox.data.text import plain_spaces, split_text, tiny_shakespeare
from glassbox.data.treebank import ParsedSentence, ud_english
from glassbox.data.written import company, everyday, play, senses

__all__ = [
    "FILES",
    "ParsedSentence",
    "alignments",
    "company",
    "english",
    "everyday",
    "find",
    "multi30k",
    "phrases",
    "plain_spaces",
    "play",
    "references",
    "senses",
    "split_text",
    "sst2",
    "tatoeba",
    "tiny_shakespeare",
    "ud_english",
    "wnut17",
]
