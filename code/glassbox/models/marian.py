"""Marian: the paper's Transformer, in a thousand published translators (chapter 8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from glassbox.config import Activation
from glassbox.models.layouts import encoder_decoders as layouts
from glassbox.positional import sinusoidal_encoding
from glassbox.transformer import Transformer, TransformerConfig


@dataclass(frozen=True)
class MarianConfig(TransformerConfig):
    """The sizes of a Marian translator. The defaults are those of opus-mt-en-de.

    Raises
    ------
    ValueError
        As for :class:`~glassbox.transformer.TransformerConfig`.
    TypeError
        As for ``StackConfig``.

    Notes
    -----
    Junczys-Dowmunt et al. (2018); Tiedemann and Thottingal (2020). A text begins with the padding
    token, ``bos_id``. The fields are :class:`~glassbox.transformer.TransformerConfig`'s.
    """

    layout = layouts.MARIAN

    activation: Activation = "silu"
    vocab_size: int = 58_101
    concatenated: bool = True
    output_bias: bool = True
    pad_id: int = 58_100
    bos_id: int = 58_100
    eos_id: int = 0

    @property
    def never_written(self) -> tuple[int, ...]:
        """The padding, which is all zeros in published models, so that its logit is 0."""
        return (self.pad_id,)

    @classmethod
    def tiny(cls, **changes: Any) -> TransformerConfig:
        """Return a model a laptop can train, with ``changes``; its last token is the padding."""
        last = changes.get("vocab_size", 8_000) - 1
        return super().tiny(**{"pad_id": last, "bos_id": last} | changes)


class Marian(Transformer):
    """A Marian translator: the paper's encoder–decoder, with all sines before all cosines.

    Post-norm, sinusoidal positions, one table for all embeddings, multiplied by the square root of
    ``d_model``, and a bias on the logits. In generation it never writes the padding token, which
    the published models rule out with ``bad_words_ids``; its logits are the reference's. Beam
    search renormalises the other probabilities, as the published ``renormalize_logits`` asks.

    Parameters
    ----------
    config : MarianConfig, optional
        The sizes. Defaults to those of opus-mt-en-de. For trained weights use
        :meth:`from_pretrained`.

    Notes
    -----
    Junczys-Dowmunt et al. (2018); Vaswani et al. (2017). Equal to ``transformers.MarianMTModel``,
    whose ``generate``, however, ends a text that it cuts off with the end token. Chapter 8.
    """

    config: MarianConfig
    config_class = MarianConfig
    layout = layouts.MARIAN

    def __init__(self, config: MarianConfig | None = None) -> None:
        super().__init__(MarianConfig() if config is None else config)

    @classmethod
    def configure(cls, entries: Mapping[str, Any], weights: Mapping[str, Tensor]) -> MarianConfig:
        """Return the configuration of a published translator.

        Parameters
        ----------
        entries : mapping
            The entries of its ``config.json``.
        weights : mapping of str to Tensor
            Its parameters by the reference's names.

        Raises
        ------
        ValueError
            If it is not a Marian, or its positions are not sinusoids.
        """
        for name, table in weights.items():
            if name.endswith("embed_positions.weight"):
                _check_sinusoidal(name, table)
        return super().configure(entries, weights)


def _check_sinusoidal(name: str, table: Tensor) -> None:
    positions = torch.arange(table.size(0), device=table.device)
    expected = sinusoidal_encoding(positions, table.size(1), concatenated=True)
    if (difference := (table.float() - expected).abs().max().item()) > 0.01:  # half precision
        raise ValueError(
            f"{name} differs from the sinusoids by {difference:.2g}: positions that were learned "
            "have no place in a Marian"
        )
