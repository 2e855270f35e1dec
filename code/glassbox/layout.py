"""Layouts: tables of how another library writes a model's sizes and names its parameters.

One table serves for reading and for writing, so each undoes the other.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self, get_args

import torch
from torch import Tensor

from glassbox.checks import check_kind, check_type, wrong_shape
from glassbox.config import Activation

Entries = Mapping[str, Any]
Translation = Callable[[Any, Entries], Any]
Number = type[int] | type[float]

#: The reference library's names of activations and ours; of two for one, the first is written.
REFERENCE_ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}
#: The prefixes that PyTorch puts before the names of a wrapped model, and the wrappers.
WRAPPERS = {"module.": "DataParallel", "_orig_mod.": "torch.compile"}
#: Endings of names in the first published files, and today's endings.
OLD_ENDINGS = {r"\.gamma$": ".weight", r"\.beta$": ".bias"}


def read_activation(name: str) -> Activation:
    """Return our name of an activation, given the reference library's ``name``.

    Raises
    ------
    ValueError
        If this package does not have the activation.
    """
    check_kind("activation", name, tuple(REFERENCE_ACTIVATIONS))
    return REFERENCE_ACTIVATIONS[name]


def write_activation(name: Activation) -> str:
    """Return the reference library's name of an activation, given our ``name``.

    Raises
    ------
    ValueError
        If this package does not have the activation.
    """
    check_kind("activation", name, get_args(Activation))
    return next(theirs for theirs, ours in REFERENCE_ACTIVATIONS.items() if ours == name)


def check_entry(entries: Entries, name: str) -> None:
    """Reject the ``entries`` of a ``config.json`` that have none called ``name``.

    Raises
    ------
    ValueError
        If the entry is missing; the message names it.
    """
    if name not in entries:
        raise ValueError(f"config.json has no {name!r}, which this class needs")


def read_number(entries: Entries, name: str, kind: Number = int) -> Any:
    """Return a number from ``config.json``.

    Parameters
    ----------
    entries : mapping
        The entries of ``config.json``.
    name : str
        The entry's name.
    kind : {int, float}, optional
        The required type; an integer also counts as a float.

    Raises
    ------
    ValueError
        If there is no such entry, or it is not a number of this kind.
    """
    check_entry(entries, name)
    value = entries[name]
    if not isinstance(value, int | kind) or isinstance(value, bool):
        raise ValueError(f"{name}={value!r} in config.json; expected a number, {kind.__name__}")
    return kind(value)


@dataclass(frozen=True)
class Entry:
    """How ``config.json`` stores one field of a configuration.

    Parameters
    ----------
    name : str or tuple of str
        The entry's name, or the names of several entries that must agree.
    read, write : callable, optional
        Translate an entry to a field's value, and back. The second argument is ``config.json``;
        for ``write``, the part written so far, in the order of the layout.
    number : {int, float}, optional
        The type of number the entry must be; None is also allowed if the entry is not required.
    required : bool
        Whether ``config.json`` must have the entry, or the first of several.
    default : optional
        The value of a missing entry. Without it the field takes its own default.
    """

    name: str | tuple[str, ...]
    read: Translation | None = None
    write: Translation | None = None
    number: Number | None = None
    required: bool = False
    default: Any = ...

    @property
    def names(self) -> tuple[str, ...]:
        """The entry's names, one or several."""
        return (self.name,) if isinstance(self.name, str) else self.name

    def find(self, entries: Entries) -> Any:
        """Return the field's value, read from the ``entries``; ``...`` if there is none.

        Raises
        ------
        ValueError
            If a required entry is missing, one is not a number, or two differ.
        """
        if self.required:
            check_entry(entries, self.names[0])
        said = {name: entries.get(name, self.default) for name in self.names}
        said = {name: value for name, value in said.items() if value is not ...}
        if not said:
            return ...
        if self.number is not None and (self.required or None not in said.values()):
            said = {name: read_number(said, name, self.number) for name in said}
        (first, value), *others = said.items()
        for name, other in others:
            if other != value:
                raise ValueError(
                    f"{first}={value!r} and {name}={other!r} in config.json; this class has one "
                    "value for both"
                )
        return value if self.read is None else self.read(value, entries)


