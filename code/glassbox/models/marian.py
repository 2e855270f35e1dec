"""Marian: the paper's Transformer, with a thousand published translators (chapter 8)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from glassbox.config import Activation
from glassbox.positional import sinusoidal_encoding
from glassbox.pretrained import (
    check_entries,
    check_representable,
    our_activation,
    read_entry,
    read_number,
    reference_activation,
)
from glassbox.transformer import Transformer, TransformerConfig

#: What ``config.json`` must say of a Marian, where it says anything.
REFERENCE_CONSTANTS: dict[str, Any] = {
    "model_type": "marian",
    "is_encoder_decoder": True,
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
    "static_position_embeddings": True,
}
#: Fields that the reference's Marian has no entries for.
REFERENCE_SIZES = ["positions", "concatenated", "norm", "norm_first", "norm_eps", "gated", "bias"]
REFERENCE_SIZES += ["n_kv_heads", "d_k", "scale", "output_bias", "endpoint", "first_position"]


@dataclass(frozen=True)
class MarianConfig(TransformerConfig):
    """The sizes of a Marian translator. The defaults are those of opus-mt-en-de.

    Raises
    ------
    ValueError
        As in :class:`~glassbox.transformer.TransformerConfig`.

    Notes
    -----
    Junczys-Dowmunt et al. (2018); Tiedemann and Thottingal (2020). What begins a text, ``bos_id``,
    is its padding. The fields are :class:`~glassbox.transformer.TransformerConfig`'s.
    """

    activation: Activation = "silu"
    vocab_size: int = 58_101
    concatenated: bool = True
    output_bias: bool = True
    pad_id: int = 58_100
    bos_id: int = 58_100
    eos_id: int = 0

    @classmethod
    def from_reference(cls, config: Mapping[str, Any]) -> "MarianConfig":
        """Translate the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            If it describes another kind of model, or a Marian whose encoder and decoder differ in
            more than their numbers of layers.
        """
        check_entries(config, REFERENCE_CONSTANTS)

        def number(name: str, kind: type[int] | type[float] = int) -> Any:
            return read_number(config, name, kind, model="Marian")

        def of_both(name: str) -> Any:
            check_entries(config, {f"decoder_{name}": (given := number(f"encoder_{name}"))})
            return given

        activation = read_entry(config, "activation_function", "Marian")
        n_layers, vocab_size = number("encoder_layers"), number("vocab_size")
        shared = config.get("share_encoder_decoder_embeddings", True)
        return cls(
            d_model=number("d_model"),
            n_heads=of_both("attention_heads"),
            n_layers=n_layers,
            n_decoder_layers=None if (n := number("decoder_layers")) == n_layers else n,
            d_ff=of_both("ffn_dim"),
            dropout=number("dropout", float),
            activation=our_activation(activation),
            vocab_size=vocab_size,
            target_vocab_size=None if shared else config.get("decoder_vocab_size") or vocab_size,
            max_len=number("max_position_embeddings"),
            tie_embeddings=config.get("tie_word_embeddings", True),
            scale_embeddings=config.get("scale_embedding", False),
            pad_id=number("pad_token_id"),
            bos_id=number("decoder_start_token_id"),
            eos_id=number("eos_token_id"),
        )

    def to_reference(self) -> dict[str, Any]:
        """Return the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            If the reference has no such Marian.
        """
        check_representable(self, REFERENCE_SIZES)
        entries: dict[str, Any] = {
            **REFERENCE_CONSTANTS,
            "architectures": ["MarianMTModel"],
            "d_model": self.d_model,
            "dropout": self.dropout,
            "activation_function": reference_activation(self.activation),
            "vocab_size": self.vocab_size,
            "decoder_vocab_size": self.written_vocab_size,
            "share_encoder_decoder_embeddings": self.target_vocab_size is None,
            "max_position_embeddings": self.max_len,
            "tie_word_embeddings": self.tie_embeddings,
            "scale_embedding": self.scale_embeddings,
            "pad_token_id": self.pad_id,
            "decoder_start_token_id": self.bos_id,
            "eos_token_id": self.eos_id,
            "forced_eos_token_id": self.eos_id,
        }
        layers = {"encoder": self.n_layers, "decoder": self.decoder.n_layers}
        for side, n_layers in layers.items():
            entries[f"{side}_layers"] = n_layers
            entries[f"{side}_attention_heads"] = self.n_heads
            entries[f"{side}_ffn_dim"] = self.d_ff
        return entries


#: The reference's names in a layer of either stack, each with ours.
LAYER = {
    "self_attn.q_proj": "self_attention.query",
    "self_attn.k_proj": "self_attention.key",
    "self_attn.v_proj": "self_attention.value",
    "self_attn.out_proj": "self_attention.output",
    "self_attn_layer_norm": "attention_norm",
    "fc1": "feed_forward.expand",
    "fc2": "feed_forward.contract",
    "final_layer_norm": "feed_forward_norm",
}
CROSS_ATTENTION = {
    "encoder_attn.q_proj": "cross_attention.query",
    "encoder_attn.k_proj": "cross_attention.key",
    "encoder_attn.v_proj": "cross_attention.value",
    "encoder_attn.out_proj": "cross_attention.output",
    "encoder_attn_layer_norm": "cross_attention_norm",
}


def _stack(side: str, layer: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{side}.layers.{{}}.{theirs}": f"{side}.layers.{{}}.{ours}"
        for theirs, ours in layer.items()
    }


class Marian(Transformer):
    """A Marian translator: the paper's encoder–decoder, with all sines before all cosines.

    Post-norm, sinusoidal positions, embeddings that are tied and multiplied by the root of
    ``d_model``, a bias on the logits.

    Parameters
    ----------
    config : MarianConfig, optional
        The sizes; those of opus-mt-en-de if left out. For trained weights use
        :meth:`from_pretrained`.

    Notes
    -----
    Junczys-Dowmunt et al. (2018); Vaswani et al. (2017). Equal to ``transformers.MarianMTModel``.
    Chapter 8.
    """

    config: MarianConfig
    config_class = MarianConfig
    reference_prefix = "model."
    reference_names: ClassVar[Mapping[str, str]] = {
        "encoder.embed_tokens": "source_embedding",
        "decoder.embed_tokens": "target_embedding",
        **_stack("encoder", LAYER),
        **_stack("decoder", LAYER | CROSS_ATTENTION),
        "lm_head": "output",
    }
    not_ours = r"(encoder|decoder)\.embed_positions\."

    def __init__(self, config: MarianConfig | None = None) -> None:
        super().__init__(MarianConfig() if config is None else config)

    @classmethod
    def configure(cls, entries: Mapping[str, Any], weights: Mapping[str, Tensor]) -> MarianConfig:
        """Return the configuration of a published translator.

        Which of its embeddings and its projection are one, the parameters tell.

        Parameters
        ----------
        entries : mapping
            Of its ``config.json``.
        weights : mapping of str to Tensor
            By the reference's names.

        Raises
        ------
        ValueError
            If it is no Marian, or its positions are not the sinusoids.
        """
        config = super().configure(entries, weights)
        weights = {name.removeprefix(cls.reference_prefix): x for name, x in weights.items()}
        shared = weights.get("shared.weight")
        source = weights.get("encoder.embed_tokens.weight", shared)
        target = weights.get("decoder.embed_tokens.weight", shared)
        if source is None or target is None:
            raise ValueError("there are no embeddings among these weights")
        head = weights.get("lm_head.weight", target)
        own = config.target_vocab_size is not None or not torch.equal(source, target)
        for name, table in weights.items():
            if name.endswith("embed_positions.weight"):
                _check_sinusoidal(name, table)
        return replace(
            config,
            target_vocab_size=target.size(0) if own else None,
            tie_embeddings=torch.equal(target, head),
        )

    def from_reference(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Give the reference's parameters our names.

        Parameters
        ----------
        weights : mapping of str to Tensor
            By the reference's names.

        Returns
        -------
        dict of str to Tensor
            By our names.

        Raises
        ------
        ValueError
            If a Marian has no parameter of some name.
        """
        named = {name.removeprefix(self.reference_prefix): x for name, x in weights.items()}
        bias, shared = named.pop("final_logits_bias", None), named.pop("shared.weight", None)
        if shared is not None:
            for side in ("encoder", "decoder"):
                named.setdefault(f"{side}.embed_tokens.weight", shared)
        ours = super().from_reference(named)
        return ours if bias is None else ours | {"output.bias": bias.flatten()}

    def to_reference(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Give our parameters the reference's names; the inverse of :meth:`from_reference`.

        Parameters
        ----------
        weights : mapping of str to Tensor
            By our names.

        Returns
        -------
        dict of str to Tensor
            By the reference's names.
        """
        named = dict(weights)
        bias, head = named.pop("output.bias"), named.pop("output.weight", None)
        theirs = super().to_reference(named) | {"final_logits_bias": bias[None]}
        if head is not None:
            theirs["lm_head.weight"] = head
        if self.config.target_vocab_size is None:
            source = theirs["model.encoder.embed_tokens.weight"]
            theirs["model.shared.weight"] = source
            if head is None:
                del theirs["model.encoder.embed_tokens.weight"]
            else:  # there, what is not tied to the projection is not tied at all
                theirs["model.decoder.embed_tokens.weight"] = source
        return theirs


def _check_sinusoidal(name: str, table: Tensor) -> None:
    positions = torch.arange(table.size(0), device=table.device)
    expected = sinusoidal_encoding(positions, table.size(1), concatenated=True)
    if (difference := (table.float() - expected).abs().max().item()) > 0.01:  # half precision
        raise ValueError(
            f"{name} differs from the sinusoids by {difference:.2g}: positions that were learned "
            "have no place in a Marian"
        )
