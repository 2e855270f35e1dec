"""What checks an exercise in a page agrees with the check, and knows no more than it should."""

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from glassbox.attention import scaled_dot_product_attention
from glassbox_book import exercises
from glassbox_book.exercises import EXERCISES, check, in_page
from glassbox_book.exercises.judge import outcome

CHAPTERS = Path(__file__).parents[2] / "chapters"
PLAYABLE = in_page.playable()
PRELUDE = Path(exercises.__file__).parent / "page" / "prelude.txt"
MISTAKES = """([name, given]) => given({
  tensor: glassboxPage.make,
  permute: glassboxPage.permute,
  tuple: (...parts) => glassboxPage.Tuple.from(parts),
}).map((results) => {
  let k = 0;
  return glassboxPage.judge(glassboxPage.exercises[name], () => {
    const result = results[k++];
    if (typeof result === "string") glassboxPage.fail(...result.split(/: ([^]*)/));
    return result;
  }).text;
})"""


def solutions() -> dict[str, tuple[str, str]]:
    """Return the solution of each exercise, as a reader copies it, and its function's name."""
    found = {}
    for file in sorted(CHAPTERS.glob("[0-9]*.ipynb")):
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            call = re.search(r'\ncheck\("([\w.]+)", (\w+)\)$', source)
            if call and "Right in all" in json.dumps(cell.get("outputs")):
                found[call[1]] = (source, call[2])
    return found


SOLUTIONS = solutions()


@pytest.fixture(scope="module")
def script() -> str:
    """The script, with the data of all exercises."""
    return in_page.script() + "".join(map(in_page.data, PLAYABLE))


@pytest.fixture
def page(revisit, script) -> Any:
    """A page that has the script and knows all exercises."""
    page = revisit().page
    page.set_content("<!DOCTYPE html><title>Exercises</title>")
    page.add_script_tag(content=script)
    return page


@pytest.fixture
def says(page) -> Callable[[str, str], dict[str, Any]]:
    """Return a function that checks in the page what a reader wrote."""

    def says(name: str, source: str, called: str = "") -> dict[str, Any]:
        called = called or name.partition(".")[2]
        return page.evaluate(
            "([name, source, called]) =>"
            " glassboxPage.check({...glassboxPage.exercises[name], function: called}, source)",
            [name, source, called],
        )

    return says


@pytest.fixture
def without_gradients() -> Iterator[None]:
    """Judge values alone, as a page does."""
    with_them = [exercise for exercise in EXERCISES.values() if exercise.gradients]
    for exercise in with_them:
        object.__setattr__(exercise, "gradients", False)
    yield
    for exercise in with_them:
        object.__setattr__(exercise, "gradients", True)


def test_most_exercises_can_be_done_in_a_page():
    assert len(PLAYABLE) >= 40
    assert set(PLAYABLE) <= set(SOLUTIONS)
    assert "architecture.dependencies" not in PLAYABLE  # its cases are networks


def test_what_a_page_loads_is_light():
    assert len(in_page.script().encode()) < 65_000
    assert max(len(in_page.data(name).encode()) for name in PLAYABLE) < 80_000


def test_every_solution_is_right_in_the_page_too(says):
    for name in PLAYABLE:
        verdict = says(name, *SOLUTIONS[name])
        assert verdict["passed"], f"{name}: {verdict['text']}"
        plain = check(name, EXERCISES[name].reference).text.replace("; gradients too.", ".")
        assert verdict["text"] == plain


@pytest.mark.usefixtures("without_gradients")
def test_every_mistake_is_told_in_the_same_words(page):
    for name in PLAYABLE:
        exercise = EXERCISES[name]
        results = [
            [outcome(make, case) for case in exercise.hidden_cases()]
            for make in exercise.mistakes.values()
        ]
        given = f"({{tensor, permute, tuple}}) => {in_page.literal(results)}"
        said = page.evaluate(f"({MISTAKES})([{json.dumps(name)}, {given}])")
        assert said == [check(name, make).text for make in exercise.mistakes.values()]


