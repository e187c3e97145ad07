"""Runs to draw and to report: results at hand, results that `pytsp solve --json` printed, and tour files."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pytsp.datasets import registry as datasets
from pytsp.exceptions import PytspError, TourError
from pytsp.io.files import read_any, says_its_metric
from pytsp.io.tsplib.tours import read_tour
from pytsp.problem.instance import Instance
from pytsp.problem.tours import check_tour

if TYPE_CHECKING:
    from pytsp.run.result import Result

__all__ = ["Run", "read_runs", "run_of", "told_apart"]

_LISTS = ("tour", "lengths", "history")
_ENDINGS = (".tsp", ".tsp.gz", ".atsp", ".atsp.gz")
# What tells runs apart, and how that is said.
_TOLD_APART = {
    "instance": "{}",
    "solver": "{}",
    "backend": "{}",
    "mapping": "{}",
    "k": "k {}",
    "seed": "seed {}",
    "climbers": "{} climbers",
}


@dataclass(frozen=True, eq=False)
class Run:
    """A tour, and what is known of the run that found it.

    Attributes
    ----------
    label : str
        What to call it beside others.
    tour : ndarray of int32, shape (n,)
    instance : Instance or None
        None where it was not asked for.
    history : ndarray of float64, shape (improvements, 3)
        Seconds, iteration and length of each improvement.
    lengths : ndarray, shape (climbers,)
        The length of each climber's best tour.
    facts : mapping
        What else `Result.to_dict` says; empty for a tour file.
    """

    label: str
    tour: NDArray[np.int32]
    instance: Instance | None = None
    history: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))
    lengths: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether it is an open path, which does not return to its first city."""
        return self.facts.get("open") is True

    @property
    def optimum(self) -> float | None:
        """The length of the shortest tour, where it is known and not 0."""
        # That of an instance is a closed tour's.
        known = self.facts.get("optimum") if self.instance is None or self.is_open else self.instance.optimum
        return known or None


def run_of(result: Result) -> Run:
    """Return what is drawn of a result."""
    facts = {name: fact for name, fact in result.to_dict().items() if name not in _LISTS}
    history = np.array(result.history, dtype=np.float64).reshape(-1, 3)
    return Run(result.instance.name or "tour", result.tour, result.instance, history, result.lengths, facts)


def read_runs(files: Sequence[str], instance: str | None = None, *, needs_instance: bool = True) -> list[Run]:
    """Read what `pytsp solve` has printed with ``--json``, or tour files.

    Parameters
    ----------
    files : sequence of str
        Paths, or ``"-"`` for standard input.
    instance : str, optional
        The instance's file, or the name of one that comes with pytsp. By default it is looked for: where a result says
        that it was read, beside a tour file of the same name, and by its name among those that come with pytsp.
    needs_instance : bool
        Whether to look for it at all.

    Returns
    -------
    list of Run
        In the order of the files, each with a label of its own; runs of one instance share it.

    Raises
    ------
    PytspError
        If a file is neither, the instance is not to be found, or a tour is not one of the instance.
    OSError
        If a file cannot be read.
    """
    instances: dict[tuple[Path, str | None], Instance] = {}
    runs = []
    for file in files:
        place = "<stdin>" if file == "-" else file
        run = _read_run(file, place)
        if instance is not None or needs_instance:
            path = datasets.find(_instance_file(run, place) if instance is None else instance).resolve()
            metric = None if says_its_metric(path) else _metric(run, place)
            if (path, metric) not in instances:
                instances[path, metric] = read_any(path, metric)
            run = _on(run, instances[path, metric], place)
        runs.append(run)
    return told_apart(runs)


def told_apart(runs: Sequence[Run]) -> list[Run]:
    """Return runs with a label each has alone: what differs between them, with their files' names where need be."""
    return [replace(run, label=label) for run, label in zip(runs, _labels(runs), strict=True)]


def _read_run(file: str, place: str) -> Run:
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    if data.lstrip()[:1] in (b"{", b"["):
        return _parsed(data, place)
    return Run(_stem(place), read_tour(io.BytesIO(data) if file == "-" else file))


