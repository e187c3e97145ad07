"""Workers that are killed, and a coordinator that is: nothing is lost, nothing is found twice, nobody is left."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import cities
import pytest
from clocks import fastest, seconds_of
from paths import ROOT
from processes import wait_until
from results import assert_same
from workers import Killer, is_running, short_slices

import pytsp
from pytsp.distributed import Processes

uniform = partial(cities.uniform, side=10_000)

WORKS: dict[str, tuple[int, dict[str, Any]]] = {
    "restarts": (200, {"climbers": 400}),
    "ils": (200, {"climbers": 4, "iterations": 500}),
    "eax": (300, {"climbers": 16, "islands": 3}),
    "large": (3_000, {"iterations": 12, "stripes": 4, "piece": 100}),
}
# How messages name what a worker has of each.
NAMES = {
    "restarts": r"climbers \d+ to \d+",
    "ils": r"climbers \d+ to \d+",
    "eax": r"island \d of 3 to generation \d+",
    "large": r"(stripe \d of 4 in|passes behind) epoch \d+",
}
MANY = [uniform(int(n)) for n in (*[80] * 100, *[5] * 10, 100, 100)]


def solve(work: str, **more: Any) -> pytsp.Result:
    n, options = WORKS[work]
    return pytsp.solve(uniform(n), solver=work, backend="c", seed=1, **{**options, **more})


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_ten_workers_killed_change_nothing(work: str) -> None:
    with Processes(2, threads=1) as processes, short_slices(), Killer(10) as killer:
        result = solve(work, executor=processes, progress=killer)
        pids = [*killer.killed, *processes.pids]
    assert len(killer.killed) == 10 and result.tasks is not None and result.tasks.retries >= 5
    assert_same(result, solve(work))
    assert not any(map(is_running, pids))


@pytest.mark.slow
def test_ten_workers_killed_change_none_of_many_results() -> None:
    options: dict[str, Any] = {"climbers": 8, "backend": "c"}
    with Processes(2, threads=1) as processes, short_slices(), Killer(10) as killer:
        results = pytsp.solve_many(MANY, executor=processes, progress=killer, **options)
    assert len(killer.killed) == 10
    for result, expected in zip(results, pytsp.solve_many(MANY, **options), strict=True):
        assert_same(result, expected)


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_a_pool_of_others_that_breaks_leaves_a_checkpoint_that_goes_on(work: str, tmp_path: Path) -> None:
    file = tmp_path / "going"
    said = rf"a worker was lost with {NAMES[work]}: .*not done: {NAMES[work]}"
    with (
        ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool,
        short_slices(),
        Killer(1) as killer,
        pytest.raises(pytsp.WorkerLost, match=said),
    ):
        solve(work, executor=pool, progress=killer, checkpoint=file)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        result = pytsp.resume(file, executor=pool)
    assert_same(result, solve(work))


@pytest.mark.slow
def test_work_that_kills_each_worker_ends_with_an_error_and_a_checkpoint() -> None:
    with (
        Processes(1, threads=1) as processes,
        Killer(10**9, lambda: processes.pids) as killer,
        pytest.raises(pytsp.WorkerLost, match="4 workers were lost with .*go on with: pytsp resume ") as lost,
    ):
        solve("ils", executor=processes, progress=killer)
    file = Path(str(lost.value).rpartition(" ")[2])
    assert_same(pytsp.resume(file), solve("ils"))
    file.unlink()


COORDINATOR = """
if __name__ == "__main__":
    import sys
    sys.path[:0] = {path!r}
    from test_faults import solve
    from pytsp.distributed import Processes
    with Processes(2, threads=1) as processes:
        def tell(now):
            print(*processes.pids, flush=True)
        solve({work!r}, executor=processes, checkpoint={file!r}, checkpoint_interval=0, progress=tell)
"""


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_a_coordinator_that_is_killed_leaves_nobody_and_its_solve_goes_on(work: str, tmp_path: Path) -> None:
    file, script = tmp_path / "going", tmp_path / "coordinator.py"
    path = [str(Path(__file__).parent), str(ROOT / "tests" / "support"), str(ROOT)]
    script.write_text(COORDINATOR.format(path=path, work=work, file=str(file)))
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(12)]
        process.kill()
    pids = {int(pid) for line in lines for pid in line.split()}
    assert len(pids) == 2
    wait_until(lambda: not any(map(is_running, pids)))
    assert_same(pytsp.resume(file), solve(work))


INTERRUPTED = COORDINATOR.replace("checkpoint={file!r}, checkpoint_interval=0, ", "").replace(
    "        solve({work!r}, ", "        result = solve({work!r}, iterations=10**8, "
)


@pytest.mark.slow
def test_control_c_ends_all_processes(tmp_path: Path) -> None:
    assert_control_c_ends_all_processes(tmp_path)


@pytest.mark.timed
def test_control_c_ends_all_processes_within_a_second(tmp_path: Path) -> None:
    # Python's end is in it.
    assert fastest(lambda: assert_control_c_ends_all_processes(tmp_path), 2.0) < 2


def assert_control_c_ends_all_processes(tmp_path: Path) -> float:
    """Interrupt a solve in processes, and return the seconds from then to the end of its output."""
    script = tmp_path / "coordinator.py"
    path = [str(Path(__file__).parent), str(ROOT / "tests" / "support"), str(ROOT)]
    script.write_text(INTERRUPTED.format(path=path, work="ils") + "    print(result.stop_reason)\n")
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(8)]
        rest: list[str] = []

        def end() -> None:
            # As a terminal does: all processes of the group have it.
            os.killpg(process.pid, signal.SIGINT)
            rest.extend(process.stdout)

        seconds = seconds_of(end)
    assert rest[-1] == "interrupted\n"
    wait_until(lambda: not any(is_running(int(pid)) for line in lines for pid in line.split()))
    return seconds
