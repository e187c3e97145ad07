"""Runs to draw and to report: results, what `pytsp solve --json` printed of them, and tour files."""

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
from pytsp.datasets.reading import read
from pytsp.exceptions import PytspError, TourError
from pytsp.io.tsplib.reader import read_tour
from pytsp.problem.instance import Instance
from pytsp.problem.metrics import EXPLICIT
from pytsp.problem.tours import check_tour

if TYPE_CHECKING:
    from pytsp.run.result import Result

_LISTS = ("tour", "lengths", "history")
_ENDINGS = (".tsp", ".tsp.gz", ".atsp", ".atsp.gz")
# Facts in which runs may differ, and their form in labels.
_DISTINCTIONS = dict.fromkeys(("instance", "solver", "backend", "mapping"), "{}")
_DISTINCTIONS |= {"k": "k {}", "seed": "seed {}", "climbers": "{} climbers"}


@dataclass(frozen=True, eq=False)
class Run:
    """A tour, and what is known of the run that found it.

    `history` has a row (seconds, iteration, length) for each improvement, `lengths` the length of each climber's best
    tour, where it is finite; `facts` are what else `Result.to_dict` says, none for a tour file. The instance is there
    where it is needed.
    """

    label: str
    tour: NDArray[np.int32]
    instance: Instance | None = None
    history: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))
    lengths: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, result: Result) -> Run:
        """Return the run of a result."""
        every = result.with_arrays()
        facts = {name: fact for name, fact in every.items() if name not in _LISTS} | {"length": result.length}
        history = np.array(every["history"], dtype=np.float64).reshape(-1, 3)
        lengths = result.lengths[np.isfinite(result.lengths)]
        return cls(result.instance.name or "tour", result.tour, result.instance, history, lengths, facts)

    @property
    def is_open(self) -> bool:
        """True for an open path, which does not return to its first city."""
        return self.facts.get("open") is True

    @property
    def optimum(self) -> float | None:
        """The length of the shortest tour, where it is known and not 0."""
        # That of an instance is a closed tour's.
        known = self.facts.get("optimum") if self.instance is None or self.is_open else self.instance.optimum
        return known or None

    def describe_gap(self, digits: int) -> str:
        """Return the gap to a known optimum in per cent, with the number of digits; empty if it is not known."""
        gap = self.optimum and 100 * (self.facts["length"] / self.optimum - 1)
        return "" if gap is None else f", {gap:.{digits}f} % above the optimum"

    def describe_bound(self) -> str:
        """Say what a lower bound proves of the length, where there is one."""
        bound, length = self.facts.get("lower_bound"), self.facts["length"]
        if bound is None:
            return ""
        if length == bound:
            return ", optimal, proved"
        return f", at most {100 * (length / bound - 1):.2f} % above the shortest" if bound else ""


def contents(file: str) -> bytes:
    """Return what a file holds, or for ``"-"`` standard input."""
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()


def read_runs(
    files: Sequence[str],
    instance: str | None = None,
    *,
    needs_instance: bool = True,
    read_already: Mapping[str, bytes] | None = None,
) -> list[Run]:
    """Read what `pytsp solve --json` has printed, or tour files, or ``"-"``, standard input.

    `read_already` has the contents of some of the files. The instance, a file or a name, is by default looked for where
    a result says, beside a tour file, and among those of pytsp. `PytspError` says what is missing, or does not fit.
    """
    instances: dict[tuple[Path, str], Instance] = {}
    runs = []
    for file in files:
        source = "<stdin>" if file == "-" else file
        data = (read_already or {}).get(file) or contents(file)
        if data.lstrip()[:1] in (b"{", b"["):
            run = _parse(data, source)
        else:
            run = Run(_stem(source), read_tour(io.BytesIO(data) if file == "-" else file))
        if instance is not None or needs_instance:
            path = datasets.find(_instance_file(run, source) if instance is None else instance).resolve()
            how = _reading(run, source)
            if (path, repr(how)) not in instances:
                instances[path, repr(how)] = read(path, **how)
            run = _add_instance(run, instances[path, repr(how)], source)
        runs.append(run)
    return label_runs(runs)


def label_runs(runs: Sequence[Run]) -> list[Run]:
    """Return the runs, each with a label of its own: what they differ in, with their files' names where need be."""
    if len(runs) == 1:
        return [*runs]
    texts = [""] * len(runs)
    for name, form in _DISTINCTIONS.items():
        facts = [run.facts.get(name) for run in runs]
        longer = [t if fact is None else f"{t}, {form.format(fact)}" for t, fact in zip(texts, facts, strict=True)]
        # What distinguishes no more runs is left out.
        if len({*longer}) > len({*texts}):
            texts = longer
    texts = [text.removeprefix(", ") for text in texts]
    if len({*texts}) < len(texts) or "" in texts:
        texts = [f"{run.label}: {text}" if text else run.label for run, text in zip(runs, texts, strict=True)]
    labels = (text if texts.count(text) == 1 else f"{text} ({k})" for k, text in enumerate(texts, 1))
    return [replace(run, label=label) for run, label in zip(runs, labels, strict=True)]