FAULTS = {
    "return query @ key.mT": "You forgot to scale",
    "return (key @ query.T / query.size(-1) ** 0.5)": "The shape of the scores is (3, 2)",
    "query -= 1\n    return query @ key.T": "changed its argument query in place",
    "query[0][1] = 5.0": "changed its argument query in place",
    "return [1.0, 2]": "Expected torch.Tensor for the scores, got list.",
    "query @ key.T": "Your function gave None. Did you forget return?",
    "return query @ key": (
        "in line 2:\n    return query @ key\n"
        "    RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x4 and 3x4)"
    ),
    "return math.sqr(2)": "Line 2: math.sqr (did you mean sqrt?) is not known here. This page",
    "return query.soft_max(-1)": "torch.Tensor.soft_max (did you mean softmax?) is not known here.",
    "return torch.sqrt(2)": "sqrt(): argument 'input' (position 1) must be Tensor, not int",
    "return query.expand(2, 2, 5)": "The size of tensor a (4) must match the size of tensor b (5)",
    "return query.expand(4)": "a tensor of shape [2, 4] does not fit into [4]",
    "return query.permute(0)": "RuntimeError: permute: each of 2 axes is expected once",
    "return query[::-1]": "ValueError: step must be greater than zero",
    "return query[key > 0]": "IndexError: a mask of size 3 at an axis of size 2",
    "return query.long().mean()": "RuntimeError: mean(): could not infer output dtype.",
    "return query.T.view(8)": "RuntimeError: view size is not compatible",
    "return quary": "NameError: name 'quary' is not defined",
    "while True:\n        pass": "Line 3: your function takes too many steps",
    "return scores(query, key)": "RecursionError: maximum recursion depth exceeded",
    "return [0] * 10 ** 9": "too many steps",
    "return torch.zeros(100_000, 100_000)": "too many steps",
    "s = ''\n    while True:\n        s = f'{s}a'": "Line 4: your function takes too many steps",
    "print(f'{1:1000000000}')": "Line 2: your function takes too many steps",
    "while True:\n        y = 3 ** 9000": "Line 3: your function takes too many steps",
    "s = [1]\n    while True:\n        s += s": "Line 4: your function takes too many steps",
    "return 9 ** 9 ** 9": "Line 2: such a large number is not known here.",
    "x = 1\n    with torch.no_grad():\n        pass": "Line 3: with is not known here. This page",
    "return torch.einsum('id,jd->ij', query, key)": "Line 2: torch.einsum is not known here.",
    "return {1: 2}": "Line 2: { is not known here.",
    "return (1": "Line 2: SyntaxError: a bracket is not closed",
    "x = [(1, 2)\n    y = 3\n    return y": "Line 2: SyntaxError: a bracket is not closed",
    "def f(*, a): return a": "Line 2: a * without a name is not known here.",
    "def f(**k): return k": "Line 2: ** in front of a parameter is not known here.",
    "def f(,): return 1": "Line 2: SyntaxError: invalid syntax",
    "if True return 1": "SyntaxError: “:” is missing here",
    "😀 = 1": "Line 2: SyntaxError: 😀 was not expected here",
    "return query.constructor": "torch.Tensor.constructor is not known here",
    "return query.__proto__": "torch.Tensor.__proto__ is not known here",
    "return [].constructor": "list.constructor is not known here",
    "return torch.constructor": "torch.constructor is not known here",
    "return scores.constructor('alert(1)')()": "function.constructor is not known here",
    "return round(1.25, 1)": "Line 2: round() with 2 arguments is not known here.",
    "return query.var(-1, out=None)": "var() with an argument 'out' is not known here.",
    "return torch.hstack([query])": "Line 2: torch.hstack is not known here.",
    "return query.addmm(key)": "Line 2: torch.Tensor.addmm is not known here.",
    "return 1 - (query > 0)": "with a bool tensor is not supported. Use ~ to invert a mask.",
    "@torch.no_grad()\n    def f(): return 1": "Line 2: a decorator is not known here.",
    "match query:\n        case 1: return 2": "Line 2: match is not known here.",
    "i = 0\n    while i < 2 or query.nothing:\n        i += 1": "Line 3: torch.Tensor.nothing is",
    "if len(key) < 0:\n        pass\n    elif query.nothing:\n        pass": "Line 4: torch.Tensor",
    "return query.squeeze()": "squeeze() without an argument 'dim' is not known here.",
    "return scores(query)": "TypeError: scores() cannot be called without an argument 'key'",
    "return isinstance(query, list)": "Line 2: isinstance is not known here.",
    "from math import sqrt\n    return sqrt(2)": "Line 3: sqrt is not known here.",
    "return F.layer_norm(query, (4,))": "torch.nn.functional.layer_norm is not known here.",
    "return b'query'": "Line 2: b'query' is not known here.",
    "query.data = key": "Line 2: this way to assign is not known here.",
    "return torch.mm(query[None], key.T)": "RuntimeError: two matrices expected",
    "return query.reshape(-1, 3)": "shape '[-1, 3]' is invalid for input of size 8",
    "return query.mT.transpose(1, 2)": "IndexError: Dimension out of range",
    "x = query.contiguous()\n    x -= 1\n    return x": "changed its argument query in place",
    "x = key.double().double()\n    x.float()[0] += 1": "Your function gave None.",
    "key.float()[0] = 1.0": "changed its argument key in place",
    "key.chunk(3)[0].copy_(query[:1])": "changed its argument key in place",
    "torch.maximum(query, 0)": "maximum(): argument 'other' (position 2) must be Tensor, not int",
    "F.one_hot(torch.tensor([-1]), 3)": "IndexError: index -4 is out of bounds",
    "query[0] = [1.0, 2.0, 3.0, 4.0]": "TypeError: can't assign a list to a torch.Tensor",
    "torch.where(query > 0, [1.0], query)": "TypeError: where() takes tensors and numbers",
    "key.diagonal()[1:] = 0.0": "changed its argument key in place",
    "x = query.T.reshape(-1)\n    x -= 1": "Your function gave None.",
    "for a, *b in [query]:\n        pass": "Line 2: * to the left of in is not known here.",
    "a, *b = query": "Line 2: * to the left of = is not known here.",
    "x = [1, 2]\n    x[:1] = [3]": "Line 3: a slice of a list to the left of = is not known here.",
    "return query[None][[0], :, [0]]": (
        "Line 2: a slice between lists or tensors of places is not known here."
    ),
    "return 1 << 3": "Line 2: << is not known here.",
    "return 'a' + 1": "Line 2: + with a text is not known here.",
    "return int('3')": "Line 2: a text as a number is not known here.",
    "return torch.cat([])": "Line 2: What is done here is not known here.",
    "return query.masked_fill(None == 0, 0.0)": (
        "TypeError: a boolean tensor is expected as the mask, not bool"
    ),
    "x = math.pi\n    math = x": (
        "in line 2:\n    x = math.pi\n    UnboundLocalError: cannot access local variable 'math'"
    ),
    "return torch.sum(dim=-1, query)": (
        "Line 2: SyntaxError: positional argument follows keyword argument"
    ),
    "torch.softmax(query, -1, dim=-1)": "softmax() got multiple values for argument 'dim'",
    "query.sum(0, dim=0)": "TypeError: sum() got multiple values for argument 'dim'",
    "return 0 ** -1": "ZeroDivisionError: 0.0 cannot be raised to a negative power",
    "x = query * 1\n    x[0] += key[:1]": "a tensor of shape [1, 4] does not fit into [4]",
    "query[0].copy_(key[:1])": "a tensor of shape [1, 4] does not fit into [4]",
    "torch.cat([query, query.sum()])": (
        "RuntimeError: zero-dimensional tensor (at position 1) cannot be concatenated"
    ),
    "return None.size": "AttributeError: 'NoneType' object has no attribute 'size'",
    "return query.size(0).item()": "AttributeError: 'int' object has no attribute 'item'",
    "return [query].shape": "AttributeError: 'list' object has no attribute 'shape'",
    "return query.split(2).T": "AttributeError: 'tuple' object has no attribute 'T'",
    "return [2, 1].sort()": "Line 2: list.sort is not known here.",
    "return ~query": "TypeError: ~ is only implemented on integer and Boolean-type tensors",
    "return ~1.5": "TypeError: bad operand type for unary ~: 'float'",
    "return -None": "TypeError: bad operand type for unary -: 'NoneType'",
    "return -(query > 0)": "RuntimeError: Negation, the `-` operator, on a bool tensor",
    "return query.gather(1, torch.tensor([0]))": (
        "RuntimeError: Index tensor must have the same number of dimensions as input tensor"
    ),
    "return F.softmax(query, axis=-1)": "softmax() with an argument 'axis' is not known here.",
    "return query.norm(axis=-1)": "norm() with an argument 'axis' is not known here.",
    "return torch.square(2)": "square(): argument 'input' (position 1) must be Tensor, not int",
    "return query.repeat(2)": "IndexError: list index out of range",
    "return globalThis": "NameError: name 'globalThis' is not defined",
    "return hasOwnProperty": "NameError: name 'hasOwnProperty' is not defined",
}


