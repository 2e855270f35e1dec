"""BERT: the Transformer's encoder, reading in both directions (chapters 4, 7 and 11)."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassbox.layers import LayerNorm
from glassbox.models.weights import find_weights, read_config, read_weights
from glassbox.transformer import Encoder, TransformerConfig


@dataclass(frozen=True)
class BertConfig(TransformerConfig):
    """The sizes of a BERT. The defaults are bert-base-uncased's.

    Parameters
    ----------
    vocab_size : int
        Number of word pieces.
    max_len : int
        Number of positions that have a vector.
    n_token_types : int
        Kinds of segment: first and second sentence.
    pad_id : int
        The id that fills short texts up.

    Raises
    ------
    ValueError
        If a size is not positive, ``pad_id`` is not in the vocabulary, or as in
        :class:`TransformerConfig`.

    Notes
    -----
    Devlin et al. (2019), section 3. The other fields are :class:`TransformerConfig`'s.
    """

    d_model: int = 768
    n_heads: int = 12
    n_layers: int = 12
    d_ff: int = 3072
    activation: str = "gelu"
    norm_eps: float = 1e-12
    vocab_size: int = 30522
    max_len: int = 512
    n_token_types: int = 2
    pad_id: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("vocab_size", "max_len", "n_token_types"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1")
        if not 0 <= self.pad_id < self.vocab_size:
            raise ValueError(
                f"pad_id={self.pad_id} is not in a vocabulary of vocab_size={self.vocab_size}: "
                f"choose one of 0 to {self.vocab_size - 1}"
            )

    @classmethod
    def from_reference(cls, config: Mapping[str, Any]) -> "BertConfig":
        """Translate the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            If it describes another kind of model, or a BERT that differs in more than its sizes.
        """
        fixed = {
            "model_type": "bert",
            "position_embedding_type": "absolute",
            "is_decoder": False,
            "add_cross_attention": False,
        }
        for name, expected in fixed.items():
            if (given := config.get(name, expected)) != expected:
                raise ValueError(f"{name}={given!r} in config.json; this class reads {expected!r}")
        try:
            return cls(
                d_model=config["hidden_size"],
                n_heads=config["num_attention_heads"],
                n_layers=config["num_hidden_layers"],
                d_ff=config["intermediate_size"],
                dropout=config["hidden_dropout_prob"],
                activation=config["hidden_act"],
                norm_eps=config["layer_norm_eps"],
                vocab_size=config["vocab_size"],
                max_len=config["max_position_embeddings"],
                n_token_types=config["type_vocab_size"],
                pad_id=config.get("pad_token_id") or 0,
            )
        except KeyError as error:
            raise ValueError(f"config.json has no {error}, which a BERT needs") from error


class BertEmbeddings(nn.Module):
    """Word piece + position + token type, then a norm.

    Notes
    -----
    Devlin et al. (2019), figure 2. The sum is normalised and dropped out of, not scaled by
    the root of ``d_model``.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.d_model, padding_idx=config.pad_id)
        self.position = nn.Embedding(config.max_len, config.d_model)
        self.token_type = nn.Embedding(config.n_token_types, config.d_model)
        self.norm = LayerNorm(config.d_model, config.norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, token_ids: Int[Tensor, "batch length"], token_types: Int[Tensor, "batch length"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Look the three vectors up and add them."""
        positions = torch.arange(token_ids.size(1), device=token_ids.device)
        x = self.token(token_ids) + self.token_type(token_types) + self.position(positions)
        return self.dropout(self.norm(x))


class Bert(nn.Module):
    """A BERT that returns the last layer's hidden states.

    Parameters
    ----------
    config : BertConfig
        The sizes. For trained weights use :meth:`from_pretrained`.

    Notes
    -----
    Devlin et al. (2019): a post-norm encoder with exact GELU and learned positions. Equal to
    ``transformers.BertModel`` without its pooler. Chapters 7 and 11.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.encoder = Encoder(config)

    def forward(
        self,
        token_ids: Int[Tensor, "batch length"],
        mask: Bool[Tensor, "..."] | None = None,
        token_types: Int[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Read word pieces, return a vector for each that knows its context.

        Parameters
        ----------
        token_ids : Tensor
            Integers, ``(batch, length)``.
        mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, length, length)``; ``True`` = may attend.
            A batch with padding needs ``padding_mask(token_ids, config.pad_id)``.
        token_types : Tensor, optional
            Integers, ``(batch, length)``: 0 in the first sentence, 1 in the second; all 0 if left
            out.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.

        Raises
        ------
        ValueError
            If there is no token, if there are more tokens than positions, if an id is not in its
            table, or if shapes or devices do not fit.
        TypeError
            If the ids are not integers or the mask is not boolean.
        """
        self._check_inputs(token_ids, token_types)
        if token_types is None:
            token_types = torch.zeros_like(token_ids)
        return self.encoder(self.embeddings(token_ids, token_types), mask)

    @classmethod
    def from_pretrained(cls, name: str | os.PathLike[str] | None = None) -> "Bert":
        """Load published weights, in eval mode and on the CPU.

        Parameters
        ----------
        name : str or path, optional
            See :func:`glassbox.models.find_weights`.

        Raises
        ------
        FileNotFoundError, ConnectionError
            If the weights cannot be found.
        ValueError
            If they are altered, damaged, or those of another kind of model.
        """
        folder = find_weights(name)
        model = cls(BertConfig.from_reference(read_config(folder)))
        weights = {
            translated: tensor
            for reference_name, tensor in read_weights(folder).items()
            if (translated := translate_name(reference_name)) is not None
        }
        try:
            model.load_state_dict(weights)
        except RuntimeError as error:
            raise ValueError(
                f"the weights in {folder} do not fit its config.json: {error}"
            ) from error
        return model.eval()

    def _check_inputs(self, token_ids: Tensor, token_types: Tensor | None) -> None:
        self._check_ids("token_ids", token_ids, self.config.vocab_size)
        if token_ids.size(1) > self.config.max_len:
            raise ValueError(
                f"the text has {token_ids.size(1)} tokens, but this model has positions for "
                f"{self.config.max_len} only: shorten the text or split it"
            )
        if token_types is not None:
            self._check_ids("token_types", token_types, self.config.n_token_types)
            if token_types.shape != token_ids.shape:
                raise ValueError(
                    f"token_types has shape {tuple(token_types.shape)}; expected that of "
                    f"token_ids, {tuple(token_ids.shape)}"
                )

    def _check_ids(self, what: str, ids: Tensor, size: int) -> None:
        if not isinstance(ids, Tensor) or ids.dtype not in (torch.int64, torch.int32):
            given = ids.dtype if isinstance(ids, Tensor) else f"a {type(ids).__name__}"
            raise TypeError(f"{what} is {given}; expected a tensor of integers, torch.int64")
        if ids.dim() != 2 or 0 in ids.shape:
            raise ValueError(
                f"{what} has shape {tuple(ids.shape)}; expected (batch, length) with at least one "
                "token"
            )
        if ids.device != (ours := self.embeddings.token.weight.device):
            raise ValueError(
                f"{what} is on {ids.device}, the model is on {ours}: move it there with "
                f".to('{ours}')"
            )
        if torch.compiler.is_compiling() or ids.is_meta:
            return  # no values to look at, only shapes
        low, high = (int(end) for end in ids.aminmax())
        if low < 0 or high >= size:
            raise ValueError(
                f"{what} runs from {low} to {high}; this model knows 0 to {size - 1}. "
                "Was the text tokenized for another model?"
            )


#: Where the reference library keeps what we call by the book's names.
REFERENCE_NAMES = {
    r"embeddings\.word_embeddings": "embeddings.token",
    r"embeddings\.position_embeddings": "embeddings.position",
    r"embeddings\.token_type_embeddings": "embeddings.token_type",
    r"embeddings\.LayerNorm": "embeddings.norm",
    r"encoder\.layer\.(\d+)\.attention\.self\.query": r"encoder.layers.\1.self_attention.query",
    r"encoder\.layer\.(\d+)\.attention\.self\.key": r"encoder.layers.\1.self_attention.key",
    r"encoder\.layer\.(\d+)\.attention\.self\.value": r"encoder.layers.\1.self_attention.value",
    r"encoder\.layer\.(\d+)\.attention\.output\.dense": r"encoder.layers.\1.self_attention.output",
    r"encoder\.layer\.(\d+)\.attention\.output\.LayerNorm": r"encoder.layers.\1.attention_norm",
    r"encoder\.layer\.(\d+)\.intermediate\.dense": r"encoder.layers.\1.feed_forward.expand",
    r"encoder\.layer\.(\d+)\.output\.dense": r"encoder.layers.\1.feed_forward.contract",
    r"encoder\.layer\.(\d+)\.output\.LayerNorm": r"encoder.layers.\1.feed_forward_norm",
}
NOT_OURS = re.compile(r"(pooler|cls)\.|embeddings\.position_ids$")


def translate_name(name: str) -> str | None:
    """Return our name for a reference weight; ``None`` for pooler and pre-training heads.

    Raises
    ------
    ValueError
        If a BERT has no weight of that name.
    """
    name = name.removeprefix("bert.")
    if NOT_OURS.match(name):
        return None
    stem, _, kind = name.rpartition(".")
    kind = {"gamma": "weight", "beta": "bias"}.get(kind, kind)  # names of the first release
    for reference, ours in REFERENCE_NAMES.items():
        if match := re.fullmatch(reference, stem):
            return f"{match.expand(ours)}.{kind}"
    raise ValueError(f"a BERT has no weight called {name!r}: are these another model's weights?")
