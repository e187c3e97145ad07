"""Checkpoints: a solve that was interrupted and goes on ends where one without an interruption does."""

from __future__ import annotations

import itertools
import json
import logging
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import cities
import emulated
import numpy as np
import pytest
from clocks import KernelClock
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from interruptions import Interruption
from paths import ROOT
from processes import COMMAND, PATIENCE, run_command, wait_until
from strategies import float_instances, instances

import pytsp
from pytsp import CheckpointError, Instance, Result
from pytsp.backends import Backend, open_backend
from pytsp.checkpoint import container as _container
from pytsp.checkpoint.content import instance_of, stored_instance
from pytsp.cli.commands import main
from pytsp.exceptions import BackendError
from pytsp.neighbours.lists import neighbour_lists
from pytsp.run.state_reader import State
from pytsp.solvers import policy

uniform = partial(cities.uniform, side=2000)


SMALL = uniform(40)
# Of each solver some cases: what it is given, and an instance on which it makes a few dozen kernel calls at most.
CASES: dict[str, tuple[Instance, dict[str, Any]]] = {
    "restarts": (SMALL, {"solver": "restarts", "climbers": 200, "first": 3}),
    "many moves a pass": (uniform(90), {"solver": "restarts", "climbers": 60, "k": "inf"}),
    "ils": (SMALL, {"solver": "ils", "iterations": 3000, "climbers": 5, "exchange": 400, "first": 2, "moves": "3-opt"}),
    "ils by chains": (SMALL, {"solver": "ils", "iterations": 900, "climbers": 3, "exchange": 200}),
    "ils that begins anew": (
        SMALL,
        {"solver": "ils", "iterations": 900, "climbers": 4, "moves": "3-opt", "exchange": 90, "restart": 60, "seed": 1},
    ),
    "ils that merges": (
        uniform(90),
        {"solver": "ils", "iterations": 900, "climbers": 4, "moves": "3-opt", "restart": 150, "merge": True, "seed": 2},
    ),
    "ils of a matrix": (
        Instance.from_matrix(SMALL.distance_matrix()),
        {"solver": "ils", "iterations": 2000, "climbers": 3, "pivot": "random-k", "draws": 9, "kick": "walk"},
    ),
    "ils with lists": (
        SMALL,
        {"solver": "ils", "iterations": 900, "climbers": 2, "moves": "or-opt"}
        | {"neighbours": neighbour_lists(SMALL, 7), "initial_tour": range(40)},
    ),
    "ils on a lattice": (
        Instance.from_coordinates(10 * np.array(list(np.ndindex(8, 9))), "EUC_2D"),
        {"solver": "ils", "iterations": 300, "climbers": 2},
    ),
    "eax": (uniform(120), {"solver": "eax", "climbers": 30, "moves": "lk"}),
    "eax of the best": (
        uniform(120),
        {"solver": "eax", "climbers": 40, "population": 20, "initial_tour": range(120), "moves": "lk"},
    ),
    "eax in bulk": (uniform(120), {"solver": "eax", "climbers": 30, "moves": "flat"}),
    "eax in bulk of the best": (
        uniform(90, metric="EUCLIDEAN"),
        {"climbers": 25, "population": 12, "initial_tour": range(90), "moves": "flat", "first": 3},
    ),
    "eax with a tour": (
        uniform(60, metric="EUCLIDEAN"),
        {"climbers": 11, "initial_tour": np.arange(60), "moves": "or-opt"},
    ),
    "large": (uniform(600), {"solver": "large", "iterations": 13, "piece": 100, "seed": 5, "moves": "3-opt"}),
    "large by chains": (uniform(300), {"solver": "large", "iterations": 7, "piece": 100, "moves": "lk"}),
    "large of floats": (
        uniform(500, metric="EUCLIDEAN"),
        {"solver": "large", "iterations": 4, "piece": 200, "moves": "3-opt"},
    ),
    "two-opt": (uniform(300), {"solver": "two-opt", "start": "random"}),
    "two-opt of many moves": (uniform(400), {"solver": "two-opt", "start": "random", "k": "inf"}),
    "two-opt with kicks": (uniform(90), {"solver": "two-opt", "kicks": 15, "seed": 3}),
    "two-opt of many moves with kicks": (uniform(80, metric="EUCLIDEAN"), {"k": "inf", "kicks": 12}),
    "annealing": (
        uniform(60),
        {"solver": "annealing", "iterations": 2000, "climbers": 3, "first": 4, "cooling": 0.998},
    ),
    "annealing by a schedule": (
        SMALL,
        {"schedule": np.geomspace(900, 1, 3000), "climbers": 2, "pairs": "random", "moves": "2-opt", "start": "random"},
    ),
    "annealing as it is by default": (
        uniform(50, metric="EUCLIDEAN"),
        {"solver": "annealing", "trials": 900, "climbers": 2},
    ),
    "ants": (uniform(50), {"solver": "ants", "iterations": 150, "climbers": 2, "first": 1, "beta": 2.5}),
    "ants that search": (
        Instance.from_matrix(uniform(70).distance_matrix()),
        {"variant": "rank", "ranks": 4, "moves": "3-opt", "iterations": 60, "initial_tour": np.arange(70)},
    ),
    "ants as they are by default": (uniform(60, metric="EUCLIDEAN"), {"solver": "ants", "smoothing": np.float32(0.25)}),
}