def test_what_is_wrong_or_not_known_is_named_with_its_line(says):
    for body, message in FAULTS.items():
        verdict = says("scaled_dot_product.scores", f"def scores(query, key):\n    {body}\n")
        assert not verdict["passed"], body
        assert message in verdict["text"], f"{body}: {verdict['text']}"


def test_right_result_that_changes_its_argument_is_not_called_another_mistake(says):
    name = "variants.apply_fates"
    source = SOLUTIONS[name][0].replace(
        "    return inputs", "    token_ids[chosen] = mask_id\n    return inputs"
    )
    text = says(name, source)["text"]
    assert text.endswith("x = x - 1 makes one, x -= 1 and x.sub_(1) do not."), text


WAYS = [
    "d = max((len(query), 0), (query.size(1), 0xA), (query.size(1), 3))[0]\n"
    "    return query @ key.T / (d if (1, 2) < (1, 2, 0) <= (1, 3) else 1) ** 0.5",
    "return query @ key.T / (query.size(1) if bool(0x10) ^ bool(0) else 1) ** 0.5",
    "return torch.mm(query, key.T) / query.size(1) ** (1 / 2)",
    "return (query @ key.T * torch.tensor(query.size(1), dtype=query.dtype) ** -0.5)",
    "return torch.stack([key @ q for q in query]) / query.size(1) ** 0.5",
    "return (query[:, None] * key[None]).sum(-1) / math.sqrt(len(key[0]))",
    "return torch.sum(input=query[:, None] * key, dim=-1) / query.size(1) ** 0.5",
    "ones = torch.cat([query, query], axis=-1).softmax(axis=1).sum(axis=-1, keepdims=True)\n"
    "    return ones * (query @ key.T) / query.size(1) ** 0.5",
    "return torch.matmul(query, key.transpose(-2, -1)) / query.shape[-1] ** 0.5",
    "import math\n    d = float(query.shape[-1])\n    return query @ key.T * d**-0.5",
    "return torch.max(query, query) @ torch.min(key, key).T / query.size(1) ** 0.5",
    "return query @ key[range(len(key))].T / query.size(1) ** 0.5",
    "d: int = query.size(1)\n    return query @ key.T / (d * torch.ones(1, dtype=int)) ** 0.5",
    "low = float('-inf')\n    return (query @ key.T).clamp(min=low) / query.size(1) ** 0.5",
    "pairs = torch.stack([query, query], -1).view(len(query), -1)\n"
    "    return pairs[:, ::2] @ key.T / query.size(1) ** 0.5",
    "twice = key.repeat_interleave(2, dim=1).view(len(key), -1, 2)[..., 0]\n"
    "    return torch.cat([query, query], 1).view(-1, 2, query.size(1))[:, 0] @ twice.T"
    " / query.size(1) ** 0.5",
    "length = query.new_ones(query.size(1)).norm(2, dim=0, keepdim=True)\n"
    "    return query @ key.T / length",
    "width = torch.empty(1, dtype=query.dtype).copy_(query.size(1))\n"
    "    return query.matmul(key.swapaxes(0, key.ndim - 1)).div(torch.pow(width, 0.5))",
    "parts = zip(query.split([1, query.size(1) - 1], -1), key.split([1, key.size(1) - 1], -1))\n"
    "    return sum([q @ k.T for q, k in parts]) / query.size(1) ** 0.5",
    "table = torch.zeros(len(query), len(key), dtype=query.dtype)\n"
    "    for i in range(len(query)):\n"
    "        table[i] = query[i : i + 1] @ key.T / query.size(1) ** 0.5\n"
    "    return table",
    "gro\u0308ße = query.size(1)\u00a0** 0.5\n\u00a0   return query @ key.T / größe",
    "x = query / query.size(1) ** 0.5\n    x @= key.T\n    return x",
    "x = query\n    x @= key.T\n    return x / query.size(1) ** 0.5",
    "rows = torch.tensor([])\n"
    "    for q in query:\n"
    "        rows = torch.cat([rows, q[None] @ key.T])\n"
    "    return rows / query.size(1) ** 0.5",
    "from torch import nn\n    return nn.functional.linear(query, key) / query.size(1) ** 0.5",
    """
    table = [[0.0] * len(key) for _ in query]  # a list of lists
    for i, q in enumerate(query):
        for j in range(len(key)):
            total = 0
            for a, b in zip(q, key[j]):
                total += a * b
            table[i][j] = (total / math.sqrt(q.numel())).item()
    return torch.tensor(table, dtype=query.dtype)""",
]


