"""From text to token ids and back: the three schools of sub-words, trained and run (chapter 2)."""

from glassbox.tokenization.bpe import BPE
from glassbox.tokenization.lattice import Pieces, marginals, viterbi
from glassbox.tokenization.merges import best_pair, bpe_merges, bpe_word, learn_merges, merge_pair
from glassbox.tokenization.pre_tokenize import (
    byte_alphabet,
    normalize_bert,
    split_bert,
    split_gpt2,
    split_metaspace,
)
from glassbox.tokenization.sentencepiece_bpe import SentencePieceBPE
from glassbox.tokenization.tokenizer import Batch, Tokenizer
from glassbox.tokenization.unigram import Unigram
from glassbox.tokenization.unigram_training import learn_pieces
from glassbox.tokenization.wordpiece import WordPiece, longest_match_first

__all__ = [
    "BPE",
    "Batch",
    "Pieces",
    "SentencePieceBPE",
    "Tokenizer",
    "Unigram",
    "WordPiece",
    "best_pair",
    "bpe_merges",
    "bpe_word",
    "byte_alphabet",
    "learn_merges",
    "learn_pieces",
    "longest_match_first",
    "marginals",
    "merge_pair",
    "normalize_bert",
    "split_bert",
    "split_gpt2",
    "split_metaspace",
    "viterbi",
]
