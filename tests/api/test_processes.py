"""Solves in threads, in other processes, in notebooks, thousands in a row, and at the interpreter's end."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

import cities
import emulated
import pytest
from paths import ROOT
from processes import PATIENCE, run_python

import pytsp
from pytsp import Result
from pytsp.backends import Backend

uniform = partial(cities.uniform, side=10_000)

SOLVERS: dict[str, dict[str, Any]] = {
    "restarts": {"climbers": 200},
    "ils": {"climbers": 2, "iterations": 2000},
    "eax": {"climbers": 20},
    "large": {"iterations": 5, "piece": 50},
    "two-opt": {},
    "annealing": {"climbers": 2, "iterations": 100},
    "ants": {"climbers": 1, "iterations": 50},
}
# Where a GPU is emulated.
FEWER: dict[str, dict[str, Any]] = {"restarts": {"climbers": 10}, "ils": {"climbers": 2, "iterations": 200}}


def found(solver: str, backend: str, seed: int = 0) -> tuple[int | float, list[int]]:
    """What one solve finds; a function of the module, so that other processes can be sent it."""
    options = FEWER.get(solver, SOLVERS[solver]) if backend == emulated.NAME else SOLVERS[solver]
    result = pytsp.solve(uniform(120), solver=solver, backend=backend, seed=seed, **options)
    return result.length, result.tour.tolist()


# Threads


@pytest.mark.slow
def test_two_threads_solve_at_once_as_one_does(backend: Backend) -> None:
    """Both use the same context of the same backend."""
    solvers = [solver for solver in SOLVERS if solver != "large" or backend.device is None]
    alone = {(solver, seed): found(solver, backend.name, seed) for solver in solvers for seed in (0, 1)}
    with ThreadPoolExecutor(2) as pool:
        together = dict(zip(alone, pool.map(lambda each: found(each[0], backend.name, each[1]), alone), strict=True))
    assert together == alone


def test_a_thread_that_fails_leaves_the_other_alone(backend: Backend) -> None:
    expected = found("ils", backend.name)

    def fail(_: object) -> None:
        raise LookupError("mine")

    with ThreadPoolExecutor(2) as pool:
        failing = pool.submit(pytsp.solve, uniform(120), solver="ils", backend=backend.name, progress=fail)
        succeeding = pool.submit(found, "ils", backend.name)
        with pytest.raises(LookupError, match="mine"):
            failing.result()
        assert succeeding.result() == expected


# Processes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("name", ["c", "multicore"])
def test_other_processes_solve_after_this_one_has(method: str, name: str) -> None:
    """A forked process inherits open backends, and threads that are not there; it must not use them."""
    expected = [found(solver, name) for solver in SOLVERS]
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        futures = [pool.submit(found, solver, name) for solver in SOLVERS]
        assert [future.result(timeout=PATIENCE) for future in futures] == expected
    assert found("ils", name) == expected[list(SOLVERS).index("ils")]


def test_functions_that_use_the_package_pass_from_process_to_process() -> None:
    """As joblib, dask and ray send them: by what they are where they cannot be imported, and the modules by name."""
    cloudpickle = pytest.importorskip("cloudpickle", reason="it sends functions: pip install cloudpickle")
    program = """if True:
        import pickle, cloudpickle, pytsp
        import pytsp.datasets as datasets

        def solve(points):
            return pytsp.solve(points, solver=pytsp.ILS(iterations=9), backend="c"), datasets.names()

        print(cloudpickle.dumps(solve).hex())
    """
    sent = bytes.fromhex(run_python("-c", program, check=True).stdout)
    assert len(sent) < 2_000
    result, names = pickle.loads(sent)([[0, 0], [0, 9], [9, 9], [9, 0]])
    assert result.length == 36 and "europe" in names
    assert cloudpickle.loads(cloudpickle.dumps(result)).tour.tolist() == result.tour.tolist()


def test_results_pass_from_process_to_process() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        result = pool.submit(_solve_there, 60).result(timeout=PATIENCE)
    assert isinstance(result, Result)
    assert result.instance.tour_length(result.tour) == result.length


def _solve_there(n: int) -> Result:
    return pytsp.solve(uniform(n), backend="c")


# Thousands


def resident() -> int:
    """The memory of this process that is in use, in bytes, without what its allocators only keep."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def handles() -> tuple[int, int]:
    """How many files and threads this process has."""
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="Linux tells of memory and handles in /proc")
@pytest.mark.parametrize("name", ["c", "multicore"])
def test_ten_thousand_solves_take_no_more_memory_than_some(name: str) -> None:
    instances = [uniform(10, seed) for seed in range(10)]
    options = {"ils": {"climbers": 1, "iterations": 5}, "restarts": {"climbers": 2}, "eax": {"climbers": 4}}

    def solve(times: int) -> None:
        for number in range(times):
            solver = list(options)[number % len(options)]
            pytsp.solve(instances[number % 10], solver=solver, backend=name, seed=number, **options[solver])

    solve(1_000)
    before, had = resident(), handles()
    solve(9_000)
    # A leak of 400 bytes a solve would be more.
    assert resident() - before < 9_000 * 400
    assert handles() == had