def _parse(data: bytes, source: str) -> Run:
    """Return the run of a JSON object; its numbers are checked, its other facts are taken as they are."""
    try:
        facts = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PytspError(f"{source}: this is no JSON: {error}") from error
    if not isinstance(facts, dict):
        raise PytspError(f"{source}: a result is one JSON object, as `pytsp solve --json` prints; this is a list")
    tour = _numbers(facts, "tour", source)
    try:
        order = check_tour(tour, len(tour))
    except TourError as error:
        raise PytspError(f"{source}: {error}") from error
    # JSON has no infinity.
    is_infinite = facts.get("length") is None and bool(facts.get("forbidden_edges"))
    known = [name for name in ("optimum", "lower_bound", "gap_bound") if facts.get(name) is not None]
    for name in ("seconds", *([] if is_infinite else ["length"]), *known):
        value = facts.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise PytspError(f"{source}: {name} must be a finite number; it is {value!r}")
    if is_infinite:
        facts["length"] = math.inf
    history = _numbers(facts, "history", source)
    if history.size and (history.ndim != 2 or history.shape[1] != 3):
        raise PytspError(f"{source}: history must hold [seconds, iteration, length], but its shape is {history.shape}")
    # Results of version 0.1.0 do not hold the lengths.
    lengths = _numbers(facts, "lengths", source) if "lengths" in facts else np.empty(0)
    others = {name: fact for name, fact in facts.items() if name not in _LISTS}
    return Run(_stem(source), order, None, history.astype(np.float64).reshape(-1, 3), lengths.ravel(), others)


def _numbers(facts: Mapping[str, Any], name: str, source: str) -> NDArray[Any]:
    if not isinstance(facts.get(name), list):
        raise PytspError(f"{source}: {name} is not there, or no list; a result is what `pytsp solve --json` prints")
    try:
        array = np.array(facts[name])
    except (ValueError, OverflowError) as error:
        raise PytspError(f"{source}: {name} must hold numbers: {error}") from error
    if array.size and (array.dtype.kind not in "iuf" or not np.isfinite(array).all()):
        raise PytspError(f"{source}: {name} must hold finite numbers")
    return array


def _instance_file(run: Run, source: str) -> str:
    """Return the path, or the name, of the instance that a run is of."""
    file, name = run.facts.get("file"), run.facts.get("instance", run.label)
    candidates = [file] if isinstance(file, str) else []
    if not run.facts:
        candidates = [str(Path(source).with_name(run.label + ending)) for ending in _ENDINGS]
    for candidate in candidates:
        if Path(candidate).is_file():
            return candidate
    if isinstance(name, str) and name in datasets.names():
        return name
    looked = f" (looked for {', '.join(candidates)})" if candidates else ""
    raise PytspError(f"{source}: the instance {name!r} is not to be found{looked}; name its file with --instance")


def _reading(run: Run, source: str) -> dict[str, Any]:
    """Return how the instance of a run was read; tour files, and results of version 0.1.0, do not say it."""
    how = {name: run.facts[name] for name in ("metric", "columns", "asymmetric") if run.facts.get(name) is not None}
    columns = how.get("columns", [])
    if not isinstance(how.get("metric", ""), str) or not isinstance(how.get("asymmetric", False), bool):
        raise PytspError(f"{source}: metric must be a name, and asymmetric true or false; it says {how!r:.80}")
    if not isinstance(columns, list) or not all(isinstance(each, str) for each in columns):
        raise PytspError(f"{source}: columns must be a list of names; it is {columns!r:.80}")
    # That of a matrix is no choice.
    return {name: value for name, value in how.items() if value != EXPLICIT}


def _add_instance(run: Run, instance: Instance, source: str) -> Run:
    """Return a run with its instance, of which its tour must be one, of the length that the run says."""
    if len(run.tour) != instance.n:
        raise PytspError(f"{source}: the tour has {len(run.tour)} cities, but {instance.name!r} has {instance.n}")
    stated = run.facts.get("length")
    length = instance.path_length(run.tour) if run.is_open else instance.tour_length(run.tour)
    if stated is not None and not math.isclose(stated, length, rel_tol=1e-9):
        raise PytspError(
            f"{source}: the tour's length is said to be {stated}, but in {instance.name!r} it is {length}; "
            "is this another instance?"
        )
    return replace(run, instance=instance, facts=run.facts or {"length": length})


def _stem(source: str) -> str:
    """Return a file's name without its endings: a280.opt.tour.gz is of a280."""
    return Path(source).name.split(".")[0]
