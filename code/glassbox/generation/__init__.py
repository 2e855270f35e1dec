"""Generation: compute logits, process them, choose a token, repeat (chapter 10).

The files in the order in which they build on one another: ``config`` holds the options;
``processors`` and ``penalties`` change the next token's logits, ``choice`` applies them in order
and picks a token; ``running`` holds the texts and the model's cache. The loops build on these:
``loop`` (greedy and sampling, and ``generate``), ``beam_search``, ``contrastive``, ``speculative``.
``text`` turns tokens into strings.
"""

from glassbox.generation.beam_search import Beams as Beams
from glassbox.generation.beam_search import Candidates as Candidates
from glassbox.generation.beam_search import beam_search as beam_search
from glassbox.generation.beam_search import best_candidates as best_candidates
from glassbox.generation.beam_search import keep_ended as keep_ended
from glassbox.generation.beam_search import keep_running as keep_running
from glassbox.generation.choice import greedy as greedy
from glassbox.generation.choice import process as process
from glassbox.generation.choice import sample as sample
from glassbox.generation.config import GenerationConfig as GenerationConfig
from glassbox.generation.contrastive import contrastive_scores as contrastive_scores
from glassbox.generation.contrastive import contrastive_search as contrastive_search
from glassbox.generation.loop import generate as generate
from glassbox.generation.loop import stream as stream
from glassbox.generation.penalties import frequency_penalty as frequency_penalty
from glassbox.generation.penalties import no_repeat_ngram as no_repeat_ngram
from glassbox.generation.penalties import presence_penalty as presence_penalty
from glassbox.generation.penalties import repetition_penalty as repetition_penalty
from glassbox.generation.penalties import suppress as suppress
from glassbox.generation.processors import min_p as min_p
from glassbox.generation.processors import temperature as temperature
from glassbox.generation.processors import top_k as top_k
from glassbox.generation.processors import top_p as top_p
from glassbox.generation.processors import typical as typical
from glassbox.generation.running import RunningBatch as RunningBatch
from glassbox.generation.speculative import Speculation as Speculation
from glassbox.generation.speculative import accept as accept
from glassbox.generation.speculative import speculative as speculative
from glassbox.generation.text import Tokenizer as Tokenizer
from glassbox.generation.text import has_stop_string as has_stop_string
from glassbox.generation.text import text_pieces as text_pieces
