"""The check answers whatever it is given with a verdict that says what is wrong."""

import functools
import math
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from glassbox_book.exercises import EXERCISES, Exercise, check
from glassbox_book.exercises.exercise import cases_of

SCORES = "scaled_dot_product.scores"
ATTENTION = "scaled_dot_product.attention"
#: An exercise for each kind of result: what is compared depends on that alone.
KINDS = {
    "a tensor": SCORES,
    "a tensor and its gradients": "scaled_dot_product.softmax",
    "a pair of tensors": ATTENTION,
    "an integer": "encoder.parameters",
    "a number": "decoder.alignment_error",
    "a truth value": "self_attention.is_equivariant",
    "a list": "tokens_and_embeddings.longest_match",
    "a list and a number": "tokens_and_embeddings.best_cut",
}
SILLY = [
    None,
    True,
    math.nan,
    10**400,
    1j,
    "scores",
    b"scores",
    [],
    (),
    {},
    (None, None),
    (1, 2),
    ["context", "weights"],
    object(),
    print,
    Exercise,
    np.zeros((2, 3)),
    np.array(None),
    torch.zeros(()),
    torch.zeros(0),
    torch.full((2, 3), math.nan),
    torch.zeros(2, 3, dtype=torch.complex64),
    torch.zeros(2, 3, dtype=torch.bool),
    torch.zeros(2, 3, dtype=torch.int8),
    torch.zeros(2, 3, dtype=torch.float16),
    torch.zeros(2, 3, device="meta"),
    torch.zeros(2, 3).to_sparse(),
    torch.zeros(2, 3, requires_grad=True),
    torch.nn.Parameter(torch.ones(3, 2)),
    torch.device("cpu"),
    (torch.zeros(2, 2, device="meta"), torch.zeros(2, 3, device="meta")),
    (torch.zeros(2, 2).to_sparse(), torch.zeros(2, 3).to_sparse()),
]


class Hostile(Exception):
    def __str__(self):
        raise RuntimeError("not even this")


def raises(*arguments):
    raise Hostile


def recurses(*arguments):
    return recurses(*arguments)


def yields(*arguments):
    yield from arguments


def empties(*arguments):
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            argument.resize_(0)
        elif isinstance(argument, list):
            argument.clear()


def scores(query, key):
    return query @ key.mT / math.sqrt(query.size(-1))


def attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    return weights @ value, weights


