"""The backends that run here: what they refuse, how they fail and recover, threads, forks and closing."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import emulated
import numpy as np
import pytest
from clocks import Clock
from gpus import gpu_params
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from processes import PATIENCE, run_python

from pytsp import random_tours
from pytsp.backends import BACKENDS, CPU_PART, PARTS, Backend, Opaque, kernel_cache, open_backend, registry, status
from pytsp.backends.devices import DriverContext
from pytsp.backends.entry_points import EntryPoint, Manifest
from pytsp.backends.kernel_cache import KernelCache
from pytsp.backends.kind import DeviceKind
from pytsp.backends.kinds import KINDS
from pytsp.backends.marshal import OpaqueType, Scalar
from pytsp.exceptions import BackendError, BackendUnavailable, DeviceMemoryError, KernelError
from pytsp.solvers.options.fields import Options
from pytsp.solvers.options.ils import ILS
from pytsp.solvers.options.restarts import RandomRestarts
from pytsp.solvers.registry import OPTIONS

SHARED = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=50)
TRIANGLE = np.array([[0, 3, 4, 5], [3, 0, 5, 4], [4, 5, 0, 3], [5, 4, 3, 0]], np.int32)


@pytest.fixture(params=["c", "multicore", *gpu_params(), emulated.NAMED])
def kernels(request: pytest.FixtureRequest) -> Backend:
    """Every backend that runs here, open."""
    return open_backend(request.param)


@pytest.fixture
def own() -> Iterator[Backend]:
    """A backend that no other test uses, so that it may be closed."""
    backend = open_backend("multicore", threads=3)
    yield backend
    backend.close()


# Starting


def test_importing_the_package_imports_nothing_that_few_programs_need() -> None:
    code = "import sys, numpy; before = {*sys.modules}; import pytsp.cli.commands; print(*({*sys.modules} - before))"
    done = run_python("-c", code, check=True)
    late = {"rich", "difflib", "hashlib", "platformdirs", "scipy", "importlib.metadata", "pytsp.backends.kernel_cache"}
    assert not late & {*done.stdout.split()}
    assert not {"pytsp.api.compare", "pytsp.generate", "pytsp.io.tsplib.writer"} & {*done.stdout.split()}


def test_what_is_imported_late_is_there_where_it_is_asked_for() -> None:
    code = "import pytsp; print(*(type(getattr(pytsp, name)).__name__ for name in pytsp.__all__)); dir(pytsp); pytsp.no"
    done = run_python("-c", code)
    assert "function" in done.stdout
    assert "AttributeError: module 'pytsp' has no attribute 'no'" in done.stderr


def random_batch(backend: Backend, n: int, seed: object, count: int) -> Any:
    """The random tours of some climbers, made by a kernel."""
    return backend.fields(backend.call("batch_random", n, seed, 0, count))["tours"]


def assert_works(backend: Backend) -> None:
    """A kernel gives what it should."""
    assert random_batch(backend, 5, 3, 1).tolist() == random_tours(5, 1, 3).tolist()


def is_loaded(backend: Backend, instance: Opaque) -> bool:
    """Whether an instance is on the device: a kernel takes it."""
    descent = backend.call("descent_given", np.array([0, 2, 1, 3], np.int32))
    return bool(backend.call("descent_tour", backend.call("matrix_descend", instance, descent, 1)).size)


# What passes


@SHARED
@given(numbers=st.lists(st.integers(-(2**31), 2**31 - 1)))
def test_an_array_reaches_the_device_as_it_is(kernels: Backend, numbers: list[int]) -> None:
    count = len(numbers)
    given: dict[str, Any] = {"tours": np.array([numbers] * 2, np.int32), "steps": np.array([count] * 2, np.int32)}
    rest = {
        "lengths": np.array([sum(numbers)] * 2, np.int64),
        "passes": given["steps"],
        "done": np.array([True, False]),
    }
    found = kernels.fields(kernels.value("batch", {**given, **rest}))
    assert all(np.array_equal(found[name], values) for name, values in {**given, **rest}.items())


def test_an_array_is_kept_on_the_device_for_many_calls(kernels: Backend) -> None:
    tour = np.array([0, 2, 1, 3], dtype=np.int32)
    kept = kernels.keep(tour)
    tour[:] = 0
    assert (kept.type, kept.owner) == ("[]i32", kernels)
    for _ in range(2):
        assert kernels.call("descent_tour", kernels.call("descent_given", kept)).tolist() == [0, 2, 1, 3]
    kept.free()
    with pytest.raises(BackendError, match="was freed or consumed"):
        kernels.call("descent_given", kept)


def test_a_kept_array_is_refused_where_it_does_not_belong(kernels: Backend) -> None:
    with pytest.raises(BackendError, match="is not accepted|no entry point takes"):
        kernels.call("descent_given", kernels.keep(np.zeros((1, 4), dtype=np.int32)))
    with pytest.raises(BackendError, match="no entry point takes an array of float16 with 1 dimension"):
        kernels.keep(np.zeros(4, dtype=np.float16))
    other = open_backend("multicore" if kernels.name == "c" else "c")
    with pytest.raises(BackendError, match="belongs to another backend"):
        other.call("descent_given", kernels.keep(np.zeros(4, dtype=np.int32)))


@SHARED
@given(tour=st.integers(1, 50).flatmap(lambda n: st.permutations(range(n))))
def test_an_array_reaches_the_kernel_as_it_is(kernels: Backend, tour: list[int]) -> None:
    assert kernels.call("descent_tour", kernels.call("descent_given", np.array(tour, np.int32))).tolist() == tour


def test_arrays_that_are_not_contiguous_or_not_writable_pass(kernels: Backend) -> None:
    tour = np.repeat(np.arange(33, dtype=np.int32), 3)[::-3]
    tour.flags.writeable = False
    assert kernels.call("descent_tour", kernels.call("descent_given", tour)).tolist() == tour.tolist()


def test_results_are_fresh_arrays(kernels: Backend) -> None:
    first, again = (random_batch(kernels, 50, 7, 3) for _ in range(2))
    assert first.shape == (3, 50)
    assert first.dtype == np.int32
    assert first.flags.owndata and first.flags.writeable
    assert np.array_equal(first, again) and not np.shares_memory(first, again)


@SHARED
@given(number=st.integers(0, 2**31 - 1))
def test_integers_of_numpy_and_python_pass_alike(kernels: Backend, number: int) -> None:
    for same in (number, np.int64(number), np.uint64(number)):
        move = kernels.fields(kernels.value("move i32", {"gain": same, "i": same, "j": 0}))
        assert move == {"gain": number, "i": number, "j": 0}
        assert np.array_equal(random_batch(kernels, 4, same, 2), random_tours(4, 2, number))


def test_an_opaque_value_goes_back_to_its_backend(kernels: Backend) -> None:
    instance = kernels.call("matrix_load", TRIANGLE)
    descent = kernels.call("descent_given", np.array([0, 2, 1, 3], np.int32))
    assert isinstance(instance, Opaque)
    tour = kernels.call("descent_tour", kernels.call("matrix_descend", instance, descent, 1))
    assert tour.dtype == np.int32


# What is refused


@pytest.mark.parametrize(
    ("argument", "shown"),
    [
        (np.zeros(3, np.int64), "int64"),
        (np.zeros(3, np.uint32), "uint32"),
        (np.zeros(3, np.float64), "float64"),
        (np.zeros(3, np.bool_), "bool"),
        (np.zeros(3, ">i4"), ">i4"),
        (np.zeros((3, 1), np.int32), r"\(3, 1\)"),
        (np.zeros((), np.int32), r"\(\)"),
        (np.ma.masked_array(np.zeros(3, np.int32), [0, 1, 0]), "MaskedArray"),
        ([1, 2, 3], "list"),
        (7, "int 7"),
        (None, "NoneType"),
    ],
)
def test_no_other_array_passes(kernels: Backend, argument: object, shown: str) -> None:
    with pytest.raises(
        BackendError, match=rf"'descent_given', argument 0 \(tour\): .*{shown}.*int32 with 1 dimension$"
    ):
        kernels.call("descent_given", argument)


@pytest.mark.parametrize(
    "argument",
    [2**31, -(2**31) - 1, 2**32 + 3, 1.0, 1.9, True, np.True_, "1", None, np.float64(2), np.int32([4])],
)
def test_no_other_integer_passes(kernels: Backend, argument: object) -> None:
    descent = kernels.call("descent_given", np.array([0, 2, 1, 3], np.int32))
    with pytest.raises(BackendError, match=r"'descent_turn', argument 1 \(k\): .*from -2147483648 to 2147483647"):
        kernels.call("descent_turn", descent, argument)


@pytest.mark.parametrize("argument", [1, 0, "yes", None, np.int8(1)])
def test_no_other_truth_value_passes(kernels: Backend, argument: object) -> None:
    xs = np.zeros(3)
    with pytest.raises(BackendError, match=r"argument 2 .* a bool"):
        kernels.call("plane_load", xs, xs, argument)


@given(value=st.floats(width=32))
def test_floats_that_single_precision_holds_pass(value: float) -> None:
    assert Scalar("f32").check(value) == value or np.isnan(value)
    assert Scalar("f64").check(np.float64(value)) == value or np.isnan(value)


@pytest.mark.parametrize("value", [0.1, 1e300, -1e-300, 16777217.0, 1, True, None])
def test_floats_that_single_precision_would_round_do_not_pass(value: object) -> None:
    with pytest.raises(Exception, match="^(float|int|bool|NoneType) "):
        Scalar("f32").check(value)


@pytest.mark.parametrize("arguments", [(), (1, 2)])
def test_too_few_and_too_many_arguments_are_refused(kernels: Backend, arguments: tuple[int, ...]) -> None:
    with pytest.raises(BackendError, match=rf"'descent_given' takes 1 arguments \(tour\), got {len(arguments)}"):
        kernels.call("descent_given", *arguments)


def test_an_unknown_entry_point_is_refused_with_those_there_are(kernels: Backend) -> None:
    with pytest.raises(BackendError, match="no entry point 'descent_taken'; there are: .*descent_given"):
        kernels.call("descent_taken", 1)


def test_an_opaque_value_of_another_backend_or_freed_is_refused(kernels: Backend, own: Backend) -> None:
    tour = np.array([0, 2, 1, 3], np.int32)
    # Not the matrix: a GPU's has a type of its own.
    foreign = own.call("descent_given", tour)
    with pytest.raises(BackendError, match="another backend"):
        kernels.call("descent_tour", foreign)
    with pytest.raises(BackendError, match="type descent"):
        kernels.call("descent_tour", tour)
    foreign.free()
    foreign.free()
    with pytest.raises(BackendError, match="freed"):
        own.call("descent_tour", foreign)


# Failing


def test_an_error_in_a_kernel_surfaces_and_the_next_call_works(kernels: Backend) -> None:
    message = r"(?s)Assertion is false: .*are_climbers first count\).*Backtrace:.*\.fut"
    for _ in range(3):
        with pytest.raises(KernelError, match=message):
            random_batch(kernels, 5, 0, -1)
        # One that is known only on the device, where CUDA tells it without that word.
        with pytest.raises(KernelError, match=r"(?s)Assertion is false: .*is_tour tour\).*\.fut"):
            kernels.call("descent_given", np.array([0, 1, 1], np.int32))
        assert_works(kernels)


def test_sizes_that_disagree_are_an_error(kernels: Backend) -> None:
    with pytest.raises(KernelError, match="sizes"):
        kernels.call("matrix_load", np.zeros((2, 3), np.int32))
    assert_works(kernels)


class _Lib:
    """A Futhark context that fails as told: the results of one sync after the other, and of the errors."""

    def __init__(self, syncs: list[int], errors: list[str]) -> None:
        self.syncs, self.errors = syncs, errors
        self.cleared = 0

    def futhark_context_sync(self, _: object) -> int:
        return self.syncs.pop(0) if self.syncs else 0

    def futhark_context_get_error(self, _: object) -> str:
        return self.errors.pop(0) if self.errors else ""

    def futhark_context_clear_caches(self, _: object) -> int:
        self.cleared += 1
        return 0

    def free(self, _: object) -> None:
        pass


def _failing(lib: _Lib, *entries: EntryPoint) -> Backend:
    """A backend on `lib`."""
    backend = Backend.__new__(Backend)
    backend._kind = KINDS["c"]
    backend.name, backend.part, backend.threads, backend.device = "c", None, 1, None
    backend.lib, backend.context = lib, "context"
    backend.ffi = SimpleNamespace(string=str.encode, new=lambda _: [0])
    backend._lost, backend._driver = "", DriverContext()
    backend._process, backend._lock = os.getpid(), threading.RLock()
    backend._released, backend._adopted, backend._tickets = deque(), {}, 0
    backend._interrupted = None
    backend._manifest = {entry.name: entry for entry in entries}  # type: ignore[assignment]
    return backend


def test_an_error_that_surfaces_late_is_raised_by_the_call() -> None:
    backend = _failing(_Lib([1, 0], ["Error: late"]))
    with pytest.raises(KernelError, match="late"):
        backend.checked(0)
    assert not backend.closed


def test_an_error_that_stays_loses_the_context() -> None:
    freed: list[object] = []
    backend = _failing(_Lib([1, 1, 1], ["illegal address", "illegal address", "illegal address"]))
    with pytest.raises(KernelError, match="illegal address"):
        backend.checked(0)
    backend.free(lambda *arguments: freed.append(arguments) or 0, "pointer")
    assert backend.closed and not freed
    with pytest.raises(BackendError, match="failed for good: illegal address; start a new process"):
        backend.call("any")


def test_cuda_is_not_tried_again_in_a_process_where_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KINDS["cuda"], "failures", [])
    backend = _failing(_Lib([1, 1], ["illegal address"] * 3))
    backend._kind, backend.name = KINDS["cuda"], "cuda"
    with pytest.raises(KernelError):
        backend.checked(1)
    reason = "CUDA failed in this process: illegal address"
    assert not status()[3].built or status()[3].reason == reason
    with pytest.raises(BackendUnavailable):
        open_backend("cuda", tuning={"another": 1})


def test_an_argument_that_does_not_fit_is_refused_before_it_is_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lib = _Lib([], [])
    backend = _failing(lib)
    monkeypatch.setattr(backend._driver, "free_memory", lambda: 2**30)
    backend.reserve(2**29)
    assert lib.cleared == 0
    with pytest.raises(DeviceMemoryError, match=f"an argument of {2**30} bytes does not fit into {2**30} free"):
        backend.reserve(2**30)
    assert lib.cleared == 1


def test_a_call_that_runs_out_of_memory_is_tried_once_more() -> None:
    codes = [1, 0, 1, 1]
    entry = EntryPoint("grow", lambda *_: codes.pop(0), (), (Scalar("i32"),), ("int *",))
    memory = "Failed to allocate memory in space 'device'."
    lib = _Lib([], [memory, memory, memory])
    backend = _failing(lib, entry)
    assert backend.call("grow") == 0
    assert lib.cleared == 1
    with pytest.raises(DeviceMemoryError, match="Failed to allocate"):
        backend.call("grow")
    assert lib.cleared == 2


def test_a_tuple_is_unpacked_and_freed() -> None:
    freed: list[object] = []
    backend = _failing(_Lib([], []))
    backend.ffi = SimpleNamespace(new=lambda _: [None], typeof=lambda _: SimpleNamespace(args=(0, 1)))

    def project(number: int) -> Any:
        def write(_: object, out: list[object], pointer: object) -> int:
            out[0] = (pointer, number)
            return 0

        return write

    parts = tuple((project(number), Scalar("i32")) for number in (0, 1))
    pair = OpaqueType("(i32, i32)", lambda _, pointer: freed.append(pointer) or 0, parts)
    assert pair.fetch(backend, "pair") == (("pair", 0), ("pair", 1))
    assert freed == ["pair"]


# Opening


def test_a_backend_is_opened_once_for_the_same_settings(kernels: Backend) -> None:
    assert open_backend(kernels.name) is kernels


def test_an_unknown_backend_is_refused_with_the_known() -> None:
    with pytest.raises(BackendError, match="'cud' is not known; known: auto, c, multicore, opencl, cuda"):
        open_backend("cud")


@pytest.mark.parametrize("threads", [0, -1, 1025, True, 2.0, "2"])
def test_thread_counts_that_are_none_are_refused(threads: Any) -> None:
    with pytest.raises(BackendError, match="threads must be"):
        open_backend("multicore", threads=threads)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("c", {"threads": 2}),
        ("c", {"device": 0}),
        ("multicore", {"device": "H200"}),
        ("auto", {"threads": 2, "device": 0}),
    ],
)
def test_settings_that_a_backend_has_no_use_for_are_refused(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(BackendError, match="threads|device"):
        open_backend(name, **settings)


@pytest.mark.parametrize(("name", "value"), [("suff_outer_par_0", 1), ("x", -1), ("x", True), ("x", 1.5)])
def test_tuning_parameters_that_are_none_are_refused(name: str, value: Any) -> None:
    with pytest.raises(BackendError, match=f"tuning parameter '{name}'"):
        open_backend("c", tuning={name: value})


def test_auto_takes_a_backend_that_works_and_obeys_the_thread_count() -> None:
    assert_works(open_backend())
    assert open_backend("auto", threads=1).threads == 1
    two = open_backend("auto", threads=2)
    assert (two.name, two.threads) == ("multicore", 2)


def test_a_backend_that_cannot_run_says_what_to_do() -> None:
    for each in status():
        if each.usable:
            assert each.built and not each.reason and not each.remedy
        else:
            assert each.reason and each.remedy
            with pytest.raises(BackendUnavailable, match="cannot run here: .*; to use it, "):
                open_backend(each.name)


def test_status_names_every_backend_and_is_json() -> None:
    found = status()
    assert found[0].usable and found[1].usable
    assert [each.name for each in found] == list(BACKENDS)
    assert json.loads(json.dumps([each.to_dict() for each in found]))[0]["compiler"].startswith("Futhark 0.")


def test_without_kernels_status_gives_the_reason_of_the_build(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeviceKind, "kernels", tmp_path)
    assert all((each.built, each.reason) == (False, "not built") for each in status())
    assert all("build.py" in each.remedy for each in status())
    entries = {f"cuda_{part}": {"built": True, "reason": "Futhark", "remedy": ""} for part in PARTS}
    entries["cuda_search"] = {"built": False, "reason": "no cuda.h", "remedy": "get a toolkit"}
    (tmp_path / "build.json").write_text(json.dumps({"modules": entries}))
    assert (status()[3].reason, status()[3].remedy) == ("not built: no cuda.h", "get a toolkit")
    for rubbish in ("", "[]", "{", '{"modules": 3}'):
        (tmp_path / "build.json").write_text(rubbish)
        (tmp_path / "c.json").write_text(rubbish)
        assert not any(each.built for each in status())


# Parts


def test_an_unknown_part_is_refused_with_the_known() -> None:
    known = ", ".join((*PARTS, CPU_PART))
    with pytest.raises(BackendError, match=f"part 'ils' of the kernels is not known; known: {known}$"):
        open_backend("c", part="ils")


@pytest.mark.parametrize("settings", [{"name": "c"}, {"name": "multicore", "threads": 2}, {"threads": 1}])
def test_on_the_cpu_all_parts_are_one_backend(settings: dict[str, Any]) -> None:
    one, *others = (open_backend(**settings, part=part) for part in (*PARTS, CPU_PART))
    assert one.part is None and all(other is one for other in others)


def test_a_gpu_has_a_context_for_each_part(kernels: Backend) -> None:
    if kernels.device is None:
        pytest.skip("one program holds all parts")
    each = {part: open_backend(kernels.name, part=part) for part in PARTS}
    assert each["restarts"] is kernels
    assert len({*map(id, each.values())}) == len(PARTS)
    assert [backend.part for backend in each.values()] == list(PARTS)
    with pytest.raises(BackendError, match=r"'plane_along' in its part 'lists', and this is its part 'restarts'"):
        kernels.call("plane_along", *np.zeros((2, 5)))


def test_an_entry_point_of_another_part_is_refused_with_that_part(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in PARTS:
        (tmp_path / f"cuda_{part}.json").write_text(json.dumps({"entry_points": {f"{part}_call": {}}}))
    monkeypatch.setattr(DeviceKind, "kernels", tmp_path)
    backend = _failing(_Lib([], []))
    backend._kind, backend.name, backend.part = KINDS["cuda"], "cuda", "search"
    backend._manifest = Manifest({"types": {}, "entry_points": {"search_call": {}}}, None, None)
    with pytest.raises(
        BackendError, match=r"'flat_call' in its part 'flat', and this is its part 'search'; call .*'flat'"
    ):
        backend.call("flat_call")
    with pytest.raises(BackendError, match="no entry point 'no_call'; there are: search_call"):
        backend.call("no_call")


# Options whose kernels lie in a part of their own, since only what the papers describe needs them.
OF_PAPERS: list[Options] = [
    RandomRestarts(neighbourhood="flat"),
    RandomRestarts(blocks=1),
    ILS(mapping="lockstep"),
]


def test_every_solver_has_a_part() -> None:
    parts = {kind().kernels_part for kind in OPTIONS.values()} | {each.kernels_part for each in OF_PAPERS}
    # Solvers open these beside their own: for lists by α, and of many cities.
    assert parts | {"bound", "lists"} == {*PARTS, CPU_PART}


def test_what_the_cpu_alone_has_is_not_what_the_others_find(monkeypatch: pytest.MonkeyPatch) -> None:
    # Were the CPU's kernels kept as those of "auto", a GPU would not be looked for any more.
    monkeypatch.setattr(registry, "_registry", {})
    opened = open_backend("auto", part=CPU_PART)
    assert opened.device is None
    assert [name for (name, *_), _ in registry._registry] == [registry.on_the_cpu()]


# Threads, forks, closing


def test_two_threads_get_the_results_of_one(kernels: Backend) -> None:
    expected = [random_batch(kernels, 100, seed, 200) for seed in range(8)]
    results: dict[int, Any] = {}

    def work(seeds: range) -> None:
        for seed in seeds:
            results[seed] = random_batch(kernels, 100, seed, 200)
            with pytest.raises(KernelError):
                random_batch(kernels, 100, seed, -1 - seed)

    threads = [threading.Thread(target=work, args=(range(start, 8, 2),)) for start in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(results[seed], expected[seed]) for seed in range(8))


@pytest.fixture
def polite() -> Iterator[None]:
    """Python's threads take turns only where one gives up its turn."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("polite")
