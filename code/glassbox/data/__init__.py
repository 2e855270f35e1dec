"""The corpora and vocabularies of the book: downloaded once if missing, and verified every time."""

from glassbox.data.alignments import alignments as alignments
from glassbox.data.english import english as english
from glassbox.data.parallel import multi30k as multi30k
from glassbox.data.parallel import references as references
from glassbox.data.parallel import tatoeba as tatoeba
from glassbox.data.phrases import phrases as phrases
from glassbox.data.sentences import sst2 as sst2
from glassbox.data.sentences import wnut17 as wnut17
from glassbox.data.store import FILES as FILES
from glassbox.data.store import find as find
from glassbox.data.text import plain_spaces as plain_spaces
from glassbox.data.text import split_text as split_text
from glassbox.data.text import tiny_shakespeare as tiny_shakespeare
from glassbox.data.treebank import ParsedSentence as ParsedSentence
from glassbox.data.treebank import ud_english as ud_english
from glassbox.data.written import company as company
from glassbox.data.written import everyday as everyday
from glassbox.data.written import play as play
from glassbox.data.written import senses as senses
