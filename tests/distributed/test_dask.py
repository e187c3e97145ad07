"""A cluster of Dask: two worker processes, of which some are killed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from processes import PATIENCE
from results import assert_same
from test_faults import MANY, WORKS, solve
from workers import Killer, is_running, short_slices

import pytsp
from pytsp.cli.commands import main
from pytsp.distributed.coordinator import Reply, _is_loss
from pytsp.distributed.dask import Cluster, connect
from pytsp.distributed.places import Place
from pytsp.exceptions import PytspError

# By a module within: this folder has the name of Dask's package, and is found where that is not.
pytest.importorskip("distributed.client", reason="Dask is tested where it is installed: pip install distributed")
distributed = sys.modules["distributed"]
pytestmark = [
    pytest.mark.slow,
    # Its own, about its own.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


# How many workers are killed in each work.
KILLS = 10


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    import dask  # noqa: PLC0415

    settings = {
        "distributed.worker.daemon": False,
        # One task may be hit each time.
        "distributed.scheduler.allowed-failures": KILLS,
        # So long after a worker was lost, a cluster ends its nanny if it is not there, also for being lost once more.
        "distributed.deploy.lost-worker-timeout": "1 hour",
        # However busy the machine is, nobody gives up another process.
        "distributed.comm.timeouts.connect": PATIENCE,
        "distributed.comm.timeouts.tcp": PATIENCE,
        "distributed.scheduler.worker-ttl": None,
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_worker_that_is_lost_as_its_result_arrives_is_a_loss() -> None:
    from distributed import cfexecutor  # noqa: PLC0415
    from distributed.scheduler import KilledWorker  # noqa: PLC0415

    class Lost:
        status = "lost"

        async def _result(self, *, raiseit: bool) -> Reply:
            return Reply(b"", "", 0.0)

    async def hear(reported: Future[Reply]) -> None:
        await cfexecutor._cascade_future(Lost(), reported)

    reported: Future[Reply] = Future()
    asyncio.run(hear(reported))
    with pytest.raises(TypeError) as lost:
        reported.result()
    assert _is_loss(lost.value)
    with pytest.raises(TypeError) as other:
        len(3)  # type: ignore[arg-type]
    assert not _is_loss(other.value)
    # The task is sent again; not so where the scheduler has given up.
    place = Place("tcp://127.0.0.1:1", is_sticky=True)
    cluster = Cluster(None)
    assert cluster.lost(place, lost.value) and cluster.lost(place, ConnectionError())
    assert not cluster.lost(place, KilledWorker("task", None, 3))


@pytest.mark.parametrize("work", WORKS)
def test_workers_that_are_killed_change_nothing(work: str, client: Any) -> None:
    with short_slices(), Killer(KILLS) as killer:
        result = solve(work, executor=client, progress=killer)
    assert len(killer.killed) == KILLS
    assert_same(result, solve(work))
    assert not any(map(is_running, killer.killed))


def test_workers_that_are_killed_change_none_of_many_results(client: Any) -> None:
    options: dict[str, Any] = {"climbers": 8, "backend": "c"}
    with short_slices(), Killer(KILLS) as killer:
        results = pytsp.solve_many(MANY, executor=client.get_executor(), progress=killer, **options)
    assert len(killer.killed) == KILLS
    for result, expected in zip(results, pytsp.solve_many(MANY, **options), strict=True):
        assert_same(result, expected)


def test_a_cluster_that_loses_all_workers_leaves_a_checkpoint_that_goes_on(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytsp.distributed.coordinator.NOBODY_SECONDS", 1.0)
    file, reported = tmp_path / "going", []

    def leave(_: object) -> None:
        if not reported:
            client.cluster.scale(0)
        reported.append(1)

    said = rf"^all workers are gone, and none came within 1 s; not done: .*; go on with: pytsp resume {file}$"
    with short_slices(), pytest.raises(pytsp.WorkerLost, match=said):
        solve("ils", executor=client, iterations=3_000, progress=leave, checkpoint=file)
    client.cluster.scale(2)
    client.wait_for_workers(2, timeout=PATIENCE)
    assert_same(pytsp.resume(file, executor=client), solve("ils", iterations=3_000))


def test_a_scheduler_that_cannot_be_reached_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.distributed.dask.CONNECT_SECONDS", 0.5)
    with pytest.raises(PytspError, match=r"^scheduler tcp://127\.0\.0\.1:9 cannot be reached: .+$"):
        connect("tcp://127.0.0.1:9")


def test_a_cluster_without_dask_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PytspError, match=r"pip install 'pytsp-futhark\[distributed\]'"):
        connect("tcp://127.0.0.1:9")


def test_what_the_workers_offer_is_listed(client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backends", "--scheduler", client.scheduler.address, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["worker"] for row in rows} == set(client.scheduler_info()["workers"])
    assert len(rows) == 2 * len(pytsp.backends.status()) and all("usable" in row for row in rows)


def test_nothing_is_left_on_the_cluster(client: Any) -> None:
    solve("ils", executor=client)
    assert not any(client.processing().values())
