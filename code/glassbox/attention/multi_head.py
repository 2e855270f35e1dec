"""Multi-head attention: several attentions in parallel (chapter 5)."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassbox.around import NOTHING, Around
from glassbox.attention.scaled_dot_product import scaled_dot_product_attention
from glassbox.checks import check_heads, check_same_memory, check_scale, check_sequences
from glassbox.kernels import formula, observers
from glassbox.linear import Linear
from glassbox.masks import allowed_past
from glassbox.positional import rotate


class MultiHeadAttention(nn.Module):
    r"""Several attentions in parallel, each with its own projections.

    .. math:: \begin{aligned} \operatorname{MultiHead}(Q, K, V)
              &= \operatorname{Concat}(\text{head}_1, \ldots, \text{head}_h) W^O \\
              \text{head}_i &= \operatorname{Attention}(QW_i^Q, KW_i^K, VW_i^V) \end{aligned}

    The projections of all heads are stacked into one matrix each for queries, keys and values.
    The heads divide ``d_model`` among themselves, so their number does not change the number of
    parameters. With fewer key-value heads than query heads, groups of query heads share one:
    this is grouped-query attention or, with a single key-value head, multi-query attention.

    Parameters
    ----------
    d_model : int
        Width of inputs and outputs.
    n_heads : int
        Number of heads; must divide ``d_model`` unless ``d_k`` is given.
    n_kv_heads : int, optional
        Number of key-value heads; must divide ``n_heads``. Defaults to ``n_heads``.
    d_k : int, optional
        Width of a head. Defaults to ``d_model // n_heads``.
    bias : bool, optional
        Whether the four projections add a bias. The paper's equation has none; BERT has one.
    scale : float, optional
        Factor that multiplies the scores. Defaults to :math:`1 / \sqrt{d_k}`.

    Raises
    ------
    ValueError
        If ``n_heads`` does not divide ``d_model`` and no ``d_k`` is given, ``n_kv_heads`` does not
        divide ``n_heads``, or a number is not positive.
    TypeError
        If a size is not an integer.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.2; Shazeer (2019) and Ainslie et al. (2023) on shared keys
    and values. Chapter 5.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        d_k: int | None = None,
        bias: bool = True,
        scale: float | None = None,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads, n_kv_heads, d_k)
        check_scale(scale)
        self.d_k = d_k = d_model // n_heads if d_k is None else d_k
        self.n_heads = n_heads
        self.n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        self.scale = scale
        self.query = Linear(d_model, n_heads * d_k, bias=bias)
        self.key = Linear(d_model, self.n_kv_heads * d_k, bias=bias)
        self.value = Linear(d_model, self.n_kv_heads * d_k, bias=bias)
        self.output = Linear(n_heads * d_k, d_model, bias=bias)

    def forward(
        self,
        query: Float[Tensor, "batch q_len d_model"],
        key: Float[Tensor, "batch k_len d_model"] | None = None,
        value: Float[Tensor, "batch k_len d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        *,
        causal: bool = False,
        around: Around = NOTHING,
    ) -> Float[Tensor, "batch q_len d_model"]:
        """Attend from ``query`` to ``key`` and ``value``, or to ``query`` itself without them.

        Parameters
        ----------
        query : Tensor
            ``(batch, q_len, d_model)``.
        key, value : Tensor, optional
            ``(batch, k_len, d_model)``. ``key`` defaults to ``query``, ``value`` to ``key``.
        mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, q_len, k_len)``; ``True`` = may attend.
            A mask of two axes is ``(q_len, k_len)``; if the texts of a batch differ, pass all four.
        causal, around : optional
            Whether to hide later positions from each query; positional bias or rotation, and cache.

        Returns
        -------
        Tensor
            ``(batch, q_len, d_model)``.

        Raises
        ------
        ValueError, TypeError
            If inputs, mask or bias do not fit together, or the cache is full.
        """
        query, key, value = self.project(query, key, value, around)
        context = self.attend(query, key, value, mask, causal, around)
        return self.output(context.transpose(1, 2).flatten(2))  # side by side

    def project(
        self, query: Tensor, key: Tensor | None, value: Tensor | None, around: Around = NOTHING
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return every head's queries, keys and values; ``around`` may rotate and extend them.

        Parameters
        ----------
        query, key, value, around
            As for :meth:`forward`.

        Returns
        -------
        query, key, value : Tensor
            ``(batch, n_heads, q_len, d_k)``, then ``(batch, n_kv_heads, k_len, d_k)`` twice.
        """
        memory = None if key is query else key
        cache, rotation, weight = around.cache, around.rotation, self.query.weight
        key = query if key is None else key
        value = key if value is None else value
        inputs, ours = (query, key, value), (weight.shape[1:], weight.dtype, weight.device)
        fit = [isinstance(x, Tensor) and (x.shape[2:], x.dtype, x.device) == ours for x in inputs]
        same = all(fit) and key.shape == value.shape and key.size(0) == query.size(0)
        if not same or 0 in (*query.shape, *key.shape):
            check_sequences(weight, *inputs)
        query = self.query(query).unflatten(-1, (-1, self.d_k)).transpose(1, 2)
        if rotation is not None:
            query = rotate(query, rotation)
        if memory is not None and cache is not None and cache.length:
            check_same_memory(memory, cache.key)
            return query, cache.key, cache.value  # the memory is the same at every step
        key = self.key(key).unflatten(-1, (-1, self.d_k)).transpose(1, 2)
        value = self.value(value).unflatten(-1, (-1, self.d_k)).transpose(1, 2)
        if rotation is not None:
            key = rotate(key, rotation)
        return query, *((key, value) if cache is None else cache.append(key, value))

    @formula
    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        causal: bool,
        around: Around,
    ) -> Tensor:
        """Let every head attend, as in chapter 4.

        Parameters
        ----------
        query, key, value : Tensor
            From :meth:`project`.
        mask, causal, around
            As for :meth:`forward`.

        Returns
        -------
        Tensor
            The context, ``(batch, n_heads, q_len, d_k)``.
        """
        group = self.n_heads // self.n_kv_heads
        # A copy for each query head of a group, because a cache may reorder its buffers in place.
        key, value = (x.repeat_interleave(group, 1) for x in (key, value))
        if causal:
            mask = allowed_past(mask, query.size(2), key.size(2), query.device)
        context, weights = scaled_dot_product_attention(
            query, key, value, mask, bias=around.bias, scale=self.scale
        )
        seen = {"query": query, "key": key, "value": value, "weights": weights, "context": context}
        for look in observers.get():
            look(self, **seen, bias=around.bias, scale=self.scale, mask=mask)
        return context