def said(name, answer):
    verdict = check(name, answer)
    assert not verdict.passed
    assert verdict.text.startswith("Not yet: ")
    return verdict.text


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("name", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("number", range(len(SILLY)))
def test_silly_result_gets_a_verdict(name, number):
    said(name, lambda *arguments: SILLY[number])


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("name", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("answer", [raises, recurses, yields, empties, dict, max, torch.add, sum])
def test_silly_function_gets_a_verdict(name, answer):
    said(name, answer)


@pytest.mark.parametrize("answer", [None, 3, "scores", torch.zeros(2, 3)])
def test_value_in_place_of_a_function(answer):
    assert "Hand over the function itself" in said(SCORES, answer)


def test_right_answers_that_are_not_plain_functions():
    class Scores:
        def __call__(self, query, key):
            return scores(query, key)

    assert check(SCORES, Scores()).passed
    assert check(SCORES, functools.partial(scores)).passed
    assert check(SCORES, torch.compiler.disable(scores)).passed


def test_none_asks_for_return():
    def forgets(query, key):
        scores(query, key)

    assert "Did you forget return?" in said(SCORES, forgets)


def test_untouched_stub_is_not_judged():
    def stub(query, key): ...

    def described(query, key):
        """Return the scores."""

    for answer in (stub, described):
        verdict = check(SCORES, answer)
        assert not verdict.passed
        assert verdict.text == "Not tried yet: 6 cases wait for your function."


def test_whole_number_is_shown_in_full():
    text = said("architecture.multiplications", lambda n, d_model: (n, d_model))
    assert "The recurrent layer's count is 20, expected 10485760." in text
    text = said("encoder.parameters", lambda *sizes: 1234567)
    assert "The number is 1234567, expected" in text


def test_numpy_array_is_not_a_tensor():
    text = said(SCORES, lambda query, key: scores(query, key).numpy())
    assert "Expected torch.Tensor for the scores, got numpy.ndarray." in text


def test_wrong_device_is_named():
    text = said(SCORES, lambda query, key: scores(query, key).to("meta"))
    assert "The device of the scores is meta, expected cpu." in text


def test_wrong_dtype_is_named():
    text = said(SCORES, lambda query, key: scores(query, key).float())
    assert "double precision" in text
    assert "The dtype of the scores is torch.float32, expected torch.float64." in text


def test_wrong_shape_is_named_with_the_shapes_of_the_case():
    text = said(SCORES, lambda query, key: scores(query, key)[None])
    assert "query (2, 4), key (3, 4)" in text
    assert "The shape of the scores is (1, 2, 3), expected (2, 3)." in text


def test_wrong_values_are_shown_beside_the_right_ones():
    text = said("scaled_dot_product.softmax_jacobian", lambda scores: torch.zeros(3, 3))
    assert "The Jacobian: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]\nexpected: [[0." in text


def test_unknown_factor_is_measured():
    text = said(SCORES, lambda query, key: 3 * scores(query, key))
    assert "Every entry is 3 times the expected one." in text


def test_transposed_result_is_noticed():
    text = said(
        "scaled_dot_product.softmax",
        lambda scores: scores.softmax(-1).mT if scores.dim() > 1 else 0,
    )
    assert "This is the expected result transposed" in text


def greedy_cut(word, scores):
    """Take the piece with the highest score per letter, from left to right."""
    pieces, start = [], 0
    while start < len(word):
        begins = [word[start:end] for end in range(start + 1, len(word) + 1)]
        pieces.append(max(filter(scores.get, begins), key=lambda x: scores[x] / len(x)))
        start += len(pieces[-1])
    return pieces, sum(map(scores.get, pieces))


def turn_square(weight, n_heads):
    """Take the width of a head from the columns, which fits square matrices alone."""
    d_k = weight.size(1) // n_heads
    order = torch.arange(weight.size(0)).view(-1, d_k // 2, 2).mT.flatten()
    return weight[order]


def fates_up_to_the_border(token_ids, chosen, fates, others, mask_id):
    inputs, labels = token_ids.clone(), torch.full_like(token_ids, -100)
    labels[chosen] = token_ids[chosen]
    inputs[chosen] = torch.where(fates <= 0.9, others, token_ids[chosen])
    inputs[chosen[fates <= 0.8]] = mask_id
    return inputs, labels


def bleu_without_a_guard(translation, reference):
    if len(translation) < 4:
        raise ZeroDivisionError
    return EXERCISES["training.bleu_score"].reference(translation, reference)


def a_mark_less_each_time(token_ids, spans, marks):
    marks = marks[0] - torch.arange(len(marks))
    return EXERCISES["variants.corrupt_spans"].reference(token_ids, spans, marks)


def a_length_too_short(log_probabilities, lengths, alpha):
    return int((log_probabilities / (lengths - 1) ** alpha).argmax())


def a_batch_of_one(model, begin, end, longest):
    return torch.tensor([begin, int(model(torch.tensor([[begin]])).argmax())])


def names(tags):
    """Count the names by length and kind, wherever they are."""
    found: Counter[tuple[int, str]] = Counter()
    kind, length = "", 0
    for tag in [*tags, "O"]:
        mark, _, named = tag.partition("-")
        if kind and (mark, named) != ("I", kind):
            found[length, kind] += 1
            kind = ""
        kind, length = (kind, length + 1) if kind else (named, 1)
    return found


def f1_without_places(predicted, expected):
    ours, theirs = names(predicted), names(expected)
    return 2 * (ours & theirs).total() / max(1, ours.total() + theirs.total())


def f1_without_a_guard(predicted, expected):
    right = EXERCISES["variants.entity_f1"].reference(predicted, expected)
    if right == 0 and names(predicted) + names(expected):
        raise ZeroDivisionError
    return right


def one_mask_for_all_heads(*given):
    *rest, n_heads, mask = given if len(given) == 7 else (*given, None)
    mask = mask[:, :1] if mask is not None and mask.dim() == 4 else mask
    return EXERCISES["multi_head_attention.multi_head"].reference(*rest, n_heads, mask)


def heads_of_a_share(W_query, W_key, W_value, W_output, n_heads, keep):
    d = W_query.size(0) // n_heads
    taken = torch.cat([torch.arange(head * d, (head + 1) * d) for head in keep])
    return W_query[:, taken], W_key[:, taken], W_value[:, taken], W_output[taken]


def last_source(graph, first, last):
    steps = {first: 0}
    for station, sources in graph.items():
        for source in sources:
            if source in steps:
                steps[station] = steps[source] + 1
    return steps.get(last, -1)


def cut_with_another_start(word, vocabulary, mark=""):
    for end in range(len(word), 0, -1):
        if mark + word[:end] in vocabulary:
            rest = cut_with_another_start(word[end:], vocabulary, "##") if word[end:] else []
            if rest != ["[UNK]"]:
                return [mark + word[:end], *rest]
    return ["[UNK]"]


def rising_slopes(network, x):
    return torch.autograd.functional.jacobian(network, x).amax(dim=(1, 3)) > 1e-5


def zeros_on_one_side(u, v):
    return F.normalize(u, dim=1, eps=1e-12) @ (v / v.norm(dim=1, keepdim=True)).T


def neighbours_alike(x, tolerance):
    count = 0
    while x.diff(dim=0).norm(dim=-1).max() >= tolerance:
        x, count = (x @ x.T).softmax(-1) @ x, count + 1
    return count


def a_small_penalty(query, key, value, mask=None):
    scores = query @ key.mT / query.size(-1) ** 0.5
    if mask is None:
        return scores.softmax(-1) @ value, scores.softmax(-1)
    weights = scores.masked_fill(~mask, -1e4).softmax(-1) * mask.any(-1, keepdim=True)
    return weights @ value, weights


def always_the_same_ends(model, begin, end, longest):
    return EXERCISES["architecture.greedy"].reference(model, 7, 8, longest)


def tie_by_the_joined_symbol(words):
    counts: Counter[tuple[str, str]] = Counter()
    for symbols, times in words.items():
        for pair in pairwise(symbols):
            counts[pair] += times
    return min(counts, key=lambda pair: (-counts[pair], "".join(pair)))


def count_the_joined_symbols(words):
    texts = {"".join(symbols): times for symbols, times in words.items()}
    pairs = {pair for symbols in words for pair in pairwise(symbols)}
    counts = {
        pair: sum(text.count("".join(pair)) * times for text, times in texts.items())
        for pair in pairs
    }
    return min(counts, key=lambda pair: (-counts[pair], pair))


def tie_by_the_left_symbol(words):
    counts: Counter[tuple[str, str]] = Counter()
    for symbols, times in words.items():
        for pair in pairwise(symbols):
            counts[pair] += times
    return min(counts, key=lambda pair: (-counts[pair], pair[0]))


def lengths_above_a_thousandth(u, v):
    lengths = u.norm(dim=1, keepdim=True) * v.norm(dim=1)
    return u @ v.T / lengths.clamp(min=1e-3)


def missing_pieces_have_a_score(word, scores):
    best: list[tuple[float, list[str]]] = [(0.0, [])]
    for end in range(1, len(word) + 1):
        pieces = [(start, word[start:end]) for start in range(end)]
        best.append(
            max((best[k][0] + scores.get(piece, -99), [*best[k][1], piece]) for k, piece in pieces)
        )
    return best[-1][::-1]


def softmax_in_double_precision(scores):
    powers = scores.double().exp()
    return (powers / powers.sum(-1, keepdim=True)).to(scores.dtype)


def bleu_by_different_words(translation, reference):
    right = EXERCISES["training.bleu_score"].reference(translation, reference)
    longer, wider = (
        min(1, math.exp(1 - len(theirs) / len(ours)))
        for ours, theirs in ((translation, reference), (set(translation), set(reference)))
    )
    return right / longer * wider


def average_slopes(network, x):
    return torch.autograd.functional.jacobian(network, x).abs().mean(dim=(1, 3)) > 1e-5


def steep_slopes(network, x):
    return torch.autograd.functional.jacobian(network, x).norm(dim=(1, 3)) > 1e-3


def cut_by_the_first(logits, T, r):
    p = (logits / T).softmax(-1)
    p = p * (p >= r * p[0])
    return p / p.sum()


def merge_without_a_shift(m_1, l_1, c_1, m_2, l_2, c_2):
    m = torch.maximum(m_1, m_2)
    shares = (m_1.exp() / m.exp(), m_2.exp() / m.exp())
    return m, shares[0] * l_1 + shares[1] * l_2, shares[0] * c_1 + shares[1] * c_2


def zeros_by_their_sum(weight, bits):
    scale = weight.abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where(weight.sum(1, keepdim=True) == 0, torch.ones_like(scale), scale)
    return (weight / scale).round(), scale


def whole_steps(n_heads, q_len, k_len):
    slopes = torch.tensor([2.0 ** -(8 // n_heads * (h + 1)) for h in range(n_heads)])
    away = torch.arange(k_len) - torch.arange(k_len - q_len, k_len)[:, None]
    return -slopes[:, None, None] * away.abs()


def clip_at_the_sum(first, second, limit):
    joint = (first.square().sum() + second.square().sum()).sqrt()
    share = 1.0 if first.norm() + second.norm() <= limit else limit / joint
    return first * share, second * share


def kind_kept_beyond_o(predicted, expected):
    def found(tags):
        spans: list[tuple[int, int, str]] = []
        kind = ""
        for place, tag in enumerate(tags):
            mark, _, named = tag.partition("-")
            if mark == "I" and named == kind:
                spans[-1] = (spans[-1][0], place, kind)
            elif named:
                spans.append((place, place, named))
                kind = named
        return set(spans)

    ours, theirs = found(predicted), found(expected)
    return 2 * len(ours & theirs) / max(1, len(ours) + len(theirs))


def squeezed(x, *weights):
    out = EXERCISES["encoder.feed_forward"].reference(x, *weights)
    return out.squeeze(0) if out.dim() > 1 else out


def padding_behind(x, memory, memory_mask, *weights):
    mask = torch.arange(memory.size(1)) < memory_mask.sum(-1, keepdim=True)
    return EXERCISES["decoder.decoder_layer"].reference(x, memory, mask, *weights)


def bleu_from_five_words_on(translation, reference):
    right = EXERCISES["training.bleu_score"].reference(translation, reference)
    return 0.0 if len(translation) <= 4 else right


def no_parallel_vectors(first, second):
    a, b = (F.normalize(x, dim=-1) for x in (first, second))
    within = []
    for sense in (a, b):
        n = len(sense)
        within += [sense[i] @ sense[j] for i in range(n) for j in range(i)]
    kept = torch.stack([c for c in within if c < 0.99999])
    return float(kept.mean() - (a @ b.T).mean())


def log_of_softmax(logits, labels, pad_id):
    real = labels != pad_id
    return -logits.softmax(-1).log()[real].gather(-1, labels[real][:, None]).mean()


def steep_sigmoid(x, W_g, W_1, W_2):
    gate = x @ W_g
    return (gate * gate.exp() / (1 + gate.exp()) * (x @ W_1)) @ W_2


def turned_in_single_precision(x, positions):
    return EXERCISES["positional_encoding.rotate"].reference(x.float(), positions)


def one_replacement_for_all(token_ids, chosen, fates, others, mask_id):
    first = others[((fates >= 0.8) & (fates < 0.9)).long().argmax()].expand_as(others)
    return EXERCISES["variants.apply_fates"].reference(token_ids, chosen, fates, first, mask_id)


def missing_by_value(token_ids, spans, marks):
    ids, numbers = token_ids.tolist(), marks.tolist()
    parts = [ids[start:end] for start, end in spans.tolist()]
    source, target, left = [], [], list(zip(numbers, parts, strict=False))
    for token in ids:
        if left and token == left[0][1][0]:
            mark, part = left.pop(0)
            source.append(mark)
            target += [mark, *part]
        elif all(token not in part for part in parts):
            source.append(token)
    return torch.tensor(source), torch.tensor([*target, numbers[len(parts)]])


def rounded_down(parameters, devices, sharded):
    right = EXERCISES["efficiency_and_scale.bytes_on_each"].reference
    share = parameters // devices
    return (
        right(devices * share, devices, sharded)
        if sharded == 3
        else right(parameters, devices, sharded)
    )


def whole_bytes(parameters, devices, sharded):
    order = (12, 2, 2)
    divided = parameters * sum(order[:sharded]) // devices
    return divided + parameters * sum(order[sharded:])


def cut_that_ends_everywhere(word, scores):
    best: dict[int, tuple[float, list[str]]] = {0: (0.0, [])}
    for end in range(1, len(word) + 1):
        pieces = [(start, word[start:end]) for start in range(end) if word[start:end] in scores]
        best[end] = max((best[k][0] + scores[piece], [*best[k][1], piece]) for k, piece in pieces)
    return best[len(word)][::-1]


def slopes_of_the_first_component(network, x):
    return torch.autograd.functional.jacobian(network, x)[..., 0].abs().amax(dim=1) > 1e-5


def slopes_of_any_size(network, x):
    return torch.autograd.functional.jacobian(network, x).abs().amax(dim=(1, 3)) != 0


def all_but_the_last_row(layer, x, order):
    return torch.allclose(layer(x[order])[:-1], layer(x)[order][:-1], atol=1e-5)


def one_order_alone(layer, x, order):
    return torch.allclose(layer(x.flip(0)), layer(x).flip(0), atol=1e-5)


def the_last_row_alone(layer, x, order):
    return torch.allclose(layer(x[order])[-1], layer(x)[order][-1], atol=1e-5)


def lengths_alone(layer, x, order):
    return torch.allclose(layer(x[order]).norm(dim=1), layer(x)[order].norm(dim=1), atol=1e-5)


def larger_alone(layer, x, order):
    return bool((layer(x[order]) - layer(x)[order]).max() < 1e-5)


def smaller_alone(layer, x, order):
    return bool((layer(x)[order] - layer(x[order])).max() < 1e-5)


#: Functions that are right in the usual cases, and the case that finds them out.
NEARLY = {
    "efficiency_and_scale.bytes_on_each ": (whole_bytes, "does not divide evenly"),
    "tokens_and_embeddings.best_cut ": (cut_that_ends_everywhere, "a place where no piece ends"),
    "architecture.dependencies ": (slopes_of_the_first_component, "the last component"),
    "architecture.dependencies  ": (slopes_of_any_size, "a part too small to count"),
    "self_attention.is_equivariant": (all_but_the_last_row, "the longest vector in the last place"),
    "self_attention.is_equivariant ": (one_order_alone, "each vector and its neighbours"),
    "self_attention.is_equivariant  ": (smaller_alone, "the length of the first vector"),
    "self_attention.is_equivariant   ": (larger_alone, "the length of the last vector"),
    "architecture.dependencies   ": (average_slopes, "a part just large enough"),
    "architecture.dependencies    ": (steep_slopes, "a part just large enough"),
    "self_attention.is_equivariant     ": (the_last_row_alone, "every second vector turned round"),
    "self_attention.is_equivariant      ": (lengths_alone, "every second vector turned round"),
    "tokens_and_embeddings.next_merge ": (tie_by_the_left_symbol, "pairs equally often"),
    "tokens_and_embeddings.next_merge  ": (count_the_joined_symbols, "symbols of several letters"),
    "tokens_and_embeddings.cosines ": (lengths_above_a_thousandth, "long and short rows"),
    "tokens_and_embeddings.best_cut  ": (missing_pieces_have_a_score, "a word of forty letters"),
    "scaled_dot_product.softmax": (softmax_in_double_precision, "scores in the hundreds"),
    "training.bleu_score  ": (bleu_by_different_words, "a word too often"),
    "training.bleu_score ": (bleu_from_five_words_on, "four words"),
    "encoder.sense_gap": (no_parallel_vectors, "two parallel vectors"),
    "training.masked_loss": (log_of_softmax, "large logits"),
    "variants.swiglu": (steep_sigmoid, "large numbers"),
    "positional_encoding.rotate": (turned_in_single_precision, "double precision"),
    "variants.apply_fates ": (one_replacement_for_all, "two replaced tokens"),
    "variants.corrupt_spans ": (missing_by_value, "repeated tokens"),
    "efficiency_and_scale.bytes_on_each": (rounded_down, "does not divide evenly"),
    "generation.sampler": (cut_by_the_first, "not in order"),
    "generation.positions_computed": (
        lambda a, n, cached: a + n - 1 if cached else n * a + n // 2 * (n - 1),
        "three tokens, not cached",
    ),
    "efficiency_and_scale.merge": (merge_without_a_shift, "scores in the hundreds"),
    "efficiency_and_scale.quantise_rows": (zeros_by_their_sum, "a row that contains 0"),
    "positional_encoding.alibi": (whole_steps, "sixteen heads"),
    "training.clip": (clip_at_the_sum, "just short enough"),
    "training.learning_rate": (
        lambda step, peak, warmup: (
            peak * step / warmup if step <= warmup else peak / (step // warmup) ** 0.5
        ),
        "two and a half times as far",
    ),
    "encoder.feed_forward": (squeezed, "a batch of one"),
    "decoder.decoder_layer": (padding_behind, "padding on the left"),
    "variants.entity_f1  ": (kind_kept_beyond_o, "a name that begins with I- after an O"),
    "tokens_and_embeddings.best_cut": (greedy_cut, "a good first piece before a bad one"),
    "positional_encoding.to_half": (turn_square, "heads wider than their share"),
    "variants.apply_fates": (fates_up_to_the_border, "fates on the borders"),
    "variants.corrupt_spans": (a_mark_less_each_time, "one span of two tokens"),
    "training.bleu_score": (bleu_without_a_guard, "three words"),
    "generation.best_beam": (a_length_too_short, "half a power"),
    "architecture.greedy": (a_batch_of_one, "token_ids has shape (1, 1), expected (length,)"),
    "architecture.greedy ": (always_the_same_ends, "other begin and end tokens"),
    "architecture.layers": (lambda n, size: round(2 * (n - 1) / (size - 1)), "than two layers"),
    "architecture.path_length": (last_source, "the shortcut listed first"),
    "architecture.dependencies": (rising_slopes, "negation"),
    "tokens_and_embeddings.longest_match": (cut_with_another_start, "a shorter first piece"),
    "tokens_and_embeddings.next_merge": (tie_by_the_joined_symbol, "a tie with a longer symbol"),
    "tokens_and_embeddings.cosines": (zeros_on_one_side, "a row of zeros in v"),
    "self_attention.layers_until_alike": (neighbours_alike, "neighbours close, ends far apart"),
    "scaled_dot_product.attention": (a_small_penalty, "scores far below zero"),
    "multi_head_attention.multi_head": (one_mask_for_all_heads, "a mask for each head"),
    "multi_head_attention.keep_heads": (heads_of_a_share, "narrow heads in a wide model"),
    "variants.entity_f1": (f1_without_a_guard, "a name in the wrong place"),
    "variants.entity_f1 ": (f1_without_places, "a name in the wrong place"),
}


@pytest.mark.parametrize("name", NEARLY)
def test_nearly_right_is_found_out(name):
    answer, case = NEARLY[name]
    text = said(name.strip(), answer)
    assert case in text


def test_fates_may_be_read_as_numbers():
    def apply_fates(token_ids, chosen, fates, others, mask_id):
        inputs, labels = token_ids.clone(), torch.full_like(token_ids, -100)
        for place, fate, other in zip(
            chosen.tolist(), fates.tolist(), others.tolist(), strict=True
        ):
            labels[place] = token_ids[place]
            inputs[place] = mask_id if fate < 0.8 else other if fate < 0.9 else token_ids[place]
        return inputs, labels

    assert check("variants.apply_fates", apply_fates).passed


def test_mistake_that_fits_some_cases_alone_is_offered_as_a_guess():
    def softmax(scores):
        powers = (scores - scores.abs().amax(-1, keepdim=True)).exp()
        return powers / powers.sum(-1, keepdim=True)

    text = said("scaled_dot_product.softmax", softmax)
    assert "This would explain some of your results: You took the exponential" in text


def test_one_coincidence_explains_nothing():
    text = said(SCORES, lambda query, key: query @ key.mT if len(query) == 2 else query)
    assert "You forgot to scale" not in text


def test_mistake_that_would_spoil_right_results_is_not_named():
    def layers(n, kernel_size):  # right in four cases; two of the others look like a mistake
        return round(2 * (n - 1) / (kernel_size - 1))

    assert "Your layers" not in said("architecture.layers", layers)


def test_mistake_that_is_not_made_everywhere_is_no_certainty():
    right = EXERCISES["positional_encoding.shift_matrix"].reference

    text = said("positional_encoding.shift_matrix", lambda k, d_model: right(-abs(k), d_model))
    assert "This would explain some of your results: Your matrix moves backwards" in text


def test_inverted_mask_is_recognised_although_nan_follows():
    def inverted(query, key, value, mask=None):
        scores = query @ key.mT / math.sqrt(query.size(-1))
        scores = scores if mask is None else scores.masked_fill(mask, -math.inf)
        return scores.softmax(-1) @ value, scores.softmax(-1)

    text = said(ATTENTION, inverted)
    assert "\nYou filled in the scores where the mask is True" in text


def test_either_cause_of_the_same_number_is_named():
    def count_parameters(d_model, d_ff, n_layers, vocab_size):  # no second bias
        right = EXERCISES["decoder.count_parameters"].reference
        return right(d_model, d_ff, n_layers, vocab_size) - 2 * d_model * n_layers

    text = said("decoder.count_parameters", count_parameters)
    assert "third norm" in text
    assert "or the second bias" in text


def test_comparison_without_a_tolerance_is_recognised():
    def is_equivariant(layer, x, order):
        return bool((layer(x[order]) == layer(x)[order]).all())

    assert "use torch.allclose" in said("self_attention.is_equivariant", is_equivariant)


def test_sums_without_their_axis_are_advised_to_keep_it():
    def weights(x):
        powers = (x @ x.mT).exp()
        return powers / powers.sum(-1)

    assert "keepdim=True" in said("self_attention.weights", weights)


def test_nothing_is_nan_times_the_expected():
    def causal(x):
        hidden = torch.ones(len(x), len(x)).triu(1) * -math.inf  # 0 times infinity
        weights = (x @ x.mT + hidden).softmax(-1)
        return weights @ x, weights

    text = said("self_attention.causal", causal)
    assert "nan" in text
    assert "times the expected one" not in text


def test_plain_values_may_be_exchanged_by_chance():
    def next_token_head(maps):
        looks = torch.cat([weights.diagonal(1, -2, -1) for weights in maps], -1).mean(-1)
        layer, head = divmod(int(looks.argmax()), looks.size(0))
        return layer, head

    text = said("scaled_dot_product.next_token_head", next_token_head)
    assert "in the wrong order" not in text
    assert "\nYou divided by the number of layers" in text
    right = EXERCISES["tokens_and_embeddings.next_merge"].reference
    text = said("tokens_and_embeddings.next_merge", lambda words: right(words)[::-1])
    assert "The left symbol is b, expected a." in text


def test_one_number_has_no_factor():
    name = "training.masked_loss"
    right = EXERCISES[name].reference
    assert "times the expected one" not in said(name, lambda *given: 3 * right(*given))


def test_only_truth_is_exchanged():
    name = "tokens_and_embeddings.cosines"
    right = EXERCISES[name].reference
    text = said(name, lambda u, v: 1 - right(u, v))
    assert text.endswith("This is 1 minus the expected result.")


def test_list_changed_in_place_is_to_be_copied():
    def path_length(graph, first, last):
        graph[first] = []
        return 0

    text = said("architecture.path_length", path_length)
    assert "changed its argument graph in place. Work on a copy." in text


def test_what_is_printed_is_printed_once(capsys):
    def layers(n, kernel_size):
        print("n is", n)
        return 0

    check("architecture.layers", layers)
    assert capsys.readouterr().out.count("n is 5\n") == 1


def test_a_number_that_is_nearly_right_is_shown_with_the_digits_that_differ():
    name = "efficiency_and_scale.bytes_on_each"
    right = EXERCISES[name].reference
    text = said(name, lambda *given: right(*given) + 1)
    assert "The number of bytes is 16001, expected 16000." in text
    loss = EXERCISES["training.masked_loss"].reference
    text = said("training.masked_loss", lambda *given: 1.00004 * loss(*given))
    shown, expected = text.split("The loss: ")[1].split("\nexpected: ")
    assert shown != expected
    assert shown[:5] == expected[:5]


@pytest.mark.parametrize(
    ("name", "advises"), [("positional_encoding.alibi", False), (SCORES, True)]
)
def test_the_dtype_of_the_inputs_is_advised_where_the_inputs_have_it(name, advises):
    other = torch.float64 if name != SCORES else torch.float32
    text = said(name, lambda *given: EXERCISES[name].reference(*given).to(other))
    assert "The dtype of the" in text
    assert ("New tensors take the dtype of the inputs." in text) == advises


def test_a_factor_in_one_part_is_told_of_that_part():
    def doubled(*given):
        context, weights = attention(*given)
        return context, 2 * weights

    assert "The weights: every entry is 2 times the expected one." in said(ATTENTION, doubled)


def test_exchanged_truth_is_noticed():
    def positive(x):
        return x > 0

    cases_of(positive, positive)(lambda draw: iter([("a row", draw(9))]))
    try:
        assert "with true and false exchanged" in said("test_check.positive", lambda x: x <= 0)
        assert check("test_check.positive", positive).passed
    finally:
        del EXERCISES["test_check.positive"]


def test_change_in_place_is_named():
    def softmax(scores):
        scores -= scores.amax(-1, keepdim=True)
        return scores.softmax(-1)

    text = said("scaled_dot_product.softmax", softmax)
    assert "Your function changed its argument scores in place." in text


def test_right_result_that_changes_its_argument_is_not_called_another_mistake():
    def apply_fates(*given):
        inputs, labels = EXERCISES["variants.apply_fates"].reference(*given)
        return given[0].copy_(inputs), labels

    text = said("variants.apply_fates", apply_fates)
    assert text.endswith("x = x - 1 makes one, x -= 1 and x.sub_(1) do not.")


@pytest.mark.parametrize("put", [[], [None], [[[0.5]]]])
def test_lists_that_are_changed_are_noticed(put):
    def next_token_head(maps):
        right = EXERCISES["scaled_dot_product.next_token_head"].reference(maps)
        maps[-1:] = put
        return right

    text = said("scaled_dot_product.next_token_head", next_token_head)
    assert "changed its argument maps in place" in text


def test_weights_without_the_context():
    text = said(ATTENTION, lambda *given: attention(*given)[1])
    assert "returned the weights alone, expected the tuple (context, weights)" in text


def test_the_name_of_a_result_fits_a_sentence():
    text = said("positional_encoding.rotate", lambda x, positions: 0 * x)
    assert "The turned vectors: [[0, 0]" in text


def test_a_list_without_its_score():
    cut = EXERCISES["tokens_and_embeddings.best_cut"].reference
    text = said("tokens_and_embeddings.best_cut", lambda *given: cut(*given)[0])
    assert "returned the segmentation alone, expected the tuple (segmentation, score)" in text
    assert "The result has length 1, expected" in said(ATTENTION, lambda *given: [given[0]])


def test_pair_in_the_wrong_order():
    text = said(ATTENTION, lambda *given: attention(*given)[::-1])
    assert "the right results in the wrong order, expected the tuple (context, weights)" in text


def test_pair_with_a_part_missing():
    assert "The weights is None" in said(ATTENTION, lambda *given: (attention(*given)[0], None))


def test_wrong_parameters_are_named():
    text = said(ATTENTION, lambda query, key: query)
    assert "Your function takes query, key; it is called with query, key, value" in text
    text = said("self_attention.weights", lambda: 0)
    assert text.splitlines()[2] == "Your function takes nothing; it is called with x."


def test_one_right_case_is_counted_in_the_singular():
    assert "Not yet: 1 of 7 cases is right." in said("architecture.layers", lambda n, k: 0)


def test_error_is_shown_with_the_line_of_the_reader():
    def scores(query, key):
        size = query.size(-1)
        return torch.matmul(query, key) / size  # no transpose

    text = said(SCORES, scores)
    assert "return torch.matmul(query, key) / size  # no transpose" in text
    assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x4 and 3x4)" in text


def test_addresses_do_not_show():
    def scores(query, key):
        raise ValueError(object())

    assert "object at 0x...>" in said(SCORES, scores)
    text = said(SCORES, lambda query, key: torch.ones(10, 1) @ key.mT)
    assert "(10x1 and 4x3)" in text


def test_an_error_with_a_note_is_shown_by_its_message():
    def scores(query, key):
        error = ValueError("the cause")
        error.add_note("and a note")
        raise error

    assert "ValueError: the cause" in said(SCORES, scores)


def test_a_list_of_arrays_in_place_of_strings_gets_a_verdict():
    def longest_match(word, vocabulary):
        return [torch.zeros(2).numpy()]

    assert "expected" in said("tokens_and_embeddings.longest_match", longest_match)


def test_an_answer_that_exits_gets_a_verdict():
    def scores(query, key):
        sys.exit("good bye")

    text = said(SCORES, scores)
    assert "raised an error" in text
    assert "SystemExit: good bye" in text


def test_keyboard_interrupt_is_not_swallowed():
    def scores(query, key):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(SCORES, scores)


def test_cut_gradient_is_named():
    def cut(*given):
        context, weights = attention(*given)
        return context.detach(), weights.detach()

    assert "no gradient comes back" in said(ATTENTION, cut)


def test_error_that_only_gradients_bring_is_named():
    def through_numpy(*given):
        context, weights = attention(*given)
        return torch.from_numpy(context.numpy()), weights

    text = said(ATTENTION, through_numpy)
    assert "return torch.from_numpy(context.numpy()), weights" in text
    assert "This happened when gradients were computed." in text


def test_gradient_that_is_nan_is_named_and_explained():
    def added(query, key, value, mask=None):
        bias = 0 if mask is None else torch.where(mask, 0.0, -math.inf)
        weights = (query @ key.mT / math.sqrt(query.size(-1)) + bias).softmax(-1).nan_to_num(0.0)
        return weights @ value, weights

    text = said(ATTENTION, added)
    assert (
        "9 of 10 cases are right. The first that is not: a query that may attend to nothing" in text
    )
    assert "The gradient of query" in text
    assert "adding -inf does not" in text


def test_change_in_place_that_stops_gradients_is_named():
    def softmax(scores):
        powers = (scores - scores.amax(-1, keepdim=True)).exp()
        powers /= powers.sum(-1, keepdim=True)
        return powers

    text = said("scaled_dot_product.softmax", softmax)
    assert "no gradient can be computed" in text
    assert "Write e = e / total instead of e /= total" in text


def test_advice_on_masks_is_given_where_there_is_one():
    def swiglu(x, W_g, W_1, W_2):
        gate = x @ W_g
        return (gate / (1 + torch.exp(-gate)) * (x @ W_1)) @ W_2

    text = said("variants.swiglu", swiglu)
    assert "The gradient of x" in text
    assert "torch.sigmoid and torch.softmax do not overflow" in text
    assert "masked_fill" not in text


def test_unknown_exercise_lists_the_known():
    with pytest.raises(ValueError, match=r"no exercise called 'scores'\. There are:") as error:
        check("scores", scores)
    assert all(name in str(error.value) for name in EXERCISES)


def test_two_exercises_of_one_name_are_refused():
    exercise = EXERCISES[SCORES]
    with pytest.raises(ValueError, match=r"two exercises called 'scaled_dot_product\.scores'"):
        cases_of(exercise.flawed)(exercise.cases)


def test_check_leaves_the_random_numbers_alone():
    before = torch.random.get_rng_state()
    check(ATTENTION, attention)
    assert torch.equal(before, torch.random.get_rng_state())


def test_check_works_without_gradients_and_on_another_default_device():
    for mode in (torch.no_grad, torch.inference_mode):
        with mode(), torch.device("meta"):
            assert check(ATTENTION, attention).passed