def test_python_goes_on_while_a_kernel_runs(kernels: Backend) -> None:
    runs, seen = False, False

    def work() -> None:
        nonlocal runs
        # Again, where a kernel is over before this machine comes to the other thread.
        for _ in range(500):
            runs = True
            kernels.call("batch_random", 1000, 1, 0, 2000)
            runs = False
            if seen:
                break

    worker = threading.Thread(target=work)
    worker.start()
    while worker.is_alive() and not seen:
        seen = runs
        worker.join(1e-6)
    worker.join()
    assert seen


def _in_child(backend: Backend, instance: Opaque, queue: Any) -> None:
    try:
        assert_works(backend)
    except BackendError as error:
        queue.put(str(error))
    instance.free()
    backend.close()
    assert_works(open_backend(backend.name, threads=backend.threads))
    queue.put("works")


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_must_open_its_own(own: Backend) -> None:
    instance = own.call("matrix_load", TRIANGLE)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(own, instance, queue))
    child.start()
    assert "call open_backend in this one" in queue.get(timeout=PATIENCE)
    assert queue.get(timeout=PATIENCE) == "works"
    child.join(timeout=PATIENCE)
    assert child.exitcode == 0
    assert is_loaded(own, instance)


def test_a_closed_backend_says_so_and_can_be_opened_again() -> None:
    with open_backend("multicore", threads=4) as backend:
        instance = backend.call("matrix_load", TRIANGLE)
        assert not backend.closed
    assert backend.closed
    backend.close()
    for use in (
        lambda: assert_works(backend),
        backend.free_memory,
        backend.release_memory,
        backend.__enter__,
    ):
        with pytest.raises(BackendError, match="closed.*call open_backend again"):
            use()
    instance.free()
    again = open_backend("multicore", threads=4)
    assert again is not backend
    assert_works(again)
    again.close()


