"""LLaMA: a modern decoder (chapter 11)."""

from dataclasses import dataclass
from typing import Any

from glassbox.checks import check_type
from glassbox.config import Activation, Norm
from glassbox.models.language_model import LanguageModel, LanguageModelConfig
from glassbox.models.layouts import language_models as layouts
from glassbox.positional import RotaryPositions, RotaryScaling


@dataclass(frozen=True)
class LlamaConfig(LanguageModelConfig):
    """The sizes of a LLaMA. The defaults are those of the first one with 7 billion parameters.

    Parameters
    ----------
    rotary_base : float
        A larger base slows the slow pairs further; the reference's ``rope_theta``.
    rotary_scaling : RotaryScaling, optional
        Slower rotations, for texts longer than those of the first training.

    Raises
    ------
    TypeError
        If ``rotary_scaling`` is not a :class:`~glassbox.positional.RotaryScaling`, or as for
        ``StackConfig``.
    ValueError
        If ``rotary_base`` is not greater than 1, or for the reasons given in
        :class:`~glassbox.models.language_model.LanguageModelConfig`.

    Notes
    -----
    Touvron, Lavril et al. (2023), table 2; Touvron, Martin et al. (2023), table 1; Grattafiori
    et al. (2024), table 3. The other fields are those of
    :class:`~glassbox.models.language_model.LanguageModelConfig`. The reference has no entry for
    ``dropout``, because the published models use none: a saved model is loaded with 0.
    """

    layout = layouts.LLAMA

    d_model: int = 4096
    n_heads: int | tuple[int, ...] = 32
    n_layers: int = 32
    d_ff: int = 11_008
    dropout: float = 0.0
    activation: Activation = "silu"
    norm_eps: float = 1e-6
    norm: Norm = "rms"
    gated: bool = True
    bias: bool = False
    bos_id: int | None = 1
    eos_id: int | tuple[int, ...] | None = 2
    rotary_base: float = 10_000.0
    rotary_scaling: RotaryScaling | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        expected = "a RotaryScaling, such as RotaryScaling(factor=8.0)"
        check_type("rotary_scaling", self.rotary_scaling, RotaryScaling | None, expected)

    @classmethod
    def llama_7b(cls, **changes: Any) -> "LlamaConfig":
        """Return the sizes of the first LLaMA with 7 billion parameters, with these changes."""
        return cls(**changes)

    @classmethod
    def llama2_7b(cls, **changes: Any) -> "LlamaConfig":
        """Return the sizes of the LLaMA 2 of 7 billion parameters, with these changes."""
        return cls(**({"max_len": 4096, "norm_eps": 1e-5} | changes))

    @classmethod
    def llama2_70b(cls, **changes: Any) -> "LlamaConfig":
        """Return the sizes of the LLaMA 2 of 70 billion parameters, with these changes."""
        sizes = {"d_model": 8192, "n_heads": 64, "n_kv_heads": 8, "n_layers": 80, "d_ff": 28_672}
        return cls.llama2_7b(**(sizes | changes))

    @classmethod
    def llama3_8b(cls, **changes: Any) -> "LlamaConfig":
        """Return the sizes of the LLaMA 3 of 8 billion parameters, with these changes."""
        sizes = {"n_kv_heads": 8, "d_ff": 14_336, "max_len": 8192, "rotary_base": 500_000.0}
        tokens = {"vocab_size": 128_256, "bos_id": 128_000, "eos_id": 128_001}
        return cls.llama2_7b(**(sizes | tokens | changes))

    @classmethod
    def llama3_2_1b(cls, **changes: Any) -> "LlamaConfig":
        """Return the sizes of the LLaMA 3.2 of 1 billion parameters, with these changes."""
        sizes: dict[str, Any] = {"d_model": 2048, "n_layers": 16, "d_ff": 8192, "max_len": 131_072}
        scaling = RotaryScaling(factor=32.0, original_len=8192)
        sizes |= {"tie_embeddings": True, "rotary_scaling": scaling}
        return cls.llama3_8b(**(sizes | changes))


class Llama(LanguageModel):
    """A LLaMA, which returns the logits of the next token at each position.

    Parameters
    ----------
    config : LlamaConfig
        The sizes. For trained weights use :meth:`from_pretrained`.

    Raises
    ------
    ValueError
        If the heads' width is odd, or differs between layers.

    Notes
    -----
    Touvron, Lavril et al. (2023), section 2.2: a pre-norm decoder with RMSNorm, SwiGLU and rotary
    positions, without biases; with grouped queries in the larger models of Touvron, Martin et al.
    (2023), section 2.2, and in all of LLaMA 3. Equal to ``transformers.LlamaForCausalLM``.
    """

    config: LlamaConfig
    config_class = LlamaConfig
    layout = layouts.LLAMA

    def __init__(self, config: LlamaConfig) -> None:
        d_k = config.d_k or config.d_model // config.heads(0)
        if config.d_k is None and len({config.heads(i) for i in range(config.n_layers)}) > 1:
            raise ValueError(
                f"n_heads={config.n_heads} of d_model={config.d_model} differ in their width, but "
                "rotary positions are shared by all layers: give the width, d_k"
            )
        positions = RotaryPositions(d_k, base=config.rotary_base, scaling=config.rotary_scaling)
        super().__init__(config, positions)