@pytest.fixture(autouse=True)
def short_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut runs into many kernel calls, and write after each where the interval is 0."""
    emulated.slow_down(monkeypatch)
    monkeypatch.setattr("pytsp.checkpoint.checkpoint.WRITING_SHARE", 1e9)
    monkeypatch.setitem(policy.AMOUNTS, "cpu", policy.AMOUNTS["cpu"]._replace(trials=1e6, steps=2e7))
    for module, name, value in (
        ("solvers.restarts", "CALL_SECONDS", 2e-3),
        ("solvers.eax", "CALL_SECONDS", 1e-3),
        ("solvers.large.pieces", "CALL_SECONDS", 1e-3),
        ("solvers.two_opt", "CALL_SECONDS", 1e-3),
        ("solvers.common.pacing", "CALL_SECONDS", 2e-3),
        ("solvers.common.pacing", "SHORT_CALL_SECONDS", 1e-3),
    ):
        monkeypatch.setattr(f"pytsp.{module}.{name}", value)


# GPUs have no pieces, and make no chains of iterated local search (test_ils).
ON_CPUS = ("ils by chains", "ils on a lattice", "large", "large by chains", "large of floats")


def assert_same(a: Result, b: Result) -> None:
    """Everything that does not depend on the clock or the backend."""
    for name in ("solver", "length", "climber", "stop_reason", "iterations", "seed", "k"):
        assert getattr(a, name) == getattr(b, name), name
    for name in ("tour", "lengths", "steps", "passes", "done"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


def interrupted(at: int, after: bool, solve: Any) -> Result | None:
    """What a solve comes to that Ctrl-C reaches at some kernel call; None where there is no tour yet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backend, "call", Interruption(at, after).call)
        try:
            found: Result = solve()
            return found
        except KeyboardInterrupt:
            return None


def interrupted_at(generation: int) -> Any:
    """A callback of a solve's progress that ends it after a number of iterations."""

    def reported(now: pytsp.Progress) -> None:
        if now.iteration >= generation:
            raise KeyboardInterrupt

    return reported


