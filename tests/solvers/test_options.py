"""What solvers may be asked for: options objects, the same as keywords, flags of the command line, in checkpoints."""

from __future__ import annotations

import dataclasses
import inspect
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import ROOT
from tasks import task_of

import pytsp
from pytsp import EAX, ILS, Instance, RandomRestarts, Result
from pytsp.checkpoint.checkpoint import Checkpoint, Stored, head_of
from pytsp.cli import commands as cli
from pytsp.cli.options import given_options
from pytsp.neighbours.lists import neighbour_lists
from pytsp.solvers.options.fields import Field, Options
from pytsp.solvers.options.restarts import ENUMERATIONS
from pytsp.solvers.registry import MODULES, OPTIONS
from pytsp.solvers.selection import choose, given_of

KINDS = list(OPTIONS.values())
FIELDS = [(kind, name) for kind in KINDS for name in kind.fields()]
CITIES = Instance.from_coordinates(np.random.default_rng(0).integers(0, 300, (12, 2)), metric="EUC_2D", name="twelve")
# What numbers that need not be whole may be; all others are known from their fields.
NUMBERS: dict[str, st.SearchStrategy[Any]] = {
    "temperature": st.floats(0, 1e9) | st.integers(0, 100),
    "cooling": st.floats(0.01, 0.99),
    "alpha": st.integers(0, 16).map(lambda quarters: quarters / 4),
    "beta": st.integers(0, 64).map(lambda quarters: quarters / 4),
    "evaporation": st.floats(0.01, 1),
    "smoothing": st.floats(0, 1),
    "k": st.integers(1, 2**31 - 1) | st.just("inf"),
    "kicks": st.integers(0, 2**31 - 1) | st.just("inf"),
    "quadrants": st.booleans(),
    "merge": st.booleans(),
    "shared_matrix": st.booleans(),
}


def values_of(name: str, spec: Field) -> st.SearchStrategy[Any]:
    """Values that an option takes, but for arrays."""
    if name in NUMBERS:
        return NUMBERS[name]
    if spec.choices:
        return st.sampled_from(spec.choices)
    assert spec.least is not None
    return st.integers(spec.least, spec.least + 40)


@st.composite
def keywords(draw: st.DrawFn, kind: type[Options]) -> dict[str, Any]:
    """Options that a solver takes together."""
    every = {name: values_of(name, spec) for name, spec in kind.fields().items()}
    asked = draw(st.fixed_dictionaries({}, optional=every))
    if {"draws", "draw_blocks"} & asked.keys():
        asked["pivot"] = "random-k"
    if asked.get("pivot", "first") != "first" and asked.get("moves") in ("lk", "flat"):
        del asked["moves"]
    if "draw_blocks" in asked:
        asked["mapping"] = "lockstep"
    if asked.get("mapping") == "lockstep":
        asked.pop("merge", None)
    if "ranks" in asked:
        asked["variant"] = "rank"
        asked.pop("smoothing", None)
    if "smoothing" in asked:
        asked["variant"] = "max-min"
    if "cooling" in asked:
        asked.pop("schedule", None)
    if asked.get("acceptance") == "shorter":
        asked.pop("temperature", None)
    if asked.get("kicks"):
        asked.pop("iterations", None)
    if kind is RandomRestarts:
        lists_moves, blocks = asked.get("neighbourhood") in ENUMERATIONS, {"blocks", "lanes", "rows"}
        out = {"k", *blocks} if lists_moves else {"shared_matrix"}
        out |= blocks if asked.get("mapping") == "thread" else set()
        asked = {name: value for name, value in asked.items() if name not in out}
    return asked


@st.composite
def asked_of_any(draw: st.DrawFn) -> tuple[type[Options], dict[str, Any]]:
    """A solver, and options that it takes together."""
    kind = draw(st.sampled_from(KINDS))
    return kind, draw(keywords(kind))


ASKED = asked_of_any()


def assert_same(a: Options, b: Options) -> None:
    """The same solver is asked for the same, arrays too."""
    assert type(a) is type(b)
    for name in a.fields():
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None) and np.array_equal(one, other), name


