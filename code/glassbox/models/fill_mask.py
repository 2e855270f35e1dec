"""Fill in the blanks of a text with a BERT (chapter 11)."""

from typing import NamedTuple

import torch
from torch import Tensor

from glassbox.checks import check_at_least
from glassbox.files import StrPath, atomic_update
from glassbox.models.bert_heads import BertForMaskedLM
from glassbox.modes import evaluating
from glassbox.tokenization import WordPiece
from glassbox.tokenization.wordpiece import MASK
from glassbox.weights import find_weights


class Guess(NamedTuple):
    """A word piece that may fill a blank.

    Parameters
    ----------
    token : str
        The word piece.
    probability : float
        How probable the model thinks it is.

    Notes
    -----
    Devlin et al. (2019), section 3.1, task 1.
    """

    token: str
    probability: float


class FillMask:
    """A BERT for masked language modelling together with its tokenizer.

    Parameters
    ----------
    model : BertForMaskedLM
        The model.
    tokenizer : WordPiece
        Its tokenizer, with a token ``[MASK]``.

    Raises
    ------
    ValueError
        If the tokenizer has another number of tokens than the model, or no ``[MASK]``.

    Notes
    -----
    Devlin et al. (2019), section 3.1, task 1.

    Examples
    --------
    >>> fill_mask = FillMask.from_pretrained()
    >>> ((best, *others),) = fill_mask("The dog is [MASK] in the water.", top=3)
    """

    def __init__(self, model: BertForMaskedLM, tokenizer: WordPiece) -> None:
        if len(tokenizer) != model.config.vocab_size:
            raise ValueError(
                f"a tokenizer of {len(tokenizer)} tokens for a model of "
                f"{model.config.vocab_size}: load both from the same folder"
            )
        if tokenizer.pad_id not in (None, model.config.pad_id):
            raise ValueError(
                f"the model has pad_id={model.config.pad_id}, the tokenizer {tokenizer.pad_id}: "
                "load both from the same folder"
            )
        if MASK not in tokenizer.vocabulary:
            raise ValueError(f"the tokenizer has no token {MASK}: expected a BERT's")
        self.model, self.tokenizer = model, tokenizer
        self.mask_id = tokenizer.token_id(MASK)

    @classmethod
    def from_pretrained(cls, source: StrPath = "bert-english") -> "FillMask":
        """Load a model and its tokenizer, in eval mode, on the CPU, in float32.

        Parameters
        ----------
        source : str or path, optional
            As for :func:`~glassbox.models.find_weights`. Defaults to the book's own BERT.

        Raises
        ------
        FileNotFoundError
            If the folder or a file is missing.
        ValueError
            If a file is damaged, or the model is not a BERT for masked language modelling.
        ConnectionError, PermissionError, ModuleNotFoundError
            As for :func:`~glassbox.models.find_weights`.
        """
        folder = find_weights(source)
        return cls(BertForMaskedLM.from_pretrained(folder).float(), WordPiece.load(folder))

    def save_pretrained(self, folder: StrPath, *, dtype: torch.dtype | None = None) -> None:
        """Write model and tokenizer in the reference library's layout.

        Parameters
        ----------
        folder : str or path
            Created if it is missing.
        dtype : torch.dtype, optional
            Dtype of the stored weights. Defaults to their own.

        Raises
        ------
        FileExistsError, ValueError
            As for :meth:`~glassbox.pretrained.Pretrained.save_pretrained`.
        """
        with atomic_update(folder) as beside:
            self.model.save_pretrained(beside, dtype)
            self.tokenizer.save(beside)

    def __call__(self, text: str, *, top: int = 5) -> list[list[Guess]]:
        """Return the most probable word pieces for each ``[MASK]`` of a text.

        Each blank is filled on its own: two blanks side by side need not fit together.

        Parameters
        ----------
        text : str
            A text with at least one ``[MASK]``.
        top : int, optional
            Number of guesses.

        Returns
        -------
        list of list of Guess
            For each blank, in reading order, the guesses, the most probable first.

        Raises
        ------
        ValueError
            If there is no blank, the text is too long for the model, or ``top`` is less than 1.
        TypeError
            If ``text`` is not a string.
        """
        check_at_least("top", top, 1)
        ids = torch.tensor(self.tokenizer.encode(text))
        if not (ids == self.mask_id).any():
            raise ValueError(f"{text!r:.80} has no blank: write {MASK} where a word is missing")
        probabilities = self.predict(ids, ids == self.mask_id).softmax(-1)
        best = probabilities.topk(min(top, len(self.tokenizer)))
        return [
            [Guess(self.tokenizer.tokens[number], p) for number, p in zip(*row, strict=True)]
            for row in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]

    def predict(self, token_ids: Tensor, at: Tensor) -> Tensor:
        """Return the logits at some positions of texts.

        Parameters
        ----------
        token_ids : Tensor
            Integers, ``(texts, length)`` or, of one text, ``(length,)``, with [CLS] and [SEP].
            Texts of one length: padding would be read as text.
        at : Tensor
            Boolean, of the same shape.

        Returns
        -------
        Tensor
            ``(predictions, vocab_size)``, on the CPU.
        """
        device = next(self.model.parameters()).device
        ids, at = (torch.atleast_2d(given).to(device) for given in (token_ids, at))
        with torch.no_grad(), evaluating(self.model):
            return self.model(ids, at=at).float().cpu()