@pytest.mark.parametrize("body", WAYS)
def test_other_ways_to_write_it_are_right_as_well(says, body):
    verdict = says("scaled_dot_product.scores", f"def scores(query, key):\n    {body}\n")
    assert verdict["passed"], verdict["text"]


def test_a_byte_order_mark_is_left_out(says):
    name = "scaled_dot_product.scores"
    assert says(name, f"\ufeff{SOLUTIONS[name][0]}", SOLUTIONS[name][1])["passed"]


def test_what_pytorch_refuses_is_refused(says):
    simple = "    weights = (x @ x.T).softmax(-1)\n    return weights @ x, weights\n"
    verdict = says("self_attention.simple", f"def simple(x):\n{simple}")
    assert "first that is not: a batch of sentences." in verdict["text"]
    source, called = SOLUTIONS["scaled_dot_product.attention"]
    verdict = says(
        "scaled_dot_product.attention", source.replace("~mask", "1 - mask.long()"), called
    )
    assert "expected condition to be a boolean tensor" in verdict["text"]


def test_book_attention_refuses_what_it_refuses_in_a_notebook(says):
    source = """
def grouped_query(query, key, value):
    b, h, q, d = query.shape
    query = query.view(b, key.size(1), -1, q, d)
    context, _ = scaled_dot_product_attention(query, key[:, :, None], value[:, :, None])
    return context.reshape(b, h, q, -1)"""
    text = says("multi_head_attention.grouped_query", source)["text"]
    assert "ValueError: the axes before the last two differ: query (1, 2, 2, 3, 4), key (1," in text


def test_functions_that_a_chapter_has_are_known(says):
    source = """
def multi_head(x, W_query, W_key, W_value, W_output, n_heads, mask=None):
    heads = [split_heads(x @ W, n_heads) for W in (W_query, W_key, W_value)]
    return scaled_dot_product_attention(*heads, mask)[0].transpose(1, 2).flatten(2) @ W_output"""
    assert says("multi_head_attention.multi_head", source)["passed"]
    source = """
from glassbox.layers import gelu
def feed_forward(x, W_1, b_1, W_2, b_2):
    return gelu(x @ W_1 + b_1) @ W_2 + b_2"""
    assert says("encoder.feed_forward", source)["passed"]


