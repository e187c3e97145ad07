"""The backend of a solve whose instance is too large for the matrix that most solvers need on a GPU."""

from __future__ import annotations

from typing import Any

import pytest
from cities import uniform

import pytsp
from pytsp import Instance
from pytsp.api import dispatch
from pytsp.api.steps import Request
from pytsp.problem import kernel_input


class Asked(Exception):
    """Ends a solve before its solver begins, with the backend that was asked for."""


@pytest.mark.parametrize(
    ("metric", "asked", "backend"),
    [
        ("HAVERSINE", {"solver": "eax"}, "auto"),
        ("HAVERSINE", {"solver": "eax", "time_limit": 60.0}, "auto"),
        ("HAVERSINE", {"solver": "eax", "time_limit": 1e-6}, "multicore"),
        ("HAVERSINE", {"solver": "ils"}, "multicore"),
        ("HAVERSINE", {"solver": "large"}, "multicore"),
        ("HAVERSINE", {"solver": "ils", "backend": "c"}, "c"),
        ("EUC_2D", {"solver": "ils"}, "auto"),
    ],
)
def test_a_gpu_takes_what_needs_no_matrix(
    monkeypatch: pytest.MonkeyPatch, metric: str, asked: dict[str, Any], backend: str
) -> None:
    def task_for(_: Instance, request: Request) -> None:
        raise Asked(request.placement["backend"])

    monkeypatch.setattr(dispatch, "task_for", task_for)
    monkeypatch.setattr(kernel_input, "MATRIX_BYTES", 0)
    degrees = uniform(40, side=80).coordinates
    assert degrees is not None
    with pytest.raises(Asked, match=f"^{backend}$"):
        pytsp.solve(Instance.from_coordinates(degrees, metric), **asked)