def _labels(runs: Sequence[Run]) -> list[str]:
    if len(runs) == 1:
        return [runs[0].label]
    texts = [""] * len(runs)
    for name, form in _TOLD_APART.items():
        facts = [run.facts.get(name) for run in runs]
        longer = [
            text if fact is None else f"{text}, {form.format(fact)}" for text, fact in zip(texts, facts, strict=True)
        ]
        # What tells no more runs apart is left out.
        if len({*longer}) > len({*texts}):
            texts = longer
    texts = [text.removeprefix(", ") for text in texts]
    if len({*texts}) < len(texts) or "" in texts:
        texts = [f"{run.label}: {text}" if text else run.label for run, text in zip(runs, texts, strict=True)]
    return [text if texts.count(text) == 1 else f"{text} ({k})" for k, text in enumerate(texts, 1)]


def _parsed(data: bytes, place: str) -> Run:
    """Return the run that a JSON object tells of; its numbers are checked, its other facts are taken as they are."""
    try:
        told = json.loads(data)
    except ValueError as error:
        raise PytspError(f"{place}: this is no JSON: {error}") from error
    if not isinstance(told, dict):
        raise PytspError(f"{place}: a result is one JSON object, as `pytsp solve --json` prints; this is a list")
    tour = _numbers(told, "tour", place)
    try:
        order = check_tour(tour, len(tour))
    except TourError as error:
        raise PytspError(f"{place}: {error}") from error
    for name in ("length", "seconds"):
        _check_number(told.get(name), name, place)
    if told.get("optimum") is not None:
        _check_number(told["optimum"], "optimum", place)
    history = _numbers(told, "history", place)
    if history.size and (history.ndim != 2 or history.shape[1] != 3):
        raise PytspError(f"{place}: history must hold [seconds, iteration, length], but its shape is {history.shape}")
    # Results of version 0.1.0 do not hold the lengths.
    lengths = _numbers(told, "lengths", place) if "lengths" in told else np.empty(0)
    facts = {name: fact for name, fact in told.items() if name not in _LISTS}
    return Run(_stem(place), order, None, history.astype(np.float64).reshape(-1, 3), lengths.ravel(), facts)


def _numbers(told: Mapping[str, Any], name: str, place: str) -> NDArray[Any]:
    if not isinstance(told.get(name), list):
        raise PytspError(f"{place}: {name} is not there, or no list; a result is what `pytsp solve --json` prints")
    try:
        array = np.array(told[name])
    except (ValueError, OverflowError) as error:
        raise PytspError(f"{place}: {name} must hold numbers: {error}") from error
    if array.size and (array.dtype.kind not in "iuf" or not np.isfinite(array).all()):
        raise PytspError(f"{place}: {name} must hold finite numbers")
    return array


def _check_number(value: object, name: str, place: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise PytspError(f"{place}: {name} must be a finite number; it is {value!r}")


def _instance_file(run: Run, place: str) -> str:
    """Return the path, or the name, of the instance that a run is of."""
    told = run.facts.get("file")
    name = run.facts.get("instance", run.label)
    if not run.facts:
        candidates = [str(Path(place).with_name(run.label + ending)) for ending in _ENDINGS]
    else:
        candidates = [told] if isinstance(told, str) else []
    for candidate in candidates:
        if Path(candidate).is_file():
            return candidate
    if isinstance(name, str) and name in datasets.names():
        return name
    looked = f" (looked for {', '.join(candidates)})" if candidates else ""
    raise PytspError(f"{place}: the instance {name!r} is not to be found{looked}; name its file with --instance")


def _metric(run: Run, place: str) -> str | None:
    """Return the metric that a run says; tour files and results of version 0.1.0 say none."""
    metric = run.facts.get("metric")
    if metric is not None and not isinstance(metric, str):
        raise PytspError(f"{place}: metric must be a name; it is {metric!r}")
    return metric


def _on(run: Run, instance: Instance, place: str) -> Run:
    """Return a run with its instance, of which its tour must be one, and as long as was said."""
    if len(run.tour) != instance.n:
        raise PytspError(f"{place}: the tour has {len(run.tour)} cities, but {instance.name!r} has {instance.n}")
    told = run.facts.get("length")
    length = instance.path_length(run.tour) if run.is_open else instance.tour_length(run.tour)
    if told is not None and not math.isclose(told, length, rel_tol=1e-9):
        raise PytspError(
            f"{place}: the tour's length is said to be {told}, but in {instance.name!r} it is {length}; "
            "is this another instance?"
        )
    return replace(run, instance=instance, facts=run.facts or {"length": length})


def _stem(place: str) -> str:
    """Return a file's name without its endings: a280.opt.tour.gz is of a280."""
    return Path(place).name.split(".")[0]
