"""A page that shows a translation and where the model looked as it wrote each token."""

from typing import NamedTuple

from torch import Tensor

from glassbox.looking.record import AttentionRecord
from glassbox.translation.translator import Alternative, Translator
from glassbox_book.templates import fill
from glassbox_book.viz import head_view, model_view
from glassbox_book.viz.tokens import visible


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
    tokenizer = translator.tokenizer
    source = tokenizer.encode_source(text, to)
    written = [tokenizer.bpe.token_id(token) for token in translation.tokens]
    before = [tokenizer.bos_id, *written[:-1]]
    tape, logits = translator.reread(source, before)
    layers = [tape[name] for name in tape if name.endswith("cross_attention")]
    rows, columns = ([*map(tokenizer.piece, ids)] for ids in (written, source))
    return CrossAttention(rows, columns, layers, logits)


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
    slots = {"to": to, "probability": translation.probability, "views": views}
    shown, said = (visible(words, raw=True) for words in (text, translation.text))
    return fill("page.html", text=shown, translation=said, **slots) + "\n"
