"""What cannot be generated is refused, with what was given, what was expected and the cure."""

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from glassbox import padding_mask
from glassbox.generation import (
    GenerationConfig,
    RunningBatch,
    beam_search,
    contrastive_search,
    frequency_penalty,
    generate,
    min_p,
    no_repeat_ngram,
    presence_penalty,
    repetition_penalty,
    speculative,
    stream,
    suppress,
    temperature,
    top_k,
    top_p,
    typical,
)
from glassbox.models import Bert, BertConfig
from glassbox.transformer import Transformer, TransformerConfig
from tests.generation.stub import TableModel

LOGITS, PAST = torch.zeros(2, 9), torch.zeros(2, 4, dtype=torch.int64)
IDS = torch.ones(2, 3, dtype=torch.int64)
MASK = torch.ones(2, 1, 1, 3, dtype=torch.bool)


def continue_with(prompt_ids: Any = IDS, **options: Any) -> Any:
    return partial(generate, TableModel(9), prompt_ids, **options)


def model_with(**ids: Any) -> TableModel:
    """A model whose configuration names these special tokens."""
    model = TableModel(9)
    vars(model.config).update(ids)
    return model


def broken(number: float) -> TableModel:
    """A model whose fifth logit is no number."""
    model = TableModel(9)
    with torch.no_grad():
        model.weight[4] = number
        model.vectors.abs_()
    return model


def translate_with(**options: Any) -> Any:
    sizes: dict[str, Any] = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_ff": 8, "vocab_size": 9}
    return lambda: generate(Transformer(TransformerConfig(**sizes)).eval(), **options)


