"""Caches of the keys and values already computed, so each token costs one step (chapter 10)."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassbox.checks import INTEGERS, check_at_least, check_continues, check_dtype, check_whole


class KeyValueCache:
    """The keys and values of one attention, kept from step to step.

    The first step allocates two buffers of their final length, which are filled from the left:
    each step writes its own keys and values and copies none of the earlier ones, unless a backward
    pass may need these as they are. Only keys and values that need gradients show this: where the
    queries alone need them, a backward pass through several steps fails, so do without a cache.

    Parameters
    ----------
    max_len : int, optional
        Maximum number of positions. Defaults to those of the first step.

    Attributes
    ----------
    length : int
        Current number of positions.

    Raises
    ------
    ValueError
        If ``max_len`` is not an int of at least 1.

    Notes
    -----
    Pope et al. (2023), section 2.1. Chapter 10.
    """

    def __init__(self, max_len: int | None = None) -> None:
        if max_len is not None:
            check_at_least("max_len", max_len, 1)
        self.max_len = self._limit = max_len
        self.length = 0
        self._key: Tensor | None = None
        self._value: Tensor | None = None

    @property
    def key(self) -> Float[Tensor, "batch kv_heads length d_k"]:
        """All keys so far, ``(batch, kv_heads, length, d_k)``."""
        return self._filled(self._key)

    @property
    def value(self) -> Float[Tensor, "batch kv_heads length d_v"]:
        """All values so far, ``(batch, kv_heads, length, d_v)``."""
        return self._filled(self._value)

    def append(
        self,
        key: Float[Tensor, "batch kv_heads new d_k"],
        value: Float[Tensor, "batch kv_heads new d_v"],
    ) -> tuple[
        Float[Tensor, "batch kv_heads length d_k"], Float[Tensor, "batch kv_heads length d_v"]
    ]:
        """Append new keys and values, and return all of them.

        Parameters
        ----------
        key, value : Tensor
            ``(batch, kv_heads, new, d_k)`` and ``(batch, kv_heads, new, d_v)``.

        Returns
        -------
        key, value : Tensor
            ``(batch, kv_heads, length, d_k)`` and ``(batch, kv_heads, length, d_v)``: views of
            the buffers.

        Raises
        ------
        ValueError
            If there is no room, or if the batch, the heads, the widths, the dtype or the device
            differ from those in the cache.
        """
        new = key.size(2)
        if self.max_len is None or not self.length:
            self.max_len = self._limit or new
        start, end = self.length, self.length + new
        if end > self.max_len:
            raise ValueError(
                f"{end} positions do not fit into a cache of max_len={self.max_len}: "
                "make it longer, or generate fewer tokens"
            )
        if self._key is None or self._value is None or not self.length:
            self._key, self._value = (
                x.new_empty(*key.shape[:2], self.max_len, x.size(3)) for x in (key, value)
            )
        elif _in_use(self._key) or _in_use(self._value):
            self._key, self._value = self._key.clone(), self._value.clone()
        check_continues(self._key, key, new, "keys")
        check_continues(self._value, value, new, "values")
        self._key[:, :, start:end] = key
        self._value[:, :, start:end] = value
        self.length = end
        return self.key, self.value

    def reorder(self, rows: Int[Tensor, " new_batch"]) -> None:
        """Keep these rows of the batch, in this order; a row may be kept more than once.

        Raises
        ------
        TypeError
            If ``rows`` is not a tensor of integers.
        """
        check_dtype("rows", rows, INTEGERS, "integers, the rows to keep: torch.as_tensor({0})")
        if self._key is not None and self._value is not None:
            in_use = _in_use(self._key) or _in_use(self._value)
            self._key, self._value = (
                self._moved(x, rows, in_use) for x in (self._key, self._value)
            )

    def crop(self, length: int) -> None:
        """Discard all positions from ``length`` on.

        Raises
        ------
        ValueError
            If the cache holds fewer positions.
        TypeError
            If ``length`` is not a whole number.
        """
        check_whole("length", length)
        if not 0 <= length <= self.length:
            raise ValueError(f"length={length}: this cache holds {self.length} positions")
        self.length = length
        if not length:  # the next text may come in another batch or dtype, or be a longer memory
            self._key, self._value, self.max_len = None, None, self._limit

    def _filled(self, buffer: Tensor | None) -> Tensor:
        if buffer is None:
            raise ValueError("the cache is empty: it has keys and values after the first step")
        filled = buffer[:, :, : self.length]
        outside = not (torch.compiler.is_compiling() or torch.is_inference_mode_enabled())
        return filled.clone() if outside and filled.is_inference() else filled

    def _moved(self, buffer: Tensor, rows: Tensor, in_use: bool) -> Tensor:
        if in_use or rows.numel() != buffer.size(0):
            return buffer.index_select(0, rows)
        filled = buffer[:, :, : self.length]  # the rest is still empty
        filled.copy_(filled.index_select(0, rows))
        return buffer


def _in_use(x: Tensor) -> bool:
    """Return whether a backward pass may need ``x``, or inference mode forbids writing into it."""
    if x.requires_grad or torch.compiler.is_compiling():
        return x.requires_grad
    return x.is_inference() != torch.is_inference_mode_enabled()


class LayerCache(NamedTuple):
    """The caches of one layer: one for its own past, one for the encoder's output.

    Parameters
    ----------
    self_attention : KeyValueCache
        Grows with each step.
    cross_attention : KeyValueCache
        Filled from the memory in the first step and constant afterwards; stays empty in a model
        without an encoder.

    Notes
    -----
    Chapter 10.
    """

    self_attention: KeyValueCache
    cross_attention: KeyValueCache


class Cache:
    """The caches of all layers of a model, for one batch of texts being written.

    Parameters
    ----------
    n_layers : int
        Number of decoder layers.
    max_len : int
        Maximum number of positions the decoder will read.

    Attributes
    ----------
    layers : list of LayerCache
        One for each layer.
    max_len : int
        Maximum number of positions.

    Raises
    ------
    ValueError
        If ``n_layers`` or ``max_len`` is not an int of at least 1.

    Notes
    -----
    Chapter 10.
    """

    def __init__(self, n_layers: int, max_len: int) -> None:
        check_at_least("n_layers", n_layers, 1)
        check_at_least("max_len", max_len, 1)
        self.max_len = max_len
        self.layers = [LayerCache(KeyValueCache(max_len), KeyValueCache()) for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """Number of positions the model has read."""
        return self.layers[0].self_attention.length

    def pairs(self, n_layers: int) -> list[LayerCache]:
        """Return the caches of each layer's self-attention and cross-attention.

        Parameters
        ----------
        n_layers : int
            Number of decoder layers.

        Returns
        -------
        list of LayerCache
            A pair for each layer.

        Raises
        ------
        ValueError
            If the cache was made for a different number of layers.
        """
        if len(self.layers) != n_layers:
            raise ValueError(
                f"the cache has {len(self.layers)} layers, this decoder {n_layers}: make one with "
                "the model's new_cache(max_len)"
            )
        return self.layers

    def reorder(self, rows: Int[Tensor, " new_batch"], *, same_memory: bool = False) -> None:
        """Keep these rows of the batch, in this order; a row may be kept more than once.

        Parameters
        ----------
        rows : Tensor
            Integers, ``(new_batch,)``.
        same_memory : bool, optional
            Whether every row replaces one with the same memory, as among the beams of one text;
            the cross-attention's keys and values then stay in place.

        Raises
        ------
        TypeError
            If ``rows`` is not a tensor of integers.
        """
        for layer in self.layers:
            layer.self_attention.reorder(rows)
            if not same_memory:
                layer.cross_attention.reorder(rows)

    def crop(self, length: int) -> None:
        """Discard all positions from ``length`` on, but keep the memory.

        Raises
        ------
        ValueError
            If the cache holds fewer positions.
        TypeError
            If ``length`` is not a whole number.
        """
        for layer in self.layers:
            layer.self_attention.crop(length)