# The law


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("begins", "goes_on"),
    [("c", "multicore"), ("multicore", "c"), pytest.param("c", emulated.NAME, marks=emulated.NAMED.marks)],
)
def test_interrupted_and_resumed_equals_uninterrupted_on_any_backend(
    tmp_path: Path, case: str, begins: str, goes_on: str
) -> None:
    if case in ON_CPUS and emulated.NAME in (begins, goes_on):
        pytest.skip("a GPU makes no chains")
    instance, options = CASES[case]
    whole = pytsp.solve(instance, backend="c", **options)
    file = tmp_path / "run.checkpoint"
    others = itertools.cycle([goes_on, begins])
    found = interrupted(
        9, False, lambda: pytsp.solve(instance, backend=begins, checkpoint=file, checkpoint_interval=0, **options)
    )
    interruptions = 0
    for at in itertools.count(8):
        if found is not None and found.stop_reason != "interrupted":
            break
        interruptions += 1
        backend = next(others)
        found = interrupted(at + at // 4, at % 2 == 0, lambda: pytsp.resume(file, backend=backend))  # noqa: B023
    assert interruptions >= 1
    assert found is not None
    assert_same(found, whole)
    lengths = [each.length for each in found.history]
    assert lengths == sorted(set(lengths), reverse=True)
    assert [each.seconds for each in found.history] == sorted(each.seconds for each in found.history)
    # A solve that has ended is told again.
    assert_same(pytsp.resume(file), whole)
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("begins", "goes_on"),
    [
        ("c", "multicore"),
        pytest.param("c", emulated.NAME, marks=emulated.NAMED.marks),
        pytest.param(emulated.NAME, "c", marks=emulated.NAMED.marks),
    ],
)
def test_a_population_goes_on_as_it_began_where_another_backend_would_begin_otherwise(
    tmp_path: Path, begins: str, goes_on: str
) -> None:
    instance, file = uniform(120), tmp_path / "run.checkpoint"
    options: dict[str, Any] = {"solver": "eax", "climbers": 30}
    whole = pytsp.solve(instance, backend=begins, **options)
    assert whole.iterations is not None and whole.iterations > 2
    stop = {"checkpoint": file, "checkpoint_interval": 0, "progress": interrupted_at(1)}
    assert pytsp.solve(instance, backend=begins, **options, **stop).stop_reason == "interrupted"
    assert_same(pytsp.resume(file, backend=goes_on), whole)


BACKENDS = ["c", "multicore", *([emulated.NAME] if emulated.IS_BUILT else [])]


class Runs(RuleBasedStateMachine):
    """Any interruptions, resumptions on any backend and copies: where they end is where a run without them does."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(FOLDER[0]) / str(next(NUMBERS))
        self.folder.mkdir()
        self.file = self.folder / "run.checkpoint"
        self.best: int | float = float("inf")

    @initialize(case=st.sampled_from(sorted(CASES)), at=st.integers(0, 30))
    def begin(self, case: str, at: int) -> None:
        self.instance, self.options = CASES[case]
        self.backends = BACKENDS[:2] if case in ON_CPUS else BACKENDS
        self.take(
            interrupted(
                at,
                False,
                lambda: pytsp.solve(
                    self.instance, backend="c", checkpoint=self.file, checkpoint_interval=0, **self.options
                ),
            )
        )

    def take(self, found: Result | None) -> None:
        if found is not None:
            assert found.length <= self.best
            assert self.instance.tour_length(found.tour) == found.length
            self.best = found.length

    @rule(at=st.integers(0, 40), after=st.booleans(), number=st.integers(0, len(BACKENDS) - 1))
    def go_on(self, at: int, after: bool, number: int) -> None:
        backend = self.backends[number % len(self.backends)]
        self.take(interrupted(at, after, lambda: pytsp.resume(self.file, backend=backend, checkpoint_interval=0)))

    @rule()
    def lose_what_was_not_written(self) -> None:
        """A process that is killed leaves the file, and half of a next one."""
        (self.folder / f".{self.file.name}.x.part").write_bytes(b"pytsp checkpoint 1\n")

    @precondition(lambda self: self.best < float("inf"))
    @rule()
    def end(self) -> None:
        found = pytsp.resume(self.file)
        assert_same(found, pytsp.solve(self.instance, backend="multicore", **self.options))
        assert not list(self.folder.glob(".*"))
        self.take(found)


FOLDER: list[Path] = []
NUMBERS = itertools.count()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[None]:
    """Where the machine's files are."""
    FOLDER.append(tmp_path)
    yield
    FOLDER.clear()


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_any_course_of_interruptions_ends_alike() -> None:
    from hypothesis.stateful import run_state_machine_as_test  # noqa: PLC0415

    run_state_machine_as_test(Runs, settings=settings(max_examples=12, stateful_step_count=6))