# Options alone: (fields, what the message must hold).
OPTIONS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no new tokens": ({"max_new_tokens": 0}, ["max_new_tokens=0", "at least 1"]),
    "half a token": ({"max_new_tokens": 2.5}, ["max_new_tokens=2.5", "expected an int"]),
    "a negative minimum": ({"min_new_tokens": -1}, ["min_new_tokens=-1", "at least 0"]),
    "more than there may be": (
        {"min_new_tokens": 9, "max_new_tokens": 5},
        ["min_new_tokens=9", "max_new_tokens=5"],
    ),
    "a minimum where nothing ends": (
        {"min_new_tokens": 5, "eos_id": ()},
        ["min_new_tokens=5", "eos_id=()"],
    ),
    "an end in letters": (
        {"eos_id": "</s>"},
        ["eos_id='</s>'", "expected an int", "tokenizer.token_id"],
    ),
    "an end in a tensor": (
        {"eos_id": torch.tensor(3)},
        ["eos_id=tensor(3): expected an int", "tokenizer.token_id"],
    ),
    "half an end": ({"eos_id": 2.5}, ["eos_id=2.5", "expected an int"]),
    "a filler in letters": ({"pad_id": "<pad>"}, ["pad_id='<pad>'", "tokenizer.token_id"]),
    "a negative end": ({"eos_id": -1}, ["eos_id=-1", "at least 0"]),
    "a negative end among others": ({"eos_id": (3, -2)}, ["eos_id=-2", "at least 0"]),
    "a negative filler": ({"pad_id": -100}, ["pad_id=-100", "at least 0"]),
    "a temperature of 0": (
        {"sample": True, "temperature": 0.0},
        ["temperature=0.0", "more than 0", "sample=False"],
    ),
    "a negative temperature": ({"sample": True, "temperature": -1.0}, ["temperature=-1.0"]),
    "a temperature that is no number": ({"sample": True, "temperature": math.nan}, ["=nan"]),
    "a temperature in letters": (
        {"sample": True, "temperature": "0.7"},
        ["temperature='0.7'", "expected a number"],
    ),
    "an endless temperature": ({"sample": True, "temperature": math.inf}, ["=inf", "finite"]),
    "top-k of 0": ({"sample": True, "top_k": 0}, ["top_k=0", "at least 1", "None"]),
    "top-k of a share": ({"sample": True, "top_k": 0.5}, ["top_k=0.5", "expected an int"]),
    "top-p of 0": ({"sample": True, "top_p": 0.0}, ["top_p=0.0", "more than 0 and at most 1"]),
    "top-p in letters": ({"sample": True, "top_p": "0.9"}, ["top_p='0.9'", "a number"]),
    "top-p over 1": ({"sample": True, "top_p": 1.5}, ["top_p=1.5", "at most 1"]),
    "min-p under 0": ({"sample": True, "min_p": -0.1}, ["min_p=-0.1", "more than 0"]),
    "typical-p over 1": ({"sample": True, "typical_p": 2.0}, ["typical_p=2.0", "at most 1"]),
    "a repetition penalty of 0": ({"repetition_penalty": 0.0}, ["repetition_penalty=0.0", "1"]),
    "a frequency penalty in letters": ({"frequency_penalty": "1"}, ["='1'", "a number"]),
    "a negative frequency penalty": ({"frequency_penalty": -1.0}, ["frequency_penalty=-1.0"]),
    "a negative presence penalty": ({"presence_penalty": -1.0}, ["presence_penalty=-1.0"]),
    "n-grams of nothing": ({"no_repeat_ngram": 0}, ["no_repeat_ngram=0", "at least 1"]),
    "no beams": ({"n_beams": 0}, ["n_beams=0", "at least 1"]),
    "the best of nothing": ({"n_best": 0}, ["n_best=0", "at least 1"]),
    "more than there are beams": (
        {"n_best": 3, "n_beams": 2},
        ["n_best=3", "n_beams=2"],
    ),
    "several samples": ({"n_best": 3, "sample": True}, ["n_best=3", "n_beams=1"]),
    "beams with sampling": (
        {"n_beams": 4, "sample": True},
        ["sample=True", "n_beams=4", "choose one"],
    ),
    "beams that stop sometimes": (
        {"n_beams": 4, "early_stopping": "always"},
        ["early_stopping='always'", "True, False or 'never'"],
    ),
    "beams that stop at a number": (
        {"n_beams": 4, "early_stopping": 1},
        ["early_stopping=1", "True, False or 'never'"],
    ),
    "an endless length penalty": (
        {"n_beams": 4, "length_penalty": math.inf},
        ["length_penalty=inf", "a number, from -10 to 10"],
    ),
    "a length penalty that overflows": (
        {"n_beams": 4, "length_penalty": -400.0},
        ["length_penalty=-400.0", "-10 to 10"],
    ),
    "a temperature without sampling": (
        {"temperature": 0.5},
        ["temperature=0.5", "sample=False", "sample=True"],
    ),
    "top-p without sampling": ({"top_p": 0.5}, ["top_p=0.5", "sample=False"]),
    "top-k for beams": ({"top_k": 5, "n_beams": 2}, ["top_k=5", "sample=False"]),
    "a length penalty without beams": (
        {"length_penalty": 0.5},
        ["length_penalty=0.5", "n_beams=1"],
    ),
    "early stopping without beams": (
        {"early_stopping": True},
        ["early_stopping=True", "n_beams=1"],
    ),
}
# Everything else: (the attempt, the error, what its message must hold).
PROCESSORS: dict[str, tuple[Any, type[Exception], list[str]]] = {
    "no temperature": (lambda: temperature(LOGITS, 0.0), ValueError, ["temperature=0.0"]),
    "none kept": (lambda: top_k(LOGITS, 0), ValueError, ["top_k=0", "at least 1"]),
    "no nucleus": (lambda: top_p(LOGITS, 0.0), ValueError, ["top_p=0.0", "more than 0"]),
    "a nucleus over 1": (lambda: top_p(LOGITS, 1.01), ValueError, ["top_p=1.01", "at most 1"]),
    "no ratio": (lambda: min_p(LOGITS, 0.0), ValueError, ["min_p=0.0", "more than 0"]),
    "no mass": (lambda: typical(LOGITS, 0.0), ValueError, ["typical_p=0.0", "more than 0"]),
    "no penalty": (
        lambda: repetition_penalty(LOGITS, PAST, 0.0),
        ValueError,
        ["repetition_penalty=0.0", "more than 0"],
    ),
    "a reward for frequency": (
        lambda: frequency_penalty(LOGITS, PAST, -0.5),
        ValueError,
        ["frequency_penalty=-0.5", "at least 0"],
    ),
    "a reward for presence": (
        lambda: presence_penalty(LOGITS, PAST, -0.5),
        ValueError,
        ["presence_penalty=-0.5", "at least 0"],
    ),
    "n-grams of 0": (lambda: no_repeat_ngram(LOGITS, PAST, 0), ValueError, ["no_repeat_ngram=0"]),
    "n-grams that leave no token": (
        continue_with(max_new_tokens=9, no_repeat_ngram=1),
        ValueError,
        ["no_repeat_ngram=1", "every token", "row 0", "fewer tokens"],
    ),
    "n-grams that leave no beam": (
        continue_with(max_new_tokens=9, no_repeat_ngram=1, n_beams=2),
        ValueError,
        ["no_repeat_ngram=1 rules out every token", "row 0", "fewer tokens"],
    ),
    "n-grams that leave fewer texts than beams": (
        lambda: generate(
            TableModel(2), IDS[:1, :1] * 0, no_repeat_ngram=1, eos_id=1, n_beams=2, n_best=2
        ),
        ValueError,
        ["no_repeat_ngram=1 rules out every token", "row 1"],
    ),
    "n-grams that leave no candidate": (
        lambda: contrastive_search(TableModel(9), IDS, max_new_tokens=9, no_repeat_ngram=1),
        ValueError,
        ["no_repeat_ngram=1", "every token"],
    ),
    "n-grams that leave nothing to draw": (
        continue_with(max_new_tokens=9, no_repeat_ngram=1, sample=True),
        ValueError,
        ["no_repeat_ngram=1", "every token"],
    ),
    "logits in a list": (
        lambda: frequency_penalty(LOGITS.tolist(), PAST, 0.5),  # type: ignore[arg-type]
        TypeError,
        ["logits is of type list", "torch.as_tensor(logits)"],
    ),
    "a past in a list": (
        lambda: repetition_penalty(LOGITS, PAST.tolist(), 2.0),  # type: ignore[arg-type]
        TypeError,
        ["token_ids is of type list", "torch.as_tensor(token_ids)"],
    ),
    "the past of other texts": (
        lambda: repetition_penalty(LOGITS, PAST[:1], 2.0),
        ValueError,
        ["(2, 9)", "(1, 4)", "(batch, length)"],
    ),
    "a past without the batch axis": (
        lambda: no_repeat_ngram(LOGITS, PAST[0], 2),
        ValueError,
        ["(2, 9)", "(4,)"],
    ),
    "logits of every position": (
        lambda: frequency_penalty(LOGITS[:, None], PAST, 1.0),
        ValueError,
        ["(2, 1, 9)", "(batch, vocab)"],
    ),
    "a mask of another past": (
        lambda: repetition_penalty(LOGITS, PAST, 1.0, torch.ones(2, 3).bool()),
        ValueError,
        ["(2, 3)", "(2, 4)", "equal shapes"],
    ),
    "a token of no vocabulary suppressed": (
        lambda: suppress(LOGITS, [3, 9]),
        ValueError,
        ["token 9", "vocabulary of 9", "0 to 8"],
    ),
}
PROMPTS: dict[str, tuple[Any, type[Exception], list[str]]] = {
    "no prompt": (continue_with(None), ValueError, ["prompt_ids is None", "TableModel"]),
    "an empty prompt": (
        continue_with(IDS[:, :0]),
        ValueError,
        ["prompt_ids", "(2, 0)", "at least one token"],
    ),
    "no texts": (continue_with(IDS[:0]), ValueError, ["(0, 3)", "at least one token"]),
    "a prompt without the batch axis": (
        continue_with(IDS[0]),
        ValueError,
        ["(3,)", "(batch, length)"],
    ),
    "a list": (continue_with([[1, 2]]), TypeError, ["type list", "tensor of integers"]),
    "a text": (continue_with("Once"), TypeError, ["type str", "tensor of integers"]),
    "fractions": (continue_with(IDS.float()), TypeError, ["torch.float32", "torch.int64"]),
    "an id over the vocabulary": (
        continue_with(torch.tensor([[3, 9]])),
        ValueError,
        ["runs from 3 to 9", "0 to 8"],
    ),
    "a negative id": (continue_with(torch.tensor([[-1, 2]])), ValueError, ["-1", "0 to 8"]),
    "a prompt elsewhere": (
        continue_with(torch.ones(2, 3, dtype=torch.int64, device="meta")),
        ValueError,
        ["prompt_ids is on meta", "on cpu", ".to('cpu')"],
    ),
    "more than there are positions": (
        continue_with(max_new_tokens=63),
        ValueError,
        ["prompt of 3 tokens", "max_new_tokens=63", "64: at most max_new_tokens=62"],
    ),
    "a prompt for which there are no positions": (
        continue_with(IDS[:, :1].expand(-1, 65)),
        ValueError,
        ["prompt of 65 tokens", "positions for 64: shorten the prompt"],
    ),
    "padding on the right": (
        continue_with(prompt_mask=padding_mask(torch.tensor([[1, 1, 1], [1, 1, 0]]), 0)),
        ValueError,
        ["row 1", "on the left", "front"],
    ),
    "padding without a mask": (
        lambda: generate(model_with(pad_id=1, eos_id=2), IDS),
        ValueError,
        ["prompt_ids hold pad_id=1", "prompt_mask=padding_mask(prompt_ids, 1)"],
    ),
    "sampling, in a word": (
        lambda: GenerationConfig(sample="no"),  # type: ignore[arg-type]
        TypeError,
        ["sample is of type str, 'no'", "True or False"],
    ),
    "a cache, in a word": (
        lambda: GenerationConfig(use_cache="no"),  # type: ignore[arg-type]
        TypeError,
        ["use_cache is of type str, 'no'", "True or False"],
    ),
    "nothing but padding": (
        continue_with(prompt_mask=torch.zeros_like(MASK)),
        ValueError,
        ["row 0", "on the left"],
    ),
    "a mask of ones and zeros": (
        continue_with(prompt_mask=MASK.long()),
        TypeError,
        ["prompt_mask is torch.int64", "torch.bool"],
    ),
    "a mask without its axes": (
        continue_with(prompt_mask=MASK[:, 0, 0]),
        ValueError,
        ["(2, 3)", "(2, 1, 1, 3)", "prompt_mask[:, None, None, :]"],
    ),
    "an end outside the vocabulary": (
        continue_with(eos_id=9),
        ValueError,
        ["eos_id=9", "vocabulary of 9", "0 to 8"],
    ),
    "a filler outside the vocabulary": (
        continue_with(pad_id=50_256),
        ValueError,
        ["pad_id=50256", "vocabulary of 9"],
    ),
    "an unknown option": (
        continue_with(temprature=0.5),
        TypeError,
        ["no option called temprature; expected temperature"],
    ),
    "a temperature that is true": (
        continue_with(sample=True, temperature=True),
        ValueError,
        ["temperature=True: expected a number, more than 0 and finite"],
    ),
    "an option close to two": (
        continue_with(top_q=0.5),
        TypeError,
        ["no option called top_q; expected top_p"],
    ),
    "another library's option": (
        continue_with(num_beams=4),
        TypeError,
        ["no option called num_beams; expected n_beams"],
    ),
    "an option like none of ours": (
        continue_with(xyz=4),
        TypeError,
        ["no option called xyz; expected one of max_new_tokens, min_new_tokens"],
    ),
    "options in a dictionary": (
        continue_with(config={"max_new_tokens": 5}),
        TypeError,
        ["config is of type dict", "GenerationConfig", "by name"],
    ),
    "one stop string for several": (
        continue_with(stop_strings="end", tokenizer=SimpleNamespace(decode=str)),
        TypeError,
        ["stop_strings='end'", "['end']"],
    ),
    "stop strings that can be read only once": (
        continue_with(stop_strings=iter(["end"]), tokenizer=SimpleNamespace(decode=str)),
        TypeError,
        ["stop_strings=<list_iterator", "['end']"],
    ),
    "stop tokens": (
        continue_with(stop_strings=[5], tokenizer=SimpleNamespace(decode=str)),
        TypeError,
        ["stop_strings=[5]", "strings"],
    ),
    "stop strings without a tokenizer": (
        continue_with(stop_strings=["end"]),
        ValueError,
        ["stop_strings=['end']", "tokenizer=None"],
    ),
    "stop strings with a number for a tokenizer": (
        continue_with(stop_strings=["end"], tokenizer=3),
        ValueError,
        ["stop_strings=['end'] with tokenizer=3", "pass the tokenizer"],
    ),
    "an empty stop string": (
        continue_with(stop_strings=["end", ""], tokenizer=SimpleNamespace(decode=str)),
        ValueError,
        ["['end', '']", "empty string"],
    ),
    "stop strings for beams": (
        continue_with(stop_strings=["end"], tokenizer=SimpleNamespace(decode=str), n_beams=2),
        ValueError,
        ["['end']", "n_beams=2"],
    ),
}
MODELS: dict[str, tuple[Any, type[Exception], list[str]]] = {
    "a source for a model without an encoder": (
        continue_with(source_ids=IDS),
        ValueError,
        ["TableModel has no encoder", "source_ids", "prompt"],
    ),
    "the mask of a source for a model without an encoder": (
        continue_with(source_mask=MASK),
        ValueError,
        ["TableModel has no encoder", "source_mask"],
    ),
    "no source": (translate_with(), ValueError, ["source_ids is None", "Transformer"]),
    "an empty source": (
        translate_with(source_ids=IDS[:, :0]),
        ValueError,
        ["source_ids", "(2, 0)", "at least one token"],
    ),
    "a source outside the vocabulary": (
        translate_with(source_ids=10 * IDS),
        ValueError,
        ["source_ids", "10", "0 to 8"],
    ),
    "more prompts than sources": (
        translate_with(source_ids=IDS[:1], prompt_ids=IDS),
        ValueError,
        ["1 sources", "2 prompts"],
    ),
    "a padded source without its mask": (
        translate_with(source_ids=torch.tensor([[3, 4, 5], [6, 7, 0]])),
        ValueError,
        ["pad_id=0", "source_mask is None", "source_mask=padding_mask(source_ids, 0)"],
    ),
    "the mask of another source": (
        translate_with(source_ids=IDS, source_mask=MASK[..., :2]),
        ValueError,
        ["source_mask", "(2, 1, 1, 2)", "(2, 2, 3, 3)"],
    ),
    "a model that reads only": (
        lambda: generate(Bert(BertConfig(8, 2, 1, 8, vocab_size=9)), IDS),
        TypeError,
        ["Bert is not a language model", "GPT2", "from_pretrained"],
    ),
    "no model at all": (lambda: generate(nn.Linear(2, 2), IDS), TypeError, ["Linear", "GPT2"]),
    "a stream of beams": (
        lambda: stream(TableModel(9), IDS, n_beams=2),
        ValueError,
        ["n_beams=2", "generate"],
    ),
    "a stream of no prompt, at once": (
        lambda: stream(TableModel(9), IDS[:, :0]),
        ValueError,
        ["(2, 0)"],
    ),
    "beams that draw": (
        lambda: beam_search(TableModel(9), IDS, sample=True),
        ValueError,
        ["sample=True", "generate"],
    ),
    "contrastive search that draws": (
        lambda: contrastive_search(TableModel(9), IDS, sample=True),
        ValueError,
        ["sample=True", "n_beams=1"],
    ),
    "contrastive search with beams": (
        lambda: contrastive_search(TableModel(9), IDS, n_beams=2),
        ValueError,
        ["sample=False", "n_beams=2"],
    ),
    "contrastive search among none": (
        lambda: contrastive_search(TableModel(9), IDS, k=0),
        ValueError,
        ["k=0", "at least 1"],
    ),
    "contrastive search among too many": (
        lambda: contrastive_search(TableModel(9), IDS, k=10),
        ValueError,
        ["k=10", "vocabulary of 9"],
    ),
    "a penalty over 1": (
        lambda: contrastive_search(TableModel(9), IDS, alpha=1.5),
        ValueError,
        ["alpha=1.5", "1"],
    ),
    "a penalty in letters": (
        lambda: contrastive_search(TableModel(9), IDS, alpha="0.5"),  # type: ignore[arg-type]
        ValueError,
        ["alpha='0.5'"],
    ),
    "contrastive search, which reads the last token, without a position for it": (
        lambda: contrastive_search(TableModel(9), IDS, max_new_tokens=62),
        ValueError,
        ["max_new_tokens=62", "64: at most max_new_tokens=61"],
    ),
    "a draft with another vocabulary": (
        lambda: speculative(TableModel(9), TableModel(8), IDS[:1]),
        ValueError,
        ["vocabulary of 8", "of 9", "same tokenizer"],
    ),
    "a draft that reads only": (
        lambda: speculative(TableModel(9), Bert(BertConfig(8, 2, 1, 8, vocab_size=9)), IDS[:1]),
        TypeError,
        ["Bert is not a language model", "GPT2", "from_pretrained"],
    ),
    "speculation about several texts": (
        lambda: speculative(TableModel(9), TableModel(9), IDS),
        ValueError,
        ["(2, 3)", "(1, length)"],
    ),
    "speculation with beams": (
        lambda: speculative(TableModel(9), TableModel(9), IDS[:1], n_beams=2),
        ValueError,
        ["n_beams=2", "expected 1"],
    ),
    "speculation without proposals": (
        lambda: speculative(TableModel(9), TableModel(9), IDS[:1], n_draft=0),
        ValueError,
        ["n_draft=0", "at least 1"],
    ),
    "back before the beginning": (
        lambda: RunningBatch(TableModel(9), IDS, GenerationConfig()).crop(0),
        ValueError,
        ["length=0", "3 tokens"],
    ),
    "rows to keep, marked and not numbered": (
        lambda: RunningBatch(TableModel(9), IDS, GenerationConfig()).reorder(MASK[:, 0, 0, 0]),
        TypeError,
        ["rows is torch.bool", "a tensor of integers: the rows to keep"],
    ),
    "back to a fraction of a token": (
        lambda: RunningBatch(TableModel(9), IDS, GenerationConfig()).crop(2.0),  # type: ignore[arg-type]
        TypeError,
        ["length is of type float, 2.0", "a whole number"],
    ),
    "back to what is not there": (
        lambda: RunningBatch(TableModel(9), IDS, GenerationConfig()).crop(4),
        ValueError,
        ["length=4", "3 tokens"],
    ),
    "a token for each text, not in rows": (
        lambda: RunningBatch(TableModel(9), IDS, GenerationConfig()).append(IDS[:, 0]),
        ValueError,
        ["token_ids has shape (2,)", "(2, new)"],
    ),
    "one token for all texts": (
        lambda: RunningBatch(TableModel(9), IDS, GenerationConfig()).append(IDS[:1]),
        ValueError,
        ["token_ids has shape (1, 3)", "(2, new)"],
    ),
    "half a token for each text": (
        lambda: RunningBatch(TableModel(9), IDS, GenerationConfig()).append(IDS / 2),
        TypeError,
        ["token_ids is torch.float32", "integers"],
    ),
    "on beyond the end": (
        lambda: RunningBatch(TableModel(9), IDS, GenerationConfig(max_new_tokens=1)).append(IDS),
        ValueError,
        ["6 tokens", "room for 4"],
    ),
}
NUMBERS: dict[str, tuple[Any, type[Exception], list[str]]] = {
    f"{way}: a logit that is {number}": (
        partial(attempt, number),
        FloatingPointError,
        ["logits are NaN or infinite in ", "torch.float32", "weights"],
    )
    for number in (math.nan, math.inf)
    for way, attempt in {
        "greedy": lambda number: generate(broken(number), IDS),
        "sampling": lambda number: generate(broken(number), IDS, sample=True, top_k=2),
        "a stream": lambda number: next(stream(broken(number), IDS)),
        "beams": lambda number: generate(broken(number), IDS, n_beams=2),
        "contrastive": lambda number: contrastive_search(broken(number), IDS),
        "a draft": lambda number: speculative(TableModel(9), broken(number), IDS[:1]),
        "a target": lambda number: speculative(broken(number), TableModel(9), IDS[:1]),
    }.items()
}
CASES = PROCESSORS | PROMPTS | MODELS | NUMBERS
CASES |= {
    f"options: {name}": (partial(GenerationConfig, **fields), ValueError, says)
    for name, (fields, says) in OPTIONS.items()
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "error", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, error, says):
    with pytest.raises(error) as caught:
        attempt()
    for part in says:
        assert part in str(caught.value)


