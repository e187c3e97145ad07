"""What may pass between Python and Futhark: the types of entry points, and the values they take and give.

The gate refuses and never converts. A value passes only if Futhark receives exactly what Python held: no
wrapping, no rounding, no truncation.

NumPy is imported where a value passes, and not before: a device opens while another thread still imports it.
"""

from __future__ import annotations

import reprlib
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pytsp.exceptions import BackendError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Entry", "Gate", "Opaque", "Owner", "Refused"]

# NumPy's names of Futhark's elements.
_ELEMENTS = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "f32": "float32",
    "f64": "float64",
    "bool": "bool",
}


class Owner(Protocol):
    """What values on a device belong to: a context, as this file needs it."""

    ffi: Any
    lib: Any
    context: Any

    def checked(self, status: int) -> None:
        """Wait for the device; raise the context's error if there is one."""

    def refused(self, complaint: str = "") -> BackendError:
        """Return the error of a call that gave nothing."""

    def complaint(self) -> str:
        """Take the context's error message, empty where there is none."""

    def reserve(self, size: int) -> None:
        """Make sure that the device can hold another `size` bytes, or raise."""

    def adopt(self, pointer: Any, free: Callable[..., int]) -> int:
        """Take charge of a device-side value, and return a ticket for `release`."""

    def release(self, ticket: int) -> None:
        """Free a value that was adopted."""

    def free(self, function: Callable[..., int], pointer: Any) -> None:
        """Free a value that was not adopted."""

    def pointer(self, ticket: int) -> Any:
        """Return a value that was adopted, or None once it is freed."""


class Opaque:
    """A value that lives on a device and that only its own backend can read.

    It frees itself when Python lets go of it, at the latest when its backend is closed.

    Attributes
    ----------
    type : str
        Futhark's name of its type.
    """

    def __init__(self, owner: Owner, type_name: str, ticket: int) -> None:
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


class Refused(Exception):
    """A value that does not pass: what it is, to be followed by what is accepted."""


def _shown(value: object) -> str:
    """Describe a value that was refused in a few words."""
    return f"{type(value).__name__} {' '.join(reprlib.repr(value).split())}"


@dataclass(frozen=True)
class Scalar:
    """A number or a truth value."""

    name: str

    @property
    def accepted(self) -> str:
        """What passes, for a message."""
        if self.name == "bool":
            return "a bool"
        if self.name.startswith("f"):
            return f"a float (numpy.{_ELEMENTS[self.name]} or one that it holds exactly)"
        least, most = self._bounds
        return f"an int from {least} to {most}"

    @property
    def _bounds(self) -> tuple[int, int]:
        """The least and the largest number of a type of whole numbers."""
        bits = int(self.name[1:])
        return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if self.name.startswith("i") else (0, 2**bits - 1)

    def check(self, value: object) -> object:
        """Return `value` as Futhark takes it, or raise `Refused`."""
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
                held = np.dtype(_ELEMENTS[self.name]).type(value)
            if held.item() == value or np.isnan(value):
                return float(held)
        raise Refused(_shown(value))

    def upload(self, owner: Owner, value: Any) -> Any:
        """Return the argument of the C function: the value itself."""
        return value

    def free(self, owner: Owner, argument: Any) -> None:
        """Free nothing: a scalar is passed by value."""

    def fetch(self, owner: Owner, pointer: Any) -> object:
        """Return a result as a Python number."""
        return pointer