# Notebooks

CELL = """
import numpy as np, pytsp
told = []
def tell(now):
    told.append(now)
    if len(told) == 3:
        print("begun", flush=True)
points = np.random.default_rng(0).integers(0, 10**6, (2000, 2))
result = pytsp.solve(points, solver="ils", backend="c", climbers=1, iterations=10**12, progress=tell)
print(result.stop_reason, result.length == result.instance.tour_length(result.tour))
"""


@pytest.fixture
def notebook() -> Iterator[Any]:
    """The client of a notebook's kernel."""
    reason = "notebooks are tested where jupyter_client and ipykernel are installed"
    manager = pytest.importorskip("jupyter_client.manager", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    kernel = manager.KernelManager(kernel_name="python3")
    # Not a kernel that is installed under this name, which may be another Python's.
    kernel.kernel_spec.argv[0] = sys.executable
    kernel.start_kernel(cwd=str(ROOT))
    client = kernel.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE)
        client.kernel = kernel
        yield client
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


@pytest.mark.slow
def test_an_interrupted_cell_ends_with_its_result_and_the_next_one_runs(notebook: Any) -> None:
    notebook.execute(CELL)
    printed = ""
    while "begun" not in printed:
        printed += _printed(notebook)
    notebook.kernel.interrupt_kernel()
    while "True" not in printed:
        printed += _printed(notebook)
    assert printed.split() == ["begun", "interrupted", "True"]
    notebook.execute("print(result.solver)")
    printed = ""
    while "\n" not in printed:
        printed += _printed(notebook)
    assert printed == "ils\n"


def _printed(client: Any) -> str:
    """The next thing that a notebook's kernel prints, or the error that ends a cell."""
    message = client.get_iopub_msg(timeout=PATIENCE)
    assert message["msg_type"] != "error", message["content"]
    return str(message["content"]["text"]) if message["msg_type"] == "stream" else ""


# The interpreter's end

BEGIN = """
import sys, threading, numpy as np, pytsp
instance = pytsp.Instance.from_coordinates(np.random.default_rng(0).integers(0, 10**6, (1000, 2)), "EUC_2D")
runs = threading.Event()
def solve(progress):
    return pytsp.solve(instance, solver={solver!r}, backend={backend!r}, time_limit={patience}, progress=progress)
"""
ENDINGS = {
    "a daemon thread solves": """
threading.Thread(target=solve, args=(lambda _: runs.set(),), daemon=True).start()
assert runs.wait({patience})
""",
    "a callback exits": """
solve(lambda _: sys.exit(0))
""",
    "a solve begins at exit": """
import atexit
@atexit.register
def late():
    result = pytsp.solve(instance, solver={solver!r}, backend={backend!r}, time_limit=0.3)
    assert result.instance.tour_length(result.tour) == result.length
""",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("name", "solver"), [("c", "ils"), ("multicore", "eax")])
def test_the_interpreter_ends_during_a_solve(name: str, solver: str, ending: str) -> None:
    program = (BEGIN + ENDINGS[ending]).format(solver=solver, backend=name, patience=PATIENCE)
    done = run_python("-X", "dev", "-c", program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_interpreter_waits_for_a_thread_that_is_no_daemon() -> None:
    program = BEGIN.format(solver="ils", backend="c", patience=0.5)
    program += "threading.Thread(target=lambda: print(solve(None).stop_reason)).start()\n"
    done = run_python("-c", program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "time limit\n", "")
