"""The options of generation, in one place and checked (chapter 10)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from glassbox.checks import check_at_least, check_counts, check_flags, check_number, check_type
from glassbox.generation.checks import vocabulary

#: Options that shape the sampling distribution, meaningless without sampling.
SAMPLING = ("temperature", "top_k", "top_p", "min_p", "typical_p")
#: Options that choose among beams.
BEAMS = ("n_best", "length_penalty", "early_stopping")
#: Other libraries' names for options and arguments, where ours are spelt quite differently.
OTHER_NAMES = {
    "attention_mask": "prompt_mask, or source_mask for an encoder",
    "input_ids": "prompt_ids, or source_ids for an encoder",
    "max_length": "max_new_tokens, which does not count the prompt",
    "min_length": "min_new_tokens, which does not count the prompt",
    "num_return_sequences": "n_best",
}


@dataclass(frozen=True)
class GenerationConfig:
    """The options of generation, checked when created. The default is greedy decoding.

    Parameters
    ----------
    max_new_tokens : int
        Maximum number of new tokens.
    min_new_tokens : int
        Minimum number of new tokens before the text may end.
    eos_id : int or sequence of int, optional
        The token, or tokens, that end a text; the model's own if left out. With ``()``, none does,
        and every text gets ``max_new_tokens``.
    pad_id : int, optional
        The token that pads a row that ends before the others; the model's own if left out, or else
        the first ``eos_id``, or 0 if there is none.
    use_cache : bool
        Whether to keep keys and values from step to step. Without a cache, the logits are equal up
        to rounding, and so are the tokens wherever one is clearly the most probable. In float32,
        near-ties are rare; in bfloat16, with two to three digits, they are common.
    repetition_penalty, frequency_penalty, presence_penalty : float
        See the functions of these names. The first counts prompt and new tokens, the other two only
        new tokens. 1, 0 and 0 change nothing.
    no_repeat_ngram : int, optional
        The length of the n-grams that may not occur twice.
    sample : bool
        Whether to draw each token from the distribution instead of taking the most probable.
    temperature : float
        More than 0; below 1 sharpens the distribution, above 1 flattens it.
    top_k, top_p, min_p, typical_p : int or float, optional
        See the functions of these names: which tokens may be drawn.
    n_beams : int
        Number of continuations followed at a time; 1 means greedy decoding or sampling.
    n_best : int
        Number of them to return.
    length_penalty : float
        A beam's log-probability is divided by its length to this power: 0 prefers short texts, the
        default 1 compares averages, larger values prefer long texts.
    early_stopping : bool or "never"
        When to abandon the running beams, once ``n_beams`` have ended: at once if true; if false,
        when the best of them, ending now, would be worse than all ended ones; with "never", when
        not even the longest continuation could be better.

    Raises
    ------
    ValueError
        If a value is out of its range, or options contradict one another.
    TypeError
        If ``sample`` or ``use_cache`` is neither true nor false.

    Notes
    -----
    The options have the meanings and the defaults of ``transformers``, except that ``top_k`` is off
    here and 50 there, and that the frequency and presence penalties do not exist there. Chapter 10.
    """

    max_new_tokens: int = 20
    min_new_tokens: int = 0
    eos_id: int | Sequence[int] | None = None
    pad_id: int | None = None
    use_cache: bool = True
    repetition_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    no_repeat_ngram: int | None = None
    sample: bool = False
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    n_beams: int = 1
    n_best: int = 1
    length_penalty: float = 1.0
    early_stopping: bool | str = False

    def __post_init__(self) -> None:
        given: Any = self.eos_id
        several = isinstance(given, Iterable) and not isinstance(given, str)
        if several and getattr(given, "shape", True):  # of a single number it is empty
            object.__setattr__(self, "eos_id", tuple(given))  # a generator is read only once
        check_flags(self, "use_cache", "sample")
        self._check_ranges()
        self._check_contradictions()

    @property
    def eos_ids(self) -> tuple[int, ...]:
        """All tokens that end a text."""
        given: Any = () if self.eos_id is None else self.eos_id
        return given if isinstance(given, tuple) else (given,)

    @property
    def fill_id(self) -> int:
        """The token that pads a text after its end."""
        return self.pad_id if self.pad_id is not None else next(iter(self.eos_ids), 0)

    def for_model(self, config: Any) -> "GenerationConfig":
        """Return these options, with a model's ids where none are given.

        Parameters
        ----------
        config : object
            The model's configuration, whose ``eos_id`` and ``pad_id`` are used if it has them.

        Raises
        ------
        ValueError
            If an id is not in the model's vocabulary, or there is a minimum length and no id that
            ends a text.
        """
        eos_id = getattr(config, "eos_id", None) if self.eos_id is None else self.eos_id
        pad_id = getattr(config, "pad_id", None) if self.pad_id is None else self.pad_id
        ours = replace(self, eos_id=() if eos_id is None else eos_id, pad_id=pad_id)
        size = vocabulary(config)
        if ours.min_new_tokens and len({*ours.eos_ids}) >= size:
            raise ValueError(
                f"min_new_tokens={ours.min_new_tokens} leaves no token to begin with: each of the "
                f"{size} ends the text; name fewer in eos_id"
            )
        for name, ids in (("eos_id", ours.eos_ids), ("pad_id", (ours.fill_id,))):
            if ids and max(ids) >= size:
                raise ValueError(
                    f"{name}={max(ids)} is not in a vocabulary of {size}: choose among 0 to "
                    f"{size - 1}. Is the tokenizer another model's?"
                )
        return ours

    def _check_ranges(self) -> None:
        check_counts(self, "max_new_tokens", "n_beams", "n_best")
        check_at_least("min_new_tokens", self.min_new_tokens, 0)
        hint = ", the id of a token: tokenizer.token_id(token) gives it"
        for token in self.eos_ids:
            check_at_least("eos_id", token, 0, hint)
        if self.pad_id is not None:
            check_at_least("pad_id", self.pad_id, 0, hint)
        if self.no_repeat_ngram is not None:
            check_at_least("no_repeat_ngram", self.no_repeat_ngram, 1, "; None allows all")
        if self.top_k is not None:
            check_at_least("top_k", self.top_k, 1, "; None keeps every token")
        for name in ("top_p", "min_p", "typical_p"):
            if (share := getattr(self, name)) is not None:
                check_number(name, share, "more than 0 and at most 1", "; None keeps every token")
        hint = ". The limit of 0 is greedy decoding: sample=False"
        check_number("temperature", self.temperature, "more than 0 and finite", hint)
        hint = "; 1 changes nothing"
        check_number("repetition_penalty", self.repetition_penalty, "more than 0 and finite", hint)
        check_number("frequency_penalty", self.frequency_penalty, "at least 0 and finite")
        check_number("presence_penalty", self.presence_penalty, "at least 0 and finite")
        # A power of the length, which must not overflow.
        check_number("length_penalty", self.length_penalty, "from -10 to 10")
        if not isinstance(self.early_stopping, bool) and self.early_stopping != "never":
            raise ValueError(
                f"early_stopping={self.early_stopping!r}: expected True, False or 'never'"
            )

    def _check_contradictions(self) -> None:
        least, most = self.min_new_tokens, self.max_new_tokens
        if least > most:
            raise ValueError(f"min_new_tokens={least} is more than max_new_tokens={most}")
        if least and self.eos_id is not None and not self.eos_ids:
            raise ValueError(
                f"min_new_tokens={least} with eos_id={self.eos_id}: where no token "
                "ends a text, max_new_tokens alone says how long it is"
            )
        if self.sample and self.n_beams > 1:
            raise ValueError(
                f"sample=True with n_beams={self.n_beams}: beams follow the most probable "
                "continuations and draw none; choose one of the two"
            )
        if self.n_best > self.n_beams:
            raise ValueError(
                f"n_best={self.n_best} is more than n_beams={self.n_beams}: "
                "only what is followed can be returned"
            )
        idle: dict[str, str] = {}
        if not self.sample:
            idle |= dict.fromkeys(SAMPLING, "sample=False: nothing is drawn; add sample=True")
        if self.n_beams == 1:
            idle |= dict.fromkeys(BEAMS, "n_beams=1: there is nothing to choose from")
        for name, why in idle.items():
            if (given := getattr(self, name)) != getattr(GenerationConfig, name):
                raise ValueError(f"{name}={given!r} changes nothing with {why}, or leave it out")


def configure(config: GenerationConfig | None, options: dict[str, Any]) -> GenerationConfig:
    """Return ``config``, or the default configuration, with the given ``options`` replaced.

    Raises
    ------
    TypeError
        If ``config`` is not a configuration, or there is no such option.
    ValueError
        If they contradict one another.
    """
    expected = "a GenerationConfig, or options by name, such as max_new_tokens=5"
    check_type("config", config, GenerationConfig | None, expected)
    known = [field.name for field in fields(GenerationConfig)]
    for name in options:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            ours = OTHER_NAMES.get(name) or "".join(close) or f"one of {', '.join(known)}"
            raise TypeError(f"no option called {name}; expected {ours}")
    return replace(config or GenerationConfig(), **options)