# The classes


def test_the_package_has_a_class_for_each_solver() -> None:
    names = ("RandomRestarts", "ILS", "EAX", "LargeTour", "TwoOpt", "Annealing", "AntColony")
    assert [getattr(pytsp, name) for name in names] == KINDS
    assert {*names} <= {*pytsp.__all__}
    assert all(OPTIONS[kind.name] is kind and kind.name in MODULES for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_options_cannot_change_and_are_given_by_their_names(kind: type[Options]) -> None:
    options = kind()
    for name in kind.fields():
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(options, name, getattr(options, name))
    assert all(each.kw_only for each in dataclasses.fields(kind))
    with pytest.raises(TypeError, match="positional"):
        kind(3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'climber'"):
        kind(climber=3)


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_what_an_option_does_not_take_is_refused_where_it_is_made(kind: type[Options], name: str) -> None:
    spec = kind.fields()[name]
    bad = [object(), "xyzzy"] + ([[1.0, -1.0]] if name == "schedule" else [float("nan")])
    if spec.least is not None:
        bad += [spec.least - 1, True]
    for value in bad:
        with pytest.raises((TypeError, ValueError), match=None if name == "schedule" else f"^{name} "):
            kind(**{name: value})
        with pytest.raises((TypeError, ValueError)):
            dataclasses.replace(kind(), **{name: value})
    if spec.default is None:
        assert kind(**{name: None}) == kind()
    else:
        with pytest.raises((TypeError, ValueError), match=f"^{name} .*None"):
            kind(**{name: None})


@pytest.mark.parametrize("kind", KINDS)
def test_the_docstring_tells_every_option(kind: type[Options]) -> None:
    text = inspect.getdoc(kind) or ""
    _, _, parameters = text.partition("\nParameters\n----------\n")
    parameters, _, references = parameters.partition("\n\nReferences\n----------\n")
    lines = parameters.splitlines()
    reported = {line.partition(" : ")[0]: at for at, line in enumerate(lines) if not line.startswith(" ")}
    assert list(reported) == list(kind.fields())
    assert {*reported} == {*inspect.signature(kind).parameters}
    for name, at in reported.items():
        spec = kind.fields()[name]
        assert lines[at] == f"{name} : {spec.type}"
        assert lines[at + 1].startswith("    ") and lines[at + 1].strip()
        assert spec.help and all(json.dumps(choice) in spec.type for choice in spec.choices)
    assert all(
        f"[{number}]_" in text for number in range(1, 1 + references.count("\n.. [") + references.startswith(".."))
    )
    assert max(map(len, text.splitlines())) <= 120


@given(ASKED)
def test_what_is_shown_makes_the_same_again(asked: tuple[type[Options], dict[str, Any]]) -> None:
    kind, given_ = asked
    options = kind(**given_)
    again = eval(repr(options), {name: getattr(pytsp, name) for name in pytsp.__all__})
    assert again == options and hash(again) == hash(options)
    defaults = kind()
    changed = {name: value for name, value in given_.items() if value != getattr(defaults, name)}
    assert options.given() == changed
    order = [name for name in kind.fields() if name in changed]
    assert repr(options) == f"{kind.__name__}({', '.join(f'{name}={changed[name]!r}' for name in order)})"


def test_options_are_made_without_numpy() -> None:
    program = (
        "import sys, pytsp; pytsp.ILS(iterations=3, neighbours=[[1], [0]]), pytsp.EAX(), pytsp.LargeTour(piece=9), "
        "pytsp.RandomRestarts(k='inf'), pytsp.TwoOpt(), pytsp.Annealing(cooling=0.5), pytsp.AntColony(beta=2); "
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "False\n"


# Keywords of `solve`


def test_solve_has_few_parameters() -> None:
    assert len(inspect.signature(pytsp.solve).parameters) <= 25


@given(ASKED)
def test_keywords_are_the_options_of_the_solver(asked: tuple[type[Options], dict[str, Any]]) -> None:
    kind, given_ = asked
    assert choose(kind.name, given_of(given_), CITIES) == kind(**given_)


SOLVES: list[tuple[str, dict[str, Any]]] = [
    ("restarts", {"climbers": 3, "k": "inf", "mapping": "thread"}),
    ("ils", {"iterations": 3}),
    ("ils", {"iterations": 40, "climbers": 3, "restart": 9, "merge": True, "pivot": "random-k", "draws": 5}),
    ("eax", {"iterations": 3, "climbers": 9, "population": 5, "moves": "or-opt"}),
    ("large", {"iterations": 3, "piece": 8, "temperature": 2.5}),
    ("two-opt", {"iterations": 3, "start": "random"}),
    ("two-opt", {"kicks": 9, "k": "inf"}),
    ("annealing", {"iterations": 3, "climbers": 2, "schedule": "linear", "trials": 9}),
    ("annealing", {"schedule": [9.0, 3.0, 1.0], "climbers": 2}),
    ("ants", {"iterations": 3, "climbers": 2, "variant": "rank", "ranks": 3}),
    ("ants", {"iterations": 3, "neighbours": neighbour_lists(CITIES, 4), "climbers": 1}),
]


@pytest.mark.parametrize(("solver", "asked"), SOLVES)
def test_options_as_an_object_solve_as_keywords_do(solver: str, asked: dict[str, Any]) -> None:
    options = OPTIONS[solver](**asked)
    one: Result = pytsp.solve(CITIES, solver=solver, seed=4, backend="c", **asked)
    other: Result = pytsp.solve(CITIES, solver=options, seed=4, backend="c")
    for name in ("tour", "lengths", "steps", "passes", "done"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in ("solver", "length", "climber", "iterations", "k", "stop_reason", "seed"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.solver == solver
    for found in (one, other):
        assert found.options is not None
        assert_same(found.options, options)


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_and_keywords_are_refused(kind: type[Options]) -> None:
    for name in kind.fields():
        with pytest.raises(TypeError, match=f"^solver={kind.__name__}.* says what it is asked for; give {name} there$"):
            pytsp.solve(CITIES, solver=kind(), backend="c", **{name: getattr(kind(), name)})


@pytest.mark.parametrize("solver", ["auto", "ils"])
def test_keywords_that_are_none_are_refused(solver: str) -> None:
    with pytest.raises(TypeError, match=r"^solve\(\) got an unexpected keyword argument 'climberss'.*climbers"):
        pytsp.solve(CITIES, solver=solver, climberss=3)
    with pytest.raises(TypeError, match=r"^solve\(\) got an unexpected keyword argument 'xyzzy'$"):
        pytsp.solve(CITIES, solver=solver, xyzzy=None)


def test_an_initial_tour_does_not_concern_all_options() -> None:
    tour = np.arange(12)
    with pytest.raises(ValueError, match="initial_tour has no effect with solver='restarts'; it is for solver='ils'"):
        pytsp.solve(CITIES, solver=pytsp.RandomRestarts(climbers=2), initial_tour=tour, backend="c")
    with pytest.raises(ValueError, match="start='greedy' says otherwise"):
        pytsp.solve(CITIES, solver=pytsp.ILS(iterations=2, start="greedy"), initial_tour=tour, backend="c")
    found = pytsp.solve(CITIES, solver=pytsp.ILS(iterations=0, climbers=1), initial_tour=tour, backend="c")
    assert found.history[0].length == CITIES.tour_length(tour)


# The command line


def flag_of(name: str) -> str:
    """An option as the command line calls it."""
    return f"--{name.replace('_', '-')}"


def words_of(asked: dict[str, Any]) -> list[str]:
    """Options as the command line has them."""
    words: list[str] = []
    for name, value in asked.items():
        flag = flag_of(name)
        if isinstance(value, bool):
            words += [flag] if value else [f"--no-{name}"] if name == "quadrants" else []
        else:
            words += [flag, str(value)]
    return words


@given(ASKED)
def test_every_option_has_a_flag(asked: tuple[type[Options], dict[str, Any]]) -> None:
    kind, given_ = asked
    read = cli._parser().parse_args(["solve", "any", "--solver", kind.name, *words_of(given_)])
    found = given_options(read)
    assert {*found} == {
        name for name, value in given_.items() if value is not False or name not in ("merge", "shared_matrix")
    }
    assert choose(kind.name, given_of(found), CITIES) == kind(**given_)


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_help_tells_of_every_option(kind: type[Options], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["solve", "--help-all"])
    reported = capsys.readouterr().out
    assert any(flag_of(name) + end in reported for end in " ,\n")


# Checkpoints


def stored(options: Options, seed: int = 0, initial_tour: Any = None) -> Stored:
    """What is read of a checkpoint of a solve that has not begun."""
    task = task_of(CITIES, options, seed=seed, initial_tour=initial_tour)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "checkpoint"
        Checkpoint(file, head_of(task, {"backend": "c", "threads": None, "device": None}), 30.0).begin(task.watch)
        return Stored(file)


@given(ASKED, st.integers(0, 2**64 - 1))
@settings(max_examples=60)
def test_a_checkpoint_keeps_every_option(asked: tuple[type[Options], dict[str, Any]], seed: int) -> None:
    kind, given_ = asked
    found = stored(kind(**given_), seed)
    assert found.options == kind(**given_)
    assert (found.seed, found.initial_tour, found.placement(None, None, None)["backend"]) == (seed, None, "c")


@pytest.mark.parametrize(
    "options",
    [
        *(kind(neighbours=neighbour_lists(CITIES, 4)) for kind in KINDS if "neighbours" in kind.fields()),
        pytsp.EAX(neighbours=neighbour_lists(CITIES, 3).tolist()),
        pytsp.Annealing(schedule=[9, 4.5, 0]),
        pytsp.ILS(temperature=np.float32(0.25), iterations=np.int64(3)),  # type: ignore[arg-type]
        pytsp.ILS(quadrants=np.bool_(True), merge=np.bool_(True)),  # type: ignore[arg-type]
        pytsp.AntColony(beta=np.float64(2.5)),
    ],
)
def test_a_checkpoint_keeps_arrays_and_numbers_of_numpy(options: Options) -> None:
    found = stored(options, initial_tour=[*range(12)])
    assert_same(found.options, options)
    assert found.initial_tour is not None and found.initial_tour.tolist() == [*range(12)]


@pytest.mark.parametrize(("solver", "asked"), SOLVES)
def test_a_solve_goes_on_with_its_options(solver: str, asked: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "checkpoint"
    options = OPTIONS[solver](**asked)
    whole = pytsp.solve(CITIES, solver=options, seed=4, backend="c", checkpoint=file)
    again = pytsp.resume(file)
    assert again.options is not None
    assert_same(again.options, options)
    assert (again.solver, again.length, again.iterations) == (solver, whole.length, whole.iterations)
    assert np.array_equal(again.tour, whole.tour)


def test_options_with_arrays_are_compared_by_their_values() -> None:
    lists = np.array([[1, 2], [0, 2], [0, 1]])
    options = ILS(neighbours=lists)
    assert options == ILS(neighbours=lists.copy()) and hash(options) == hash(ILS(neighbours=lists.copy()))
    assert options != ILS(neighbours=lists[:, ::-1]) and options != ILS()
    assert eval(repr(options)) == options
    assert ILS() != EAX() and ILS() != "ils"


def test_numbers_of_numpy_that_are_defaults_concern_nobody() -> None:
    instance = Instance.from_coordinates(np.random.default_rng(0).integers(0, 99, (20, 2)), metric="EUC_2D")
    plain = pytsp.solve(instance, solver="large", iterations=1, backend="c")
    assert pytsp.solve(instance, solver="large", iterations=1, first=np.int64(0), backend="c").length == plain.length
    with pytest.raises(ValueError, match="first=True has no effect with solver='large'"):
        pytsp.solve(instance, solver="large", first=True)


@pytest.mark.parametrize("k", [np.array([1, 2]), [1], None, True, 0, "many"])
def test_other_moves_a_pass_are_refused_in_words(k: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="k must be"):
        RandomRestarts(k=k)
