"""From text to token ids and back: the three schools of sub-words, trained and run (chapter 2)."""

from glassbox.tokenization.bpe import BPE as BPE
from glassbox.tokenization.lattice import Pieces as Pieces
from glassbox.tokenization.lattice import marginals as marginals
from glassbox.tokenization.lattice import viterbi as viterbi
from glassbox.tokenization.merges import best_pair as best_pair
from glassbox.tokenization.merges import bpe_merges as bpe_merges
from glassbox.tokenization.merges import bpe_word as bpe_word
from glassbox.tokenization.merges import learn_merges as learn_merges
from glassbox.tokenization.merges import merge_pair as merge_pair
from glassbox.tokenization.pre_tokenize import byte_alphabet as byte_alphabet
from glassbox.tokenization.pre_tokenize import normalize_bert as normalize_bert
from glassbox.tokenization.pre_tokenize import split_bert as split_bert
from glassbox.tokenization.pre_tokenize import split_gpt2 as split_gpt2
from glassbox.tokenization.pre_tokenize import split_metaspace as split_metaspace
from glassbox.tokenization.sentencepiece_bpe import SentencePieceBPE as SentencePieceBPE
from glassbox.tokenization.tokenizer import Batch as Batch
from glassbox.tokenization.tokenizer import Tokenizer as Tokenizer
from glassbox.tokenization.unigram import Unigram as Unigram
from glassbox.tokenization.unigram_training import learn_pieces as learn_pieces
from glassbox.tokenization.wordpiece import WordPiece as WordPiece
from glassbox.tokenization.wordpiece import longest_match_first as longest_match_first