def number(*names: str, kind: Number = int, write: Translation | None = None) -> Entry:
    """Return a required entry that is a number of this ``kind``.

    Its ``names``, and ``write``, are as for :class:`Entry`.
    """
    return Entry(names, write=write, number=kind, required=True)


def unless_equal(name: str, other: str, *, required: bool = False) -> Entry:
    """Return the entry ``name`` of a field that is None if the entry equals the entry ``other``.

    ``required`` is as for :class:`Entry`.
    """
    return Entry(
        name,
        read=lambda value, entries: None if value == entries[other] else value,
        write=lambda value, written: written[other] if value is None else value,
        number=int,
        required=required,
    )


def projections(theirs: str, ours: str, names: str) -> dict[str, str]:
    """Return the ``names`` of an attention's matrices, in the order of ours, with our names.

    Parameters
    ----------
    theirs, ours : str
        The attention's name in the reference library, and here.
    names : str
        What the reference calls query, key, value and output, separated by spaces.

    Returns
    -------
    dict of str to str
        As in :attr:`Layout.names`.
    """
    parts = zip(names.split(), ("query", "key", "value", "output"), strict=True)
    return {f"{theirs}.{their}": f"{ours}.{our}" for their, our in parts}


def activation(name: str, read: Callable[[Any], str] = str) -> Entry:
    """Return the required entry ``name``, an activation whose name ``read`` extracts."""
    return Entry(
        name,
        read=lambda value, _: read_activation(read(value)),
        write=lambda value, _: write_activation(value),
        required=True,
    )