def test_padding_may_be_masked_or_end_a_text():
    shown = generate(model_with(pad_id=1, eos_id=2), IDS, prompt_mask=MASK, max_new_tokens=1)
    assert shown.shape == (2, 4)
    for eos_id in (1, (2, 1)):
        assert generate(model_with(pad_id=1, eos_id=eos_id), IDS, max_new_tokens=1).shape == (2, 4)


@pytest.mark.parametrize("seed", range(5))
def test_a_text_that_has_ended_needs_no_token_to_draw(seed):
    prompts = torch.tensor([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2]])
    options: dict[str, Any] = {"max_new_tokens": 2, "no_repeat_ngram": 1, "eos_id": 5}
    draw = torch.Generator().manual_seed(seed)
    assert generate(TableModel(6), prompts, sample=True, generator=draw, **options)[0, 5] == 5


@pytest.mark.usefixtures("as_a_reader")
def test_the_smallest_and_largest_that_fit_are_not_refused():
    one = torch.tensor([[0]])
    assert generate(TableModel(1), one, max_new_tokens=1).tolist() == [[0, 0]]
    assert generate(TableModel(9), IDS, max_new_tokens=62).shape == (2, 65)
    assert generate(TableModel(9), IDS, max_new_tokens=2, min_new_tokens=2, eos_id=8).shape == (
        2,
        5,
    )
    assert generate(TableModel(9), IDS, max_new_tokens=8, no_repeat_ngram=1).shape == (2, 11)
    with pytest.raises(ValueError, match="min_new_tokens=1 leaves no token to begin with: each of"):
        generate(TableModel(9), IDS, min_new_tokens=1, eos_id=range(9))
    edges: dict[str, Any] = {"top_k": 1, "top_p": 1.0, "min_p": 1.0, "typical_p": 1.0}
    edges |= {"temperature": 1e-6, "repetition_penalty": 1e-6}
    assert generate(TableModel(9), IDS, sample=True, **edges).shape == (2, 23)
    found = beam_search(TableModel(9), IDS, n_beams=3, n_best=3, length_penalty=-10.0)
    assert found.token_ids.shape == (2, 3, 23)
    assert contrastive_search(TableModel(9), IDS, k=9, alpha=1.0).shape == (2, 23)