@dataclass(frozen=True)
class Array:
    """An array of numbers or truth values."""

    name: str
    rank: int
    dtype: np.dtype[Any]
    new: Any
    shape: Any
    values: Any
    release: Any

    @property
    def accepted(self) -> str:
        """What passes, for a message."""
        return f"a numpy array of {self.dtype} with {self.rank} dimension{'s' * (self.rank != 1)}"

    def check(self, value: object) -> NDArray[Any]:
        """Return `value`, contiguous, or raise `Refused`."""
        import numpy as np  # noqa: PLC0415

        from pytsp.utils.arguments import is_masked  # noqa: PLC0415

        if not isinstance(value, np.ndarray) or is_masked(value):
            raise Refused(_shown(value))
        if value.dtype != self.dtype or value.ndim != self.rank:
            raise Refused(f"an array of {value.dtype} with shape {value.shape}")
        return np.ascontiguousarray(value)

    def upload(self, owner: Owner, value: NDArray[Any]) -> Any:
        """Copy an array to the device."""
        data = owner.ffi.cast(owner.ffi.typeof(self.new).args[1], value.ctypes.data)
        owner.reserve(value.nbytes)
        pointer = self.new(owner.context, data, *value.shape)
        # Where memory runs out Futhark may return an array all the same.
        complaint = owner.complaint()
        if complaint or not pointer:
            raise owner.refused(complaint)
        return pointer

    def free(self, owner: Owner, argument: Any) -> None:
        """Free a device-side array."""
        owner.free(self.release, argument)

    def fetch(self, owner: Owner, pointer: Any) -> NDArray[Any]:
        """Copy a result from the device into a fresh array, and free it there."""
        import numpy as np  # noqa: PLC0415

        try:
            shape = self.shape(owner.context, pointer)
            if not shape:
                raise owner.refused()
            result = np.empty([shape[axis] for axis in range(self.rank)], self.dtype)
            data = owner.ffi.cast(owner.ffi.typeof(self.values).args[2], result.ctypes.data)
            owner.checked(self.values(owner.context, pointer, data))
            return result
        finally:
            self.free(owner, pointer)


@dataclass(frozen=True)
class OpaqueType:
    """A type that only Futhark knows; a tuple is unpacked into its parts when it comes back."""

    name: str
    release: Any
    parts: tuple[tuple[Any, Kind], ...] = ()

    @property
    def accepted(self) -> str:
        """What passes, for a message."""
        return f"a value of type {self.name} from the same backend"

    def check(self, value: object) -> Opaque:
        """Return `value`, or raise `Refused`."""
        if not isinstance(value, Opaque) or value.type != self.name:
            raise Refused(repr(value) if isinstance(value, Opaque) else _shown(value))
        return value

    def upload(self, owner: Owner, value: Opaque) -> Any:
        """Return the pointer to a value that is on the device already."""
        pointer = owner.pointer(value.ticket) if value.owner is owner else None
        if pointer is None:
            state = "was freed or consumed" if value.owner is owner else "belongs to another backend"
            raise BackendError(f"{value!r} {state}; make a new one on {owner!r}")
        return pointer

    def free(self, owner: Owner, argument: Any) -> None:
        """Leave the value alone: its `Opaque` frees it."""

    def fetch(self, owner: Owner, pointer: Any) -> object:
        """Wrap a result; a tuple becomes a Python tuple."""
        if not self.parts:
            return Opaque(owner, self.name, owner.adopt(pointer, self.release))
        try:
            return tuple(self._part(owner, pointer, project, kind) for project, kind in self.parts)
        finally:
            owner.free(self.release, pointer)

    def _part(self, owner: Owner, pointer: Any, project: Any, kind: Kind) -> object:
        out = owner.ffi.new(owner.ffi.typeof(project).args[1])
        owner.checked(project(owner.context, out, pointer))
        return kind.fetch(owner, out[0])


Kind = Scalar | Array | OpaqueType


@dataclass(frozen=True)
class Entry:
    """One entry point: its C function, the kinds of its arguments with their names, and of its results."""

    name: str
    function: Any
    inputs: tuple[tuple[str, Kind, bool], ...]
    outputs: tuple[Kind, ...]
    out_types: tuple[Any, ...]

    def check(self, arguments: tuple[object, ...]) -> list[Any]:
        """Return the arguments as they will be passed.

        Raises
        ------
        BackendError
            If there are too few or too many, or one is not exactly what the entry point takes.
        """
        if len(arguments) != len(self.inputs):
            names = ", ".join(name for name, _, _ in self.inputs)
            takes = f"{len(self.inputs)} arguments ({names})" if names else "no arguments"
            raise BackendError(f"entry point {self.name!r} takes {takes}, got {len(arguments)}")
        checked = []
        for position, (value, (name, kind, _)) in enumerate(zip(arguments, self.inputs, strict=True)):
            try:
                checked.append(kind.check(value))
            except Refused as refused:
                raise BackendError(
                    f"entry point {self.name!r}, argument {position} ({name}): {refused} is not accepted; "
                    f"it takes {kind.accepted}"
                ) from None
        return checked

    @property
    def consumes_opaque(self) -> bool:
        """Whether a call uses up a value that is on the device, so that it cannot be repeated."""
        return any(unique and isinstance(kind, OpaqueType) for _, kind, unique in self.inputs)

    def run(self, owner: Owner, arguments: list[Any]) -> Any:
        """Call the entry point with arguments that `check` returned.

        Returns
        -------
        object
            The result; a tuple of them where there are several or none.
        """
        passed: list[Any] = []
        outs = [owner.ffi.new(kind) for kind in self.out_types]
        fetched = 0
        called = False
        results: list[object] = []
        try:
            for value, (_, kind, _) in zip(arguments, self.inputs, strict=True):
                passed.append(kind.upload(owner, value))
            called = True
            owner.checked(self.function(owner.context, *outs, *passed))
            for kind, out in zip(self.outputs, outs, strict=True):
                fetched += 1
                results.append(kind.fetch(owner, out[0]))
        finally:
            for value, argument, (_, kind, unique) in zip(arguments, passed, self.inputs, strict=False):
                kind.free(owner, argument)
                if called and unique and isinstance(value, Opaque):
                    value.free()
            for kind, out in zip(self.outputs[fetched:], outs[fetched:], strict=True):
                if not isinstance(kind, Scalar) and out[0]:
                    owner.free(kind.release, out[0])
        return results[0] if len(results) == 1 else tuple(results)


