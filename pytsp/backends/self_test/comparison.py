"""The comparison of the small searches with those of the CPU, and with the laws of tours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.self_test.searches import CITIES, PARTS, Outcome, Trial, forms
from pytsp.exceptions import DeviceMemoryError

if TYPE_CHECKING:
    from pytsp.backends.context import Backend


def difference(kernels: Backend, reference: Backend | None) -> str:
    """Say how kernels differ from the reference's, or break the laws of tours; an empty string where they do not.

    `DeviceMemoryError` tells nothing of a driver, and is raised.
    """
    part = kernels.part or ""
    for name, form in forms():
        expected = {} if reference is None else {each.case: each for each in PARTS[part](Trial(reference, form))}
        trial = Trial(kernels, form)
        try:
            for outcome in PARTS[part](trial):
                trouble = _fault(trial.distances, outcome) or _unlike(outcome, expected.get(outcome.case))
                if trouble:
                    return f"{outcome.entry} {trouble} ({name}, {CITIES} cities)"
        except DeviceMemoryError:
            raise
        # What is computed wrongly may fail anywhere.
        except Exception as error:  # noqa: BLE001
            return " ".join(f"{type(error).__name__} ({name}, {CITIES} cities): {error}".split())
    return ""


def _fault(distances: NDArray[np.int64], outcome: Outcome) -> str:
    """Name the tours that are invalid, or have another length than their kernel reports."""
    for tour, length in zip(outcome.tours, outcome.lengths, strict=True):
        if not np.array_equal(np.sort(tour), np.arange(CITIES)):
            return "returns what is no tour"
        recomputed = distances[tour, np.roll(tour, -1)].sum()
        if recomputed != length:
            return f"tells a length of {length} for a tour of {recomputed}"
    return ""


def _unlike(outcome: Outcome, expected: Outcome | None) -> str:
    """Say in what a result differs from the reference's."""
    if expected is None:
        return ""
    if not np.array_equal(outcome.lengths, expected.lengths):
        return f"ends on lengths {outcome.lengths.tolist()}, not {expected.lengths.tolist()} as on the CPU"
    pairs = [(outcome.tours, expected.tours), *zip(outcome.others, expected.others, strict=True)]
    return "" if all(np.array_equal(*pair) for pair in pairs) else "has other results than on the CPU"
