"""Texts being generated: the operations that all ways of decoding share (chapter 10)."""

from typing import Any, cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassbox.checks import INTEGERS, check_dtype, check_whole, wrong_shape
from glassbox.generation.checks import check_logits, check_model, check_prompt, check_source
from glassbox.generation.choice import process
from glassbox.generation.config import GenerationConfig
from glassbox.generation.penalties import suppress


class RunningBatch:
    """A growing batch of texts: their tokens, and the model's cache of them.

    Decoding of any kind is a loop over four operations: :meth:`append` tokens, :meth:`read` them
    for the next token's logits, :meth:`reorder` the rows, :meth:`crop` to go back. It is the same
    for decoder-only and for encoder–decoder models, with and without a cache, except that a cache
    does not read a token twice.

    Everything is allocated at its final length, so a step copies only what is new: tokens, cache,
    and, only if the prompts are padded, mask and positions.

    Parameters
    ----------
    model : nn.Module
        A language model of this package.
    prompt_ids : Tensor, optional
        Integers, ``(batch, length)``: the beginnings of the texts. Shorter ones are padded on the
        *left*, because they are continued on the right. For an encoder–decoder model, the beginning
        of its output; the start token if left out.
    config : GenerationConfig
        Its options ``max_new_tokens``, the room to allocate; ``use_cache``, whether the model
        caches what it has read or rereads all of it at every step; and the ids are used.
    prompt_mask : Tensor, optional
        Boolean, ``(batch, 1, 1, length)``: ``False`` where a prompt is padded, as
        :func:`glassbox.padding_mask` returns it.
    source_ids : Tensor, optional
        Integers, ``(batch, source_length)``: the encoder's input in an encoder–decoder model.
    source_mask : Tensor, optional
        Boolean, ``(batch, 1, 1, source_length)``: ``False`` where a source is padded, on any side.
        Required if the sources contain the model's ``pad_id``.

    Attributes
    ----------
    config : GenerationConfig
        The options, with the model's own ids where none were given.
    length : int
        Number of tokens in each row, including padding.
    prompt_len : int
        Number of prompt tokens among them.
    cache : Cache or None
        The model's keys and values, or ``None`` without ``use_cache``.
    never : list of int
        The tokens that the model never writes.

    Raises
    ------
    ValueError
        If the prompt is empty, padded on the right or too long for the model, if ids are not in the
        vocabulary, if a source is missing, superfluous or padded without a mask, or if shapes do
        not fit.
    TypeError
        If ``model`` is not a language model, ids are not integers, or masks are not boolean.

    Notes
    -----
    Chapter 10.
    """

    def __init__(
        self,
        model: nn.Module,
        prompt_ids: Int[Tensor, "batch length"] | None,
        config: GenerationConfig,
        prompt_mask: Bool[Tensor, "batch 1 1 length"] | None = None,
        source_ids: Int[Tensor, "batch source_length"] | None = None,
        source_mask: Bool[Tensor, "batch 1 1 source_length"] | None = None,
    ) -> None:
        self.config = config = config.for_model(check_model(model))
        check_source(model, prompt_ids, source_ids, source_mask)
        self.model = cast(Any, model)
        self._memory, self._source_mask = None, source_mask
        if source_ids is not None:
            self._memory = self.model.encode(source_ids, source_mask)
            if source_mask is not None:  # a row for each source, which reorder can move
                self._source_mask = source_mask.expand(len(source_ids), -1, -1, -1)
        if prompt_ids is None:
            sources: Any = source_ids  # which check_source demands
            prompt_ids = sources.new_full((len(sources), 1), self.model.config.bos_id)
        check_prompt(model, prompt_ids, prompt_mask, self._memory, config.max_new_tokens)
        self.prompt_len = self.length = prompt_ids.size(1)
        self._ids = F.pad(prompt_ids, (0, config.max_new_tokens), value=config.fill_id).long()
        self._eos_ids = torch.tensor(config.eos_ids, dtype=torch.int64, device=self._ids.device)
        never: Any = getattr(self.model.config, "never_written", ())
        self.never = [token for token in never if token not in config.eos_ids]
        self._mask: Tensor | None = None
        self._positions: Tensor | None = None
        if prompt_mask is not None and not prompt_mask.all():
            prompt_mask = prompt_mask.expand(len(prompt_ids), 1, 1, self.prompt_len)
            self._mask = F.pad(prompt_mask, (0, config.max_new_tokens), value=True)
            # Padding has no position: each row counts from its first real token.
            self._positions = (self._mask[:, 0, 0].cumsum(dim=-1) - 1).clamp(min=0)
        self.cache = self.model.new_cache(self._ids.size(1)) if config.use_cache else None

    @property
    def token_ids(self) -> Int[Tensor, "batch length"]:
        """The texts so far, prompts included: ``(batch, length)``."""
        return self._ids[:, : self.length]

    @property
    def mask(self) -> Bool[Tensor, "batch length"] | None:
        """Which of :attr:`token_ids` are real tokens; ``None`` if all are."""
        return None if self._mask is None else self._mask[:, 0, 0, : self.length]

    def ends(self, token_ids: Int[Tensor, "*shape"]) -> Bool[Tensor, "*shape"]:
        """Return which of ``token_ids``, of any shape, end a text."""
        return torch.isin(token_ids, self._eos_ids)

    def append(self, token_ids: Int[Tensor, "batch new"]) -> None:
        """Append ``token_ids``, ``(batch, new)``, to the texts; the model reads them later.

        Raises
        ------
        ValueError
            If there is not a row for each text, or not enough room.
        TypeError
            If they are not integers.
        """
        check_dtype("token_ids", token_ids, INTEGERS, "a tensor of integers, torch.int64")
        if token_ids.dim() != 2 or len(token_ids) != len(self._ids):
            raise wrong_shape("token_ids", token_ids, f"({len(self._ids)}, new), a row each")
        end = self.length + token_ids.size(1)
        if end > self._ids.size(1):
            raise ValueError(
                f"{end} tokens, but there is room for {self._ids.size(1)}, the prompt and "
                f"max_new_tokens={self.config.max_new_tokens}"
            )
        self._ids[:, self.length : end] = token_ids
        self.length = end

    def read(self) -> Float[Tensor, "batch vocab"]:
        """Let the model read what it has not read yet; return the next token's logits.

        Raises
        ------
        FloatingPointError
            If there is a NaN among them, or plus infinity.
        ValueError
            With a cache, if the model has read every token: append one first.
        """
        return self.logits(self.read_hidden()[:, -1:])[:, -1]

    def read_hidden(self) -> Float[Tensor, "batch new d_model"]:
        """Let the model read what it has not read yet; return its last layer's hidden states.

        :meth:`logits` turns them into logits, for only those positions that are needed.

        Raises
        ------
        ValueError
            With a cache, if the model has read every token: append one first.
        """
        start = 0 if self.cache is None else self.cache.length
        return self.model.hidden(
            self._ids[:, start : self.length],
            None if self._mask is None else self._mask[..., : self.length],
            self._memory,
            self._source_mask,
            positions=None if self._positions is None else self._positions[:, start : self.length],
            cache=self.cache,
        )

    def logits(self, hidden: Float[Tensor, "batch new width"]) -> Float[Tensor, "batch new vocab"]:
        """Return the model's logits for these ``hidden`` states, ``(batch, new, d_model)``.

        Raises
        ------
        FloatingPointError
            If one is NaN or plus infinity.
        """
        logits = self.model.logits(hidden)
        check_logits(logits)
        return logits

    def process(
        self, logits: Float[Tensor, "batch vocab"], length: int | None = None
    ) -> Float[Tensor, "batch vocab"]:
        """Rule out what the model never writes; apply :func:`~glassbox.generation.process`.

        ``logits``, ``(batch, vocab)``, are those of the token after the first ``length``, or all.
        """
        logits = suppress(logits, self.never) if self.never else logits
        mask = None if self.mask is None else self.mask[:, :length]
        return process(logits, self.config, self.token_ids[:, :length], self.prompt_len, mask)

    def reorder(self, rows: Int[Tensor, " new_batch"], *, same_text: bool = False) -> None:
        """Keep these rows, in this order; a row may be kept more than once.

        Parameters
        ----------
        rows : Tensor
            Integers, ``(new_batch,)``.
        same_text : bool, optional
            Whether every row replaces one with the same prompt and source, as among the beams of
            one text, so that these need not be moved.

        Raises
        ------
        TypeError
            If ``rows`` is not a tensor of integers.
        """
        check_dtype("rows", rows, INTEGERS, "a tensor of integers: the rows to keep")
        self._ids = self._ids[rows]
        if self.cache is not None:
            self.cache.reorder(rows, same_memory=same_text)
        if same_text:
            return
        for name in ("_mask", "_positions", "_memory", "_source_mask"):
            if (tensor := getattr(self, name)) is not None:
                setattr(self, name, tensor[rows])

    def crop(self, length: int) -> None:
        """Go back to the first ``length`` tokens, in the text and in the model's cache.

        Raises
        ------
        ValueError
            If there are fewer tokens.
        """
        check_whole("length", length)
        if not 0 < length <= self.length:
            raise ValueError(f"length={length}: the texts have {self.length} tokens")
        self.length = length
        if self.cache is not None and self.cache.length > length:
            self.cache.crop(length)
