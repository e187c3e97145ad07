"""Starting: what is imported when, and the device that opens in a thread meanwhile."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from paths import ROOT
from processes import PATIENCE, run_python

import pytsp
from pytsp.backends import registry
from pytsp.cli import commands as cli
from pytsp.cli.commands import main
from pytsp.datasets import reading
from pytsp.exceptions import BackendUnavailable
from pytsp.solvers import registry as _names

SOLVE = ["solve", "uniform100", "--climbers", "2", "--solver", "restarts", "--json"]


def run(program: str, *words: str) -> str:
    """Run a program in a process of its own; return what it prints."""
    return run_python("-c", program, *words, check=True).stdout


# Imports


def test_a_backend_opens_without_numpy() -> None:
    program = """if True:
        import sys
        import pytsp, pytsp.backends.kernel_cache
        from pytsp.cli.commands import _parser
        from pytsp.backends import open_backend, status
        for name in ("auto", *(found.name for found in status() if found.usable)):
            assert open_backend(name).entry_points
        _parser().parse_args(["solve", "any", "--solver", "ils", "--moves", "or-opt", "--device", "0"])
        print("numpy" in sys.modules)
    """
    assert run(program) == "False\n"


@pytest.mark.parametrize("n", [50, 2000, 30_000])
def test_a_first_solve_imports_nothing_but_kernels(n: int) -> None:
    program = f"""if True:
        import sys
        import numpy as np, pytsp
        solve = pytsp.solve
        points = np.random.default_rng(0).integers(0, 10**6, ({n}, 2))
        instance = pytsp.Instance.from_coordinates(points, "EUC_2D")
        before = set(sys.modules)
        solve(instance, time_limit=0.3, backend="c")
        new = set(sys.modules) - before
        print(sorted(each for each in new if each.startswith(("pytsp.", "scipy")) and "._kernels" not in each))
    """
    # What a value on the device is made of waits for the backend.
    assert run(program) in ("['pytsp.backends.records']\n", "[]\n")


@pytest.mark.parametrize("name", ["Instance", "read", "as_instance", "solve_many"])
def test_the_solver_is_there_before_a_first_solve(name: str) -> None:
    program = (
        f"import sys, pytsp; pytsp.{name}; before = set(sys.modules); pytsp.solve; print(set(sys.modules) - before)"
    )
    assert run(program) == "set()\n"


def test_an_error_is_there_without_the_solver() -> None:
    assert run("import sys, pytsp; pytsp.TourError; print('numpy' in sys.modules)") == "False\n"


@pytest.mark.parametrize("given", [None, "0"])
def test_the_environment_stays_while_a_driver_comes_up(given: str | None) -> None:
    program = f"""if True:
        import os, sys, threading, time
        if {given!r}:
            os.environ["OPENBLAS_MAIN_FREE"] = {given!r}
        import pytsp.cli.commands
        changed = []
        def hook(event, details):
            if event in ("os.putenv", "os.unsetenv") and threading.active_count() > 1:
                changed.append((event, details))
        sys.addaudithook(hook)
        opened = pytsp.cli.commands.open_backend
        def slow(*which, **rest):
            # Until NumPy has been imported.
            while not hasattr(sys.modules.get("numpy"), "__version__") or sys.modules["numpy"].__spec__._initializing:
                time.sleep(0.01)
            return opened(*which, **rest)
        pytsp.cli.commands.open_backend = slow
        assert "numpy" not in sys.modules
        assert pytsp.cli.commands.main({SOLVE!r} + ["--backend", "c", "--quiet"]) == 0
        print(changed, "numpy" in sys.modules, os.environ["OPENBLAS_MAIN_FREE"], file=sys.stderr)
    """
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_MAIN_FREE"}
    done = run_python("-c", program, check=True, env=environment)
    assert done.stderr == f"[] True {given or 1}\n"


@pytest.mark.parametrize(
    "before",
    [
        "import pytsp",
        "import pytsp.api.solve",
        "from pytsp.solvers.registry import SOLVERS",
        "import pytsp.api.compare",
        "import pytsp; pytsp.read; import pytsp.api.solve",
        "from pytsp import solve; from pytsp.api.solve import solve as again; assert again is solve",
        "from pytsp import *; import pytsp.api.solve",
        "import importlib, pytsp.api.solve; importlib.reload(pytsp)",
        "import importlib, pytsp; importlib.import_module('pytsp.api.solve')",
    ],
)
def test_solve_is_the_function_in_any_order_of_imports(before: str) -> None:
    program = f"{before}\nimport pytsp\nprint(type(pytsp.solve).__name__)"
    assert run(program) == "function\n"


def test_solve_can_be_replaced_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = pytsp.solve
    with monkeypatch.context() as patch:
        patch.setattr(pytsp, "solve", print)
        assert pytsp.solve is print
    assert pytsp.solve is solve


def test_every_name_of_the_package_is_there_and_in_its_directory() -> None:
    assert {*pytsp.__all__} <= {*dir(pytsp)}
    assert all(getattr(pytsp, name) is not None for name in pytsp.__all__)
    assert run("from pytsp import *; print(read.__name__, write.__name__, compare_backends.__name__)") == (
        "read write compare\n"
    )


def test_modules_of_the_package_need_no_import_of_their_own() -> None:
    assert (
        run("import pytsp; print(pytsp.kernels.__name__, pytsp.backends.__name__)") == "pytsp.kernels pytsp.backends\n"
    )


@pytest.mark.parametrize("name", ["sovle", "_solve", "__wrapped__"])
def test_other_names_are_not_there(name: str) -> None:
    with pytest.raises(AttributeError, match=f"^module 'pytsp' has no attribute '{name}'$"):
        getattr(pytsp, name)


def test_what_a_module_lacks_is_named() -> None:
    program = """if True:
        import sys
        sys.modules["numpy"] = None
        import pytsp
        try:
            pytsp.generate
        except ModuleNotFoundError as error:
            print(error.name)
    """
    assert run(program) == "numpy\n"


def test_the_command_line_knows_the_names_of_the_solvers() -> None:
    assert {*_names.SOLVERS} == {"auto", *_names.OPTIONS} and {*_names.OPTIONS} == {*_names.MODULES}
    for name in _names.SOLVERS:
        assert cli._parser().parse_args(["solve", "any", "--solver", name]).solver == name
        assert f'"{name}"' in (pytsp.solve.__doc__ or "")


# The thread


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "flat"),
        (["--moves", "flat"], "flat"),
        (["--iterations", "9"], "search"),
        (["--k", "inf"], "restarts"),
        (["--mapping", "block"], "restarts"),
        (["--blocks", "9"], "blocks"),
        (["--solver", "restarts"], "restarts"),
        (["--solver", "two-opt", "--k", "2"], "restarts"),
        (["--solver", "ils"], "search"),
        (["--solver", "ils", "--mapping", "lockstep"], "strategies"),
        (["--solver", "restarts", "--neighbourhood", "flat"], "neighbourhoods"),
        (["--neighbourhood", "zipped"], "neighbourhoods"),
        (["--neighbourhood", "tiles"], "restarts"),
        (["--solver", "restarts", "--neighbourhood", "flat", "--k", "2"], "restarts"),
        (["--solver", "large"], "cpu"),
        (["--solver", "annealing"], "comparators"),
    ],
)
def test_the_part_that_opens_is_the_one_that_the_solver_calls(words: list[str], part: str) -> None:
    assert cli._likely_part(cli._parser().parse_args(["solve", "any", *words])) == part


@pytest.fixture
def opening(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[..., Any]], list[bool]]]:
    """Have a function open "auto", given what does so otherwise; list of each call whether the main thread made it.

    The threads end before the next test begins.
    """
    really = registry._open_auto
    before = {*threading.enumerate()}
    by_main: list[bool] = []

    def replace(function: Callable[..., Any]) -> list[bool]:
        def opened(*arguments: Any) -> Any:
            by_main.append(threading.current_thread() is threading.main_thread())
            return function(functools.partial(really, *arguments))

        monkeypatch.setattr(registry, "_registry", {})
        monkeypatch.setattr(registry, "_open_auto", opened)
        return by_main

    yield replace
    for thread in {*threading.enumerate()} - before:
        thread.join(timeout=PATIENCE)


def test_the_instance_is_read_while_the_device_opens(
    opening: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun, read = threading.Event(), threading.Event()

    def slow(really: Callable[[], Any]) -> Any:
        begun.set()
        assert read.wait(PATIENCE)
        return really()

    def slow_read(source: Any) -> tuple[bytes, str]:
        assert begun.wait(PATIENCE)
        found = really_read(source)
        read.set()
        return found

    really_read = reading.read_bytes
    monkeypatch.setattr(reading, "read_bytes", slow_read)
    by_main = opening(slow)
    assert main(SOLVE) == 0
    reported = json.loads(capsys.readouterr().out)
    # The solve found open what the thread had opened.
    assert (reported["climbers"], by_main) == (2, [False])


def test_a_device_that_does_not_open_is_told_once(opening: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def failing(_: object) -> None:
        raise BackendUnavailable("no device today")

    by_main = opening(failing)
    assert main(SOLVE) == 1
    assert tuple(capsys.readouterr()) == ("", "pytsp: no device today\n")
    assert sorted(by_main) == [False, True]


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_that_nobody_foresaw_is_raised_by_the_main_thread(opening: Any) -> None:
    def failing(_: object) -> None:
        raise ZeroDivisionError("a fault in pytsp")

    by_main = opening(failing)
    with pytest.raises(ZeroDivisionError):
        main(SOLVE)
    assert sorted(by_main) == [False, True]


@pytest.mark.parametrize("words", [["no-such-instance"], ["uniform100", "--solver", "restarts", "--iterations", "3"]])
def test_a_failure_waits_for_no_device(words: list[str], opening: Any, capsys: pytest.CaptureFixture[str]) -> None:
    failed = threading.Event()

    def endless(really: Callable[[], Any]) -> Any:
        assert failed.wait(PATIENCE)
        return really()

    by_main = opening(endless)
    try:
        assert main(["solve", *words]) == 1
        assert capsys.readouterr().err.count("\n") == 1
        assert by_main == [False]
    finally:
        failed.set()


# A driver that is at work in C for as long as anybody waits. The program tells when that begins, when the main thread
# reads standard input or waits for the driver, and what would follow the end of the interpreter.
BUSY = f"""if True:
    import atexit, ctypes, sys, threading, types
    from pytsp.backends import registry
    from pytsp.cli import commands as cli

    def busy(*_):
        print("opening", flush=True)
        ctypes.CDLL(None).sleep({10 * PATIENCE})

    class Lock:
        def __init__(self, lock):
            self.lock = lock

        def __enter__(self):
            if threading.current_thread() is threading.main_thread():
                print("waiting", flush=True)
            self.lock.acquire()

        def __exit__(self, *error):
            self.lock.release()

    def read(stream):
        print("reading", flush=True)
        return stream.read()

    sys.stdin = types.SimpleNamespace(buffer=types.SimpleNamespace(read=lambda stream=sys.stdin.buffer: read(stream)))
    registry._registry_lock = Lock(registry._registry_lock)
    registry._open_auto = busy
    atexit.register(print, "taken down")
    sys.exit(cli.main())
