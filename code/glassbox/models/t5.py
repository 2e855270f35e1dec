"""T5: every task is text in, text out; positions are distances (chapters 6, 8 and 11)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassbox.checks import check_kind
from glassbox.config import Norm, PositionKind
from glassbox.layout import Layout
from glassbox.models.layouts import encoder_decoders as layouts
from glassbox.positional import RelativePositionBias
from glassbox.positional.relative import check_buckets
from glassbox.transformer import Transformer, TransformerConfig

#: Published sizes, of the paper's models and of the later gated ones.
SIZES: dict[str, dict[str, Any]] = {
    "small": {"d_model": 512, "d_ff": 2048, "n_layers": 6, "n_heads": 8},
    "base": {"d_model": 768, "d_ff": 3072, "n_layers": 12, "n_heads": 12},
    "large": {"d_model": 1024, "d_ff": 4096, "n_layers": 24, "n_heads": 16},
    "small 1.1": {"d_model": 512, "d_ff": 1024, "n_layers": 8, "n_heads": 6},
    "base 1.1": {"d_model": 768, "d_ff": 2048, "n_layers": 12, "n_heads": 12},
    "large 1.1": {"d_model": 1024, "d_ff": 2816, "n_layers": 24, "n_heads": 16},
}
#: How the later models differ in kind.
GATED: dict[str, Any] = {
    "gated": True,
    "activation": "gelu_tanh",
    "tie_embeddings": False,
    "scale_output": False,
}


@dataclass(frozen=True)
class T5Config(TransformerConfig):
    """The sizes of a T5. The defaults are those of t5-small.

    Parameters
    ----------
    n_buckets, max_distance : int
        See :func:`~glassbox.positional.relative_buckets`.
    scale_output : bool
        Whether the decoder's output is divided by the square root of ``d_model`` before the
        projection to the vocabulary, which suits the embedding that the projection is tied to.

    Raises
    ------
    ValueError
        If the positions are not relative, there are too few buckets, or for the reasons given in
        :class:`~glassbox.transformer.TransformerConfig`.
    TypeError
        As for ``StackConfig``.

    Notes
    -----
    Raffel et al. (2020), sections 2.1 and 3.7. A text begins with the padding token,
    ``bos_id``. The other fields are :class:`~glassbox.transformer.TransformerConfig`'s.
    """

    layout = layouts.T5

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
        """Return published sizes, with the fields in ``changes`` changed.

        Parameters
        ----------
        name : str
            ``"small"``, ``"base"`` or ``"large"``; followed by ``" 1.1"``, the later model of that
            name, with a gate in the feed-forward networks and an untied projection.
        **changes
            Fields and their values.

        Raises
        ------
        ValueError
            If there is no T5 of that name.

        Notes
        -----
        Raffel et al. (2020), section 3.7; Shazeer (2020) on the gate.
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
        for bidirectional in (True, False):
            check_buckets(self.n_buckets, self.max_distance, bidirectional)


class T5(Transformer):
    """A T5: an encoder–decoder whose positions are a number for each distance.

    Pre-norm with RMSNorm, without biases. Scores are not scaled; the initial weights of the
    queries are smaller instead. One table of distances serves all layers of a stack. Dropout is
    where the Transformer paper has it; T5's own code also applies it to attention weights, inside
    the feed-forward networks and to the stacks' outputs.

    Parameters
    ----------
    config : T5Config, optional
        The sizes. Defaults to those of t5-small. For trained weights use :meth:`from_pretrained`.

    Notes
    -----
    Raffel et al. (2020), section 2.1. Equal to ``transformers.T5ForConditionalGeneration``.
    """

    config: T5Config
    config_class = T5Config
    layout = layouts.T5

    def __init__(self, config: T5Config | None = None) -> None:
        config = T5Config() if config is None else config
        super().__init__(config)
        heads, buckets, far = config.heads(0), config.n_buckets, config.max_distance
        self.source_positions = RelativePositionBias(heads, buckets, far, bidirectional=True)
        self.target_positions = RelativePositionBias(heads, buckets, far, bidirectional=False)
        # Unscaled scores are of size 1 at first.
        wide = config.d_model**-0.5
        nn.init.normal_(self.source_embedding.weight)
        if not config.tie_embeddings:
            nn.init.normal_(self.output.weight, std=wide)
        for name, parameter in self.named_parameters():
            if name.endswith((".key.weight", ".value.weight", ".table.weight")):
                nn.init.normal_(parameter, std=wide)
            elif name.endswith(".query.weight"):
                d_k = parameter.size(0) // heads
                nn.init.normal_(parameter, std=wide * d_k**-0.5)
            elif parameter.dim() == 2 and name.startswith(("encoder.", "decoder.")):
                nn.init.normal_(parameter, std=parameter.size(1) ** -0.5)

    def logits(
        self, hidden: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length vocab"]:
        """Project ``hidden`` to one number for each token: ``(batch, length, vocab)``."""
        if self.config.scale_output:
            hidden = hidden * self.config.d_model**-0.5
        return self.output(hidden)

    @classmethod
    def configure(cls, entries: Mapping[str, Any], weights: Mapping[str, Tensor]) -> T5Config:
        """Return the configuration of a published T5.

        The parameters show whether the projection to the vocabulary is tied to the embedding:
        files of the reference library always say that it is.

        Parameters
        ----------
        entries : mapping
            The entries of its ``config.json``.
        weights : mapping of str to Tensor
            Its parameters by the reference's names.

        Raises
        ------
        ValueError
            If it is not a T5.
        """
        config = super().configure(entries, weights)
        if "lm_head.weight" in weights and "shared.weight" in weights:
            same = torch.equal(weights["lm_head.weight"], weights["shared.weight"])
            config = replace(config, tie_embeddings=same)
        return config

    def reference_layout(self) -> Layout:
        """Return the layout for feed-forward networks with or without a gate."""
        return layouts.GATED_T5 if self.config.gated else layouts.T5
