"""GPT-2: the Transformer's decoder alone, writing (chapter 10)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from glassbox.config import Activation
from glassbox.layers import Dropout
from glassbox.models.language_model import INITIAL_STD, LanguageModel, LanguageModelConfig
from glassbox.positional import LearnedPositions
from glassbox.pretrained import (
    check_weights,
    our_activation,
    read_entry,
    read_number,
    reference_activation,
)

PARTS = ("query", "key", "value")
#: The reference's linear maps that keep their matrix the other way round, (inputs, outputs).
TRANSPOSED = ("c_attn.weight", "c_proj.weight", "c_fc.weight")


@dataclass(frozen=True)
class GPT2Config(LanguageModelConfig):
    """The sizes of a GPT-2. The defaults are the smallest published one's, for any vocabulary.

    Parameters
    ----------
    d_ff : int, optional
        Width inside the feed-forward networks; ``4 * d_model`` if left out.
    embedding_dropout : float
        Share of values of the embeddings dropped in training; ``dropout`` is that of the layers.

    Raises
    ------
    ValueError
        If ``embedding_dropout`` is no share, or as in
        :class:`~glassbox.models.language_model.LanguageModelConfig`.

    Notes
    -----
    Radford et al. (2019), table 2. The other fields are
    :class:`~glassbox.models.language_model.LanguageModelConfig`'s. Attention weights are not
    dropped, here as in the whole package: the reference's ``attn_pdrop`` has no field.
    """

    reference_entries: ClassVar[Mapping[str, str]] = {
        "vocab_size": "vocab_size",
        "n_positions": "max_len",
        "n_embd": "d_model",
        "n_layer": "n_layers",
        "n_head": "n_heads",
        "resid_pdrop": "dropout",
        "embd_pdrop": "embedding_dropout",
        "layer_norm_epsilon": "norm_eps",
    }
    reference_constants: ClassVar[Mapping[str, Any]] = {
        "model_type": "gpt2",
        "add_cross_attention": False,
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
        "reorder_and_upcast_attn": False,
    }
    reference_sizes = ("norm_first", "norm", "gated", "bias", "n_kv_heads", "d_k", "scale")

    d_model: int = 768
    n_heads: int | tuple[int, ...] = 12
    n_layers: int = 12
    d_ff: int | None = None  # type: ignore[assignment]  # an int once it is made
    activation: Activation = "gelu_tanh"
    vocab_size: int = 50_257
    max_len: int = 1024
    tie_embeddings: bool = True
    embedding_dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        super().__post_init__()
        if not 0 <= self.embedding_dropout < 1:
            raise ValueError(
                f"embedding_dropout={self.embedding_dropout}: must be at least 0 and less than 1"
            )

    @classmethod
    def small(cls, **changes: Any) -> "GPT2Config":
        """Return the sizes of the published model of 124 M parameters, with these changes."""
        return cls(**({"bos_id": 50_256, "eos_id": 50_256} | changes))

    @classmethod
    def medium(cls, **changes: Any) -> "GPT2Config":
        """Return the sizes of the published model of 355 M parameters, with these changes."""
        sizes = {"d_model": 1024, "n_heads": 16, "n_layers": 24}
        return cls.small(**(sizes | changes))

    @classmethod
    def large(cls, **changes: Any) -> "GPT2Config":
        """Return the sizes of the published model of 774 M parameters, with these changes."""
        sizes = {"d_model": 1280, "n_heads": 20, "n_layers": 36}
        return cls.small(**(sizes | changes))

    @classmethod
    def xl(cls, **changes: Any) -> "GPT2Config":
        """Return the sizes of the published model of 1558 M parameters, with these changes."""
        sizes = {"d_model": 1600, "n_heads": 25, "n_layers": 48}
        return cls.small(**(sizes | changes))

    def to_reference(self) -> dict[str, Any]:
        """Return the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            If the reference has no such GPT-2.
        """
        return super().to_reference() | {
            "architectures": ["GPT2LMHeadModel"],
            "n_inner": None if self.d_ff == 4 * self.d_model else self.d_ff,
            "activation_function": reference_activation(self.activation),
            "attn_pdrop": 0.0,
        }

    @classmethod
    def _read(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        read = super()._read(config)
        given = config.get("n_inner") is not None
        read["d_ff"] = read_number(config, "n_inner") if given else None
        read["activation"] = our_activation(read_entry(config, "activation_function", cls.__name__))
        return read


class GPT2(LanguageModel):
    r"""A GPT-2, which returns the logits of each position's next token.

    Before training the matrices that write into the residual stream are smaller than the others,
    by :math:`1 / \sqrt{2N}` in :math:`N` layers of two such matrices each, so that the stream's
    variance does not grow with the depth.

    Parameters
    ----------
    config : GPT2Config
        The sizes. For trained weights use :meth:`from_pretrained`.

    Notes
    -----
    Radford et al. (2019), section 2.3: a pre-norm decoder with learned positions and the tanh
    approximation of GELU. Equal to ``transformers.GPT2LMHeadModel``.
    """

    config: GPT2Config
    config_class = GPT2Config
    reference_prefix = "transformer."
    reference_names: ClassVar[Mapping[str, str]] = {
        "wte": "embedding",
        "wpe": "positions.table",
        "h.{}.ln_1": "decoder.layers.{}.attention_norm",
        "h.{}.attn.query": "decoder.layers.{}.self_attention.query",
        "h.{}.attn.key": "decoder.layers.{}.self_attention.key",
        "h.{}.attn.value": "decoder.layers.{}.self_attention.value",
        "h.{}.attn.c_proj": "decoder.layers.{}.self_attention.output",
        "h.{}.ln_2": "decoder.layers.{}.feed_forward_norm",
        "h.{}.mlp.c_fc": "decoder.layers.{}.feed_forward.expand",
        "h.{}.mlp.c_proj": "decoder.layers.{}.feed_forward.contract",
        "ln_f": "decoder.norm",
        "lm_head": "output",
    }
    not_ours = r"h\.\d+\.attn\.(masked_)?bias$"  # older files keep their causal mask

    def __init__(self, config: GPT2Config) -> None:
        super().__init__(config, LearnedPositions(config.max_len, config.d_model))
        self.dropout = Dropout(config.embedding_dropout)
        for name, parameter in self.decoder.named_parameters():
            if name.endswith((".output.weight", ".contract.weight")):
                nn.init.normal_(parameter, std=INITIAL_STD / math.sqrt(2 * config.n_layers))

    def from_reference(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Give the reference's parameters our names, the right way round and one for each part.

        Parameters
        ----------
        weights : mapping of str to Tensor
            By the reference's names, with or without their prefix.

        Returns
        -------
        dict of str to Tensor
            By our names.

        Raises
        ------
        ValueError
            If a GPT-2 has no parameter of some name, or a matrix has another shape or orientation.
        TypeError
            If one is not a tensor.
        """
        check_weights(weights)
        parted = {}
        for name, x in weights.items():
            if name.endswith(TRANSPOSED):
                self._check_orientation(name, x)
                x = x.movedim(0, -1)
            if ".attn.c_attn." in name:  # queries, keys and values in one matrix
                for part, rows in zip(PARTS, x.tensor_split(3), strict=True):
                    parted[name.replace("c_attn", part)] = rows
            else:
                parted[name] = x
        return super().from_reference(parted)

    def _check_orientation(self, name: str, x: Tensor) -> None:
        """Refuse a matrix whose shape is not (inputs, outputs)."""
        narrow, wide = self.config.d_model, self.config.d_ff
        shapes = {
            "attn.c_attn": (narrow, 3 * narrow),
            "attn.c_proj": (narrow, narrow),
            "mlp.c_fc": (narrow, wide),
            "mlp.c_proj": (wide, narrow),
        }
        expected = next(
            (shapes[part] for part in shapes if name.endswith(f"{part}.weight")), x.shape
        )
        if x.shape != expected:
            turned = (
                ". It is (outputs, inputs), as in nn.Linear: transpose the matrices whose names "
                f"end with {' or '.join(TRANSPOSED)}, the square ones too: weight.T"
            )
            raise ValueError(
                f"{name} has shape {tuple(x.shape)}; expected {expected}, (inputs, outputs)"
                + (turned if x.shape == expected[::-1] else "")
            )

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
        for name in [name for name in theirs if ".attn.query." in name]:
            parts = [theirs.pop(name.replace("query", part)) for part in PARTS]
            theirs[name.replace("query", "c_attn")] = torch.cat(parts)
        return {
            name: x.movedim(0, -1) if name.endswith(TRANSPOSED) else x for name, x in theirs.items()
        }