"""


def begun(*words: str, moments: tuple[str, ...] = ("opening",)) -> subprocess.Popen[str]:
    """Run the command with that driver until all these moments have come."""
    # A shell that puts the tests into the background has them ignore the signal, and their children too.
    listen = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    command = [sys.executable, "-c", BUSY, *words]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, preexec_fn=listen)  # noqa: PLW1509
    assert process.stdout is not None
    waits = {*moments}
    while waits:
        line = process.stdout.readline()
        assert line
        waits.discard(line.strip())
    return process


def without_moments(out: str) -> str:
    """Return the lines that a command with that driver has printed itself."""
    return re.sub(r"(?m)^(opening|reading|waiting)\n", "", out)


def test_a_process_ends_at_once_where_reading_fails_while_a_driver_works() -> None:
    with begun("solve", "-") as process:
        out, error = process.communicate("no TSPLIB", timeout=PATIENCE)
    assert (process.returncode, without_moments(out), error.count("\n")) == (1, "", 1)
    assert error.startswith("pytsp: <stdin>")


@pytest.mark.parametrize("moments", [("opening",), ("opening", "waiting")])
@pytest.mark.parametrize(
    ("number", "said", "code"),
    [
        (signal.SIGINT, "interrupted", 130),
        (signal.SIGTERM, "ended by SIGTERM", 143),
        (signal.SIGHUP, "ended by SIGHUP", 129),
    ],
)
def test_a_signal_ends_the_opening_of_a_device_at_once(
    moments: tuple[str, ...], number: int, said: str, code: int
) -> None:
    with begun(*SOLVE, moments=moments) as process:
        process.send_signal(number)
        out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, without_moments(out), error) == (code, "", f"pytsp: {said} before there was a tour\n")


@pytest.mark.parametrize(
    ("number", "said", "code"),
    [
        (signal.SIGINT, "interrupted", 130),
        (signal.SIGTERM, "ended by SIGTERM", 143),
        (signal.SIGHUP, "ended by SIGHUP", 129),
    ],
)
def test_a_signal_while_the_instance_is_read_is_told_with_its_code(number: int, said: str, code: int) -> None:
    with begun("solve", "-", moments=("opening", "reading")) as process:
        process.send_signal(number)
        out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, without_moments(out), error) == (code, "", f"pytsp: {said} before there was a tour\n")


def test_the_package_is_a_command() -> None:
    done = run_python("-m", "pytsp", *SOLVE, check=True)
    assert json.loads(done.stdout)["climbers"] == 2
