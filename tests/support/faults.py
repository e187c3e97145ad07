"""Faults on purpose: kernels that tell wrong lengths, callbacks that fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytsp.backends import Backend
from pytsp.exceptions import KernelError


def assert_wrong_lengths_are_found_out(monkeypatch: pytest.MonkeyPatch, liar: str, solve: Callable[[], object]) -> None:
    """A solve must not believe an entry point that tells lengths too short by one."""
    call = Backend.call

    def miscompiled(self: Backend, entry: str, *arguments: object) -> Any:
        result = call(self, entry, *arguments)
        if entry != liar:
            return result
        # Of several results the first one tells lengths, but for the shortest tours of many instances.
        lengths = 1 if entry == "many_bests" else 0
        if isinstance(result, tuple):
            return tuple(each - 1 if at == lengths else each for at, each in enumerate(result))
        return result - 1

    monkeypatch.setattr(Backend, "call", miscompiled)
    with pytest.raises(KernelError, match="reports length .* but its length is .*report this"):
        solve()


def assert_errors_in_callbacks_come_through(solve: Callable[..., object]) -> None:
    """What a callback raises, the caller of the solve gets."""

    def fail(_: object) -> None:
        raise LookupError("mine")

    for name in ("progress", "on_improvement"):
        with pytest.raises(LookupError, match="mine"):
            solve(**{name: fail})
