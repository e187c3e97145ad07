"""The command line: what it prints, its exit codes, and what it says when something is wrong."""

from __future__ import annotations

import functools
import gzip
import json
import os
import pty
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clocks import fastest, seconds_of
from paths import DATA, ROOT, tsplib_file
from processes import COMMAND, PATIENCE, refusal, run_command

import pytsp
from pytsp import Instance, backends
from pytsp.backends import BACKENDS, registry
from pytsp.backends.kind import DeviceKind
from pytsp.cli.commands import main
from pytsp.datasets import registry as datasets

KEYS = {"instance", "n", "length", "optimum", "gap", "seconds", "backend", "climbers", "seed", "stop_reason"}


@pytest.fixture
def instance(tmp_path: Path) -> str:
    """The path of a file of thirty cities."""
    cities = np.random.default_rng(0).integers(0, 1000, (30, 2)).tolist()
    lines = [f"{node} {x} {y}" for node, (x, y) in enumerate(cities, 1)]
    header = ["NAME : thirty", "TYPE : TSP", "DIMENSION : 30", "EDGE_WEIGHT_TYPE : EUC_2D", "NODE_COORD_SECTION"]
    path = tmp_path / "thirty.tsp"
    path.write_text("\n".join([*header, *lines, "EOF", ""]))
    return str(path)


# solve


