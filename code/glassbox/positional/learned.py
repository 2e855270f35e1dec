"""Positions as rows of a table, learned like words and added to the embeddings (chapter 6)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassbox.positional.interface import Positions, check_embeddings


class LearnedPositions(Positions):
    """A vector for each position, learned and added to the embeddings.

    What no training text reached has no vector: positions from ``max_len`` on are refused.

    Parameters
    ----------
    max_len : int
        How many positions have a vector.
    d_model : int
        Width of the embeddings.

    Attributes
    ----------
    table : nn.Embedding
        ``(max_len, d_model)``.

    Raises
    ------
    ValueError
        If ``max_len`` or ``d_model`` is less than 1.

    Notes
    -----
    Gehring et al. (2017), section 3.1; in BERT and GPT-2. Vaswani et al. (2017), table 3, row E,
    found them as good as sinusoids. Chapter 6.
    """

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        if max_len < 1 or d_model < 1:
            raise ValueError(f"max_len={max_len} and d_model={d_model}: both must be at least 1")
        self.table = nn.Embedding(max_len, d_model)

    def embed(
        self, x: Float[Tensor, "batch length d_model"], positions: Int[Tensor, "*rows length"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Add the vectors of ``positions`` to ``x``; see :meth:`Positions.embed`.

        Raises
        ------
        ValueError
            Besides, if a position is negative or not less than ``max_len``. Compiled code has no
            values to look at, only shapes, and leaves this to the table.
        """
        check_embeddings(x, positions, self.table.embedding_dim)
        self._check_range(positions)
        return x + self.table(positions)

    def _check_range(self, positions: Tensor) -> None:
        if torch.compiler.is_compiling() or positions.is_meta or not positions.numel():
            return
        low, high = (int(end) for end in positions.aminmax())
        if low < 0 or high >= self.table.num_embeddings:
            raise ValueError(
                f"positions run from {low} to {high}; this table has {self.table.num_embeddings}, "
                f"0 to {self.table.num_embeddings - 1}: shorten the text or split it"
            )