def test_close_waits_for_a_running_call(own: Backend) -> None:
    results: list[Any] = []
    worker = threading.Thread(target=lambda: results.append(own.call("batch_random", 1000, 1, 0, 20000)))
    worker.start()
    while worker.is_alive() and own._lock.acquire(blocking=False):
        own._lock.release()
    own.close()
    worker.join()
    assert isinstance(results[0], Opaque)
    assert own.closed


def test_opaque_values_are_freed_with_their_last_reference(own: Backend) -> None:
    for _ in range(10):
        own.call("matrix_load", TRIANGLE)
    gc.collect()
    assert not own._adopted
    kept = own.call("matrix_load", TRIANGLE)
    assert len(own._adopted) == 1
    own.release_memory()
    assert is_loaded(own, kept)


@pytest.mark.parametrize("name", ["c", "multicore"])
def test_a_cpus_memory_for_reuse_can_be_given_back(name: str) -> None:
    # In a process of its own, where nothing else takes or leaves memory.
    said = run_python(
        "-c",
        f"""
import numpy as np
from pytsp.backends import open_backend
def megabytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 1e6
backend = open_backend({name!r}, part="search")
tours = np.tile(np.arange(5_000, dtype=np.int32), (2_000, 1))
before = megabytes()
population = backend.call("population_given", tours)
print(megabytes() - before)
del population
backend.release_memory()
print(megabytes() - before)
""",
        check=True,
    )
    held, left = map(float, said.stdout.split())
    assert held > 40
    assert left < 10