def test_loss_of_pytorch_is_known(says):
    flat = "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)"
    axes = "F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id)"
    for loss in (flat, axes):
        source = f"def masked_loss(logits, labels, pad_id):\n    return {loss}"
        assert says("training.masked_loss", source)["passed"]


ACCURACY_FIRST = """real = labels != -100
    right = (logits.argmax(-1) == labels)[real].float().mean().item()
    return right, F.cross_entropy(logits[real], labels[real]).item()"""
NEVER_INFINITE = """chances = logits.softmax(-1).gather(-1, labels[..., None])[..., 0]
    return -(chances[labels != pad_id] + 1e-9).log().mean()"""
CROSS = "return scaled_dot_product_attention({} @ W_q, {} @ W_k, {} @ W_v, {})"


@pytest.mark.usefixtures("without_gradients", "as_a_reader")
@pytest.mark.parametrize(
    ("name", "called", "body"),
    [
        ("architecture.layers", "n, k", "return round(2 * (n - 1) / (k - 1))"),
        ("positional_encoding.alibi", "n, q, k", "return torch.zeros(n, q, k)"),
        ("architecture.multiplications", "n, d", "return 4 * n * d * (d + n / 2), 2 * n * d * d"),
        ("architecture.multiplications", "n, d", "return 2 * n * d * d, 4 * n * d * d + n"),
        ("architecture.layers", "n, k", "return 0"),
        ("scaled_dot_product.scores", "q, k", "return q @ k.T if len(q) == 2 else q"),
        ("training.masked_loss", "logits, labels, pad_id", NEVER_INFINITE),
        ("training.smoothed_labels", "labels, n, epsilon", "return [labels]"),
        ("tokens_and_embeddings.cosines", "u, v", "return u[None] @ v"),
        ("variants.score_blanks", "logits, labels", ACCURACY_FIRST),
        *(
            ("scaled_dot_product.cross_attention", "x, y, W_q, W_k, W_v, ids, pad_id", attend)
            for attend in (
                CROSS.format("x", "y", "y", "(ids != pad_id)[:, :, None]"),
                CROSS.format("x", "y", "y", "ids != pad_id"),
                CROSS.format("x", "y", "y", "(ids != pad_id).long()"),
                CROSS.format("x", "y", "y[:, :1]", "None"),
                CROSS.format("x", "y[0]", "y", "None"),
                CROSS.format("x[0, 0]", "y", "y", "None"),
                CROSS.format("y", "x", "x", "(ids != pad_id)[:, None]"),
            )
        ),
        ("self_attention.weights", "", "return 1"),
    ],
)
def test_what_a_mistake_explains_is_told_in_the_same_words(says, name, called, body):
    source = f"def answer({called}):\n    {body}\n"
    names = {"torch": torch, "F": F, "scaled_dot_product_attention": scaled_dot_product_attention}
    exec(source, names)
    said = says(name, source, "answer")["text"].replace(f"\n    {body}\n", "\n")  # a line of code
    assert said == check(name, names["answer"]).text


@pytest.mark.usefixtures("without_gradients")
@pytest.mark.parametrize(
    ("name", "called", "body", "sentence"),
    [
        (
            "self_attention.causal",
            "x",
            "later = torch.ones(len(x), len(x)).tril() == 1\n"
            "    weights = (x @ x.T).masked_fill(later, -math.inf).softmax(-1)\n"
            "    return weights @ x, weights",
            "You hid what a token may look at",
        ),
        (
            "self_attention.window",
            "x, d",
            "rows = [x[i - d : i + d + 1] for i in range(len(x))]\n"
            "    return torch.stack([(row @ y.T).softmax(-1) @ y for row, y in zip(x, rows)])",
            "Your slice starts at i - distance",
        ),
        (
            "self_attention.window",
            "x, d",
            "rows = [x[max(0, i - d) : i + d] for i in range(len(x))]\n"
            "    return torch.stack([(row @ y).softmax(-1) @ row for row, y in zip(rows, x)])",
            "Your slice ends before i + distance",
        ),
        (
            "self_attention.layers_until_alike",
            "x, tolerance",
            "count = 0\n"
            "    while (x - x[0]).norm(dim=-1).max() >= tolerance:\n"
            "        x, count = (x @ x.T).softmax(-1) @ x, count + 1\n"
            "    return count",
            "You compared only some pairs",
        ),
        (
            "scaled_dot_product.softmax",
            "scores",
            "powers = scores.exp()\n    return powers / powers.sum()",
            "You divided by the sum of all exponentials",
        ),
        (
            "scaled_dot_product.causal_mask",
            "q_len, k_len",
            "return torch.ones(q_len, k_len).tril(k_len - q_len + 1) == 1",
            "Your queries see one position too far",
        ),
        (
            "positional_encoding.sinusoidal",
            "positions, d",
            "angles = positions[:, None] / 10000 ** (2 * torch.arange(0, d, 2).double() / d)\n"
            "    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()",
            "Your exponent is 4i/d",
        ),
        (
            "multi_head_attention.multi_head",
            "x, W_query, W_key, W_value, W_output, n, mask=None",
            "b, length, d = x.shape\n"
            "    q, k, v = [(x @ W).view(b, n, length, -1) for W in (W_query, W_key, W_value)]\n"
            "    scores = q @ k.mT / (d // n) ** 0.5\n"
            "    scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)\n"
            "    return (scores.softmax(-1) @ v).reshape(b, length, d) @ W_output",
            "You split the heads and merged them by shape alone",
        ),
        (
            "self_attention.window",
            "x, d",
            "i = torch.arange(len(x))\n"
            "    far = (i[:, None] - i).abs() >= d\n"
            "    return (x @ x.T).masked_fill(far, -math.inf).softmax(-1) @ x",
            "Your window is one too narrow",
        ),
        *(
            (
                "training.masked_loss",
                "logits, labels, pad_id",
                f"real = labels != pad_id\n"
                f"    x = {logs}.gather(-1, labels[..., None])[..., 0]\n"
                "    return -x[real].mean()",
                sentence,
            )
            for logs, sentence in {
                "logits.softmax(-1).log()": "The softmax of a low score can be 0",
                "logits.softmax(-1)": "You averaged probabilities",
                "logits.softmax(-1).log_softmax(-1)": "You applied the softmax twice",
            }.items()
        ),
    ],
)
def test_likely_mistakes_are_recognised_in_the_page_too(says, name, called, body, sentence):
    source = f"def answer({called}):\n    {body}\n"
    names: dict[str, Any] = {"torch": torch, "math": math}
    exec(source, names)
    text = check(name, names["answer"]).text
    assert f"\n{sentence}" in text
    assert says(name, source, "answer")["text"] == text


