"""Generation: compute logits, process them, choose a token, repeat (chapter 10).

The files in the order in which they build on one another: ``config`` holds the options;
``processors`` and ``penalties`` change the next token's logits, ``choice`` applies them in order
and picks a token; ``running`` holds the texts and the model's cache. The loops build on these:
``loop`` (greedy and sampling, and ``generate``), ``beam_search``, ``contrastive``, ``speculative``.
``text`` turns tokens into strings.
"""

from glassbox.generation.beam_search import (
    Beams,
    Candidates,
    beam_search,
    best_candidates,
    keep_ended,
    keep_running,
)
from glassbox.generation.choice import greedy, process, sample
from glassbox.generation.config import GenerationConfig
from glassbox.generation.contrastive import contrastive_scores, contrastive_search
from glassbox.generation.loop import generate, stream
from glassbox.generation.penalties import (
    frequency_penalty,
    no_repeat_ngram,
    presence_penalty,
    repetition_penalty,
    suppress,
)
from glassbox.generation.processors import min_p, temperature, top_k, top_p, typical
from glassbox.generation.running import RunningBatch
from glassbox.generation.speculative import Speculation, accept, speculative
from glassbox.generation.text import Tokenizer, has_stop_string, text_pieces

__all__ = [
    "Beams",
    "Candidates",
    "GenerationConfig",
    "RunningBatch",
    "Speculation",
    "Tokenizer",
    "accept",
    "beam_search",
    "best_candidates",
    "contrastive_scores",
    "contrastive_search",
    "frequency_penalty",
    "generate",
    "greedy",
    "has_stop_string",
    "keep_ended",
    "keep_running",
    "min_p",
    "no_repeat_ngram",
    "presence_penalty",
    "process",
    "repetition_penalty",
    "sample",
    "speculative",
    "stream",
    "suppress",
    "temperature",
    "text_pieces",
    "top_k",
    "top_p",
    "typical",
]
