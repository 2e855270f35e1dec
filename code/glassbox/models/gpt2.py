"""GPT-2: the Transformer's decoder on its own (chapter 11)."""

import math
from dataclasses import dataclass
from typing import Any

from torch import nn

from glassbox.config import Activation
from glassbox.layers import INITIAL_STD, Dropout
from glassbox.models.language_model import LanguageModel, LanguageModelConfig
from glassbox.models.layouts import language_models as layouts
from glassbox.positional import LearnedPositions


@dataclass(frozen=True)
class GPT2Config(LanguageModelConfig):
    """The sizes of a GPT-2. The defaults are those of the smallest one, for any vocabulary.

    Parameters
    ----------
    d_ff : int, optional
        Width inside the feed-forward networks. Defaults to ``4 * d_model``;
        :func:`dataclasses.replace` keeps it unless it is given anew, as ``d_ff=None``.
    embedding_dropout : float
        Share of the embeddings' values dropped in training; ``dropout`` applies to the layers.

    Raises
    ------
    ValueError
        If ``embedding_dropout`` is not in [0, 1), or for the reasons given in
        :class:`~glassbox.models.language_model.LanguageModelConfig`.
    TypeError
        As for ``StackConfig``.

    Notes
    -----
    Radford et al. (2019), table 2. The other fields are
    :class:`~glassbox.models.language_model.LanguageModelConfig`'s. As everywhere in this package,
    attention weights are not dropped: the reference's ``attn_pdrop`` has no field.
    """

    layout = layouts.GPT2

    d_model: int = 768
    n_heads: int | tuple[int, ...] = 12
    n_layers: int = 12
    d_ff: int | None = None  # type: ignore[assignment]  # an int once it is made
    activation: Activation = "gelu_tanh"
    vocab_size: int = 50_257
    max_len: int = 1024
    tie_embeddings: bool = True
    embedding_dropout: float = 0.1

    @classmethod
    def small(cls, **changes: Any) -> "GPT2Config":
        """Return the sizes of the published model of 124 M parameters, with these changes."""
        return cls(**({"bos_id": 50_256, "eos_id": 50_256} | changes))

    @classmethod
    def medium(cls, **changes: Any) -> "GPT2Config":
        """Return the sizes of the published model of 355 M parameters, with these changes."""
        return cls.small(**({"d_model": 1024, "n_heads": 16, "n_layers": 24} | changes))

    @classmethod
    def large(cls, **changes: Any) -> "GPT2Config":
        """Return the sizes of the published model of 774 M parameters, with these changes."""
        return cls.small(**({"d_model": 1280, "n_heads": 20, "n_layers": 36} | changes))

    @classmethod
    def xl(cls, **changes: Any) -> "GPT2Config":
        """Return the sizes of the published model of 1558 M parameters, with these changes."""
        return cls.small(**({"d_model": 1600, "n_heads": 25, "n_layers": 48} | changes))


class GPT2(LanguageModel):
    r"""A GPT-2, which returns the logits of the next token at each position.

    The matrices that write into the residual stream are initialised smaller than the others, by
    :math:`1 / \sqrt{2N}` for :math:`N` layers with two such matrices each, so that the stream's
    variance does not grow with depth.

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
    layout = layouts.GPT2

    def __init__(self, config: GPT2Config) -> None:
        super().__init__(config, LearnedPositions(config.max_len, config.d_model))
        self.dropout = Dropout(config.embedding_dropout)
        for name, parameter in self.decoder.named_parameters():
            if name.endswith((".output.weight", ".contract.weight")):
                nn.init.normal_(parameter, std=INITIAL_STD / math.sqrt(2 * config.n_layers))
