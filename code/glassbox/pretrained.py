"""Models that read and write the files of the reference library (chapter 11)."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from glassbox.config import Activation
from glassbox.weights import find_weights, read_config, read_weights, write_model

#: The reference library's words for activations, by ours; the first one is written.
REFERENCE_ACTIVATIONS: dict[Activation, tuple[str, ...]] = {
    "relu": ("relu",),
    "gelu": ("gelu",),
    "gelu_tanh": ("gelu_new", "gelu_pytorch_tanh"),
    "silu": ("silu", "swish"),
}


def our_activation(name: str) -> Activation:
    """Return our word for an activation of the reference library.

    Raises
    ------
    ValueError
        If this package does not have it.
    """
    for ours, theirs in REFERENCE_ACTIVATIONS.items():
        if name in theirs:
            return ours
    known = sorted(word for words in REFERENCE_ACTIVATIONS.values() for word in words)
    raise ValueError(f"activation {name!r} in config.json is not known; expected one of {known}")


def reference_activation(name: Activation) -> str:
    """Return the reference library's word for an activation of ours."""
    return REFERENCE_ACTIVATIONS[name][0]


Model = TypeVar("Model", bound="Pretrained")


class Pretrained(nn.Module):
    """A model with published parameters, kept in the reference library's layout.

    A subclass says which configuration it is made from and what the reference calls its modules;
    where the reference keeps the numbers otherwise too (transposed, or stacked in one matrix),
    it overrides :meth:`from_reference` and :meth:`to_reference`.

    Attributes
    ----------
    config_class : type
        Has ``from_reference`` and ``to_reference``.
    reference_names : dict of str to str
        The reference's module names, each with ours; ``{}`` stands for a layer's number.
    reference_prefix : str
        What the reference puts before these names in some of its models.
    not_ours : str
        Regular expression of the reference's parameters that this model does without.
    has_default : bool
        Whether a model is loaded when none is named.

    Notes
    -----
    Chapter 11.
    """

    config: Any
    config_class: ClassVar[Any]
    reference_names: ClassVar[Mapping[str, str]]
    reference_prefix: ClassVar[str] = ""
    not_ours: ClassVar[str] = r"(?!)"  # matches nothing
    has_default: ClassVar[bool] = False

    @classmethod
    def from_pretrained(
        cls: type[Model], source: str | os.PathLike[str] | nn.Module | None = None
    ) -> Model:
        """Make a model with published parameters, in eval mode, on the CPU and in their dtype.

        Parameters
        ----------
        source : str, path or nn.Module, optional
            A name on the Hugging Face hub, a folder (see :func:`glassbox.weights.find_weights`),
            or a model of ``transformers``, whose parameters are copied.

        Returns
        -------
        Pretrained
            A model of this class.

        Raises
        ------
        FileNotFoundError, ConnectionError
            If the parameters cannot be found.
        ValueError
            If they are altered, damaged, or those of another kind of model.
        """
        if isinstance(source, nn.Module):
            where = f"this {type(source).__name__}"
            described: Any = getattr(source, "config", None)
            if not hasattr(described, "to_dict"):
                raise ValueError(
                    f"{where} has no configuration: expected a model of transformers, a folder, "
                    "or a name on the hub"
                )
            config = cls.config_class.from_reference(described.to_dict())
            weights = {name: x.detach().cpu() for name, x in source.state_dict().items()}
        else:
            if source is None and not cls.has_default:
                raise ValueError(
                    f"which {cls.__name__}? Give from_pretrained a name on the Hugging Face hub, a "
                    "folder, or a model of transformers"
                )
            folder = find_weights(source)
            where = str(folder)
            config = cls.config_class.from_reference(read_config(folder))
            weights = read_weights(folder)
        model = cls(config)
        ours = model.from_reference(weights)
        if dtypes := {x.dtype for x in ours.values() if x.is_floating_point()}:
            model.to(dtypes.pop() if len(dtypes) == 1 else torch.float32)
        try:
            model.load_state_dict(ours | model.tied(ours))
        except RuntimeError as error:
            raise ValueError(
                f"the weights in {where} do not fit its configuration: {error}"
            ) from error
        return model.eval()

    def save_pretrained(self, folder: str | os.PathLike[str]) -> None:
        """Write ``config.json`` and ``model.safetensors`` as the reference library reads them.

        Parameters
        ----------
        folder : str or path
            Where to; made if it is missing. What is there is replaced only once both files are
            written completely.

        Raises
        ------
        FileExistsError
            If ``folder`` is a file.
        """
        weights = {name: x.detach().cpu() for name, x in self.state_dict().items()}
        for name in self.tied(weights):
            del weights[name]
        config = self.config.to_reference()
        config["dtype"] = str(next(self.parameters()).dtype).removeprefix("torch.")
        write_model(Path(folder), config, self.to_reference(weights))

    def tied(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the parameters that are others by a second name, by that second name."""
        return {}

    def from_reference(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Give the reference's parameters our names.

        Parameters
        ----------
        weights : mapping of str to Tensor
            By the reference's names.

        Returns
        -------
        dict of str to Tensor
            By our names, without those this model does without.

        Raises
        ------
        ValueError
            If a model of this kind has no parameter of some name.
        """
        translated = {self.our_name(name): tensor for name, tensor in weights.items()}
        return {name: tensor for name, tensor in translated.items() if name is not None}

    def to_reference(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Give our parameters the reference's names; the inverse of :meth:`from_reference`.

        Parameters
        ----------
        weights : mapping of str to Tensor
            By our names.

        Returns
        -------
        dict of str to Tensor
            By the reference's names.
        """
        back = {ours: theirs for theirs, ours in self.reference_names.items()}
        return {self.reference_prefix + _rename(name, back): x for name, x in weights.items()}

    @classmethod
    def our_name(cls, name: str) -> str | None:
        """Return our name for a reference parameter; ``None`` for one this model does without.

        Raises
        ------
        ValueError
            If a model of this kind has no parameter of that name.
        """
        name = name.removeprefix(cls.reference_prefix)
        if re.match(cls.not_ours, name):
            return None
        try:
            return _rename(name, cls.reference_names)
        except KeyError:
            raise ValueError(
                f"a {cls.__name__} has no weight called {name!r}: are these another model's "
                "weights?"
            ) from None


def _rename(name: str, names: Mapping[str, str]) -> str:
    """Translate a parameter's name by the module that it is in."""
    module, _, kind = name.rpartition(".")
    numbers = re.findall(r"(?<=\.)\d+(?=\.|$)", module)
    pattern = re.sub(r"(?<=\.)\d+(?=\.|$)", "{}", module)
    return f"{names[pattern].format(*numbers)}.{kind}"