# Limits


def test_limits_are_those_of_the_whole_and_can_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = KernelClock(monkeypatch)
    file = tmp_path / "run.checkpoint"
    options: dict[str, Any] = {"solver": "ils", "climbers": 1, "neighbours": 10, "backend": "c", "time_limit": 3.0}
    first = pytsp.solve(SMALL, **options, checkpoint=file)
    assert first.stop_reason == "time limit" and first.iterations
    clock.calls.clear()
    again = pytsp.resume(file)
    assert (again.stop_reason, again.iterations) == ("time limit", first.iterations)
    assert not clock.begun("grid_ils")
    longer = pytsp.resume(file, time_limit=first.seconds + 2.0)
    assert longer.stop_reason == "time limit"
    assert longer.iterations is not None and first.iterations is not None
    assert longer.iterations > first.iterations
    assert longer.seconds >= first.seconds + 2.0
    assert longer.length <= first.length
    assert pytsp.resume(file, time_limit=60, target=longer.length).stop_reason == "target"


@pytest.mark.slow
def test_a_solve_that_is_stopped_by_a_target_goes_on_to_the_same_end(tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    options: dict[str, Any] = {"solver": "ils", "iterations": 4000, "climbers": 3, "backend": "c"}
    whole = pytsp.solve(SMALL, **options)
    stopped = pytsp.solve(SMALL, **options, checkpoint=file, target=whole.history[0].length)
    assert stopped.stop_reason == "target"
    assert_same(pytsp.resume(file, target=0), whole)


# Files


@pytest.mark.parametrize("case", ["eax", "large", "restarts"])
def test_a_failure_to_write_costs_a_warning_and_no_result(
    tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    instance, options = CASES[case]
    file = tmp_path / "run.checkpoint"
    really, calls = _container.write, []

    def failing(*arguments: Any) -> None:
        calls.append(arguments)
        really(*arguments)
        if len(calls) > 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(_container, "write", failing)
    with caplog.at_level(logging.WARNING, "pytsp"):
        found = pytsp.solve(instance, backend="c", checkpoint=file, checkpoint_interval=0, **options)
    monkeypatch.undo()
    assert_same(found, pytsp.solve(instance, backend="c", **options))
    assert f"{file}: the checkpoint was not written: No space left on device; the last one is intact" in caplog.text
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    assert_same(pytsp.resume(file), found)


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    file.write_text("mine")
    with pytest.raises(CheckpointError, match=r"run\.checkpoint: the file is there already; .* 'pytsp resume'"):
        pytsp.solve(SMALL, checkpoint=file)
    assert file.read_text() == "mine"


def test_of_two_solves_on_one_new_checkpoint_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, write, both = tmp_path / "run.checkpoint", _container.write, threading.Barrier(2)

    def together(*arguments: Any) -> None:
        # Neither has seen a file of the other's when both begin to write.
        with suppress(threading.BrokenBarrierError):
            both.wait(timeout=PATIENCE)
        both.abort()
        write(*arguments)

    def solve(seed: int) -> Result | CheckpointError:
        try:
            return pytsp.solve(SMALL, solver="ils", iterations=50, seed=seed, backend="c", checkpoint=file)
        except CheckpointError as error:
            return error

    monkeypatch.setattr(_container, "write", together)
    # What one has yet to put in its place the other would sweep away.
    monkeypatch.setattr(_container, "sweep", lambda _: None)
    with ThreadPoolExecutor(2) as pool:
        ends = [*pool.map(solve, (1, 2))]
    (found,) = (end for end in ends if isinstance(end, Result))
    (refused,) = (end for end in ends if isinstance(end, CheckpointError))
    assert "run.checkpoint: the file is there already" in str(refused)
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    assert_same(pytsp.resume(file), found)


def test_a_disk_without_links_takes_checkpoints_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(_container.os, "link", refused)
    file = tmp_path / "run.checkpoint"
    found = pytsp.solve(SMALL, solver="ils", iterations=50, backend="c", checkpoint=file)
    assert_same(pytsp.resume(file), found)
    with pytest.raises(CheckpointError, match="the file is there already"):
        pytsp.solve(SMALL, checkpoint=file)


@pytest.mark.parametrize("folder_name", ["missing", "file", "/proc"])
def test_a_folder_that_cannot_be_written_is_told_before_the_work(tmp_path: Path, folder_name: str) -> None:
    (tmp_path / "file").touch()
    began: list[object] = []
    with pytest.raises(CheckpointError, match=r"run\.checkpoint: the checkpoint cannot be written: "):
        pytsp.solve(SMALL, checkpoint=tmp_path / folder_name / "run.checkpoint", progress=began.append)
    assert not began


def test_a_read_only_folder_leaves_the_last_good_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write anywhere: what the system says to others is said by hand.
    file = tmp_path / "run.checkpoint"
    whole = pytsp.solve(SMALL, solver="eax", climbers=9, backend="c", checkpoint=file)
    before = file.read_bytes()

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(_container.tempfile, "mkstemp", refused)
        with pytest.raises(CheckpointError, match="cannot be written: Permission denied"):
            pytsp.resume(file)
    assert file.read_bytes() == before
    assert_same(pytsp.resume(file), whole)


def test_a_solve_that_fails_before_it_has_a_state_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(pytsp.PytspError):
        pytsp.solve(SMALL, backend="multicore", threads=10**6, checkpoint=tmp_path / "run.checkpoint")
    with pytest.raises(ValueError, match="checkpoint_interval must be a number of seconds, at least 0; it is -1"):
        pytsp.solve(SMALL, checkpoint=tmp_path / "run.checkpoint", checkpoint_interval=-1)
    assert not list(tmp_path.iterdir())


def test_the_first_checkpoint_is_there_before_the_first_tour(tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    options: dict[str, Any] = {"solver": "eax", "climbers": 9}
    assert interrupted(0, False, lambda: pytsp.solve(SMALL, backend="c", checkpoint=file, **options)) is None
    assert_same(pytsp.resume(file), pytsp.solve(SMALL, backend="c", **options))


def test_names_of_cities_are_kept(tmp_path: Path) -> None:
    instance = Instance.from_coordinates([[0, 0], [0, 3], [4, 0]], metric="EUC_2D", labels=["Ulm", "Köln", "Bonn"])
    found = pytsp.solve(instance, backend="c", checkpoint=tmp_path / "run.checkpoint")
    assert pytsp.resume(tmp_path / "run.checkpoint").order == found.order


@given(st.one_of(instances(), float_instances()))
def test_an_instance_is_kept_whole(instance: Instance) -> None:
    kept = instance_of(State(stored_instance(instance), "file"))
    assert (kept.name, kept.metric, kept.n, kept.is_exact) == (
        instance.name,
        instance.metric,
        instance.n,
        instance.is_exact,
    )
    assert np.array_equal(kept.distance_matrix(), instance.distance_matrix())


# What is not a solver's state


def tampered(file: Path, change: Any) -> None:
    """Change what a checkpoint holds; its checksum fits again."""
    tree = _container.read(file)
    change(tree)
    _container.replace_file(file, lambda stream: _container.write(stream, _container.pack(tree)))


CHANGES = {
    "population.tours": ("eax", lambda s: s["population"]["tours"].fill(0)),
    "population.bests": ("ils", lambda s: s["population"]["bests"].fill(-1)),
    "population.lengths": ("eax", lambda s: s["population"].update(lengths=np.zeros(2, np.int64))),
    "best.tour": ("eax", lambda s: s["best"].update(tour=np.zeros(3, np.int32))),
    "generation": ("eax", lambda s: s.update(generation=-1)),
    "iteration": ("ils", lambda s: s.update(iteration=0.5)),
    "standing.large.waits": ("large", lambda s: s["standing"]["large"].update(waits=np.ones(3, np.bool_))),
    "standing.large.cursor": ("large", lambda s: s["standing"]["large"].update(cursor=600 // 32 + 1)),
    "standing.large.level": ("large", lambda s: s["standing"]["large"].update(level=99)),
    "standing.large": ("large", lambda s: s["standing"].update(large=None)),
    "descent.keys": ("two-opt", lambda s: s["descent"].update(keys=np.full(300, 2**32 + 301))),
    "descent.best.i": ("two-opt", lambda s: s["descent"].update(best={"gain": 1, "i": 300, "j": 1})),
    "best.tour ": ("two-opt with kicks", lambda s: s["best"].update(tour=np.zeros(90, np.int32))),
    "kicks": ("two-opt with kicks", lambda s: s.update(kicks=-1)),
    "steps": ("restarts", lambda s: s.pop("steps")),
    "chains.bests": ("annealing", lambda s: s["chains"]["bests"].fill(0)),
    "iteration ": ("annealing", lambda s: s.update(iteration=2001)),
    "iterations": ("ants", lambda s: s.update(iterations=None)),
    "colonies.trails": ("ants", lambda s: s["colonies"].update(trails=np.zeros((2, 50, 3)))),
    "colonies.steps": ("ants", lambda s: s["colonies"].update(steps=np.zeros(3, np.int64))),
}


@pytest.mark.parametrize("place", CHANGES)
def test_a_state_that_no_solver_wrote_is_refused(tmp_path: Path, place: str) -> None:
    case, change = CHANGES[place]
    instance, options = CASES[case]
    file = tmp_path / "run.checkpoint"
    pytsp.solve(instance, backend="c", checkpoint=file, **options)
    tampered(file, lambda tree: change(tree["state"]))
    with pytest.raises(CheckpointError, match=rf"run\.checkpoint: (the checkpoint has no )?state\.{place.strip()}"):
        pytsp.resume(file)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tree: tree.pop("instance"), "has no instance"),
        (lambda tree: tree["instance"].update(n=39), "coordinates of the checkpoint must be"),
        (lambda tree: tree["instance"].update(metric="XRAY3"), "not as pytsp writes them"),
        (lambda tree: tree["arguments"].update(solver="auto"), "solver of the checkpoint must be one of"),
        (lambda tree: tree["options"].update(seed=-1), "seed of the checkpoint must be a whole number from 0"),
        (lambda tree: tree["options"].update(moves="4-opt"), "not as pytsp writes them: moves '4-opt' is not known"),
        (lambda tree: tree["limits"].update(time_limit=-1), "not as pytsp writes them: time_limit must be"),
        (lambda tree: tree.update(history=[[1, 2]]), "not as pytsp writes them"),
        (lambda tree: tree.update(seconds="1"), "seconds of the checkpoint must be a number"),
    ],
)
def test_a_head_that_pytsp_did_not_write_is_refused(tmp_path: Path, change: Any, words: str) -> None:
    file = tmp_path / "run.checkpoint"
    pytsp.solve(SMALL, solver="eax", climbers=5, backend="c", checkpoint=file)
    tampered(file, change)
    with pytest.raises(CheckpointError, match=words):
        pytsp.resume(file)


# The wall


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"route": np.arange(6, dtype=np.int32)}, "has the fields progress, route, waits; got route$"),
        ({"route": np.arange(6)}, "field 'route' of type large: an array of int64"),
        ({"progress": {"level": 1.5}}, "a value of type .* has the fields breadth, cursor, .*; got level"),
    ],
)
def test_fields_pass_as_they_are_or_not_at_all(fields: dict[str, Any], words: str) -> None:
    with open_backend("c") as kernels:
        whole = kernels.fields(kernels.call("large_given", np.arange(3, dtype=np.int32)))
        given = fields if words.startswith("has") else whole | fields
        with pytest.raises(BackendError, match=words):
            kernels.value("large", given)
        with pytest.raises(BackendError, match="no type 'hug' that has fields"):
            kernels.value("hug", whole)


