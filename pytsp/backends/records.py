"""Values on a device by their fields: stored in a checkpoint, and made again.

Futhark offers for each type that is a record a function to look at each field, and one to make it of all; so a state
that was reached on one backend goes on on another.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytsp.backends.marshal import OpaqueType, ValueType
from pytsp.exceptions import BackendError

if TYPE_CHECKING:
    from pytsp.backends.entry_points import Manifest
    from pytsp.backends.futhark import FutharkContext


@dataclass(frozen=True)
class Record(ValueType):
    """A type that is a record: each field's name, the function that looks at it and its kind; what makes a new value.

    In Python it is a dict of its fields.
    """

    type: OpaqueType
    fields: tuple[tuple[str, Any, ValueType], ...]
    new: Any

    def look_at(self, owner: FutharkContext, pointer: Any) -> dict[str, Any]:
        """Return the fields of a value: arrays, numbers, and dicts for fields that are records themselves."""
        return {name: kind.fetch(owner, owner.output_of(project, pointer)) for name, project, kind in self.fields}

    def fetch(self, owner: FutharkContext, result: Any) -> dict[str, Any]:
        try:
            return self.look_at(owner, result)
        finally:
            self.free(owner, result)

    def check(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return fields as `upload` takes them: none may be missing, unknown, or not exactly of its type."""
        names = [name for name, _, _ in self.fields]
        if sorted(values) != sorted(names):
            given = ", ".join(values)
            raise BackendError(f"a value of type {self.type.name} has the fields {', '.join(names)}; got {given}")
        where = f"of type {self.type.name}"
        return {name: kind.checked(values[name], f"field {name!r} {where}") for name, _, kind in self.fields}

    def upload(self, owner: FutharkContext, values: Mapping[str, Any]) -> Any:
        with ExitStack() as made:
            arguments = []
            for name, _, kind in self.fields:
                argument = kind.upload(owner, values[name])
                # What it is made of, the new value keeps by itself.
                made.callback(kind.free, owner, argument)
                arguments.append(argument)
            return owner.output_of(self.new, *arguments)

    def free(self, owner: FutharkContext, argument: Any) -> None:
        owner.free(self.type.release, argument)


def record_of(manifest: Manifest, type_name: str) -> Record:
    """Return a type of a module, which must be a record; it is looked up once."""
    if type_name not in manifest.records:
        manifest.records[type_name] = _record(manifest, type_name)
    record: Record = manifest.records[type_name]
    return record


def _record(manifest: Manifest, type_name: str) -> Record:
    described = manifest.types.get(type_name, {}).get("record")
    if described is None:
        raise BackendError(f"there is no type {type_name!r} that has fields")
    whole = manifest.value_type(type_name, type_name)
    assert isinstance(whole, OpaqueType)
    fields: list[tuple[str, Any, ValueType]] = []
    for field in described["fields"]:
        kind = manifest.value_type(field["type"], type_name)
        inner = record_of(manifest, kind.name) if isinstance(kind, OpaqueType) else kind
        fields.append((field["name"], manifest.function(field["project"]), inner))
    return Record(whole, tuple(fields), manifest.function(described["new"]))