def test_solve_prints_the_result(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", instance, "--climbers", "50", "--seed", "3", "--backend", "c"]) == 0
    reported = capsys.readouterr()
    result = pytsp.solve(pytsp.read(instance), climbers=50, seed=3, backend="c")
    assert reported.out.splitlines()[:4] == str(result).splitlines()[:4]
    assert reported.err == ""


def test_solve_prints_one_json_object(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", instance, "--climbers", "50", "--seed", "3", "--json"]) == 0
    out = capsys.readouterr().out
    reported = json.loads(out)
    assert out.count("\n") == 1
    assert set(reported) >= KEYS
    result = pytsp.solve(pytsp.read(instance), climbers=50, seed=3)
    assert reported["file"] == instance and reported["device"] and reported["environment"]["Python"]
    timeless = set(result.to_dict()) - {"seconds", "history"}
    assert {key: reported[key] for key in timeless} == {key: result.to_dict()[key] for key in timeless}


def test_gaps_to_known_optima_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tsplib_file("berlin52.tsp"))
    assert main(["solve", path, "--climbers", "200", "--seed", "0"]) == 0
    assert "length    7542 (optimum 7542, gap 0.00 %)" in capsys.readouterr().out


@pytest.mark.parametrize("backend", ["auto", "c", "multicore"])
def test_every_backend_that_runs_is_accepted(instance: str, backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", instance, "--climbers", "9", "--backend", backend, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["backend"] == backend or backend == "auto"


def test_threads_and_time_limit_reach_the_solver(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--backend", "multicore", "--threads", "2", "--time-limit", "0.2"]
    options += ["--solver", "restarts", "--climbers", "100000000"]
    assert main(["solve", instance, *options, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["stop_reason"] == "time limit"
    assert reported["climbers_done"] <= reported["climbers"] < 10**8


def test_the_tour_that_is_written_is_the_one_that_was_found(
    instance: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "found.tour"
    assert main(["solve", instance, "--climbers", "20", "--output", str(output), "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    tour = pytsp.read_tour(output)
    assert tour.tolist() == reported["tour"]
    assert pytsp.read(instance).tour_length(tour) == reported["length"]


@pytest.mark.parametrize("k", ["1", "3", "inf"])
def test_moves_a_pass_and_mapping_reach_the_solver(k: str, instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--climbers", "20", "--seed", "3", "--backend", "c", "--json"]
    assert main(["solve", instance, *options, "--k", k, "--mapping", "thread"]) == 0
    reported = json.loads(capsys.readouterr().out)
    keywords: dict[str, Any] = dict(solver="restarts", climbers=20, seed=3, backend="c")
    expected = pytsp.solve(pytsp.read(instance), **keywords, k=k if k == "inf" else int(k))
    assert {key: reported[key] for key in ("length", "k", "mapping", "tour")} == {
        key: expected.to_dict()[key] for key in ("length", "k", "mapping", "tour")
    }


@pytest.mark.parametrize("compress", [False, True])
def test_standard_input_is_read(instance: str, compress: bool) -> None:
    data = Path(instance).read_bytes()
    done = subprocess.run(
        [*COMMAND, "solve", "-", "--climbers", "5", "--json"],
        input=gzip.compress(data) if compress else data,
        capture_output=True,
        cwd=ROOT,
        check=True,
        timeout=PATIENCE,
    )
    assert json.loads(done.stdout)["instance"] == "thirty"


def test_nothing_but_the_result_goes_into_a_pipe(instance: str) -> None:
    done = run_command("solve", instance, "--time-limit", "0.5", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert set(json.loads(done.stdout)) >= KEYS


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["eax", "ils", "restarts"])
@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_sees_progress_unless_it_is_to_be_quiet(tmp_path: Path, quiet: bool, solver: str) -> None:
    # Brackets are markup to the library that draws the line. No solver ends this soon with that many cities.
    points = np.random.default_rng(0).integers(0, 9999, (1_000, 2))
    cities = Instance.from_coordinates(points, "EUC_2D", "[b]thousand")
    file = tmp_path / "brackets.tsp"
    pytsp.write(file, cities)
    reader, writer = pty.openpty()
    arguments = ["solve", str(file), "--time-limit", "0.5" if quiet else str(PATIENCE), "--solver", solver]
    arguments += ["--quiet"] * quiet + (["--climbers", "1000000"] if solver == "restarts" else [])
    words = [
        b"[b]thousand: length",
        {"restarts": b"/1000000 climbers", "eax": b"crossover: ", "ils": b"kicks: "}[solver],
        b" left",
    ]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=writer, cwd=ROOT, env=environment)
    os.close(writer)
    seen = b""
    try:
        while chunk := os.read(reader, 4096):
            had, seen = seen, seen + chunk
            if all(word in seen for word in words) and not all(word in had for word in words):
                process.send_signal(signal.SIGINT)
    except OSError:
        # A terminal whose other side is closed reads as an error, not as an end.
        pass
    finally:
        os.close(reader)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out.startswith(b"[b]thousand: 1000 cities")
    assert [word in seen for word in words] == [not quiet] * 3


endless = pytest.mark.parametrize(
    "words",
    [
        ["--iterations", "1000000000000"],
        ["--k", "2", "--climbers", "1000000000"],
        ["--solver", "eax", "--climbers", "500000"],
    ],
)


@endless
def test_control_c_prints_the_best_so_far(words: list[str], instance: str) -> None:
    assert_control_c_prints_the_best(words, instance)


@pytest.mark.timed
@endless
def test_control_c_prints_the_best_within_a_second(words: list[str], instance: str) -> None:
    assert fastest(lambda: assert_control_c_prints_the_best(words, instance), 1.0) < 1


def assert_control_c_prints_the_best(words: list[str], instance: str) -> float:
    """Interrupt a command that solves; return the seconds from then to its end."""
    command = [*COMMAND, "solve", instance, *words, "--json", "--verbose"]
    # A shell that puts the tests into the background has them ignore the signal, and their children too.
    listen = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, preexec_fn=listen, **pipes) as process:  # noqa: PLW1509
        assert process.stderr
        # The log tells of the first tour: a GPU's kernels may take seconds to compile before.
        while b": length " not in process.stderr.readline():
            assert process.poll() is None
        printed: list[bytes] = []

        def end() -> None:
            process.send_signal(signal.SIGINT)
            printed.extend(process.communicate(timeout=PATIENCE))

        seconds = seconds_of(end)
    assert process.returncode == 0
    # A GPU's tens of millions of lengths take longer to read back than to print.
    reported = json.loads(printed[0])
    assert reported["stop_reason"] == "interrupted"
    return seconds


def test_the_options_of_iterated_local_search_reach_the_solver(
    instance: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = tmp_path / "start.tour"
    cities = pytsp.read(instance)
    pytsp.write_tour(start, np.arange(30)[::-1], name="start", length=cities.tour_length(np.arange(30)[::-1]))
    options = dict(iterations=40, climbers=3, seed=5, neighbours=6, moves="or-opt", pivot="best", kick="segments")
    rest = dict(temperature=2.5, exchange=7, restart=9)
    words = ["--merge", *(word for name, value in (options | rest).items() for word in (f"--{name}", str(value)))]
    for extra, keywords in (
        (["--initial-tour", str(start)], dict(initial_tour=np.arange(30)[::-1])),
        (["--start", "space-filling-curve"], dict(start="space-filling-curve")),
    ):
        assert main(["solve", instance, "--backend", "c", "--solver", "ils", *words, *extra, "--json"]) == 0
        reported = json.loads(capsys.readouterr().out)
        expected = pytsp.solve(cities, backend="c", merge=True, **options, **rest, **keywords)  # type: ignore[arg-type]
        assert (reported["tour"], reported["iterations"], reported["solver"]) == (expected.tour.tolist(), 40, "ils")
        assert reported["steps"] == int(expected.steps.sum())


@pytest.mark.parametrize(("moves", "pivot"), [("or-opt", "best"), ("flat", "first")])
def test_the_options_of_edge_assembly_crossover_reach_the_solver(
    instance: str, moves: str, pivot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = tmp_path / "start.tour"
    cities = pytsp.read(instance)
    pytsp.write_tour(start, np.arange(30)[::-1], name="start", length=cities.tour_length(np.arange(30)[::-1]))
    options = dict(solver="eax", iterations=2, climbers=9, seed=5, neighbours=6, moves=moves, pivot=pivot, population=6)
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    assert main(["solve", instance, "--backend", "c", *words, "--initial-tour", str(start), "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    expected = pytsp.solve(cities, backend="c", initial_tour=np.arange(30)[::-1], **options)  # type: ignore[arg-type]
    assert (reported["tour"], reported["solver"]) == (expected.tour.tolist(), "eax")
    assert (reported["climbers"], reported["iterations"]) == (expected.climbers, expected.iterations)


def test_the_first_climber_and_quadrants_reach_the_solver(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    options: dict[str, Any] = dict(solver="ils", iterations=30, climbers=2, neighbours=5, first=70)
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    tours = []
    for extra, quadrants in ((["--quadrants"], True), (["--no-quadrants"], False), ([], None)):
        assert main(["solve", instance, "--backend", "c", *words, *extra, "--json"]) == 0
        reported = json.loads(capsys.readouterr().out)
        expected = pytsp.solve(pytsp.read(instance), backend="c", quadrants=quadrants, **options)
        assert (reported["tour"], reported["steps"]) == (expected.tour.tolist(), int(expected.steps.sum()))
        assert reported["climber"] in (70, 71)
        tours.append((reported["tour"], reported["steps"]))
    assert tours[0] == tours[2] != tours[1]


@pytest.mark.parametrize(
    "options",
    [
        dict(solver="annealing", schedule="linear", temperature=9.0, trials=7, pairs="random", moves="2-opt"),
        dict(solver="annealing", schedule="geometric", cooling=0.9, temperature=9.0, start="random"),
        dict(solver="ants", variant="rank", ants=9, alpha=0.5, beta=3.25, evaporation=0.3, ranks=3, moves="or-opt"),
        dict(solver="ants", variant="max-min", smoothing=0.9, evaporation=0.9, neighbours=4),
    ],
)
def test_the_options_of_the_comparators_reach_the_solver(
    options: dict[str, Any], instance: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = options | dict(iterations=12, climbers=2, seed=5)
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    assert main(["solve", instance, "--backend", "c", *words, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    expected = pytsp.solve(pytsp.read(instance), backend="c", **options)
    assert (reported["tour"], reported["solver"]) == (expected.tour.tolist(), options["solver"])
    assert (reported["climbers"], reported["iterations"]) == (2, 12)
    assert reported["steps"] == int(expected.steps.sum())


def test_a_seed_that_is_drawn_is_told(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", instance, "--solver", "ils", "--iterations", "3", "--backend", "c", "--json", "--seed"]
    reported = []
    for seed in ("random", "random"):
        assert main([*words, seed]) == 0
        reported.append(json.loads(capsys.readouterr().out))
    assert reported[0]["seed"] != reported[1]["seed"]
    assert main([*words, str(reported[0]["seed"])]) == 0
    assert json.loads(capsys.readouterr().out)["tour"] == reported[0]["tour"]
    found = pytsp.solve(pytsp.read(instance), solver="two-opt", seed=None, backend="c")
    assert f"seed {found.seed}" in str(found)
    many = pytsp.solve_many([pytsp.read(instance)], seed=None, backend="c")
    again = pytsp.solve_many([pytsp.read(instance)], seed=many[0].seed, backend="c")
    assert again[0].tour.tolist() == many[0].tour.tolist()


HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\b\r\0"


def test_no_control_character_of_a_file_reaches_a_terminal(
    instance: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hostile.tsp"
    lines = Path(instance).read_text().replace("thirty", f"thirty{HOSTILE}")
    path.write_bytes(f"COMMENT : {HOSTILE}\n{lines}".encode())
    reported = ""
    for words in (
        ["info", str(path)],
        ["solve", str(path), "--solver", "ils", "--iterations", "3", "--verbose"],
        ["solve", str(path), "--output", str(tmp_path / "x.geojson")],
        ["solve", str(path), "--solver", "large", "--metric", HOSTILE],
    ):
        main(words)
        reported += "".join(capsys.readouterr())
    assert "thirty\ufffd]0;title" in reported
    assert {character for character in reported if not character.isprintable()} <= {"\n", "\t"}
    # Neither do those of names from elsewhere.
    named = pytsp.Instance.from_coordinates([[0, 0]], metric="EUC_2D", name=HOSTILE, comment=f"a\n{HOSTILE}")
    assert f"{named.name}{named.comment}".replace("\n", "").isprintable()


def test_a_target_stops_the_solver(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", instance, "--target", "1000000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stop_reason"] == "target"


def test_an_option_of_another_solver_is_a_failure(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(capsys, "solve", instance, "--solver", "restarts", "--iterations", "9")
    others = " or ".join(f"solver={name!r}" for name in ("ils", "eax", "large", "two-opt", "annealing", "ants"))
    assert said == f"pytsp: iterations=9 has no effect with solver='restarts'; it is for {others}\n"


# compare


@pytest.mark.parametrize(("solver", "iterations"), [("ils", 50), ("eax", 1), ("annealing", 50), ("ants", 5)])
def test_compare_takes_a_solver(
    solver: str, iterations: int, instance: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compare", instance, "--backends", "c,multicore", "--solver", solver, "--climbers", "3"]
    assert main([*arguments, "--iterations", str(iterations)]) == 0
    table = capsys.readouterr().out
    assert "iterations/s" in table and "NO" not in table
    assert main([*arguments, "--iterations", str(iterations), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["comparison"]
    assert [(row["iterations"], row["equal"]) for row in rows] == [(3 * iterations, True)] * 2
    assert all("moves" not in row for row in rows)


def test_compare_prints_a_row_a_backend(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", instance, "--backends", "c, multicore", "--climbers", "20", "--k", "inf"]) == 0
    table = capsys.readouterr().out
    assert all(word in table for word in ("c ", "multicore", "seconds", "equal", "yes"))
    assert "NO" not in table


def test_compare_prints_one_json_object_that_tells_how_it_came_to_be(
    instance: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", instance, "--backends", "multicore,c", "--climbers", "20", "--seed", "3", "--repeats", "2"]
    assert main([*words, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert [row["backend"] for row in reported["comparison"]] == ["multicore", "c"]
    whole = pytsp.read(instance)
    result = pytsp.solve(whole, solver="restarts", climbers=20, seed=3, backend="c")
    assert all((row["length"], row["equal"]) == (result.length, True) for row in reported["comparison"])
    assert (reported["instance"], reported["n"], reported["metric"]) == (whole.name, whole.n, whole.metric)
    assert (reported["solver"], reported["seed"], reported["climbers"], reported["repeats"]) == ("restarts", 3, 20, 2)
    assert reported["date"] and reported["environment"]["pytsp"]


def test_compare_runs_multicore_with_each_number_of_threads(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", instance, "--backends", "c,multicore", "--climbers", "20", "--threads", "1,2"]
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["comparison"]
    assert [(row["backend"], row.get("threads"), row["equal"]) for row in rows] == [
        ("c", None, True),
        ("multicore", 1, True),
        ("multicore", 2, True),
    ]
    assert main(words) == 0
    table = " ".join(capsys.readouterr().out.split())
    assert "multicore, 1" in table and "NO" not in table


@pytest.mark.parametrize(("solver", "iterations"), [("two-opt", 3), ("large", 1)])
def test_compare_takes_solvers_of_one_tour(
    solver: str, iterations: int, instance: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = instance if solver == "two-opt" else "uniform1000"
    words = ["compare", name, "--backends", "c,multicore", "--solver", solver, "--iterations", str(iterations)]
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["comparison"]
    assert [(row["backend"], row["equal"]) for row in rows] == [("c", True), ("multicore", True)]


@pytest.mark.parametrize("text", ["0", "1,0", "x"])
def test_compare_refuses_what_is_no_number_of_threads(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["compare", "europe", "--threads", text])
    said = "argument --threads: must be whole numbers of at least 1, commas between them; it is"
    assert f"{said} {text!r}" in capsys.readouterr().err


def test_compare_takes_all_backends_that_run(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", instance, "--climbers", "2", "--json"]) == 0
    names = [row["backend"] for row in json.loads(capsys.readouterr().out)["comparison"]]
    assert names == [each.name for each in backends.status() if each.usable]


# info, backends, names


def test_info_describes_an_instance(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tsplib_file("pcb442.tsp"))
    assert main(["info", path, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert (reported["instance"], reported["n"], reported["metric"]) == ("pcb442", 442, "EUC_2D")
    assert (reported["optimum"], reported["canonical_length"]) == (50778, 221440)
    assert main(["info", path]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.replace("canonical ", "").splitlines())
    assert (lines["n"], lines["optimum"], lines["length"]) == ("442", "50778", "221440")


def test_info_says_what_is_not_known(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", instance]) == 0
    assert "optimum           not known" in capsys.readouterr().out


def test_backends_lists_every_backend(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backends", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in reported] == list(BACKENDS)
    assert all(each["usable"] or (each["reason"] and each["remedy"]) for each in reported)
    assert main(["backends"]) == 0
    table = capsys.readouterr().out
    assert all(name in table for name in BACKENDS)


def test_instances_of_data_go_by_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert datasets.names()
    for name in datasets.names():
        assert main(["info", name, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["n"] > 1


def test_the_version_is_the_packages() -> None:
    done = run_command("--version")
    assert (done.returncode, done.stdout) == (0, f"pytsp {pytsp.__version__}\n")


# Failures


@pytest.mark.parametrize("command", ["solve", "info"])
def test_a_missing_instance_is_a_failure_that_names_those_there_are(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capsys, command, "no-such-instance")
    assert "'no-such-instance'" in said
    assert all(name in said for name in datasets.names())


def test_a_malformed_file_is_a_failure_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    path = DATA / "coordinate_word.tsp"
    assert f"{path}:" in refusal(capsys, "solve", str(path))


def test_a_folder_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert str(tmp_path) in refusal(capsys, "info", str(tmp_path))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_that_is_not_built_is_a_failure_that_says_what_to_do(
    backend: str, instance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(DeviceKind, "kernels", tmp_path)
    monkeypatch.setattr(registry, "_registry", {})
    said = refusal(capsys, "solve", instance, "--backend", backend)
    assert f"'{backend}' cannot run here: not built" in said
    assert "python build.py" in said


@pytest.mark.parametrize("backend", ["c", "multicore"])
def test_blocks_on_a_cpu_are_a_failure_that_says_why(
    backend: str, instance: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capsys, "solve", instance, "--backend", backend, "--mapping", "block")
    assert said == f"pytsp: mapping='block' needs a GPU backend; backend '{backend}' has one climber a thread\n"


@pytest.mark.parametrize("device", ["0", "H200"])
def test_a_device_of_a_cpu_backend_is_a_failure(device: str, instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(capsys, "solve", instance, "--backend", "c", "--device", device)
    assert "backend 'c' runs on the CPU and takes no device" in said
    assert device in said


def test_a_gpu_that_is_not_there_is_a_failure_that_says_what_to_do(
    instance: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for found in backends.status():
        if not found.usable:
            said = refusal(capsys, "solve", instance, "--backend", found.name)
            assert f"'{found.name}' cannot run here: {found.reason}; to use it, {found.remedy}" in said


@pytest.mark.parametrize(("listed", "words"), [("c,cobol", "'cobol' is not known"), (",", "'' is not known")])
def test_comparing_what_is_no_backend_is_a_failure(
    listed: str, words: str, instance: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refusal(capsys, "compare", instance, "--backends", listed)


def test_a_seed_of_more_than_64_bits_is_a_failure(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "seed must be a whole number" in refusal(capsys, "solve", instance, "--seed", str(2**64))


def test_a_failure_shows_no_traceback() -> None:
    done = run_command("solve", "no-such-instance")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["fly"], "fly"),
        (["solve"], "FILE|NAME"),
        (["solve", "x", "--climbers", "0"], "must be at least 1; it is 0"),
        (["solve", "x", "--climbers", "many"], "invalid whole number value: 'many'"),
        (["solve", "x", "--climbers", "1.5"], "invalid whole number value"),
        (["solve", "x", "--seed", "-1"], "must be at least 0; it is -1"),
        (["solve", "x", "--threads", "0"], "must be at least 1"),
        (["solve", "x", "--time-limit", "0"], "must be positive; it is 0"),
        (["solve", "x", "--time-limit", "nan"], "must be positive; it is nan"),
        (["solve", "x", "--time-limit", "soon"], "invalid number of seconds value: 'soon'"),
        (["solve", "x", "--backend", "cobol"], "invalid choice: 'cobol'"),
        (["solve", "x", "--fast"], "--fast"),
        (["solve", "x", "--mapping", "warp"], "invalid choice: 'warp'"),
        (["solve", "x", "--k", "0"], "must be at least 1; it is 0"),
        (["solve", "x", "--k", "few"], "--k: invalid"),
        (["solve", "x", "--solver", "magic"], "invalid choice: 'magic'"),
        (["solve", "x", "--iterations", "-1"], "must be at least 0; it is -1"),
        (["solve", "x", "--exchange", "0"], "must be at least 1; it is 0"),
        (["solve", "x", "--start", "anywhere"], "invalid choice: 'anywhere'"),
        (["compare", "x", "--solver", "auto"], "invalid choice: 'auto'"),
        (["compare"], "FILE|NAME"),
        (["compare", "x", "--k", "-2"], "must be at least 1; it is -2"),
        (["info", "x", "y"], "y"),
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    reported = capsys.readouterr()
    assert reported.out == ""
    assert words in reported.err
