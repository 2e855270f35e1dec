"""LLaMA: the decoder as it is built today."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from glassbox.config import Activation, Norm
from glassbox.models.language_model import LanguageModel, LanguageModelConfig
from glassbox.positional import RotaryPositions, RotaryScaling
from glassbox.pretrained import (
    our_activation,
    read_entry,
    read_number,
    reference_activation,
)

#: The reference's word for the length before scaling.
ORIGINAL_LEN = "original_max_position_embeddings"


@dataclass(frozen=True)
class LlamaConfig(LanguageModelConfig):
    """The sizes of a LLaMA. The defaults are those of the first one of 7 billion parameters.

    Parameters
    ----------
    rotary_base : float
        Larger ones make the slow pairs turn more slowly; the reference's ``rope_theta``.
    rotary_scaling : RotaryScaling, optional
        Slower turns, for texts longer than those of the first training.

    Raises
    ------
    ValueError
        If ``rotary_base`` is not more than 1, or as in
        :class:`~glassbox.models.language_model.LanguageModelConfig`.

    Notes
    -----
    Touvron et al. (2023a), table 2; Touvron et al. (2023b), table 1; Grattafiori et al. (2024),
    table 3. The other fields are :class:`~glassbox.models.language_model.LanguageModelConfig`'s.
    The reference has no entry for ``dropout``, which the published models do without: a saved
    model is read with 0.
    """

    reference_entries: ClassVar[Mapping[str, str]] = {
        "vocab_size": "vocab_size",
        "max_position_embeddings": "max_len",
        "hidden_size": "d_model",
        "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads",
        "intermediate_size": "d_ff",
        "rms_norm_eps": "norm_eps",
    }
    reference_constants: ClassVar[Mapping[str, Any]] = {
        "model_type": "llama",
        "partial_rotary_factor": 1.0,
    }
    reference_sizes = ("norm_first", "norm", "gated", "scale")

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
        if not self.rotary_base > 1:
            raise ValueError(f"rotary_base={self.rotary_base}: must be more than 1")

    @classmethod
    def llama_7b(cls, **changes: Any) -> "LlamaConfig":
        """Return the sizes of the first LLaMA of 7 billion parameters, with these changes."""
        return cls(**changes)

    @classmethod
    def llama2_7b(cls, **changes: Any) -> "LlamaConfig":
        """Return the sizes of the LLaMA 2 of 7 billion parameters, with these changes."""
        sizes = {"max_len": 4096, "norm_eps": 1e-5}
        return cls(**(sizes | changes))

    @classmethod
    def llama2_70b(cls, **changes: Any) -> "LlamaConfig":
        """Return the sizes of the LLaMA 2 of 70 billion parameters, with these changes."""
        sizes = {"d_model": 8192, "n_heads": 64, "n_kv_heads": 8, "n_layers": 80, "d_ff": 28_672}
        return cls.llama2_7b(**(sizes | changes))

    @classmethod
    def llama3_8b(cls, **changes: Any) -> "LlamaConfig":
        """Return the sizes of the LLaMA 3 of 8 billion parameters, with these changes."""
        sizes = {
            "n_kv_heads": 8,
            "d_ff": 14_336,
            "norm_eps": 1e-5,
            "vocab_size": 128_256,
            "max_len": 8192,
            "bos_id": 128_000,
            "eos_id": 128_001,
            "rotary_base": 500_000.0,
        }
        return cls(**(sizes | changes))

    @classmethod
    def llama3_2_1b(cls, **changes: Any) -> "LlamaConfig":
        """Return the sizes of the LLaMA 3.2 of 1 billion parameters, with these changes."""
        sizes = {
            "d_model": 2048,
            "n_layers": 16,
            "d_ff": 8192,
            "max_len": 131_072,
            "tie_embeddings": True,
            "rotary_scaling": RotaryScaling(factor=32.0, original_len=8192),
        }
        return cls.llama3_8b(**(sizes | changes))

    def to_reference(self) -> dict[str, Any]:
        """Return the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            If the reference has no such LLaMA.
        """
        entries, n_heads = super().to_reference(), self.heads(0)
        if self.d_model % n_heads:
            raise ValueError(
                f"d_model={self.d_model} does not divide into n_heads={n_heads} heads, which the "
                f"reference demands even where d_k={self.d_k} is given"
            )
        return entries | {
            "architectures": ["LlamaForCausalLM"],
            "num_key_value_heads": self.n_kv_heads or n_heads,
            "head_dim": self.d_k or self.d_model // n_heads,
            "hidden_act": reference_activation(self.activation),
            "attention_bias": self.bias,
            "mlp_bias": self.bias,
            "rope_parameters": {"rope_theta": self.rotary_base, **_to_rope(self.rotary_scaling)},
        }

    @classmethod
    def _read(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        read = super()._read(config)
        # What only repeats the other sizes is left out, so that equal sizes are equal.
        n_heads, d_model = read["n_heads"], read["d_model"]
        n_kv_heads, d_k = (
            None if config.get(name) is None else read_number(config, name)
            for name in ("num_key_value_heads", "head_dim")
        )
        read["n_kv_heads"] = None if n_kv_heads == n_heads else n_kv_heads
        read["d_k"] = None if d_k is not None and d_k * n_heads == d_model else d_k
        read["activation"] = our_activation(read_entry(config, "hidden_act", cls.__name__))
        read["bias"] = config.get("attention_bias", False)
        if (mlp_bias := config.get("mlp_bias", False)) != read["bias"]:
            raise ValueError(
                f"attention_bias={read['bias']} and mlp_bias={mlp_bias} in config.json; this class "
                "reads models where both add a bias, or neither"
            )
        # One entry today; files of earlier releases keep the base beside the scaling.
        rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
        if not isinstance(rope, Mapping):
            raise ValueError(f"rope_scaling={rope!r} in config.json; expected a JSON object")
        rope = {"rope_theta": config.get("rope_theta", cls.rotary_base), **rope}
        read["rotary_base"] = read_number(rope, "rope_theta", float)
        read["rotary_scaling"] = _from_rope(rope, read["max_len"])
        return read


class Llama(LanguageModel):
    """A LLaMA, which returns the logits of each position's next token.

    Parameters
    ----------
    config : LlamaConfig
        The sizes. For trained weights use :meth:`from_pretrained`.

    Raises
    ------
    ValueError
        If heads have an odd width, or layers differ in it.

    Notes
    -----
    Touvron et al. (2023a), section 2.2: a pre-norm decoder with RMSNorm, SwiGLU and rotary
    positions, without biases; grouped queries since the second (Touvron et al. 2023b, section
    2.2). Equal to ``transformers.LlamaForCausalLM``.
    """

    config: LlamaConfig
    config_class = LlamaConfig
    reference_prefix = "model."
    reference_names: ClassVar[Mapping[str, str]] = {
        "embed_tokens": "embedding",
        "layers.{}.input_layernorm": "decoder.layers.{}.attention_norm",
        "layers.{}.self_attn.q_proj": "decoder.layers.{}.self_attention.query",
        "layers.{}.self_attn.k_proj": "decoder.layers.{}.self_attention.key",
        "layers.{}.self_attn.v_proj": "decoder.layers.{}.self_attention.value",
        "layers.{}.self_attn.o_proj": "decoder.layers.{}.self_attention.output",
        "layers.{}.post_attention_layernorm": "decoder.layers.{}.feed_forward_norm",
        "layers.{}.mlp.gate_proj": "decoder.layers.{}.feed_forward.gate",
        "layers.{}.mlp.up_proj": "decoder.layers.{}.feed_forward.expand",
        "layers.{}.mlp.down_proj": "decoder.layers.{}.feed_forward.contract",
        "norm": "decoder.norm",
        "lm_head": "output",
    }
    not_ours = r"layers\.\d+\.self_attn\.rotary_emb\.inv_freq$"  # older files keep frequencies

    def __init__(self, config: LlamaConfig) -> None:
        d_k = config.d_k or config.d_model // config.heads(0)
        if config.d_k is None and len({config.heads(i) for i in range(config.n_layers)}) > 1:
            raise ValueError(
                f"n_heads={config.n_heads} of d_model={config.d_model} differ in their width, but "
                "rotary positions are shared by all layers: give the width, d_k"
            )
        super().__init__(
            config,
            RotaryPositions(d_k, base=config.rotary_base, scaling=config.rotary_scaling),
        )


def _to_rope(scaling: RotaryScaling | None) -> dict[str, Any]:
    if scaling is None:
        return {"rope_type": "default"}
    if scaling.original_len is None:
        return {"rope_type": "linear", "factor": scaling.factor}
    return {
        "rope_type": "llama3",
        "factor": scaling.factor,
        ORIGINAL_LEN: scaling.original_len,
        "low_freq_factor": scaling.low,
        "high_freq_factor": scaling.high,
    }


def _from_rope(rope: Mapping[str, Any], max_len: int) -> RotaryScaling | None:
    if (share := rope.get("partial_rotary_factor", 1.0)) != 1.0:
        raise ValueError(f"partial_rotary_factor={share} in config.json; this class reads 1.0")
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "default":
        return None
    if kind not in ("linear", "llama3"):
        raise ValueError(
            f"rope_type={kind!r} in config.json; this class reads 'default', 'linear' and 'llama3'"
        )
    factor = read_number(rope, "factor", float)
    if kind == "linear":
        return RotaryScaling(factor)
    return RotaryScaling(
        factor,
        read_number({ORIGINAL_LEN: max_len, **rope}, ORIGINAL_LEN),
        read_number(rope, "low_freq_factor", float),
        read_number(rope, "high_freq_factor", float),
    )