def test_a_value_passes_from_backend_to_backend_by_its_fields() -> None:
    one, other = open_backend("c"), open_backend("multicore", threads=2)
    tour = np.random.default_rng(0).permutation(50).astype(np.int32)
    fields = one.fields(one.call("descent_given", tour))
    assert fields["best"] == {"gain": 0, "i": 2**31 - 1, "j": 2**31 - 1}
    again = other.fields(other.value("descent", fields))
    assert np.array_equal(again.pop("tour"), tour)
    assert np.array_equal(again.pop("keys"), fields["keys"])
    assert again == {name: fields[name] for name in again}


# Processes


def begun(file: Path, *words: str) -> subprocess.Popen[str]:
    """A solve in a process of its own, that writes as often as it can; it has written a state when this returns."""
    command = [*COMMAND, *words, "--checkpoint-interval", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    wait_until(lambda: file.exists() or process.poll() is not None)
    return process


@pytest.mark.slow
def test_a_killed_solve_goes_on_from_its_last_state_and_loses_nothing(tmp_path: Path) -> None:
    file, tour = tmp_path / "run.checkpoint", tmp_path / "run.tour"
    options = ["--solver", "ils", "--iterations", "30000", "--climbers", "2", "--backend", "c"]
    words = ["solve", "uniform100", *options, "--checkpoint", str(file)]
    shortest, kept = float("inf"), []
    for number in range(12):
        process = begun(file, *words)
        # Some states later.
        for _ in range(number % 3):
            known = file.stat().st_mtime_ns
            wait_until(lambda: file.stat().st_mtime_ns != known or process.poll() is not None)  # noqa: B023
        process.kill()
        process.communicate()
        tree = _container.read(file)
        length = tree["state"]["length"] if tree["state"] else float("inf")
        assert length <= shortest
        shortest = length
        kept.append(tree["seconds"])
        words = ["resume", str(file)]
    assert kept == sorted(kept)
    done = run_command(*words, "--output", str(tour), check=True)
    assert "stopped: finished" in done.stdout
    instance = pytsp.read(ROOT / "data" / "uniform100.tsp")
    whole = pytsp.solve(instance, solver="ils", iterations=30_000, climbers=2, backend="c")
    assert np.array_equal(pytsp.read_tour(tour), whole.tour)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.checkpoint", "run.tour"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_solve_with_its_result_and_a_checkpoint(tmp_path: Path, number: int) -> None:
    file = tmp_path / "run.checkpoint"
    with begun(
        file, "solve", "uniform1000", "--time-limit", str(PATIENCE), "--solver", "ils", "--checkpoint", str(file)
    ) as process:
        wait_until(lambda: _container.read(file)["state"] is not None)
        process.send_signal(number)
        out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, error) == (0, "")
    reported = json.loads(out)
    assert reported["stop_reason"] == "interrupted"
    assert reported["length"] == _container.read(file)["state"]["length"]
    found = pytsp.resume(file, target=10**9)
    assert found.stop_reason == "target"
    # The last descent, which the signal has left out, shortens a tour where a GPU does not wait for all its cities.
    assert found.length <= reported["length"]


def test_what_is_resumed_tells_the_device_that_it_ran_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.checkpoint"
    pytsp.solve(SMALL, solver="ants", iterations=3, backend="multicore", threads=1, checkpoint=file)
    for words, device in (
        ([], "CPU, 1 thread"),
        (["--threads", "2"], "CPU, 2 threads"),
        (["--backend", "c"], "CPU, 1"),
    ):
        assert main(["resume", str(file), *words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["device"].startswith(device)


@pytest.mark.parametrize("content", [None, b"", b"pytsp checkpoint 1\n{}\n"])
def test_a_checkpoint_that_cannot_be_resumed_is_told_in_one_line(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "run.checkpoint"
    if content is not None:
        file.write_bytes(content)
    done = run_command("resume", str(file))
    assert (done.returncode, done.stdout) == (1, "")
    assert str(file) in done.stderr and done.stderr.count("\n") == 1
