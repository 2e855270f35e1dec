"""Language identification: naive Bayes over the tokens of a text."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class LanguageClassifier:
    r"""Naive Bayes over tokens: the language whose training text best explains the tokens.

    .. math::
        P(l \mid t_1, \dots, t_n) \propto \prod_i P(t_i \mid l), \qquad
        P(t \mid l) = \frac{\operatorname{count}_l(t) + 1}{\sum_u (\operatorname{count}_l(u) + 1)}

    All languages are equally probable a priori. A token that no language has seen says little, and
    one equally frequent in all, such as a full stop or a name, says nothing.

    Parameters
    ----------
    counts : mapping of str to sequence of int
        For each language, how often each token of the vocabulary occurs in its training text.

    Raises
    ------
    ValueError
        If there is no language, the languages have vocabularies of different sizes, or a count is
        not an ``int`` or is less than 0.
    """

    counts: Mapping[str, Sequence[int]]

    def __post_init__(self) -> None:
        sizes = {language: len(counts) for language, counts in self.counts.items()}
        if len(set(sizes.values())) != 1 or not all(sizes.values()):
            raise ValueError(
                f"the languages count {sizes} tokens; expected all tokens of a vocabulary that "
                "they share"
            )
        for language, counts in self.counts.items():
            for token, count in enumerate(counts):
                if type(count) is not int or count < 0:
                    raise ValueError(
                        f"token {token} occurs {count!r} times in {language!r}; expected a whole "
                        "number, at least 0"
                    )

    @classmethod
    def fit(
        cls, texts: Mapping[str, Iterable[Sequence[int]]], vocab_size: int
    ) -> "LanguageClassifier":
        """Count the tokens of each language.

        Parameters
        ----------
        texts : mapping of str to iterable of sequence of int
            For each language, the token ids of its training texts.
        vocab_size : int
            Number of tokens.

        Returns
        -------
        LanguageClassifier
            A classifier with these counts.
        """
        counts = {}
        for language, ids in texts.items():
            counted = Counter(token for text in ids for token in text)
            counts[language] = [counted[token] for token in range(vocab_size)]
        return cls(counts)

    def probabilities(self, token_ids: Iterable[int]) -> dict[str, float]:
        """Return the probability of each language.

        Parameters
        ----------
        token_ids : iterable of int
            The tokens of a text. Without any, all languages are equally probable.

        Returns
        -------
        dict of str to float
            The probabilities, which sum to one.

        Raises
        ------
        IndexError
            If an id is not in the vocabulary.
        """
        shares = self._logs[:, list(token_ids)].sum(dim=1).softmax(dim=0)
        return dict(zip(self.counts, shares.tolist(), strict=True))

    @cached_property
    def _logs(self) -> Tensor:
        """The logarithm of each token's probability in each language: ``(languages, vocab)``."""
        counts = torch.tensor([*self.counts.values()], dtype=torch.float64) + 1
        return (counts / counts.sum(dim=1, keepdim=True)).log()
