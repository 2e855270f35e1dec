"""A page that shows a translation and where the model looked as it wrote each token."""

from html import escape
from typing import NamedTuple

import torch
from torch import Tensor

from glassbox.looking.record import AttentionRecord, record
from glassbox.modes import evaluating
from glassbox.translation.translator import Alternative, Translator
from glassbox_book.viz import head_view, model_view
from glassbox_book.viz.tokens import visible

_STYLE = """
:root { color-scheme: light dark }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 sans-serif }
h1 { font-size: 1.4rem } dt { font-weight: 600 } dd { margin: 0 0 .8rem; overflow-wrap: anywhere }
"""


class CrossAttention(NamedTuple):
    """Where a decoder looked as it wrote a translation.

    Attributes
    ----------
    written, source : list of str
        The tokens written, one per step, and the tokens of the source.
    layers : list of AttentionRecord
        The cross-attention of each layer; its weights are ``(1, heads, written, source)``.
    logits : Tensor
        The decoder's logits at each step, ``(written, vocab)``.
    """

    written: list[str]
    source: list[str]
    layers: list[AttentionRecord]
    logits: Tensor


def cross_attention(
    translator: Translator, text: str, to: str, translation: Alternative
) -> CrossAttention:
    """Let the model read a finished translation again, and record where it looks.

    The row of a token is the step that wrote it: where the decoder, given the tokens before it,
    looked in the source.

    Parameters
    ----------
    translator : Translator
        The translator that wrote it.
    text : str
        The source text.
    to : str
        The target language.
    translation : Alternative
        The translation, from :meth:`Translator.alternatives`.

    Returns
    -------
    CrossAttention
        Tokens, weights and logits.

    Raises
    ------
    ValueError, TypeError
        As for :meth:`Translator.translate`.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.3, on attention from decoder to encoder. Chapter 8.
    """
    tokenizer, model = translator.tokenizer, translator.model
    source = tokenizer.encode_source(text, to)
    written = [tokenizer.bpe.token_id(token) for token in translation.tokens]
    before = [tokenizer.bos_id, *written[:-1]]
    with evaluating(model), torch.inference_mode(), record(model) as tape:
        logits = model(*(torch.tensor([ids], device=translator.device) for ids in (source, before)))
    layers = [tape[name] for name in tape if name.endswith("cross_attention")]
    rows, columns = ([*map(tokenizer.piece, ids)] for ids in (written, source))
    return CrossAttention(rows, columns, layers, logits[0])


def attention_page(translator: Translator, text: str, to: str, translation: Alternative) -> str:
    """Return a page with the cross-attention of one translation, in the reader's colour scheme.

    Parameters
    ----------
    translator, text, to, translation
        As for :func:`cross_attention`.

    Returns
    -------
    str
        Self-contained HTML, which needs neither a network nor other files.

    Raises
    ------
    ValueError
        If the layers have different numbers of heads, or as for :func:`cross_attention`.
    TypeError
        As for :func:`cross_attention`.
    """
    rows, columns, layers, _ = cross_attention(translator, text, to, translation)
    views = (
        head_view(layers, rows, key_tokens=columns, layer=len(layers) - 1, title="One layer"),
        model_view(layers, rows, key_tokens=columns, title="All heads of all layers"),
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(visible(text, raw=True))}</title><style>{_STYLE}</style></head>"
        "<body><main>"
        "<h1>Where the model looked</h1>"
        f"<dl><dt>Text</dt><dd><bdi>{escape(visible(text, raw=True))}</bdi></dd>"
        "<dt>Translation</dt>"
        f'<dd lang="{escape(to)}"><bdi>{escape(visible(translation.text, raw=True))}</bdi></dd>'
        f"<dt>Probability</dt><dd>{translation.probability:#.3g}</dd></dl>"
        "<p>The tokens of the translation are on the left, those of the source on the right. Each "
        "was written while the decoder looked at the source, the more at a token the stronger the "
        "line. The first token of the source asks for the language. Attention shows where a head "
        f"looked, and not by itself why a word was chosen.</p>{''.join(v.html() for v in views)}"
        "</main></body></html>\n"
    )
