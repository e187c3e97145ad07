"""Names that a package offers, and imports on their first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


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