@dataclass(frozen=True)
class Layout:
    """The form of one kind of model's files: ``config.json`` and the parameters.

    Parameters
    ----------
    constants : mapping
        Entries of ``config.json`` that, if present, must have these values.
    entries : mapping of str to Entry
        Each field of the configuration and its entry.
    written : mapping
        Entries that are written but not read: values, or functions of the configuration.
    architectures : tuple of str
        The reference's classes with this layout; the first is written.
    lost : tuple of str
        Fields that are not saved. Other fields without an entry must have their default values.
    own : bool
        Whether the layout is this package's own: then entries that are not in the table are
        refused, and layers may differ in their number of heads.
    names : mapping of str to str or tuple of str
        The reference's names of modules or parameters, and ours. ``{}`` matches a part that both
        share, such as a layer's number; a tuple lists several of ours whose rows are stacked. A
        parameter may be read under several names. An empty mapping means that all names are ours.
    prefix : str
        What some of the reference's models put before these names.
    outside : tuple of str
        Beginnings of the names that never have the prefix.
    transposed : tuple of str
        Endings of the names of matrices that are stored as (inputs, outputs).
    rows : tuple of str
        Names of vectors that are stored as a matrix of one row.
    ignored : str
        Regular expression for parameters of the reference that this package's model lacks.
    """

    constants: Entries = field(default_factory=dict)
    entries: Mapping[str, Entry] = field(default_factory=dict)
    written: Entries = field(default_factory=dict)
    architectures: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    own: bool = False
    names: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    prefix: str = ""
    outside: tuple[str, ...] = ()
    transposed: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    ignored: str = r"(?!)"  # matches nothing

    def read_config(self, entries: Entries) -> dict[str, Any]:
        """Return the fields defined by the ``entries`` of a ``config.json``.

        Raises
        ------
        ValueError
            If they describe a different kind of model, one that differs in more than its sizes, or
            if an entry is missing or has the wrong type.
        """
        for name, value in self.constants.items():
            if (given := entries.get(name, value)) != value:
                raise ValueError(f"{name}={given!r} in config.json; this class reads {value!r}")
        unknown = entries.keys() - self.entries.keys() - self.constants.keys() - {"dtype"}
        if self.own and unknown:
            raise ValueError(f"{sorted(unknown)} in config.json: this class has no such fields")
        found = {name: entry.find(entries) for name, entry in self.entries.items()}
        return {name: value for name, value in found.items() if value is not ...}

    def write_config(self, config: Any) -> dict[str, Any]:
        """Return the entries of ``config.json`` for a ``config``.

        Raises
        ------
        ValueError
            If the reference has no model with these sizes.
        """
        for name in (x.name for x in fields(config) if x.name not in (*self.entries, *self.lost)):
            if (given := getattr(config, name)) != (expected := getattr(type(config), name)):
                raise ValueError(
                    f"{name}={given!r}: the reference library's model of this kind has "
                    f"{name}={expected!r}"
                )
        if isinstance(config.n_heads, tuple) and not self.own:
            raise ValueError(
                f"n_heads={config.n_heads}: the reference has one number for all layers"
            )
        written = dict(self.constants)
        for name, entry in self.entries.items():
            value = getattr(config, name)
            value = value if entry.write is None else entry.write(value, written)
            written |= dict.fromkeys(entry.names, value)
        for name, value in self.written.items():
            written[name] = value(config) if callable(value) else value
        return written | ({"architectures": [self.architectures[0]]} if self.architectures else {})

    def table(self, ours: Iterable[str]) -> dict[str, list[str]]:
        """Map the reference's names of parameters to ours.

        Parameters
        ----------
        ours : iterable of str
            Our names of a model's parameters.

        Returns
        -------
        dict of str to list of str
            Each name of the reference, and those of ours that are stacked under it, usually one.
        """
        ours, found = [*ours], dict[str, list[str]]()
        for theirs, parts in self.names.items():
            for part in (parts,) if isinstance(parts, str) else parts:
                pattern = re.escape(part).replace(r"\{\}", r"([^.]+)") + r"(\.weight|\.bias)?"
                for name in ours:
                    if match := re.fullmatch(pattern, name):
                        *numbers, kind = match.groups()
                        full = theirs.format(*numbers) + (kind or "")
                        full = full if full.startswith(self.outside) else self.prefix + full
                        found.setdefault(full, []).append(name)
        return found

    def read_weights(
        self, weights: Mapping[str, Tensor], shapes: Mapping[str, torch.Size]
    ) -> dict[str, Tensor]:
        """Return a model's parameters under our names.

        Parameters
        ----------
        weights : mapping of str to Tensor
            The parameters under the reference's names, with or without the prefix.
        shapes : mapping of str to torch.Size
            The shapes of all the model's parameters, by our names.

        Returns
        -------
        dict of str to Tensor
            The parameters, without those that are ignored.

        Raises
        ------
        ValueError
            If the model has no parameter of some name, two names of one parameter have different
            values, or a matrix is transposed.
        TypeError
            If one is not a tensor.
        """
        check_weights(weights)
        if not self.names:
            return dict(weights)
        table = {name.removeprefix(self.prefix): x for name, x in self.table(shapes).items()}
        read = []
        for name, x in weights.items():
            inside = name.removeprefix(self.prefix)
            for old, today in OLD_ENDINGS.items():
                inside = re.sub(old, today, inside)
            if inside in table:
                ours = table[inside]
                x = self._unpack(name, x, [shapes[part] for part in ours])
                stacked = torch.atleast_1d(x).tensor_split(len(ours)) if len(ours) > 1 else [x]
                read += [(name, part, rows) for part, rows in zip(ours, stacked, strict=True)]
            elif not re.match(self.ignored, inside):
                raise ValueError(_unknown(name, inside, shapes))
        return merge(read)

    def write_weights(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return a model's parameters under the reference's names; undo :meth:`read_weights`.

        Parameters
        ----------
        weights : mapping of str to Tensor
            The parameters under our names.

        Returns
        -------
        dict of str to Tensor
            The parameters under the reference's names.

        Raises
        ------
        ValueError
            If the reference has no name for one.
        """
        if not self.names:
            return dict(weights)
        written, done = {}, set[str]()
        for name, ours in self.table(weights).items():
            if not done & {*ours}:
                x = torch.cat([weights[part] for part in ours]) if ours[1:] else weights[ours[0]]
                x = x.movedim(0, -1) if name.endswith(self.transposed) else x
                written[name] = x[None] if name.endswith(self.rows) else x
                done |= {*ours}
        if lost := [name for name in weights if name not in done]:
            raise ValueError(
                f"the reference library has no names for {few(lost)} in a model of this kind, so "
                "its files cannot hold them: save the model's state_dict() yourself"
            )
        return written

    def _unpack(self, name: str, x: Tensor, shapes: list[torch.Size]) -> Tensor:
        """Return a tensor in our orientation; it stacks parameters of these ``shapes``."""
        if name.endswith(self.rows):
            return x.flatten()
        if not name.endswith(self.transposed):
            return x
        expected = (shapes[0][1], sum(outputs for outputs, _ in shapes))
        if x.shape != expected:
            hint = (
                ". It is (outputs, inputs), as in nn.Linear: transpose the matrices whose names "
                f"end with {' or '.join(self.transposed)}, the square ones too: weight.T"
            )
            turned = x.shape == expected[::-1]
            raise wrong_shape(name, x, f"{expected}, (inputs, outputs){hint if turned else ''}")
        return x.movedim(0, -1)


class HasLayout:
    """A configuration that can read and write another library's ``config.json``.

    Attributes
    ----------
    layout : Layout
        The table of its entries.
    """

    layout: ClassVar[Layout] = Layout()

    def __new__(cls, *_sizes: Any, **named: Any) -> Self:
        """Reject names that are the reference library's, or unknown; the message gives ours."""
        for ours, entry in cls.layout.entries.items():
            for theirs in {*entry.names} & (named.keys() - cls.layout.entries.keys()):
                raise TypeError(f"{theirs} is the reference library's name: here it is {ours}")
        # A subclass that is no dataclass may take others.
        known = sorted(vars(cls).get("__dataclass_fields__", named))
        if unknown := sorted(named.keys() - known):
            raise TypeError(f"{cls.__name__} has no entry {unknown[0]!r}; there are: {known}")
        return super().__new__(cls)

    @classmethod
    def from_reference(cls, config: Entries) -> Self:
        """Read the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            As for :meth:`Layout.read_config`, or if the sizes do not fit each other.
        TypeError
            If a size has a type that the configuration refuses.
        """
        return cls(**cls.layout.read_config(config))

    def to_reference(self) -> dict[str, Any]:
        """Return the entries of the reference library's ``config.json``.

        Raises
        ------
        ValueError
            If the reference has no such model.
        """
        return self.layout.write_config(self)


def merge(named: Iterable[tuple[str, str, Tensor]]) -> dict[str, Tensor]:
    """Collect tensors, several of which may be the same parameter.

    Parameters
    ----------
    named : iterable of (str, str, Tensor)
        The name in a file or in a model, the parameter's name here, and the tensor.

    Returns
    -------
    dict of str to Tensor
        The tensors by the parameters' names.

    Raises
    ------
    ValueError
        If two tensors for the same parameter differ.
    """
    found: dict[str, tuple[str, Tensor]] = {}
    for name, parameter, x in named:
        first, other = found.setdefault(parameter, (name, x))
        if other is not x and not torch.equal(other.nan_to_num(), x.nan_to_num()):
            raise ValueError(
                f"{first} and {name} differ, but the configuration has one parameter for both. Tie "
                f"them in the model that they come from: model.{name} = model.{first}"
            )
    return {parameter: x for parameter, (_, x) in found.items()}


def check_weights(weights: Mapping[str, Tensor]) -> None:
    """Reject weights that are not dense tensors or that have the names of a wrapped model.

    Raises
    ------
    TypeError
        If one is not a tensor.
    ValueError
        If one is sparse or on the meta device, or PyTorch put a prefix before the names; the
        message gives it.
    """
    for name, x in weights.items():
        check_type(name, x, Tensor, "a tensor: convert arrays with torch.as_tensor")
        if x.is_meta or x.layout != torch.strided:
            raise ValueError(
                f"{name} is a {x.layout} tensor on {x.device}; expected numbers in a dense one: "
                "x.to_dense() makes one of a sparse tensor, and the meta device holds no numbers"
            )
        for prefix, wrapper in WRAPPERS.items():
            if name.startswith(prefix):
                raise ValueError(
                    f"{name!r} begins with {prefix!r}, which {wrapper} adds: remove it with "
                    f"{{name.removeprefix({prefix!r}): x for name, x in weights.items()}}"
                )


def few(names: list[str]) -> str:
    """Return the first three of these ``names``, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _unknown(name: str, inside: str, ours: Iterable[str]) -> str:
    """Return the message for a name that is not the reference's name of any parameter."""
    if name in ours:
        return (
            f"{name!r} is this package's own name, not the reference library's: give these "
            "weights to load_weights as they are, or to from_weights(config, weights)"
        )
    return (
        f"there is no weight called {inside!r} in a model of this kind with these sizes: are these "
        "another model's weights?"
    )
