"""Names that are imported on their first use: those that a package offers, and those of packages above it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attach(package: str, origins: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package, given the module of each name that it offers.

    A colon parts a module from the name that it has for it: `{"compare_backends": "pytsp.api.compare:compare"}`.
    """

    def get(name: str) -> object:
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, original = origins[name].partition(":")
        value = getattr(import_module(module), original or name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *origins})


_ABOVE: dict[str, str] = {}


def register(origins: Mapping[str, str]) -> None:
    """Say where functions are that packages below theirs call, as `attach` takes it."""
    _ABOVE.update(origins)


def registered(name: str) -> Any:
    """Return a function of a package above that of the caller."""
    module, _, original = _ABOVE[name].partition(":")
    return getattr(import_module(module), original)
