"""Values on a device by their fields: what a checkpoint writes down of them, and how they come to be again.

Futhark offers for each type that is a record a function to look at each field, and one to make it of all; so a state
that was reached on one backend goes on on another.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from pytsp.backends.marshal import Gate, Kind, OpaqueType, Owner, Refused
from pytsp.exceptions import BackendError

__all__ = ["Record", "record_of"]


@dataclass(frozen=True)
class Record:
    """A type that is a record.

    Attributes
    ----------
    type : OpaqueType
    fields : tuple
        Of each its name, the C function that looks at it, and its kind.
    new : callable
        The C function that makes a value of its fields.
    """

    type: OpaqueType
    fields: tuple[tuple[str, Any, Kind | Record], ...]
    new: Any

    def fetch(self, owner: Owner, pointer: Any) -> dict[str, Any]:
        """Return the fields of a value: arrays, numbers, and dicts for fields that are records themselves."""
        return {name: self._field(owner, pointer, project, kind) for name, project, kind in self.fields}

    def _field(self, owner: Owner, pointer: Any, project: Any, kind: Kind | Record) -> Any:
        out = owner.ffi.new(owner.ffi.typeof(project).args[1])
        owner.checked(project(owner.context, out, pointer))
        if not isinstance(kind, Record):
            return kind.fetch(owner, out[0])
        try:
            return kind.fetch(owner, out[0])
        finally:
            owner.free(kind.type.release, out[0])

    def make(self, owner: Owner, values: Mapping[str, Any]) -> Any:
        """Return a pointer to a new value with these fields.

        Raises
        ------
        BackendError
            If a field is missing, is not known, or is not exactly of its type.
        """
        names = [name for name, _, _ in self.fields]
        if sorted(values) != sorted(names):
            given = ", ".join(values)
            raise BackendError(f"a value of type {self.type.name} has the fields {', '.join(names)}; got {given}")
        with ExitStack() as made:
            arguments = []
            for name, _, kind in self.fields:
                argument = self._argument(owner, name, kind, values[name])
                # What it is made of, the new value keeps by itself.
                if isinstance(kind, Record):
                    made.callback(owner.free, kind.type.release, argument)
                else:
                    made.callback(kind.free, owner, argument)
                arguments.append(argument)
            out = owner.ffi.new(owner.ffi.typeof(self.new).args[1])
            owner.checked(self.new(owner.context, out, *arguments))
            return out[0]

    def _argument(self, owner: Owner, name: str, kind: Kind | Record, value: Any) -> Any:
        if isinstance(kind, Record):
            return kind.make(owner, value)
        try:
            checked: Any = kind.check(value)
            return kind.upload(owner, checked)
        except Refused as refused:
            raise BackendError(
                f"field {name!r} of type {self.type.name}: {refused} is not accepted; it takes {kind.accepted}"
            ) from None


def record_of(gate: Gate, type_name: str) -> Record:
    """Return a type of a module, which must be a record."""
    if type_name not in gate.records:
        gate.records[type_name] = _make_record(gate, type_name)
    found: Record = gate.records[type_name]
    return found


def _make_record(gate: Gate, type_name: str) -> Record:
    whole, fields, new = gate.record(type_name)

    def whole_or_record(kind: Kind) -> Kind | Record:
        return record_of(gate, kind.name) if isinstance(kind, OpaqueType) else kind

    return Record(whole, tuple((name, project, whole_or_record(kind)) for name, project, kind in fields), new)