def test_an_interruption_inside_a_finalizer_is_told_by_the_next_call(own: Backend, monkeypatch: Any) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    for place, later in (("_free_released", 0.0), ("_free_released", 60.0), ("getpid", 0.0)):
        value, clock = own.call("matrix_load", TRIANGLE), Clock()
        monkeypatch.setattr("time.monotonic", clock)
        with monkeypatch.context() as patch:
            patch.setattr(*(("os.getpid",) if place == "getpid" else (own, place)), interrupted)
            del value
            gc.collect()
        clock.seconds += later
        # A solve that begins much later is not meant.
        with pytest.raises(KeyboardInterrupt) if later == 0 else nullcontext():
            assert_works(own)
        assert_works(own)
        gc.collect()
        assert not own._adopted


def test_the_interpreter_exits_cleanly_with_backends_open() -> None:
    program = """if True:
        import threading, numpy, pytsp.backends as b
        c, m = b.open_backend("c"), b.open_backend("multicore", threads=2)
        kept = [each.call("matrix_load", numpy.zeros((3, 3), numpy.int32)) for each in (c, m)]
        threading.Thread(target=m.call, args=("batch_random", 1000, 1, 0, 100000), daemon=True).start()
    """
    done = run_python("-X", "dev", "-c", program)
    assert (done.returncode, done.stderr) == (0, "")