def test_what_is_nearly_right_is_told_in_the_same_words(says):
    name = "training.masked_loss"
    source, called = SOLUTIONS[name]
    wrong = source.replace("return ", "return 0.00004 + ")
    right = EXERCISES[name].reference
    assert says(name, wrong, called)["text"] == check(name, lambda *x: 0.00004 + right(*x)).text


def test_function_that_never_ends_leaves_no_trace(says):
    endless = "def scores(query, key):\n    return scores(query, key)\n"
    for _ in range(30):
        assert "maximum recursion depth" in says("scaled_dot_product.scores", endless)["text"]
    assert says("scaled_dot_product.scores", *SOLUTIONS["scaled_dot_product.scores"])["passed"]


def test_numbers_beside_double_precision_keep_all_their_digits(says):
    share = "(target / draft.clamp(min=1e-300)).clamp(max=1)"
    source = f"def acceptance(target, draft):\n    return (draft * {share}).sum(-1)"
    assert says("generation.acceptance", source)["passed"]
    source = """
def apply_fates(token_ids, chosen, fates, others, mask_id):
    inputs, labels = token_ids.clone(), torch.full_like(token_ids, -100)
    for place, fate, other in zip(chosen.tolist(), fates, others.tolist()):
        labels[place] = token_ids[place]
        inputs[place] = mask_id if fate < 0.8 else other if fate < 0.9 else token_ids[place]
    return inputs, labels"""
    assert says("variants.apply_fates", source)["passed"]
    assert says(
        "variants.apply_fates", source.replace("fates, others.", "fates.tolist(), others.")
    )["passed"]


#: What a page prints, as Python prints it, but numbers with four digits.
PRINTED = {
    "print('n', m)": "n 5\n",
    "print(1 / 3, 0.123456, 2.0, 1e-9)": "0.3333 0.1235 2 1e-09\n",
    "print(torch.tensor([1, 3]) / 3, torch.float64)": "[0.3333, 1] torch.float64\n",
    "print(m, end=' '); print(m, True, sep='|')": "5 5|True\n",
    "print()": "\n",
    "print(f'{m}{{n}} {m / 3:.2f}')": "5{n} 1.67\n",
    "print(f'|{m:4}|{m:<4d}|{\"a\":3}|{0.25:7.1%}|')": "|   5|5   |a  |  25.0%|\n",
    "print(f'{[1, m][-1]} {torch.arange(m)[1:3].sum()}')": "5 3\n",
    "print('-' * 3 + str(m), round(2.5))": "---5 2\n",
    "print('a\\nb', 'it\\'s', 'c' f'{m}')": "a\nb it's c5\n",
    'print(f\'{float("inf"):.2f} {-float("inf"):6.1%}\')': "inf  -inf%\n",
    "print(list(enumerate([7], start=1)), sum([[1], [2]], []))": "[(1, 7)] [1, 2]\n",
    "print(torch.arange(12).view(2, 3, 2).unbind(-1)[1])": "[[1, 3, 5], [7, 9, 11]]\n",
    "print(torch.flip(torch.arange(3), [0]), torch.arange(3).roll((1,), (0,)))": (
        "[2, 1, 0] [2, 0, 1]\n"
    ),
    "print(torch.arange(2).repeat((1, 2)), torch.arange(end=m).sum())": "[[0, 1, 0, 1]] 10\n",
    "print(torch.where(torch.tensor([0, 1, 1]) > 0)[0])": "[1, 2]\n",
    "print(F.cross_entropy(torch.zeros(4), torch.tensor(1)))": "1.386\n",
    "print(torch.full_like(torch.zeros(2), fill_value=3, dtype=torch.int64))": "[3, 3]\n",
    "print(float('-Inf'), float('infinity'), (m,))": "-inf inf (5,)\n",
    "print(torch.tensor([math.inf, math.nan]).to(dtype=torch.int))": "[-2147483648, -2147483648]\n",
    "print(torch.tensor(math.nan).long())": "-9223372036854775808\n",
    "print(torch.cat([torch.tensor([]), torch.tensor([])]))": "[]\n",
    "print(torch.arange(60_000).cumsum(0)[-1])": "1799970000\n",
    "f = lambda *a, b=1: (a, b); print(f(2, 3), f(b=None))": "((2, 3), 1) ((), None)\n",
    "print(torch.arange(2).bool().sort(descending=True)[0])": "[True, False]\n",
    "d: float; d = 1.5; print(d, torch.special.erf(torch.zeros(1)))": "1.5 [0]\n",
}


