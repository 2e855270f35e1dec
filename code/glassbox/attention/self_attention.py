"""Self-attention without parameters: average each token with those it resembles (chapter 3)."""

from jaxtyping import Float
from torch import Tensor

from glassbox.attention.scaled_dot_product import masked_softmax
from glassbox.checks import check_attention_inputs


def simple_self_attention(
    x: Float[Tensor, "*batch n d_model"],
) -> tuple[Float[Tensor, "*batch n d_model"], Float[Tensor, "*batch n n"]]:
    r"""Replace each vector by an average of all vectors, weighted by its dot products with them.

    .. math:: C = \operatorname{softmax}(X X^\top)\, X

    Nothing is learned: scores, weights and context all come from the same vectors. This is
    :func:`glassbox.scaled_dot_product_attention` with ``x`` as query, key and value and a scale
    of 1.

    Parameters
    ----------
    x : Tensor
        ``(..., n, d_model)``: one vector for each token.

    Returns
    -------
    context : Tensor
        ``(..., n, d_model)``: one weighted average for each token.
    weights : Tensor
        ``(..., n, n)``: row *i* holds the weights of token *i*, which sum to 1.

    Raises
    ------
    ValueError
        If ``x`` has fewer than two axes.
    TypeError
        If ``x`` is not floating-point.

    Notes
    -----
    Chapter 3, equation ``eq-simple-self-attention``.
    """
    check_attention_inputs(x, x, x)
    scores = x @ x.mT
    weights = masked_softmax(scores)
    return weights @ x, weights
