"""The values that pass between Python and Futhark: how each type is checked, copied to the device, and fetched.

What is not exactly of its type is refused: no value is wrapped, rounded or truncated. NumPy is imported where a value
passes, and not before: a device opens while another thread still imports it.
"""

from __future__ import annotations

import reprlib
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytsp.exceptions import BackendError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytsp.backends.futhark import FutharkContext

# NumPy's names of Futhark's elements.
ELEMENTS = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "f32": "float32",
    "f64": "float64",
    "bool": "bool",
}


class Opaque:
    """A value that lives on a device and that only its own backend can read.

    It frees itself when Python lets go of it, at the latest when its backend is closed.

    Attributes
    ----------
    type : str
        Futhark's name of its type.
    """

    def __init__(self, owner: FutharkContext, type_name: str, ticket: int) -> None:
        self.type = type_name
        self.owner = owner
        self.ticket = ticket
        # The finalizer keeps the owner alive. At exit the backends free what is left.
        self._finalizer = weakref.finalize(self, owner.release, ticket)
        self._finalizer.atexit = False

    def free(self) -> None:
        """Free the device's memory now. Freeing twice is harmless."""
        self._finalizer()

    def __repr__(self) -> str:
        state = "" if self._finalizer.alive else ", freed"
        return f"<Opaque {self.type} on {self.owner!r}{state}>"


def pointer_to(owner: FutharkContext, value: Opaque) -> Any:
    """Return the pointer to a value that is on the device already, unless it was freed; its `Opaque` frees it."""
    pointer = owner.pointer(value.ticket) if value.owner is owner else None
    if pointer is None:
        state = "was freed or consumed" if value.owner is owner else "belongs to another backend"
        raise BackendError(f"{value!r} {state}; make a new one on {owner!r}")
    return pointer


class Refused(Exception):
    """A value that does not pass."""

    def __init__(self, value: object, kind: ValueType, shown: str = "") -> None:
        shown = shown or f"{type(value).__name__} {' '.join(reprlib.repr(value).split())}"
        super().__init__(f"{shown} is not accepted; it takes {kind.accepted}")


class ValueType:
    """A type of values that pass, with Futhark's name of it. One that overrides `check` only is passed by value."""

    name: str

    @property
    def accepted(self) -> str:
        """Description of the accepted values, for a message."""
        raise NotImplementedError

    def check(self, value: Any) -> Any:
        """Return a value as Futhark takes it, or raise `Refused`."""
        raise NotImplementedError

    def checked(self, value: Any, where: str) -> Any:
        """Return a value as Futhark takes it, or raise an error that says where it would go."""
        try:
            return self.check(value)
        except Refused as refused:
            raise BackendError(f"{where}: {refused}") from None

    def upload(self, owner: FutharkContext, value: Any) -> Any:
        """Return the argument of a C function, made of a value that passed `check`."""
        return value

    def free(self, owner: FutharkContext, argument: Any) -> None:
        """Free what `upload` made."""

    def fetch(self, owner: FutharkContext, result: Any) -> Any:
        """Return the result of a C function as Python's value; what it took on the device is freed or owned by that."""
        return result


@dataclass(frozen=True)
class Scalar(ValueType):
    """A number or a truth value."""

    name: str

    @property
    def accepted(self) -> str:
        if self.name == "bool":
            return "a bool"
        if self.name.startswith("f"):
            return f"a float (numpy.{ELEMENTS[self.name]} or one that it holds exactly)"
        least, most = self._bounds
        return f"an int from {least} to {most}"

    @property
    def _bounds(self) -> tuple[int, int]:
        bits = int(self.name[1:])
        return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if self.name.startswith("i") else (0, 2**bits - 1)

    def check(self, value: object) -> object:
        import numpy as np  # noqa: PLC0415

        kind = self.name[0]
        if kind == "b" and isinstance(value, bool | np.bool_):
            return bool(value)
        if kind in "iu" and isinstance(value, int | np.integer) and not isinstance(value, bool):
            least, most = self._bounds
            if least <= int(value) <= most:
                return int(value)
        if kind == "f" and isinstance(value, float | np.floating):
            # A value too large for the type becomes an infinity here and is refused by the comparison.
            with np.errstate(over="ignore"):
                held = np.dtype(ELEMENTS[self.name]).type(value)
            if held.item() == value or np.isnan(value):
                return float(held)
        raise Refused(value, self)


@dataclass(frozen=True)
class Array(ValueType):
    """An array of numbers or truth values, with the C functions that Futhark offers for it."""

    name: str
    rank: int
    dtype: np.dtype[Any]
    new: Any
    shape: Any
    values: Any
    release: Any

    @property
    def accepted(self) -> str:
        return f"a numpy array of {self.dtype} with {self.rank} dimension{'s' * (self.rank != 1)}"

    def check(self, value: object) -> NDArray[Any] | Opaque:
        """Return an array, contiguous, or one that is kept on the device, or raise `Refused`."""
        import numpy as np  # noqa: PLC0415

        if isinstance(value, Opaque) and value.type == self.name:
            return value

        from pytsp.utils.arguments import is_masked  # noqa: PLC0415

        if not isinstance(value, np.ndarray) or is_masked(value):
            raise Refused(value, self)
        if value.dtype != self.dtype or value.ndim != self.rank:
            raise Refused(value, self, f"an array of {value.dtype} with shape {value.shape}")
        return np.ascontiguousarray(value)

    def upload(self, owner: FutharkContext, value: NDArray[Any] | Opaque) -> Any:
        if isinstance(value, Opaque):
            return pointer_to(owner, value)
        data = owner.ffi.cast(owner.ffi.typeof(self.new).args[1], value.ctypes.data)
        owner.reserve(value.nbytes)
        pointer = self.new(owner.context, data, *value.shape)
        # Where memory runs out Futhark may return an array all the same.
        complaint = owner.complaint()
        if complaint or not pointer:
            raise owner.refused(complaint)
        return pointer

    def free(self, owner: FutharkContext, argument: Any) -> None:
        owner.free(self.release, argument)

    def fetch(self, owner: FutharkContext, result: Any) -> NDArray[Any]:
        import numpy as np  # noqa: PLC0415

        try:
            shape = self.shape(owner.context, result)
            if not shape:
                raise owner.refused()
            array = np.empty([shape[axis] for axis in range(self.rank)], self.dtype)
            data = owner.ffi.cast(owner.ffi.typeof(self.values).args[2], array.ctypes.data)
            owner.checked(self.values(owner.context, result, data))
            return array
        finally:
            self.free(owner, result)


@dataclass(frozen=True)
class OpaqueType(ValueType):
    """A type that only Futhark knows; a tuple is unpacked into its parts when it comes back."""

    name: str
    release: Any
    parts: tuple[tuple[Any, ValueType], ...] = ()

    @property
    def accepted(self) -> str:
        return f"a value of type {self.name} from the same backend"

    def check(self, value: object) -> Opaque:
        if isinstance(value, Opaque) and value.type == self.name:
            return value
        raise Refused(value, self, repr(value) if isinstance(value, Opaque) else "")

    def upload(self, owner: FutharkContext, value: Opaque) -> Any:
        return pointer_to(owner, value)

    def fetch(self, owner: FutharkContext, result: Any) -> object:
        if not self.parts:
            return Opaque(owner, self.name, owner.adopt(result, self.release))
        try:
            return tuple(kind.fetch(owner, owner.output_of(project, result)) for project, kind in self.parts)
        finally:
            owner.free(self.release, result)
