"""Entry points and types of a compiled module, from the manifest that Futhark wrote beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytsp.backends.marshal import ELEMENTS, Array, Opaque, OpaqueType, Scalar, ValueType
from pytsp.exceptions import BackendError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytsp.backends.futhark import FutharkContext


@dataclass(frozen=True)
class EntryPoint:
    """One entry point: its C function, the types of its arguments with their names, and of its results."""

    name: str
    function: Any
    inputs: tuple[tuple[str, ValueType, bool], ...]
    outputs: tuple[ValueType, ...]
    out_types: tuple[Any, ...]

    def check(self, arguments: tuple[object, ...]) -> list[Any]:
        """Return the arguments as they will be passed; refuse too few, too many, and what it does not exactly take."""
        if len(arguments) != len(self.inputs):
            names = ", ".join(name for name, _, _ in self.inputs)
            takes = f"{len(self.inputs)} arguments ({names})" if names else "no arguments"
            raise BackendError(f"entry point {self.name!r} takes {takes}, got {len(arguments)}")
        places = enumerate(zip(arguments, self.inputs, strict=True))
        where = f"entry point {self.name!r}, argument"
        return [kind.checked(value, f"{where} {position} ({name})") for position, (value, (name, kind, _)) in places]

    @property
    def consumes_opaque(self) -> bool:
        """True if a call consumes a value on the device, so that it cannot be repeated."""
        return any(unique and isinstance(kind, OpaqueType) for _, kind, unique in self.inputs)

    def run(self, owner: FutharkContext, arguments: list[Any]) -> Any:
        """Call it with arguments that `check` returned; return the result, a tuple where there are several or none."""
        passed: list[Any] = []
        outs = [owner.ffi.new(kind) for kind in self.out_types]
        pending = [*zip(self.outputs, outs, strict=True)]
        called = False
        results: list[object] = []
        try:
            for value, (_, kind, _) in zip(arguments, self.inputs, strict=True):
                passed.append(kind.upload(owner, value))
            called = True
            owner.checked(self.function(owner.context, *outs, *passed))
            while pending:
                kind, out = pending.pop(0)
                results.append(kind.fetch(owner, out[0]))
        finally:
            for value, argument, (_, kind, unique) in zip(arguments, passed, self.inputs, strict=False):
                if not isinstance(value, Opaque):
                    kind.free(owner, argument)
                elif called and unique:
                    value.free()
            for kind, out in pending:
                if isinstance(kind, Array | OpaqueType) and out[0]:
                    owner.free(kind.release, out[0])
        return results[0] if len(results) == 1 else tuple(results)


class Manifest:
    """The entry points, by their names, and the types of a compiled module, of which it takes `ffi` and `lib`."""

    def __init__(self, manifest: Mapping[str, Any], ffi: Any, lib: Any) -> None:
        self.types = manifest["types"]
        self._entries = manifest["entry_points"]
        self._ffi = ffi
        self._lib = lib
        self._made: dict[str, EntryPoint] = {}
        # What `records.record_of` has looked up.
        self.records: dict[str, Any] = {}

    @property
    def names(self) -> list[str]:
        """The entry points' names, sorted."""
        return sorted(self._entries)

    def __getitem__(self, name: str) -> EntryPoint:
        if name not in self._made:
            self._made[name] = self._entry_point(name)
        return self._made[name]

    def _entry_point(self, name: str) -> EntryPoint:
        if name not in self._entries:
            raise BackendError(f"there is no entry point {name!r}; there are: {', '.join(self.names)}")
        described = self._entries[name]
        function = self.function(described["cfun"])
        inputs = tuple(
            (given["name"], self.value_type(given["type"], name), bool(given["unique"]))
            for given in described["inputs"]
        )
        outputs = tuple(self.value_type(output["type"], name) for output in described["outputs"])
        out_types = tuple(self._ffi.typeof(function).args[1 : 1 + len(outputs)])
        return EntryPoint(name, function, inputs, outputs, out_types)

    def function(self, name: str) -> Any:
        """Return a C function of the module."""
        return getattr(self._lib, name)

    def array_type(self, array: NDArray[Any]) -> Array:
        """Return the type of arrays like this one."""
        element = next((name for name, dtype in ELEMENTS.items() if dtype == array.dtype.name), "")
        name = "[]" * array.ndim + element
        found = self.value_type(name, "keep") if name in self.types else None
        if not isinstance(found, Array):
            dimensions = f"{array.ndim} dimension{'s' * (array.ndim != 1)}"
            raise BackendError(f"no entry point takes an array of {array.dtype} with {dimensions}")
        return found

    def value_type(self, type_name: str, user: str) -> ValueType:
        """Return a type by its name, which `user`, an entry point or type, uses; refuse what cannot pass."""
        import numpy as np  # noqa: PLC0415

        if type_name in ELEMENTS:
            return Scalar(type_name)
        described = self.types.get(type_name)
        if described is None or described.get("elemtype", "i32") not in ELEMENTS:
            raise BackendError(f"entry point {user!r} uses the type {type_name}, which cannot pass to or from Python")
        operations = described["ops"]
        if described["kind"] == "array":
            dtype = np.dtype(ELEMENTS[described["elemtype"]])
            functions = (self.function(operations[name]) for name in ("new", "shape", "values", "free"))
            return Array(type_name, described["rank"], dtype, *functions)
        fields = described.get("record", {}).get("fields", [])
        # Futhark names the parts of a tuple 0, 1, …; a record's fields have names that are not numbers.
        if [field["name"] for field in fields] != [str(number) for number in range(len(fields))]:
            fields = []
        parts = tuple((self.function(field["project"]), self.value_type(field["type"], user)) for field in fields)
        return OpaqueType(type_name, self.function(operations["free"]), parts)