def test_describe_names_backend_device_and_compiler(kernels: Backend) -> None:
    assert kernels.name in kernels.describe() and "Futhark 0." in kernels.describe()
    assert kernels.device_name in repr(kernels)
    memory = kernels.free_memory()
    assert (memory is None) == (kernels.name != "cuda")
    assert kernels.entry_points == sorted(kernels.entry_points)


# The kernel cache


@pytest.fixture
def folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The user's cache folder, for a while."""
    monkeypatch.setattr(kernel_cache.platformdirs, "user_cache_dir", lambda _: str(tmp_path / "cache"))
    (tmp_path / "module").write_bytes(b"module")
    return tmp_path


def _whole(text: bytes) -> bytes:
    """What Futhark writes: a mark, the size, a hash, the kernels."""
    return b"FUTHARK\0" + (48 + len(text)).to_bytes(8, "little") + bytes(32) + text


@pytest.mark.filterwarnings("error")
def test_compiled_kernels_are_found_again_for_the_same_settings_only(folder: Any) -> None:
    cold = KernelCache("cuda", folder / "module", ("H200",))
    assert not cold.warm and cold.path is not None
    cold.path.write_bytes(_whole(b"kernels"))
    cold.keep()
    warm = KernelCache("cuda", folder / "module", ("H200",))
    assert warm.warm and warm.path is not None and warm.path.read_bytes() == _whole(b"kernels")
    warm.keep()
    assert not KernelCache("cuda", folder / "module", ("H100",)).warm
    (folder / "module").write_bytes(b"another")
    assert not KernelCache("cuda", folder / "module", ("H200",)).warm