class Gate:
    """The entry points of a compiled module, made from the manifest that Futhark wrote beside it.

    Parameters
    ----------
    manifest : mapping
        Futhark's manifest, parsed.
    ffi, lib
        Those of the compiled module.
    """

    def __init__(self, manifest: Mapping[str, Any], ffi: Any, lib: Any) -> None:
        self._types = manifest["types"]
        self._entries = manifest["entry_points"]
        self._ffi = ffi
        self._lib = lib
        self._made: dict[str, Entry] = {}
        # What `record_of` has made of this module's types.
        self.records: dict[str, Any] = {}

    @property
    def names(self) -> list[str]:
        """The entry points' names, sorted."""
        return sorted(self._entries)

    def __getitem__(self, name: str) -> Entry:
        """Return an entry point.

        Raises
        ------
        BackendError
            If there is none of that name, or its types do not pass this gate.
        """
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Entry:
        if name not in self._entries:
            raise BackendError(f"there is no entry point {name!r}; there are: {', '.join(self.names)}")
        description = self._entries[name]
        function = getattr(self._lib, description["cfun"])
        outputs = tuple(self._kind(output["type"], name) for output in description["outputs"])
        inputs = tuple(
            (given["name"], self._kind(given["type"], name), bool(given["unique"])) for given in description["inputs"]
        )
        out_types = tuple(self._ffi.typeof(function).args[1 : 1 + len(outputs)])
        return Entry(name, function, inputs, outputs, out_types)

    def _kind(self, type_name: str, entry: str) -> Kind:
        import numpy as np  # noqa: PLC0415

        if type_name in _ELEMENTS:
            return Scalar(type_name)
        described = self._types.get(type_name)
        if described is None or described.get("elemtype", "i32") not in _ELEMENTS:
            raise BackendError(f"entry point {entry!r} uses the type {type_name}, which cannot pass to or from Python")
        operations = {
            operation: getattr(self._lib, function)
            for operation, function in described["ops"].items()
            if operation in ("new", "shape", "values", "free")
        }
        if described["kind"] == "array":
            return Array(
                type_name,
                described["rank"],
                np.dtype(_ELEMENTS[described["elemtype"]]),
                operations["new"],
                operations["shape"],
                operations["values"],
                operations["free"],
            )
        fields = described.get("record", {}).get("fields", [])
        # Futhark names the parts of a tuple 0, 1, …; a record's fields have names that are not numbers.
        is_tuple = bool(fields) and [field["name"] for field in fields] == [str(k) for k in range(len(fields))]
        parts = tuple(
            (getattr(self._lib, field["project"]), self._kind(field["type"], entry))
            for field in (fields if is_tuple else ())
        )
        return OpaqueType(type_name, operations["free"], parts)

    def record(self, type_name: str) -> tuple[OpaqueType, list[tuple[str, Any, Kind]], Any]:
        """Return a type that is a record, with its fields and the C function that makes a value of them.

        Raises
        ------
        BackendError
            If the module has no such type.
        """
        described = self._types.get(type_name, {}).get("record")
        if described is None:
            raise BackendError(f"there is no type {type_name!r} that has fields")
        whole = self._kind(type_name, type_name)
        assert isinstance(whole, OpaqueType)
        fields = [
            (field["name"], getattr(self._lib, field["project"]), self._kind(field["type"], type_name))
            for field in described["fields"]
        ]
        return whole, fields, getattr(self._lib, described["new"])
