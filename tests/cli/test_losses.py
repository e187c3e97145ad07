"""Nothing that is found is lost: targets are tried before, the tour is written first, no stream or signal costs it."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from checkout import needs_checkout
from paths import ROOT
from processes import PATIENCE, refusal, run_command, run_python

import pytsp
from pytsp.backends import Backend
from pytsp.cli import process
from pytsp.cli.commands import main
from pytsp.exceptions import PytspError
from pytsp.io.streams import try_path

needs_checkout("bench")
from bench.checks import losses  # noqa: E402

SOLVE = ["solve", "uniform100", "--backend", "c", "--solver", "ils", "--iterations", "20"]


@pytest.mark.slow
@pytest.mark.parametrize("case", losses.CASES)
def test_the_tour_is_there_whatever_becomes_of_the_streams(case: str) -> None:
    assert losses.is_kept(case, seed=1)


# Targets

# What a target is, as a link to something where it is one, and what is said of it.
TARGETS = {
    "missing/found": (None, "No such file or directory"),
    "folder": (None, "Is a directory|it is a folder"),
    "file/found": (None, "Not a directory"),
    "link": ("folder", "Is a directory|it is a folder"),
    "loop": ("loop", "Too many levels of symbolic links|is there already"),
    "away": ("missing/found", "No such file or directory"),
    "/proc/found": (None, "No such file or directory"),
}


@pytest.mark.parametrize("option", ["--output", "--checkpoint"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_target_that_cannot_be_written_is_refused_before_the_solve(
    target: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    link, words = TARGETS[target]
    if link is not None:
        (tmp_path / target).symlink_to(link)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(Backend, "call", lambda *_: pytest.fail("it was solved"))
    monkeypatch.chdir(tmp_path)
    said = refusal(capsys, *SOLVE, option, target)
    assert any(each in said for each in words.split("|")) and target in said
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_that_is_tried_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("a tour")
    (tmp_path / "link").symlink_to("new")
    os.mkfifo(tmp_path / "pipe")
    before = sorted(tmp_path.iterdir())
    for name in ("old", "new", "link", "pipe"):
        try_path(tmp_path / name)
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "old").read_text() == "a tour"
    assert not (tmp_path / "link").exists()


def test_a_link_leads_to_what_is_written(tmp_path: Path) -> None:
    for name in ("found.tour", "run.checkpoint"):
        (tmp_path / name).symlink_to(f"real.{name}")
    words = ["--output", str(tmp_path / "found.tour"), "--checkpoint", str(tmp_path / "run.checkpoint")]
    assert main([*SOLVE, *words]) == 0
    assert all((tmp_path / name).is_symlink() for name in ("found.tour", "run.checkpoint"))
    assert pytsp.resume(tmp_path / "real.run.checkpoint").tour.tolist() == pytsp.read_tour(words[1]).tolist()


def test_what_a_file_cannot_hold_is_refused_before_the_solve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Backend, "call", lambda *_: pytest.fail("it was solved"))
    said = refusal(capsys, *SOLVE, "--output", str(tmp_path / "way.geojson"))
    assert "GeoJSON holds longitudes and latitudes, but the metric is EUC_2D" in said
    with pytest.raises(SystemExit):
        main([*SOLVE, "--output", ""])
    assert "--output: must name a file; it is ''" in capsys.readouterr().err


@pytest.mark.parametrize("stdout", [">&-", "> /dev/full"])
def test_json_is_refused_before_the_solve_where_standard_output_takes_none(stdout: str) -> None:
    command = ["sh", "-c", f'"$@" {stdout}', "sh", *losses.PYTSP, *SOLVE, "--json", "--verbose"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.startswith("pytsp: standard output: ") and done.stderr.count("\n") == 1


# Telling


@pytest.fixture(scope="module")
def found() -> pytsp.Result:
    return pytsp.solve([[0, 0], [0, 9], [9, 9], [9, 0]], backend="c")


def options(output: Path | str | None, *, json: bool = False) -> argparse.Namespace:
    return argparse.Namespace(output=None if output is None else str(output), json=json)


def test_the_tour_is_written_before_anything_is_printed(found: pytsp.Result, tmp_path: Path) -> None:
    def text() -> str:
        assert pytsp.read_tour(tmp_path / "found.tour").tolist() == found.tour.tolist()
        return "told"

    process.tell_result(found, options(tmp_path / "found.tour"), text)


def test_no_signal_comes_between_a_tour_and_its_file(
    found: pytsp.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = pytsp.Result.write

    def interrupted(*arguments: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        write(*arguments)

    monkeypatch.setattr(pytsp.Result, "write", interrupted)
    with process.end_on_signals():
        process.tell_result(found, options(tmp_path / "found.tour"), lambda: "told")
    assert pytsp.read_tour(tmp_path / "found.tour").tolist() == found.tour.tolist()


@pytest.mark.parametrize("ending", [".tour", ".csv", ".json"])
def test_a_file_that_cannot_be_written_after_all_has_one_beside_it(
    ending: str, found: pytsp.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / f"found{ending}").mkdir()
    with pytest.raises(PytspError, match=rf"found{ending}: Is a directory; the tour is in {tmp_path}/pytsp-") as raised:
        process.tell_result(found, options(tmp_path / f"found{ending}"), lambda: "told")
    assert capsys.readouterr().out == "told\n"
    found.write(tmp_path / f"again{ending}")
    rescued = Path(str(raised.value).rpartition(" ")[2])
    assert rescued.read_bytes() == (tmp_path / f"again{ending}").read_bytes()


def test_it_is_in_the_temporary_folder_where_there_is_none_beside(
    found: pytsp.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for output in ("/dev/full", tmp_path / "missing" / "found.tour"):
        with pytest.raises(PytspError, match=rf"{output}: .*; the tour is in {tmp_path}/pytsp-\w+\.tour"):
            process.tell_result(found, options(output), lambda: "told")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))
    with pytest.raises(PytspError, match="/dev/full: .*; the tour could not be kept"):
        process.tell_result(found, options("/dev/full"), lambda: "told")


@pytest.mark.parametrize("fault", [BrokenPipeError(32, "Broken pipe"), KeyboardInterrupt()])
@pytest.mark.parametrize(("json", "ending"), [(False, ".tour"), (True, ".json")])
def test_what_cannot_be_printed_is_in_a_file(
    fault: BaseException,
    json: bool,
    ending: str,
    found: pytsp.Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def text() -> str:
        raise fault

    with pytest.raises(PytspError, match=rf"standard output: .*; the tour is in {tmp_path}/pytsp-\w+\{ending}"):
        process.tell_result(found, options(None, json=json), text)
    # A tour that has its file needs no other.
    with pytest.raises(PytspError, match=rf"standard output: .*; the tour is in {tmp_path}/found.tour"):
        process.tell_result(found, options(tmp_path / "found.tour", json=json), text)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_tour_for_standard_output_is_all_that_goes_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SOLVE, "--output", "-"]) == 0
    reported = capsys.readouterr().out
    assert reported.startswith("NAME : ") and reported.endswith("-1\nEOF\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("command", [SOLVE, ["backends"], ["info", "europe"], ["datasets"]], ids=lambda words: words[0])
def test_no_encoding_is_too_narrow(command: list[str], encoding: str) -> None:
    done = run_command(*command, env={**os.environ, "PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stderr) == (0, "")


def test_help_that_nobody_reads_on_is_no_failure() -> None:
    program = 'set -o pipefail; "$@" --help | true'
    command = ["bash", "-c", program, "bash", *losses.PYTSP]
    # What is held back is written when the process ends.
    held = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=ROOT, env=held)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Signals

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_ends_a_command_and_those_that_follow_do_not_end_its_end(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    # They follow at once, however busy the machine is.
    monkeypatch.setattr(process.time, "monotonic", lambda: 100.0)
    before = [signal.getsignal(each) for each in NUMBERS]
    done = []
    with pytest.raises(process.Ended) as ended, process.end_on_signals():
        try:
            signal.raise_signal(number)
        finally:
            for each in NUMBERS:
                signal.raise_signal(each)
            done.append(number)
    assert ended.value.number == number and done == [number]
    assert [signal.getsignal(each) for each in NUMBERS] == before


def test_a_signal_that_comes_much_later_is_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_ENDING_SECONDS", -1.0)
    with process.end_on_signals():
        for _ in range(2):
            with pytest.raises(process.Ended):
                signal.raise_signal(signal.SIGHUP)


@pytest.mark.parametrize("drop", [False, True])
def test_signals_that_are_held_wait_for_the_end_or_are_not_heeded(drop: bool) -> None:
    done = []
    with process.end_on_signals():
        try:
            with process.hold_signals(drop=drop):
                signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGINT)
                done.append(1)
        except process.Ended as ended:
            done.append(ended.number)
    assert done == ([1] if drop else [1, signal.SIGTERM])


def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with process.end_on_signals():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_leaves_signals_alone() -> None:
    faults: list[object] = []

    def run() -> None:
        try:
            with process.end_on_signals():
                faults.append(signal.getsignal(signal.SIGTERM))
        except ValueError as error:
            faults.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert faults == [signal.SIG_DFL]


# Sends itself Ctrl-C at an import, the number of which is given; then the imports that were made are told.
EARLY = """if True:
    import os, signal, sys
    from pytsp.__main__ import main
    class Finder:
        at, made = int(sys.argv[1]), 0
        @classmethod
        def find_spec(cls, name, path, target=None):
            cls.made += 1
            if cls.made == cls.at:
                os.kill(os.getpid(), signal.SIGINT)
    sys.meta_path.insert(0, Finder)
    sys.argv[1:] = ["info", "europe"]
    code = main()
    print(Finder.made, file=sys.stderr)
    sys.exit(code)
"""


@pytest.mark.slow
def test_control_c_among_the_imports_is_told_in_one_line() -> None:
    made = int(run_python("-c", EARLY, 0, check=True).stderr)
    for at in (1, 2, made // 9, made // 5, made // 2, made - 1):
        done = run_python("-c", EARLY, at)
        assert (done.returncode, done.stdout) == (130, "")
        assert done.stderr.startswith("pytsp: interrupted\n")
        assert done.stderr.count("\n") == 2
