"""Stand-ins for the papers' instances, and what a reproduction says of them and of a busy machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from checkout import needs_checkout

needs_checkout("bench", "docs")

import pytsp  # noqa: E402
from bench.papers import instances, oneil2011, reproduce  # noqa: E402
from bench.papers.tables import stored  # noqa: E402
from bench.papers.task import Task  # noqa: E402


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder without instances, on a machine that has fetched none and has no larger ones."""
    monkeypatch.setattr(instances, "LARGE", tmp_path)
    monkeypatch.setattr("bench.harness.machine.cached", lambda name: None)
    monkeypatch.setattr(instances, "_STAND_INS", {})
    return tmp_path


def test_random_cities_stand_in_for_what_is_not_at_hand(nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = [instances.instance_of(nowhere, "kroA100", with_reference=True) for _ in range(2)]
    assert found[0] is found[1]
    assert (found[0].name, found[0].n, found[0].metric) == ("kroA100", 100, "EUC_2D")
    assert found[0].coordinates is not None and len(np.unique(found[0].coordinates, axis=0)) > 90
    assert instances.stand_ins() == ["kroA100"]
    # A line, and only one, says so and how to have the instance.
    (line,) = capsys.readouterr().out.split("\n\n")[:-1]
    assert line.startswith("kroA100 is not at hand") and "pytsp datasets --fetch kroA100" in line
    # Its reference is the length of a tour that nothing simple beats.
    assert found[0].optimum is not None
    assert pytsp.solve(found[0], solver="restarts", climbers=50, backend="c").length >= found[0].optimum
    assert instances.stand_in("kroB100").coordinates is not found[0].coordinates
    assert not np.array_equal(instances.stand_in("kroB100").distance_matrix(), found[0].distance_matrix())


def test_large_ones_have_no_reference_and_another_way_to_get_them(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = instances.instance_of(nowhere, "sw24978", with_reference=True)
    assert (found.n, found.optimum) == (24_978, None)
    assert f"put sw24978.tsp.gz into {nowhere}" in capsys.readouterr().out
    with pytest.raises(ValueError, match="end with its number of cities; it is 'berlin'"):
        instances.instance_of(nowhere, "berlin")


def test_files_come_before_stand_ins(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = nowhere / "kroA100.tsp"
    cities = "".join(f"{city} {city} {city * city}\n" for city in range(1, 8))
    head = "TYPE: TSP\nDIMENSION: 7\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    file.write_text(f"{head}{cities}EOF\n", encoding="utf-8")
    assert instances.instance_of(nowhere, "kroA100").n == 7
    monkeypatch.setattr("bench.harness.machine.cached", lambda name: file)
    assert instances.instance_of(nowhere / "elsewhere", "kroB100").n == 7
    assert instances.stand_ins() == []


def test_reports_tell_of_stand_ins_and_name_the_paper(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(oneil2011, "TABLE", oneil2011.TABLE[:1])
    file = nowhere / "report.json"
    words = ["oneil2011", "--tsplib", str(nowhere), "--backend", "c", "--seconds", "0.2", "--json", str(file)]
    assert reproduce.main([*words, "--markdown", str(nowhere / "report.md")]) == 0
    assert capsys.readouterr().out.startswith(f"## {oneil2011.TITLE}\n")
    assert instances.ABOUT_STAND_INS in stored(file).remarks
    text = (nowhere / "report.md").read_text(encoding="utf-8")
    assert text.startswith(f"## {oneil2011.TITLE}\n") and instances.ABOUT_STAND_INS in text and "### Table 1" in text


@pytest.mark.parametrize(("load", "is_busy"), [(1.9, False), (2.1, True)])
def test_a_busy_machine_is_told(load: float, is_busy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 9.0))
    monkeypatch.setattr(reproduce, "usable_cores", lambda: 2)
    monkeypatch.setattr(oneil2011, "run", lambda task: iter(()))
    report = reproduce.reproduce("oneil2011", Task("c", 0.1), "command")
    reported = [remark for remark in report.remarks if "The machine was busy" in remark]
    assert ["load 2.1 on 2 cores" in remark for remark in reported] == [True] * is_busy
    assert ("The machine was busy" in report.markdown()) is is_busy
