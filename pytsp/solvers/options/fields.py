"""Kinds of options: their values, checks, documentation, and form on the command line."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cache
from inspect import cleandoc
from textwrap import fill
from typing import Any, ClassVar

from pytsp.utils.arguments import check_real, is_array, truth_value, whole_number

MOST = 2**62


@dataclass(frozen=True)
class Field:
    """One option."""

    # Returns the stored form of a value, given its name and the value; or raises.
    check: Callable[[str, Any], Any]
    # The type of the value, in numpydoc's form.
    type: str
    # Meaning and default; then in a few words for the command line.
    doc: str
    help: str = ""
    # The smallest whole number, if it takes such, and words besides.
    least: int | None = None
    words: tuple[str, ...] = ()
    # Reader of other values from the command line, and the name of the value in its help.
    read: Callable[[str], Any] | None = None
    metavar: str = ""
    # All accepted names or numbers, if there are only some.
    choices: tuple[str, ...] | tuple[int, ...] = ()
    default: Any = None

    def is_given(self, value: object) -> bool:
        """Tell whether a value is another than the default one."""
        return is_array(value) or _is_truth(value) is not _is_truth(self.default) or bool(value != self.default)

    def accepts(self, name: str, value: object) -> bool:
        """Tell whether a value is one that the option takes."""
        try:
            self.check(name, value)
        except (TypeError, ValueError):
            return False
        return True


def _is_truth(value: object) -> bool:
    """Tell truth values, NumPy's too, from the numbers 0 and 1 to which they are equal."""
    return type(value).__name__ in ("bool", "bool_")


def of(spec: Field, default: Any = None) -> Any:
    """Return the dataclass field of an option."""
    return field(default=default, metadata={"option": replace(spec, default=default)})


def whole(least: int, most: int = MOST, *, default: int | None = None, doc: str, help: str, metavar: str = "N") -> Any:
    """Return an option that takes whole numbers within bounds."""

    def check(name: str, value: Any) -> int:
        return whole_number(name, value, least, most)

    return of(Field(check, "int, optional", doc, help, least, metavar=metavar), default)


def one_of(numbers: tuple[int, ...], *, doc: str, help: str) -> Any:
    """Return an option that takes one of some whole numbers."""
    listed = ", ".join(map(str, numbers))

    def check(name: str, value: Any) -> int:
        given = whole_number(name, value, 1, MOST)
        if given not in numbers:
            raise ValueError(f"{name} must be one of {listed}; it is {value!r}")
        return given

    return of(Field(check, f"{{{listed}}}, optional", doc, help, choices=numbers))


def number(
    holds: Callable[[float], bool], words: str, *, doc: str, help: str, metavar: str, default: float | None = None
) -> Any:
    """Return an option that takes numbers for which `holds` is true; `words` describe them."""

    def check(name: str, value: Any) -> Any:
        check_real(name, value)
        if not holds(value):
            raise ValueError(f"{name} must be {words}; it is {value!r}")
        return value

    return of(Field(check, "float, optional", doc, help, read=float, metavar=metavar), default)


def choice(names: tuple[str, ...], *, default: str | None = None, doc: str, help: str, metavar: str = "") -> Any:
    """Return an option that takes one of some names."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, str) or value not in names:
            raise ValueError(f"{name} {value!r} is not known; known: {', '.join(names)}")
        return value

    listed = ", ".join(f'"{name}"' for name in names)
    return of(Field(check, f"{{{listed}}}, optional", doc, help, read=str, choices=names, metavar=metavar), default)


def switch(*, default: bool | None = False, doc: str, help: str) -> Any:
    """Return an option that is on or off, or by default neither."""
    return of(Field(truth_value, "bool, optional", doc, help), default)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Options:
    """Options of a solver, checked when an object is made.

    Raises
    ------
    TypeError, ValueError
        If an option is out of its range, a name is not known, or two options say different things.
    """

    name: ClassVar[str]
    """Name of the solver, as `solver=` takes it."""
    title: ClassVar[str]
    """Name of the method in the literature."""
    part: ClassVar[str]
    """The part of the kernels that it calls by default."""
    takes_initial_tour: ClassVar[bool] = True
    """True if it takes an `initial_tour`."""
    in_space: ClassVar[frozenset[str]] = frozenset()
    """The machines, "cpu" and "gpu", on which it has kernels for many cities of any metric as points."""

    def __init_subclass__(cls) -> None:
        """Add the options to the docstring, including those of bases."""
        specs = {name: spec for base in reversed(cls.__mro__) for name, spec in _specs(base).items()}
        text = [line for name, spec in specs.items() for line in (f"{name} : {spec.type}", _indented(spec.doc))]
        before, heading, after = cleandoc(cls.__doc__ or "").partition("\n\nReferences\n")
        cls.__doc__ = "\n".join([before, "", "Parameters", "----------", *text]) + heading + after

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._plain().items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and type(self) is type(other) and self._plain() == other._plain()

    def __hash__(self) -> int:
        return hash(repr(self))

    def _plain(self) -> dict[str, Any]:
        """Return what is given, arrays as lists: of several values `==` would be several."""
        return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in self.given().items()}

    def __post_init__(self) -> None:
        for name, spec in self.fields().items():
            value = getattr(self, name)
            if value is not None or spec.default is not None:
                object.__setattr__(self, name, spec.check(name, value))

    def check_effect(self, name: str, other: str, *values: object) -> None:
        """Refuse an option that is given where another has none of the values with which it has an effect."""
        value, found = getattr(self, name), getattr(self, other)
        if value is not None and found not in values:
            words = f"{name}={value!r} has no effect with {other}={found!r}"
            raise ValueError(f"{words}; it is for {other}={values[0]!r}")

    @property
    def kernels_part(self) -> str:
        """The part of the kernels that it calls with these options."""
        return self.part

    @classmethod
    @cache
    def fields(cls) -> dict[str, Field]:
        """Return the options by their names; the same dict each time."""
        return {each.name: each.metadata["option"] for each in fields(cls)}

    def given(self) -> dict[str, Any]:
        """Return the options that are not as they are by default."""
        values = {name: getattr(self, name) for name in self.fields()}
        return {name: value for name, value in values.items() if self.fields()[name].is_given(value)}


def _specs(cls: type) -> dict[str, Field]:
    """Return the options that a class itself defines, also before it is a dataclass."""
    made: dict[str, Any] = vars(cls).get("__dataclass_fields__", {})
    own: dict[str, Any] = {name: made.get(name, vars(cls).get(name)) for name in vars(cls).get("__annotations__", {})}
    return {name: each.metadata["option"] for name, each in own.items() if "option" in getattr(each, "metadata", {})}


def _indented(text: str) -> str:
    return fill(text, 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def is_length(value: float) -> bool:
    """Tell whether a number can be a length."""
    return 0 <= value < math.inf