@pytest.mark.parametrize("damage", [b"", b"FUTHARK\0", b"garbage" * 100, _whole(b"kernels")[:-1], _whole(b"") + b"x"])
def test_a_damaged_cache_is_made_again_with_a_warning(folder: Any, damage: bytes) -> None:
    cold = KernelCache("cuda", folder / "module", ())
    assert cold.path is not None
    cold.path.write_bytes(damage)
    cold.keep()
    with pytest.warns(RuntimeWarning, match="damaged"):
        again = KernelCache("cuda", folder / "module", ())
    assert not again.warm and again.path is not None
    assert not list((folder / "cache" / "kernels").iterdir())


def test_a_cache_folder_that_cannot_be_used_is_ignored_with_a_warning(folder: Any) -> None:
    (folder / "cache").write_text("a file where the folder should be")
    with pytest.warns(RuntimeWarning, match="not kept between runs"):
        cache = KernelCache("cuda", folder / "module", ())
    assert cache.path is None and not cache.warm
    cache.keep()


def test_a_gpu_s_host_is_looked_for_once_while_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    class Paper:
        device = object()

    looks: list[str] = []
    monkeypatch.setattr(registry, "on_the_cpu", lambda: looks.append("c") or "c")
    gpu: Any = Paper()
    assert registry.host_kernels(gpu) is registry.host_kernels(gpu) is open_backend("c")
    assert looks == ["c"]
    monkeypatch.setitem(registry._hosts, gpu, cast("Any", SimpleNamespace(closed=True)))
    assert registry.host_kernels(gpu) is open_backend("c")
    assert looks == ["c", "c"]
