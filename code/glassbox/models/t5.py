"""T5: every task a text in and a text out; positions are distances (chapters 6 and 8)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassbox.checks import check_kind
from glassbox.config import Norm, PositionKind
from glassbox.positional import RelativePositionBias
from glassbox.pretrained import (
    check_entries,
    check_representable,
    our_activation,
    read_entry,
    read_number,
    reference_activation,
    unite,
)
from glassbox.transformer import Transformer, TransformerConfig

#: Published sizes: of the paper's models, and of the gated ones that followed.
SIZES: dict[str, dict[str, Any]] = {
    "small": {"d_model": 512, "d_ff": 2048, "n_layers": 6, "n_heads": 8},
    "base": {"d_model": 768, "d_ff": 3072, "n_layers": 12, "n_heads": 12},
    "large": {"d_model": 1024, "d_ff": 4096, "n_layers": 24, "n_heads": 16},
    "small 1.1": {"d_model": 512, "d_ff": 1024, "n_layers": 8, "n_heads": 6},
    "base 1.1": {"d_model": 768, "d_ff": 2048, "n_layers": 12, "n_heads": 12},
    "large 1.1": {"d_model": 1024, "d_ff": 2816, "n_layers": 24, "n_heads": 16},
}
#: How those that followed differ in kind.
GATED: dict[str, Any] = {
    "gated": True,
    "activation": "gelu_tanh",
    "tie_embeddings": False,
    "scale_output": False,
}

#: What ``config.json`` must say of a T5, where it says anything.
REFERENCE_CONSTANTS = {"model_type": "t5", "is_encoder_decoder": True, "is_decoder": False}
#: Fields that the reference's T5 has no entries for.
REFERENCE_SIZES = ["norm", "norm_first", "bias", "scale", "n_kv_heads", "scale_embeddings"]
REFERENCE_SIZES += ["target_vocab_size", "output_bias"]


@dataclass(frozen=True)
class T5Config(TransformerConfig):
    """The sizes of a T5. The defaults are t5-small's.

    Parameters
    ----------
    n_buckets, max_distance : int
        See :func:`~glassbox.positional.relative_buckets`.
    scale_output : bool
        Whether the decoder's output is divided by the root of ``d_model`` before the projection
        to the vocabulary, which suits the embedding that the projection is tied to.

    Raises
    ------
    ValueError
        If the positions are not relative, there are too few buckets, or as in
        :class:`~glassbox.transformer.TransformerConfig`.

    Notes
    -----
    Raffel et al. (2020), section 2.1 and table 14. What begins a text, ``bos_id``, is its padding.
    The other fields are :class:`~glassbox.transformer.TransformerConfig`'s.
    """

    d_k: int | None = 64
    norm: Norm = "rms"
    norm_eps: float = 1e-6
    norm_first: bool = True
    bias: bool = False
    scale: float | None = 1.0
    positions: PositionKind = "relative"
    scale_embeddings: bool = False
    vocab_size: int = 32_128
    pad_id: int = 0
    bos_id: int = 0
    eos_id: int = 1
    n_buckets: int = 32
    max_distance: int = 128
    scale_output: bool = True

    @classmethod
    def published(cls, name: str, **changes: Any) -> "T5Config":
        """Return published sizes, with these fields changed.

        Parameters
        ----------
        name : str
            ``"small"``, ``"base"`` or ``"large"``; with ``" 1.1"`` after it the later model of
            that name, with a gate in the feed-forward networks and a projection of its own.
        **changes
            Fields, each with its value.

        Raises
        ------
        ValueError
            If there is no T5 of that name.

        Notes
        -----
        Raffel et al. (2020), table 14; Shazeer (2020) on the gate.
        """
        check_kind("name", name, tuple(SIZES))
        return cls(**(SIZES[name] | (GATED if name.endswith("1.1") else {}) | changes))

    @classmethod
    def base(cls, **changes: Any) -> "T5Config":
        """Return the sizes of t5-base, with the fields in ``changes`` changed."""
        return cls.published("base", **changes)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_kind("positions", self.positions, ("relative",))

    @classmethod
    def from_reference(cls, config: Mapping[str, Any]) -> "T5Config":
        """Translate the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            If it describes another kind of model, or an encoder without a decoder.
        """
        check_entries(config, REFERENCE_CONSTANTS)

        def number(name: str, kind: type[int] | type[float] = int) -> Any:
            return read_number(config, name, kind, model="T5")

        kind = str(read_entry(config, "feed_forward_proj", "T5"))
        gated = kind.startswith("gated-")
        # The reference means its approximation by the GELU of a gate, and the exact one elsewhere.
        activation = "gelu_new" if kind == "gated-gelu" else kind.removeprefix("gated-")
        tied = config.get("tie_word_embeddings") is not False
        n_layers, n_decoder_layers = number("num_layers"), config.get("num_decoder_layers")
        start, pad = config.get("decoder_start_token_id"), config.get("pad_token_id") or 0
        return cls(
            vocab_size=number("vocab_size"),
            d_model=number("d_model"),
            d_k=number("d_kv"),
            d_ff=number("d_ff"),
            n_heads=number("num_heads"),
            n_layers=n_layers,
            n_decoder_layers=None if n_decoder_layers == n_layers else n_decoder_layers,
            n_buckets=number("relative_attention_num_buckets"),
            max_distance=config.get("relative_attention_max_distance", cls.max_distance),
            dropout=number("dropout_rate", float),
            norm_eps=number("layer_norm_epsilon", float),
            gated=gated,
            activation=our_activation(activation),
            tie_embeddings=tied,
            scale_output=config.get("scale_decoder_outputs", tied),
            pad_id=pad,
            bos_id=pad if start is None else start,
            eos_id=number("eos_token_id"),
        )

    def to_reference(self) -> dict[str, Any]:
        """Return the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            If the reference has no such T5.
        """
        check_representable(self, REFERENCE_SIZES)
        activation = reference_activation(self.activation)
        if self.gated:
            if activation == "gelu":
                raise ValueError(
                    f"activation={self.activation!r} with gated={self.gated}: by 'gated-gelu' the "
                    "reference means 'gelu_tanh'"
                )
            activation = f"gated-{activation.removesuffix('_new')}"
        return {
            **REFERENCE_CONSTANTS,
            "architectures": ["T5ForConditionalGeneration"],
            "vocab_size": self.vocab_size,
            "d_model": self.d_model,
            "d_kv": self.d_k or self.d_model // self.heads(0),
            "d_ff": self.d_ff,
            "num_heads": self.n_heads,
            "num_layers": self.n_layers,
            "num_decoder_layers": self.decoder.n_layers,
            "relative_attention_num_buckets": self.n_buckets,
            "relative_attention_max_distance": self.max_distance,
            "dropout_rate": self.dropout,
            "layer_norm_epsilon": self.norm_eps,
            "feed_forward_proj": activation,
            "tie_word_embeddings": self.tie_embeddings,
            "scale_decoder_outputs": self.scale_output,
            "pad_token_id": self.pad_id,
            "decoder_start_token_id": self.bos_id,
            "eos_token_id": self.eos_id,
        }


#: The reference's names in a layer of either stack, after the block's number, each with ours.
LAYER = {
    "layer.0.layer_norm": "attention_norm",
    "layer.0.SelfAttention.q": "self_attention.query",
    "layer.0.SelfAttention.k": "self_attention.key",
    "layer.0.SelfAttention.v": "self_attention.value",
    "layer.0.SelfAttention.o": "self_attention.output",
}
CROSS_ATTENTION = {
    "layer.1.layer_norm": "cross_attention_norm",
    "layer.1.EncDecAttention.q": "cross_attention.query",
    "layer.1.EncDecAttention.k": "cross_attention.key",
    "layer.1.EncDecAttention.v": "cross_attention.value",
    "layer.1.EncDecAttention.o": "cross_attention.output",
}


def _feed_forward(place: int) -> dict[str, str]:
    return {
        f"layer.{place}.layer_norm": "feed_forward_norm",
        f"layer.{place}.DenseReluDense.wi": "feed_forward.expand",
        f"layer.{place}.DenseReluDense.wi_0": "feed_forward.gate",
        f"layer.{place}.DenseReluDense.wi_1": "feed_forward.expand",
        f"layer.{place}.DenseReluDense.wo": "feed_forward.contract",
    }


def _stack(side: str, layer: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{side}.block.{{}}.{theirs}": f"{side}.layers.{{}}.{ours}"
        for theirs, ours in layer.items()
    } | {f"{side}.final_layer_norm": f"{side}.norm"}


class T5(Transformer):
    """A T5: an encoder–decoder whose positions are a number for each distance.

    Pre-norm with root mean squares, without any bias; scores are not scaled, for which their
    weights start out smaller. One table of distances serves all layers of a stack. Dropout stands
    where the paper of the Transformer has it, while T5's own code also drops attention weights,
    what is inside the feed-forward networks, and the stacks' outputs.

    Parameters
    ----------
    config : T5Config, optional
        The sizes; t5-small's if left out. For trained weights use :meth:`from_pretrained`.

    Notes
    -----
    Raffel et al. (2020), section 2.1. Equal to ``transformers.T5ForConditionalGeneration``.
    """

    config: T5Config
    config_class = T5Config
    reference_names: ClassVar[Mapping[str, str]] = {
        "shared": "source_embedding",
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias": "source_positions.table",
        "decoder.block.0.layer.0.SelfAttention.relative_attention_bias": "target_positions.table",
        **_stack("encoder", LAYER | _feed_forward(1)),
        **_stack("decoder", LAYER | CROSS_ATTENTION | _feed_forward(2)),
        "lm_head": "output",
    }
    # A table that the first published files have, and nothing ever read.
    not_ours = r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\."

    def __init__(self, config: T5Config | None = None) -> None:
        config = T5Config() if config is None else config
        super().__init__(config)
        heads, buckets, far = config.heads(0), config.n_buckets, config.max_distance
        self.source_positions = RelativePositionBias(heads, buckets, far, bidirectional=True)
        self.target_positions = RelativePositionBias(heads, buckets, far, bidirectional=False)
        self._begin()

    def logits(
        self, hidden: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length vocab"]:
        """Project vectors to one number for each word: ``(batch, length, vocab)``."""
        if self.config.scale_output:
            hidden = hidden * self.config.d_model**-0.5
        return self.output(hidden)

    @classmethod
    def configure(cls, entries: Mapping[str, Any], weights: Mapping[str, Tensor]) -> T5Config:
        """Return the configuration of a published T5.

        Whether the projection to the vocabulary is the embedding, the parameters tell: the
        reference library's files say that it is, whether it is or not.

        Parameters
        ----------
        entries : mapping
            Of its ``config.json``.
        weights : mapping of str to Tensor
            By the reference's names.

        Raises
        ------
        ValueError
            If it is no T5.
        """
        config = super().configure(entries, weights)
        if "lm_head.weight" in weights and "shared.weight" in weights:
            same = torch.equal(weights["lm_head.weight"], weights["shared.weight"])
            config = replace(config, tie_embeddings=same)
        return config

    def from_reference(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Give the reference's parameters our names; the embedding may have three there.

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
            If a T5 has no parameter of some name, or the stacks' embeddings differ.
        """
        names = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
        return super().from_reference(unite(weights, *names))

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
        theirs = super().to_reference(weights)
        if self.config.gated:
            return theirs
        return {name.replace(".wi_1.", ".wi."): x for name, x in theirs.items()}

    def _begin(self) -> None:
        """Draw all parameters as before training, so that unscaled scores are of size 1."""
        wide = self.config.d_model**-0.5
        nn.init.normal_(self.source_embedding.weight)
        if not self.config.tie_embeddings:
            nn.init.normal_(self.output.weight, std=wide)
        for name, parameter in self.named_parameters():
            if name.endswith((".key.weight", ".value.weight", ".table.weight")):
                nn.init.normal_(parameter, std=wide)
            elif name.endswith(".query.weight"):
                d_k = parameter.size(0) // self.config.heads(0)
                nn.init.normal_(parameter, std=wide * d_k**-0.5)
            elif parameter.dim() == 2 and name.startswith(("encoder.", "decoder.")):
                nn.init.normal_(parameter, std=parameter.size(1) ** -0.5)
