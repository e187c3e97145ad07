"""How climbers are laid out on a backend, as the names of entry points tell it."""

from __future__ import annotations

from pytsp.backends.context import Backend
from pytsp.problem.kernel_input import Form
from pytsp.solvers.common.placement import mapping_of


def climbing_entry(entry: str, form: Form, backend: Backend) -> str:
    """The entry point by which climbers go on, which on a GPU has a form for each mapping."""
    return entry if backend.device is None else f"{entry}_{mapping_of(form.whole.n, backend)}"
