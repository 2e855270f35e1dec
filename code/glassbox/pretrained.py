"""Models that read and write the files of the reference library."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from glassbox.config import Activation
from glassbox.positional import Positions
from glassbox.weights import find_weights, read_config, read_weights, write_model

#: The reference library's words for activations, by ours; the first one is written.
REFERENCE_ACTIVATIONS: dict[Activation, tuple[str, ...]] = {
    "relu": ("relu",),
    "gelu": ("gelu",),
    "gelu_tanh": ("gelu_new", "gelu_pytorch_tanh"),
    "silu": ("silu", "swish"),
}
#: What PyTorch puts before the names of a model that it wraps, and how it is wrapped.
WRAPPERS = {"module.": "DataParallel", "_orig_mod.": "torch.compile"}
#: The dtypes of trainable parameters.
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def our_activation(name: str) -> Activation:
    """Return our word for an activation whose ``name`` is the reference library's.

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
    """Return the reference library's word for an activation whose ``name`` is ours."""
    return REFERENCE_ACTIVATIONS[name][0]


def check_entries(config: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Refuse a ``config.json`` that says something else than a class reads.

    What it does not say is taken to be as expected.

    Raises
    ------
    ValueError
        If an entry differs, naming both values.
    """
    for name, value in expected.items():
        if (given := config.get(name, value)) != value:
            raise ValueError(f"{name}={given!r} in config.json; this class reads {value!r}")


def read_entry(config: Mapping[str, Any], name: str, model: str = "model") -> Any:
    """Return what ``config.json`` says under a name.

    Raises
    ------
    ValueError
        If it says nothing there, naming the ``model`` that needs it.
    """
    if name not in config:
        raise ValueError(f"config.json has no {name!r}, which a {model} needs")
    return config[name]


def read_number(
    config: Mapping[str, Any], name: str, kind: type[int] | type[float] = int, model: str = "model"
) -> Any:
    """Return a number that ``config.json`` gives.

    Parameters
    ----------
    config : mapping
        The entries.
    name : str
        Of the entry.
    kind : {int, float}, optional
        What it must be; whole numbers are fractions too.
    model : str, optional
        What needs it, for the message.

    Raises
    ------
    ValueError
        If there is no such entry, or it is no number of this kind.
    """
    value = read_entry(config, name, model)
    kinds = (int,) if kind is int else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise ValueError(f"{name}={value!r} in config.json; expected a number, {kind.__name__}")
    return kind(value)


def check_representable(config: Any, fields: Iterable[str]) -> None:
    """Refuse to describe a model that the reference library cannot compute.

    Parameters
    ----------
    config : StackConfig
        The sizes.
    fields : iterable of str
        Those that the reference has no entries for: they must have their defaults.

    Raises
    ------
    ValueError
        If one has not, naming both values, or if layers differ in their number of heads.
    """
    for name in fields:
        if (given := getattr(config, name)) != (expected := getattr(type(config), name)):
            raise ValueError(
                f"{name}={given!r}: the model of this kind that the reference library has is one "
                f"with {name}={expected!r}"
            )
    if isinstance(config.n_heads, tuple):
        raise ValueError(f"n_heads={config.n_heads}: the reference has one number for all layers")


def unite(weights: Mapping[str, Tensor], name: str, *others: str) -> dict[str, Tensor]:
    """Leave one of the names by which a file may call the same parameter.

    Parameters
    ----------
    weights : mapping of str to Tensor
        May have the parameter by any of these names, by several, or not at all.
    name, *others : str
        The name that is left, and those that go.

    Returns
    -------
    dict of str to Tensor
        A copy.

    Raises
    ------
    ValueError
        If two of the names stand for different numbers.
    """
    left = dict(weights)
    for other in others:
        if other not in left:
            continue
        tensor = left.pop(other)
        if not torch.equal(left.setdefault(name, tensor), tensor):
            raise ValueError(
                f"{name} and {other} differ, but this model has one parameter for both: the "
                "weights come from a model whose embeddings are not tied"
            )
    return left


def check_weights(weights: Mapping[str, Tensor]) -> None:
    """Refuse weights that are not tensors, or have the names of a wrapped model.

    Raises
    ------
    TypeError
        If one is not a tensor.
    ValueError
        If PyTorch put a prefix before the names, naming it.
    """
    for name, x in weights.items():
        if not isinstance(x, Tensor):
            raise TypeError(
                f"{name} is of type {type(x).__name__}; expected a tensor: convert arrays with "
                "{name: torch.as_tensor(x) for name, x in weights.items()}"
            )
        for prefix, wrapper in WRAPPERS.items():
            if name.startswith(prefix):
                raise ValueError(
                    f"{name!r} begins with {prefix!r}, which {wrapper} adds: remove it with "
                    f"{{name.removeprefix({prefix!r}): x for name, x in weights.items()}}"
                )


def check_plausible(config: Any, weights: Mapping[str, Tensor], where: str) -> None:
    """Refuse sizes that no model with these weights has, before a model of these sizes is built.

    Parameters
    ----------
    config : StackConfig
        The sizes.
    weights : mapping of str to Tensor
        All of the model.
    where : str
        They come from, for the message.

    Raises
    ------
    ValueError
        If there are more layers than tensors, or a width is larger than all tensors together.
    """
    numbers = sum(x.numel() for x in weights.values())
    for name in (field.name for field in fields(config)):
        size = getattr(config, name)
        is_size = name.startswith(("n_", "d_")) or name.endswith("vocab_size")
        limit, what = (len(weights), "tensors") if "layers" in name else (numbers, "numbers")
        if is_size and isinstance(size, int) and size > limit:
            raise ValueError(
                f"{name}={size}, but {where} holds only {limit} {what}: is this the configuration "
                "of another model?"
            )


Model = TypeVar("Model", bound="Pretrained")
Source = str | os.PathLike[str] | nn.Module | None


class Pretrained(nn.Module):
    """A model with published parameters, kept in the reference library's layout.

    A subclass says which configuration it is made from and what the reference calls its modules.
    Where the reference keeps the numbers otherwise too (transposed, or stacked in one matrix), it
    overrides :meth:`from_reference` and :meth:`to_reference`; where ``config.json`` leaves open
    what the parameters tell, :meth:`configure`.

    Attributes
    ----------
    config_class : type
        Has ``from_reference`` and ``to_reference``.
    reference_names : dict of str to str
        The reference's module names, each with ours; ``{}`` stands for a layer's number. A model
        that no other library has leaves them out: its files have our names.
    reference_prefix : str
        What the reference puts before these names in some of its models.
    not_ours : str
        Regular expression of the reference's parameters that this model does without.
    has_default : bool
        Whether a model is loaded when none is named.
    """

    config: Any
    config_class: ClassVar[Any]
    reference_names: ClassVar[Mapping[str, str]] = {}
    reference_prefix: ClassVar[str] = ""
    not_ours: ClassVar[str] = r"(?!)"  # matches nothing
    has_default: ClassVar[bool] = False

    @classmethod
    def from_pretrained(cls: type[Model], source: Source = None) -> Model:
        """Make a model with published parameters, in eval mode, on the CPU and in their dtype.

        Parameters
        ----------
        source : str, path or nn.Module, optional
            A name on the Hugging Face hub, a folder (see :func:`glassbox.weights.find_weights`),
            or a model, of ``transformers`` or of this package, whose parameters are copied.

        Returns
        -------
        Pretrained
            A model of this class.

        Raises
        ------
        FileNotFoundError, ConnectionError, PermissionError
            If the parameters cannot be found, or not be fetched.
        ValueError
            If they are altered, damaged, or those of another kind of model.
        """
        if source is None and not cls.has_default:
            raise ValueError(
                f"which {cls.__name__}? Give from_pretrained a name on the Hugging Face hub, a "
                "folder, or a model of transformers"
            )
        entries, weights, where = read_source(source)
        with refusing_nonsense(cls.__name__, where):
            config = cls.configure(entries, weights)
        return cls._build(config, weights, where, ours=False)

    @classmethod
    def from_weights(cls: type[Model], config: Any, weights: Mapping[str, Tensor]) -> Model:
        """Make a model from a dictionary of tensors, in eval mode and in their dtype.

        Parameters
        ----------
        config : StackConfig
            The sizes: an instance of ``config_class``.
        weights : mapping of str to Tensor
            All parameters, under this package's names (:meth:`~torch.nn.Module.state_dict`) or
            under the reference library's; they are copied.

        Returns
        -------
        Pretrained
            A model of this class, ready to use.

        Raises
        ------
        ValueError
            If a tensor is missing, surplus, of another shape or not of floating-point numbers.
        TypeError
            If one is not a tensor.
        """
        return cls._build(config, weights, "this dictionary")

    @classmethod
    def _build(
        cls: type[Model],
        config: Any,
        weights: Mapping[str, Tensor],
        where: str,
        ours: bool | None = None,
    ) -> Model:
        """Make a model from tensors under our names, or the reference's; by most names if None."""
        check_weights(weights)
        with refusing_nonsense(cls.__name__, where), torch.device("meta"):
            check_plausible(config, weights, where)
            model = cls(config)  # takes neither memory nor random numbers: all tensors are given
        if ours is None:
            known = model.state_dict().keys()
            ours = 2 * len(known & weights.keys()) > len(weights)
        model.fill(weights if ours else model.from_reference(weights), where)
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
        ValueError
            If the reference library has no such model, or positions were replaced by others than
            the configuration's.
        """
        entries, weights = self.describe()
        write_model(Path(folder), entries, weights)

    def describe(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what :meth:`save_pretrained` writes: entries of ``config.json``, and tensors.

        Returns
        -------
        entries : dict
            In the reference library's words.
        weights : dict of str to Tensor
            By its names, on the CPU; what has two names stands there once.

        Raises
        ------
        ValueError
            As :meth:`save_pretrained`.
        """
        self._check_positions()
        weights = {name: x.detach().cpu() for name, x in self.state_dict().items()}
        for name in self.tied(weights):
            del weights[name]
        entries = self.config.to_reference()
        entries["dtype"] = str(next(self.parameters()).dtype).removeprefix("torch.")
        return entries, self.to_reference(weights)

    def _check_positions(self) -> None:
        """Refuse positions that files, which hold the configuration alone, would not bring back."""
        with torch.device("meta"):
            expected = dict(type(self)(self.config).named_modules())
        for name, scheme in expected.items():
            if not isinstance(scheme, Positions):
                continue
            given = self.get_submodule(name)
            if (type(given), _settings(given)) != (type(scheme), _settings(scheme)):
                raise ValueError(
                    f"{name} is {given}, but only the configuration is saved, which means {scheme}"
                    ": the file would load as another model. Put these positions back first; if "
                    "only interleaved differs, permute the weights and biases of queries and keys "
                    "to match, with interleaved_to_half"
                )

    def fill(self, weights: Mapping[str, Tensor], where: str = "this dictionary") -> None:
        """Put copies of these tensors in the place of all parameters.

        Parameters
        ----------
        weights : mapping of str to Tensor
            By our names; a tied parameter by one of its names, or by both. Where their dtypes
            differ, all get one that holds each.
        where : str, optional
            They come from, for the message.

        Raises
        ------
        ValueError
            If a tensor is missing, has another shape, has no place here or does not hold
            floating-point numbers, or if the two names of a tied parameter differ.
        TypeError
            If one is not a tensor.
        """
        check_weights(weights)
        for name, x in weights.items():
            if x.dtype not in FLOATS:
                raise ValueError(
                    f"{name} in {where} is {x.dtype}; expected floating-point numbers, such as "
                    "torch.float32: quantised weights must be dequantised first"
                )
        dtypes = [x.dtype for x in weights.values()]
        dtype = reduce(torch.promote_types, dtypes, dtypes[0] if dtypes else torch.float32)
        given: dict[str, Tensor] = {
            name: nn.Parameter(x.to(dtype, copy=True, memory_format=torch.contiguous_format))
            for name, x in weights.items()
        }
        for second, first in self._second_names().items():
            given = unite(given, first, second)
        self._check_fit(given, where)
        self.load_state_dict(given | self.tied(given), assign=True)

    def _check_fit(self, weights: Mapping[str, Tensor], where: str) -> None:
        """Refuse tensors that are missing, surplus or of another shape, naming the first few."""
        expected = {name: tuple(x.shape) for name, x in self.named_parameters()}
        missing = [name for name in expected if name not in weights]
        surplus = [name for name in weights if name not in expected]
        misfits = [
            f"{name} is {tuple(x.shape)}, expected {expected[name]}"
            for name, x in weights.items()
            if expected.get(name, x.shape) != x.shape
        ]
        if theirs := [name for name in surplus if self._is_reference_name(name)]:
            raise ValueError(
                f"{theirs[0]!r} is the reference library's name, not this package's: call "
                "model.fill(model.from_reference(weights)), or "
                f"{type(self).__name__}.from_weights(config, weights)"
            )
        found = {"Missing": missing, "Unexpected": surplus, "Other shapes": misfits}
        if wrong := [f"{what}: {_few(names)}" for what, names in found.items() if names]:
            raise ValueError(
                f"the weights in {where} do not fit its configuration. {'. '.join(wrong)}"
            )

    def tied(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the parameters that are others by a second name, by that second name.

        Parameters
        ----------
        weights : mapping of str to Tensor
            By our names.

        Returns
        -------
        dict of str to Tensor
            Those of ``weights`` whose parameter this model has in two places.
        """
        second = self._second_names().items()
        return {name: weights[other] for name, other in second if other in weights}

    def _second_names(self) -> dict[str, str]:
        """Return the second names of parameters in two places, each with the first name."""
        first: dict[nn.Parameter, str] = {}
        return {
            name: first[parameter]
            for name, parameter in self.named_parameters(remove_duplicate=False)
            if first.setdefault(parameter, name) != name
        }

    @classmethod
    def configure(cls, entries: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Any:
        """Return the configuration of a published model.

        Parameters
        ----------
        entries : mapping
            Of its ``config.json``.
        weights : mapping of str to Tensor
            By the reference's names, for what ``config.json`` leaves open.

        Raises
        ------
        ValueError
            If it is another kind of model.
        """
        return cls.config_class.from_reference(entries)

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
        TypeError
            If one is not a tensor.
        """
        check_weights(weights)
        translated: dict[str, Tensor] = {}
        for theirs, tensor in weights.items():
            if (ours := self.our_name(theirs)) is not None:
                translated[ours] = tensor
        return translated

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
        if not self.reference_names:
            return dict(weights)
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
        if not cls.reference_names:
            return name
        inside = name.removeprefix(cls.reference_prefix)
        if re.match(cls.not_ours, inside):
            return None
        with suppress(KeyError):
            return _rename(inside, cls.reference_names)
        with suppress(KeyError):
            _rename(name, {ours: theirs for theirs, ours in cls.reference_names.items()})
            raise ValueError(
                f"{name!r} is this package's own name, not the reference library's: give these "
                f"weights to fill as they are, or to {cls.__name__}.from_weights(config, weights)"
            )
        raise ValueError(
            f"a {cls.__name__} has no weight called {inside!r}: are these another model's weights?"
        )

    @classmethod
    def _is_reference_name(cls, name: str) -> bool:
        try:
            return bool(cls.reference_names) and cls.our_name(name) is not None
        except ValueError:
            return False


@contextmanager
def refusing_nonsense(kind: str, where: str) -> Iterator[None]:
    """Turn what Python and PyTorch raise at impossible sizes into a ``ValueError`` of one line.

    Parameters
    ----------
    kind : str
        What is being made, for the message.
    where : str
        The sizes come from.

    Yields
    ------
    None

    Raises
    ------
    ValueError
        If the block raises one, a ``TypeError``, an ``OverflowError`` or a ``RuntimeError``.
    """
    try:
        yield
    except (TypeError, OverflowError, RuntimeError) as error:
        first_line = str(error).partition("\n")[0]
        raise ValueError(
            f"the configuration of {where} describes no {kind}: {first_line}"
        ) from error


def read_source(source: Source) -> tuple[dict[str, Any], dict[str, Tensor], str]:
    """Return the configuration and the parameters of a published model, as they are there.

    Parameters
    ----------
    source : str, path, nn.Module or None
        See :meth:`Pretrained.from_pretrained`.

    Returns
    -------
    entries : dict
        Of ``config.json``.
    weights : dict of str to Tensor
        By the reference's names, on the CPU.
    where : str
        They come from, for messages.

    Raises
    ------
    FileNotFoundError, ConnectionError, PermissionError, ValueError
        See :meth:`Pretrained.from_pretrained`.
    """
    if isinstance(source, Pretrained):
        return *source.describe(), f"this {type(source).__name__}"
    if isinstance(source, nn.Module):
        described: Any = getattr(source, "config", None)
        if not hasattr(described, "to_dict"):
            raise ValueError(
                f"this {type(source).__name__} has no configuration: expected a model of "
                "transformers, a folder, or a name on the hub"
            )
        weights = {name: x.detach().cpu() for name, x in source.state_dict().items()}
        # What it was loaded from is what its configuration remembers; this is what it is.
        entries = described.to_dict() | {"architectures": [type(source).__name__]}
        return entries, weights, f"this {type(source).__name__}"
    folder = find_weights(source)
    return read_config(folder), read_weights(folder), str(folder)


def _rename(name: str, names: Mapping[str, str]) -> str:
    """Translate a parameter's name by the module that it is in."""
    module, _, kind = name.rpartition(".")
    for pattern, other in names.items():
        if match := re.fullmatch(re.escape(pattern).replace(r"\{\}", r"(\d+)"), module):
            return f"{other.format(*match.groups())}.{kind}"
    raise KeyError(name)


def _settings(scheme: nn.Module) -> dict[str, Any]:
    """Return what was given to the constructor of a module and is no parameter."""
    return {k: v for k, v in vars(scheme).items() if k[0] != "_" and k != "training"}


def _few(names: list[str], shown: int = 3) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
