"""Models that read and write the files of published models."""

import os
from collections.abc import Mapping
from dataclasses import fields
from functools import reduce
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glassbox.checks import FLOATS, check_type, wrong_type
from glassbox.files import StrPath
from glassbox.layout import Layout, check_weights, few, merge
from glassbox.positional import Positions
from glassbox.weights import find_weights, read_config, read_weights, special_ids, write_model

Source = StrPath | nn.Module | None


class _Undrawn(TorchFunctionMode):
    """Draws no parameters: on the meta device, the first draw would import PyTorch's compiler."""

    def __torch_function__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return None if call is nn.init.normal_ else call(*args, **kwargs or {})


class Pretrained(nn.Module):
    """A model that can be loaded from published files and saved in the same format.

    A subclass names its configuration and its layout. It overrides :meth:`configure` if some sizes
    can only be read from the parameters, not from ``config.json``, and :meth:`reference_layout` if
    the layout depends on the sizes.

    Attributes
    ----------
    config_class : type
        Its configuration, with ``from_reference`` as in :class:`~glassbox.layout.HasLayout`.
    layout : Layout
        The form of the files.
    has_default : bool
        Whether a model is loaded when none is named.
    """

    config: Any
    config_class: ClassVar[Any]
    layout: ClassVar[Layout] = Layout()
    has_default: ClassVar[bool] = False

    def __new__(cls, config: Any = None, *args: Any, **options: Any) -> Self:
        """Refuse the configuration of another model, which may lack an entry or mean another."""
        expected: Any = getattr(cls, "config_class", None)  # a base, as LanguageModel, has none
        known = config is not None and expected is not None
        # A subclass may describe another model, as T5's sizes do: then it has a layout of its own.
        if known and not (isinstance(config, expected) and config.layout is expected.layout):
            raise wrong_type("config", config, f"a {expected.__name__} for a {cls.__name__}")
        return super().__new__(cls)

    @classmethod
    def from_pretrained(cls, source: Source = None) -> Self:
        """Load a model with published parameters, in eval mode, on the CPU and in their dtype.

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
            If the parameters cannot be found or downloaded.
        ValueError
            If they are altered, damaged, or belong to another kind of model.
        TypeError
            If ``source`` is something else.
        """
        if source is None and not cls.has_default:
            raise ValueError(
                f"which {cls.__name__}? Give from_pretrained a name on the Hugging Face hub, a "
                "folder, or a model of transformers"
            )
        model, weights, where = cls.describe(source)
        model.load_weights(model.from_reference(weights), where)
        return model.eval()

    @classmethod
    def describe(cls, source: Source) -> tuple[Self, dict[str, Tensor], str]:
        """Return a published model without its parameters, and these under the reference's names.

        Parameters
        ----------
        source : str, path, nn.Module or None
            As for :meth:`from_pretrained`.

        Returns
        -------
        model : Pretrained
            On the meta device: it takes no memory and has drawn no random numbers.
        weights : dict of str to Tensor
            The parameters, on the CPU.
        where : str
            Their origin, for messages.

        Raises
        ------
        FileNotFoundError, ConnectionError, PermissionError, ValueError, TypeError
            As for :meth:`from_pretrained`.
        """
        entries, weights, where = read_source(source)
        return cls._empty(entries, weights, where), weights, where

    @classmethod
    def from_weights(cls, config: Any, weights: Mapping[str, Tensor]) -> Self:
        """Build a model from a dictionary of tensors, in eval mode and in their dtype.

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
            If a tensor is missing, unexpected, of the wrong shape, sparse or not floating-point.
        TypeError
            If one is not a tensor.
        """
        check_weights(weights)
        model = cls._empty(config, weights, "this dictionary")
        ours = 2 * len(model.state_dict().keys() & weights.keys()) > len(weights)
        model.load_weights(weights if ours else model.from_reference(weights))
        return model.eval()

    @classmethod
    def _empty(cls, config: Any, weights: Mapping[str, Tensor], where: str) -> Self:
        """Build a model on the meta device, from its sizes or the entries of ``config.json``."""
        try:
            config = cls.configure(config, weights) if isinstance(config, Mapping) else config
            check_plausible(config, weights, where)
            with torch.device("meta"), _Undrawn():
                return cls(config)
        except (AttributeError, TypeError, OverflowError, RuntimeError) as error:
            # Another model's configuration, or impossible sizes.
            first_line = str(error).partition("\n")[0]
            raise ValueError(
                f"the configuration of {where} describes no {cls.__name__}: {first_line}"
            ) from error

    @classmethod
    def configure(cls, entries: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Any:
        """Return the configuration of a published model.

        Parameters
        ----------
        entries : mapping
            The entries of its ``config.json``.
        weights : mapping of str to Tensor
            Its parameters by the reference's names, for sizes that ``config.json`` leaves open.

        Raises
        ------
        ValueError
            If it is a different kind of model.
        """
        return cls.config_class.from_reference(entries)

    def reference_layout(self) -> Layout:
        """Return the layout of a model with this configuration."""
        return self.layout

    def from_reference(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return parameters under our names, given those under the reference library's.

        Parameters
        ----------
        weights : mapping of str to Tensor
            The parameters under the reference's names.

        Returns
        -------
        dict of str to Tensor
            The parameters under our names, as :meth:`load_weights` expects them.

        Raises
        ------
        ValueError, TypeError
            As for :meth:`~glassbox.layout.Layout.read_weights`.
        """
        shapes = {n: x.shape for n, x in self.named_parameters(remove_duplicate=False)}
        return self.reference_layout().read_weights(weights, shapes)

    def to_reference(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return parameters under the reference library's names; undo :meth:`from_reference`.

        Parameters
        ----------
        weights : mapping of str to Tensor
            The parameters under our names.

        Returns
        -------
        dict of str to Tensor
            The parameters under the reference's names.
        """
        tied = self.tied_names()  # of a tied parameter, one name is enough
        once = {name: x for name, x in weights.items() if tied.get(name) not in weights}
        return self.reference_layout().write_weights(once)

    def save_pretrained(self, folder: StrPath, dtype: torch.dtype | None = None) -> None:
        """Write ``config.json`` and ``model.safetensors`` as the reference library reads them.

        An older model's ``generation_config.json`` goes; see :func:`~glassbox.files.atomic_update`.

        Parameters
        ----------
        folder : str or path
            Created if it is missing. Its files are replaced only once both new ones are complete.
        dtype : torch.dtype, optional
            The type in which parameters are stored, such as ``torch.bfloat16`` for half the size;
            their own if left out.

        Raises
        ------
        FileExistsError
            If ``folder`` is a file.
        ValueError
            If ``dtype`` is not a floating-point type of 16 bits or more, the reference library has
            no such model, or a part or parameter is not that of the configuration.
        """
        if dtype is not None and dtype not in FLOATS:
            raise ValueError(
                f"dtype={dtype!r}: expected floating-point numbers of 16 bits or more, as "
                "torch.bfloat16"
            )
        entries, weights = self.export(dtype)
        write_model(folder, entries, weights)

    def export(self, dtype: torch.dtype | None = None) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what :meth:`save_pretrained` writes: the entries of ``config.json`` and tensors.

        Parameters
        ----------
        dtype : torch.dtype, optional
            As for :meth:`save_pretrained`.

        Returns
        -------
        entries : dict
            The configuration in the reference library's terms.
        weights : dict of str to Tensor
            The parameters by its names, on the CPU; a tied parameter once. They are not copied:
            they share the model's memory where device and dtype agree.

        Raises
        ------
        ValueError
            As for :meth:`save_pretrained`.
        """
        check_weights(dict(self.named_parameters()))
        parameters = self._checked_parameters()
        entries = self.reference_layout().write_config(self.config)
        entries["dtype"] = str(dtype or next(self.parameters()).dtype).removeprefix("torch.")
        weights = {name: x.detach().to("cpu", dtype) for name, x in parameters.items()}
        return entries, self.to_reference(weights)

    def _checked_parameters(self) -> dict[str, Tensor]:
        """Return each parameter once; reject what the saved configuration would not restore."""
        with torch.device("meta"), _Undrawn():
            expected = type(self)(self.config)
        parts = dict(self.named_modules())
        for name, part in expected.named_modules():
            given = parts.get(name, part)  # if it is missing, so are its parameters
            was, now = _settings(part), _settings(given)
            # An attribute of the user's own changes nothing, unless it hides one of the class.
            kept = [key for key in was | now if key in was or hasattr(part, key)]
            changed = [key for key in kept if was.get(key) != now.get(key)]
            if type(given) is type(part) and (not changed or isinstance(part, nn.Dropout)):
                continue
            if isinstance(part, Positions):
                raise ValueError(
                    f"{name} is {given}, but only the configuration is saved, which means {part}"
                    ": the file would load as another model. Put these positions back first; if "
                    "only interleaved differs, permute the weights and biases of queries and keys "
                    "to match, with interleaved_to_half"
                )
            settings = ", ".join(f"{name}.{key}".lstrip(".") for key in changed)
            raise ValueError(
                f"{settings or name} is not what the configuration says, and only that "
                "is saved: the file would load as another model. Undo the change first"
            )
        first = self.tied_names() | expected.tied_names()
        named = self.state_dict(keep_vars=True).items()
        ours = merge((name, first.get(name, name), x) for name, x in named)
        hint = ". Only what that describes is saved: undo the change, or save state_dict() yourself"
        expected._check_fit(ours, f"this {type(self).__name__}", hint)
        return ours

    def load_weights(self, weights: Mapping[str, Tensor], where: str = "this dictionary") -> None:
        """Replace all parameters by copies of these tensors.

        The copies are new parameters, on the tensors' devices: an optimiser that was made before
        would go on training the old ones.

        Parameters
        ----------
        weights : mapping of str to Tensor
            The tensors by our names; a tied parameter under one of its names or both. If their
            dtypes differ, all are converted to one that can hold each.
        where : str, optional
            The weights' origin, for the message.

        Raises
        ------
        ValueError
            If a tensor is missing, unexpected, of the wrong shape or not floating-point, or if the
            tensors under the two names of a tied parameter differ.
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
        dtype = reduce(torch.promote_types, dtypes) if dtypes else torch.float32
        tied = self.tied_names()
        named = ((name, tied.get(name, name), _copied(x, dtype)) for name, x in weights.items())
        given = merge(named)
        self._check_fit(given, where)
        second = {name: given[first] for name, first in tied.items()}
        self.load_state_dict(given | second, assign=True)

    def _check_fit(self, weights: Mapping[str, Tensor], where: str, hint: str = "") -> None:
        """Reject missing, unexpected and misshapen tensors; the message names the first few."""
        expected = {name: tuple(x.shape) for name, x in self.named_parameters()}
        missing = [name for name in expected if name not in weights]
        surplus = [name for name in weights if name not in expected]
        misfits = [
            f"{name} is {tuple(x.shape)}, expected {expected[name]}"
            for name, x in weights.items()
            if expected.get(name, x.shape) != x.shape
        ]
        if theirs := self.reference_layout().table(expected).keys() & {*surplus}:
            raise ValueError(
                f"{min(theirs)!r} is the reference library's name, not this package's: call "
                "model.load_weights(model.from_reference(weights)), or "
                f"{type(self).__name__}.from_weights(config, weights)"
            )
        found = {"Missing": missing, "Unexpected": surplus, "Other shapes": misfits}
        if wrong := [f"{what}: {few(names)}" for what, names in found.items() if names]:
            raise ValueError(
                f"the weights in {where} do not fit its configuration. {'. '.join(wrong)}{hint}"
            )

    def load_state_dict(self, *args: Any, **options: Any) -> Any:
        """Load a state dict as PyTorch does; tied parameters stay tied, even with ``assign``.

        Parameters
        ----------
        *args, **options
            As for :meth:`torch.nn.Module.load_state_dict`.

        Returns
        -------
        NamedTuple
            The names of missing and of unexpected tensors.

        Raises
        ------
        RuntimeError
            As :meth:`torch.nn.Module.load_state_dict`.
        """
        tied = self.tied_names()
        result = super().load_state_dict(*args, **options)
        self._tie(tied)
        return result

    def _apply(self, *args: Any, **options: Any) -> Self:
        # Off the meta device, PyTorch makes a parameter of its own for each name.
        tied = self.tied_names()
        super()._apply(*args, **options)
        self._tie(tied)
        return self

    def _tie(self, names: Mapping[str, str]) -> None:
        for name, first in names.items():
            owner, _, last = name.rpartition(".")
            setattr(self.get_submodule(owner), last, self.get_parameter(first))

    def tied_names(self) -> dict[str, str]:
        """Map the second name of each parameter that appears twice to its first name."""
        first: dict[nn.Parameter, str] = {}
        return {
            name: first[parameter]
            for name, parameter in self.named_parameters(remove_duplicate=False)
            if first.setdefault(parameter, name) != name
        }


def check_plausible(config: Any, weights: Mapping[str, Tensor], where: str) -> None:
    """Reject sizes that no model with these weights can have, before building such a model.

    Parameters
    ----------
    config : StackConfig
        The sizes.
    weights : mapping of str to Tensor
        All weights of the model.
    where : str
        Their origin, for the message.

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


def read_source(source: Source) -> tuple[dict[str, Any], dict[str, Tensor], str]:
    """Return the configuration and the parameters of a published model, in its own terms.

    Parameters
    ----------
    source : str, path, nn.Module or None
        See :meth:`Pretrained.from_pretrained`.

    Returns
    -------
    entries : dict
        The entries of ``config.json``, with the special ids of ``generation_config.json``.
    weights : dict of str to Tensor
        The parameters by the reference's names, on the CPU.
    where : str
        Their origin, for messages.

    Raises
    ------
    FileNotFoundError, ConnectionError, PermissionError, ValueError, TypeError
        See :meth:`Pretrained.from_pretrained`.
    """
    expected = "a name on the Hugging Face hub, a folder, or a model of transformers"
    check_type("source", source, str | os.PathLike | nn.Module | None, expected)
    source = getattr(source, "_orig_mod", source)  # what torch.compile has wrapped
    where = f"this {type(source).__name__}"
    if isinstance(source, Pretrained):
        return *source.export(), where
    if isinstance(source, nn.Module):
        config: Any = getattr(source, "config", None)
        if not hasattr(config, "to_dict"):
            raise ValueError(
                f"{where} has no configuration: expected a model of transformers, a folder, or a "
                "name on the hub"
            )
        weights = {name: x.detach().cpu() for name, x in source.state_dict().items()}
        writing: Any = getattr(source, "generation_config", None)
        entries = config.to_dict() | special_ids(writing.to_dict() if writing else {})
        # The configuration may still name the class it was loaded from.
        return entries | {"architectures": [type(source).__name__]}, weights, where
    folder = find_weights(source)
    return read_config(folder), read_weights(folder), str(folder)


def _copied(x: Tensor, dtype: torch.dtype) -> nn.Parameter:
    return nn.Parameter(x.to(dtype, copy=True, memory_format=torch.contiguous_format))


def _settings(scheme: nn.Module) -> dict[str, Any]:
    """Return the arguments of a module's constructor, without parameters and submodules."""
    return {k: v for k, v in vars(scheme).items() if k[0] != "_" and k != "training"}
