"""The command line: bounds that are proved, and proved again, and what is no certificate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import refusal

import pytsp
from pytsp.bound import certificate_text, lower_bound, read_certificate
from pytsp.cli.commands import main


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """What proves a bound of uniform100 by a few steps."""
    path = tmp_path / "uniform100.bound"
    assert main(["bound", "uniform100", "--iterations", "60", "--certificate", str(path)]) == 0
    return path


def test_a_bound_is_told_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = tmp_path / "uniform100.bound"
    assert main(["bound", "uniform100", "--iterations", "60", "--certificate", str(certificate)]) == 0
    instance = pytsp.read("uniform100")
    expected = lower_bound(instance, iterations=60)
    assert f"\nlower bound  {expected.bound}: no tour is shorter\n" in capsys.readouterr().out
    written = read_certificate(certificate)
    assert (written.bound, written.scale) == (expected.bound, expected.scale)
    assert written.penalties.tolist() == expected.penalties.tolist()
    assert certificate.read_text() == certificate_text(instance, expected)


def test_a_bound_comes_from_the_backend_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    reported = []
    for backend in ("c", "multicore"):
        assert main(["bound", "uniform100", "--iterations", "60", "--backend", backend, "--json"]) == 0
        reported.append(json.loads(capsys.readouterr().out)["lower_bound"])
    assert reported[0] == reported[1]
    assert main(["bound", "uniform100", "--backend", "c", "--device", "3"]) == 1
    assert "device" in capsys.readouterr().err


def test_a_bound_is_proved_again_and_says_how_good_a_tour_is(
    certificate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = pytsp.solve(pytsp.read("uniform100"), seed=0, backend="c", time_limit=0.3)
    tour = tmp_path / "found.tour"
    result.write(tour)
    capsys.readouterr()
    assert main(["check-bound", "uniform100", str(certificate), "--tour", str(tour), "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["lower_bound"] == read_certificate(certificate).bound
    assert reported["length"] == result.length
    assert reported["gap_bound"] == result.length / reported["lower_bound"] - 1
    assert main(["check-bound", "uniform100", str(certificate), "--tour", str(tour), "--all-pairs"]) == 0
    said = f"tour         {result.length}, at most {100 * reported['gap_bound']:.2f} % longer than the shortest\n"
    assert said in capsys.readouterr().out


def test_a_tour_as_long_as_the_bound_is_optimal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    square = tmp_path / "square.csv"
    square.write_text("x,y\n0,0\n9,0\n9,9\n0,9\n")
    tour = tmp_path / "square.tour"
    pytsp.write_tour(tour, [0, 1, 2, 3])
    assert main(["bound", str(square), "--metric", "EUC_2D", "--tour", str(tour)]) == 0
    assert "\ntour         36: optimal, proved\n" in capsys.readouterr().out


@pytest.mark.parametrize("ends", [{}, {"start_city": 3}, {"start_city": 3, "end_city": 7}])
@pytest.mark.parametrize("directed", [False, True])
def test_paths_are_bounded_and_proved_again(
    directed: bool, ends: dict[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    d = np.random.default_rng(2).integers(1, 1000, (12, 12))
    instance = pytsp.Instance.from_matrix(d if directed else np.minimum(d, d.T), "ways", asymmetric=directed)
    file, tour, certificate = (str(tmp_path / name) for name in ("ways.tsp", "way.tour", "ways.bound"))
    pytsp.write(file, instance)
    result = pytsp.solve(instance, open=True, **ends, backend="c", iterations=200)
    result.write(tour)
    flags = [word for name, city in ends.items() for word in (f"--{name.replace('_', '-')}", str(city))]
    capsys.readouterr()
    reported = ["--tour", tour, "--json"]
    assert main(["bound", file, "--open", *flags, "--iterations", "200", "--certificate", certificate, *reported]) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["length"], first["open"], first["optimum"]) == (result.length, True, None)
    assert 0.9 * result.length <= first["lower_bound"] <= result.length
    assert main(["check-bound", file, certificate, *reported]) == 0
    again = json.loads(capsys.readouterr().out)
    assert {**again, "seconds": 0} == {**first, "seconds": 0}
    assert read_certificate(certificate).kind == (True, ends.get("start_city"), ends.get("end_city"))
    assert main(["check-bound", file, certificate]) == 0
    assert f"lower bound  {first['lower_bound']}: no path is shorter\n" in capsys.readouterr().out
    if ends:
        # A path that ends elsewhere.
        pytsp.write_tour(tour, np.roll(result.tour, 1))
        assert "but start_city is 3" in refusal(capsys, "bound", file, "--open", *flags, *reported)


def test_a_known_optimum_is_told_beside_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "europe", "--iterations", "5"]) == 0
    assert ("\noptimum      " in capsys.readouterr().out) == (pytsp.read("europe").optimum is not None)


def test_a_certificate_can_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "uniform100", "--iterations", "3", "--certificate", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["instance"] == pytsp.read("uniform100").name


def test_of_another_instance_nothing_is_proved(certificate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "penalties are int64 of shape (100,)" in refusal(capsys, "check-bound", "uniform1000", str(certificate))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bound": 1}, "the certificate says 1, but its penalties prove"),
        ({"bound": float("nan")}, "bound must be a number of at least 0; it is nan"),
        ({"bound": True}, "bound must be a number of at least 0; it is True"),
        ({"bound": None}, "bound must be a number of at least 0; it is None"),
        ({"scale": 3}, "scale is 3, but must be a power of two"),
        ({"scale": 2.0}, "scale must be a whole number; it is 2.0"),
        ({"penalties": 5}, "penalties must be a list; it is 5"),
        ({"penalties": [0, 0.5]}, "penalty 1 must be a whole number of at most 2**44 in size; it is 0.5"),
        ({"penalties": [2**70]}, "penalty 0 must be a whole number of at most 2**44 in size"),
        ({"penalties": [0]}, "penalties are int64 of shape (1,)"),
        ({"open": 1}, "open must be true or false; it is 1"),
        ({"open": True}, "penalties are int64 of shape (100,), but must be int64 of (101,)"),
        ({"start_city": 0}, "start_city=0 has no effect with a closed tour"),
        ({"end_city": "0"}, "end_city must be a whole number or null; it is '0'"),
        ({"format": "pytsp lower bound 2"}, "it is no certificate of a lower bound"),
    ],
)
def test_what_was_changed_is_refused(
    changes: dict[str, Any], said: str, certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate.write_text(json.dumps(json.loads(certificate.read_text()) | changes))
    assert said in refusal(capsys, "check-bound", "uniform100", str(certificate))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "it is no certificate"),
        ("no JSON", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("\xff", "it is not JSON"),
    ],
)
def test_what_is_no_certificate_is_refused(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "none.bound"
    file.write_text(content, encoding="latin-1")
    assert f"{file}: {said}" in refusal(capsys, "check-bound", "uniform100", str(file))


def test_a_file_that_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pytsp.bound.bound.lower_bound", None)
    assert "No such file" in refusal(capsys, "bound", "uniform100", "--certificate", str(tmp_path / "none" / "file"))
    with pytest.raises(SystemExit) as ended:
        main(["bound", "uniform100", "--certificate", ""])
    assert ended.value.code == 2
