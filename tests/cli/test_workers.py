"""Other processes from the command line: a number of them, those of GPUs, and those of a cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest
from processes import refusal, run_command

import pytsp
from pytsp.cli.commands import main

SOLVE = ("solve", "uniform100", "--solver", "ils", "--climbers", "3", "--iterations", "100", "--backend", "c")


@pytest.mark.slow
def test_so_many_processes_find_what_one_does(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    file = str(tmp_path / "going")
    done = run_command(*SOLVE, "--workers", "2", "--json", "--checkpoint", file, check=True)
    found = json.loads(done.stdout)
    assert main([*SOLVE, "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert found["tour"] == alone["tour"] and found["lengths"] == alone["lengths"]
    assert found["tasks"]["workers"] == 2 and found["tasks"]["bytes_sent"] > 0 and "tasks" not in alone
    resumed = json.loads(run_command("resume", file, "--workers", "1", "--json", check=True).stdout)
    assert resumed["tour"] == alone["tour"]


@pytest.mark.parametrize("other", [("--devices", "all"), ("--scheduler", "tcp://127.0.0.1:9")])
def test_one_kind_of_workers_is_taken(other: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([*SOLVE, "--workers", "2", *other])
    assert exit_.value.code == 2 and "not allowed with argument" in capsys.readouterr().err


def test_devices_that_are_not_there_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    if any(each.usable and each.devices for each in pytsp.backends.status()):
        pytest.skip("there is a device")
    said = refusal(capsys, *SOLVE[:-2], "--devices", "0,1")
    assert "devices=[0, 1] needs a GPU, and none can run here" in said


@pytest.mark.slow
def test_a_scheduler_that_cannot_be_reached_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed.client", reason="Dask is tested where it is installed")
    monkeypatch.setattr("pytsp.distributed.dask.CONNECT_SECONDS", 0.5)
    for command in (SOLVE, ("backends",)):
        assert "scheduler tcp://127.0.0.1:9 cannot be reached" in refusal(
            capsys, *command, "--scheduler", "tcp://127.0.0.1:9"
        )