@pytest.mark.parametrize("line", PRINTED)
def test_what_is_printed_is_kept_and_changes_no_verdict(line, says, page):
    source = SOLUTIONS["architecture.layers"][0]
    head, body = source.split("\n", 1)
    said = says("architecture.layers", f"{head}\n    m = 5; {line}\n{body}")
    cases = EXERCISES["architecture.layers"].hidden_cases()
    assert said["passed"]
    assert page.evaluate("glassboxPage.printed") == PRINTED[line] * len(cases)


def test_what_is_printed_outside_of_the_function_is_kept(says, page):
    says("architecture.layers", f"{SOLUTIONS['architecture.layers'][0]}\nprint(layers(5, 3))")
    assert page.evaluate("glassboxPage.printed") == "4\n"


def test_a_function_may_call_itself_a_few_hundred_times(says):
    source = "def layers(n, k):\n    return 0 if n <= 1 else 1 + layers(n - k // 2, k)"
    assert says("architecture.layers", source)["passed"]


def test_an_error_after_a_helper_has_returned_names_the_line_that_made_it(says):
    helper = "def one():\n    return 1\n"
    body = "def scores(query, key):\n    return query @ key * one()\n"
    assert "in line 4:" in says("scaled_dot_product.scores", helper + body)["text"]


@pytest.mark.parametrize("call", ["torch.silu(x)", "x.gelu()", "torch.one_hot(x)", "x.normalize()"])
def test_what_torch_has_in_another_place_only_is_not_accepted_here(call, says):
    source = f"def scores(query, key):\n    x = query\n    {call}\n    return query @ key.T"
    assert "is not known here" in says("scaled_dot_product.scores", source)["text"]


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("nan", "ValueError: cannot convert float NaN"),
        ("inf", "OverflowError: cannot convert float"),
    ],
)
def test_what_is_no_whole_number_is_not_a_recursion(number, said, says):
    source = f"def layers(n, k):\n    return int(float('{number}'))"
    assert said in says("architecture.layers", source)["text"]


def test_a_format_that_the_page_does_not_know_is_named(says):
    for text, word in (
        ("f'{n:e}'", "the format :e is not known"),
        ("f'{n'", "brace"),
        ("f'{n!r}'", "Line 2: {n!r} in an f-string is not known"),
        ("f'{n = }'", "Line 2: {n = } in an f-string is not known"),
    ):
        source = f"def layers(n, kernel_size):\n    print({text})\n    return 1.5"
        assert word in says("architecture.layers", source)["text"]


X, Y = torch.arange(24.0).view(2, 3, 4).sin(), torch.arange(8.0).view(2, 4).cos()
PLACES = torch.tensor([[1, 0], [2, 2]])
SAME: dict[str, tuple[Any, Any]] = {
    "flatten(X, 1)": (lambda p: p.flatten(X, 1), X.flatten(1)),
    "squeeze": (lambda p: p.squeeze(X[:, :1], 1), X[:, :1].squeeze(1)),
    "unsqueeze": (lambda p: p.unsqueeze(X, -1), X.unsqueeze(-1)),
    "unflatten": (lambda p: p.unflatten(X, -1, (2, -1)), X.unflatten(-1, (2, -1))),
    "repeat": (lambda p: p.repeat(Y, 3, 1, 2), Y.repeat(3, 1, 2)),
    "repeat_interleave": (lambda p: p.repeat_interleave(Y, 2, 1), Y.repeat_interleave(2, 1)),
    "roll": (lambda p: p.roll(Y, 1, 1), Y.roll(1, 1)),
    "flip": (lambda p: p.flip(Y, 1), Y.flip(1)),
    "chunk": (lambda p: p.chunk(X, 2, 1)[0], X.chunk(2, 1)[0]),
    "diag_embed": (lambda p: p.diag_embed(Y), torch.diag_embed(Y)),
    "tril": (lambda p: p.tril(X, -1), X.tril(-1)),
    "triu": (lambda p: p.triu(X, 1), X.triu(1)),
    "masked_fill": (lambda p: p.masked_fill(Y, Y > 0, 3), Y.masked_fill(Y > 0, 3)),
    "clamp": (lambda p: p.clamp(Y, min=-0.5, max=0.5), Y.clamp(-0.5, 0.5)),
    "gather": (lambda p: p.gather(Y, 1, PLACES), Y.gather(1, PLACES)),
    "scatter": (lambda p: p.scatter(Y, 1, PLACES, 9.0), Y.scatter(1, PLACES, 9.0)),
    "index_add": (
        lambda p: p.index_add(Y, 0, torch.tensor([1, 1]), Y),
        Y.index_add(0, torch.tensor([1, 1]), Y),
    ),
    "sort": (lambda p: p.sort(Y, 1, True)[0], Y.sort(1, True)[0]),
    "norm": (lambda p: p.norm(X, dim=-1, keepdim=True), X.norm(dim=-1, keepdim=True)),
    "norm of another power": (lambda p: p.norm(X, 3, -1), X.norm(3, -1)),
    "largest norm": (lambda p: p.norm(X, float("inf"), -1), X.norm(torch.inf, -1)),
    "split": (lambda p: p.split(X, 2, -2), X.split(2, -2)),
    "split in parts": (lambda p: p.split(X, [1, 3], -1), X.split([1, 3], -1)),
    "unbind": (lambda p: p.unbind(X, 1), X.unbind(1)),
    "expand_as": (lambda p: p.expand_as(Y[:1], Y), Y[:1].expand_as(Y)),
    "view_as": (lambda p: p.view_as(Y, Y.T), Y.view_as(Y.T)),
    "new_full": (lambda p: p.new_full(Y, (2, 1), 3), Y.new_full((2, 1), 3)),
    "linear": (lambda p: p.linear(X, Y, Y[:, 0]), F.linear(X, Y, Y[:, 0])),
    "logsumexp": (lambda p: p.logsumexp(X, 1), X.logsumexp(1)),
    "cross_entropy": (
        lambda p: p.cross_entropy(X, PLACES[:, [0, 0, 1, 1]], ignore_index=1),
        F.cross_entropy(X, PLACES[:, [0, 0, 1, 1]], ignore_index=1),
    ),
    "cross_entropy of each": (
        lambda p: p.cross_entropy(Y, PLACES[1], 2, "none"),
        F.cross_entropy(Y, PLACES[1], ignore_index=2, reduction="none"),
    ),
    "normalize by another power": (lambda p: p.normalize(X, 1, 0), F.normalize(X, 1, 0)),
    "normalize above": (lambda p: p.normalize(Y, dim=0, eps=9), F.normalize(Y, dim=0, eps=9)),
    "t": (lambda p: p.t(Y), Y.t()),
    "clamp_min": (lambda p: p.clamp_min(Y, 0.5), Y.clamp_min(0.5)),
    "logical_not": (lambda p: p.logical_not(PLACES), PLACES.logical_not()),
    "logical_and": (
        lambda p: p.logical_and(PLACES, PLACES.T),
        PLACES.logical_and(PLACES.T),
    ),
    "logical_or": (lambda p: p.logical_or(PLACES, PLACES.T), PLACES.logical_or(PLACES.T)),
    "var of all": (lambda p: p.var(X, -1, False, True), X.var(-1, False, True)),
    "var": (lambda p: p.var(X, -1), X.var(-1)),
    "std": (lambda p: p.std(X, 0, correction=0), X.std(0, correction=0)),
    "softmax": (lambda p: p.softmax(X, 1), X.softmax(1)),
    "log_softmax": (lambda p: p.log_softmax(X, -1), X.log_softmax(-1)),
    "cdist": (lambda p: p.cdist(Y, Y), torch.cdist(Y, Y)),
    "entr": (lambda p: p.entr(Y.abs()), torch.special.entr(Y.abs())),
    "normalize": (lambda p: p.normalize(Y), F.normalize(Y, dim=-1)),
    "one_hot": (lambda p: p.one_hot(PLACES, 4), F.one_hot(PLACES, 4)),
    "gelu": (lambda p: p.gelu(Y), F.gelu(Y)),
    "sigmoid": (lambda p: p.sigmoid(Y), Y.sigmoid()),
    "silu": (lambda p: p.silu(Y), F.silu(Y)),
    "layer_norm": (lambda p: p.layer_norm(X, 1.0, 0.0), F.layer_norm(X, (4,))),
}


@pytest.mark.parametrize("name", SAME)
def test_prelude_does_what_pytorch_does(name):
    names: dict[str, Any] = {"check_index": lambda x, index: None}
    exec(PRELUDE.read_text(encoding="utf-8"), names)
    ours, theirs = SAME[name]
    torch.testing.assert_close(ours(SimpleNamespace(**names)), theirs)
