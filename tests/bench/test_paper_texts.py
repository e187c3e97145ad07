"""The papers' numbers in bench/papers against the papers' own texts, table by table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from paths import SHARED

from bench.papers import (
    delevacq,
    delevacq2012,
    oneil2011,
    robinson2018_blocks,
    rocki,
    utne2023,
    utne2023_others,
    utne2023_programs,
    utne2023_speed,
)

# By the first author, the number with which the text's file begins.
TEXTS = {"rocki": "000", "utne": "001", "robinson": "002", "oneil": "003", "delevacq": "004"}
# The rows of Utne and Hansen's tables 2 and 3.
PROGRAMS = ("Texas", "Original", "100 cities", "calculated i and j")
UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def text_of(paper: str) -> str:
    """The text of a paper; skips the test where it is not at hand."""
    for file in (SHARED / "seeds").glob(f"{TEXTS[paper]}_*.txt"):
        return file.read_text(encoding="utf-8")
    pytest.skip(f"the paper's text is not there: it is expected in {SHARED / 'seeds'}")


def cells_of(text: str, separator: str = "\t") -> Iterator[list[str]]:
    """The cells of each line."""
    for line in text.splitlines():
        yield [cell.strip() for cell in line.strip(" |").split(separator)]


def number(cell: str) -> float:
    """A number as a table prints it, such as 21,282."""
    return float(cell.replace(",", ""))


def test_oneils_table_is_theirs() -> None:
    text, name, found = text_of("oneil"), "", []
    for cells in cells_of(text[text.index("\nTable 1.") :]):
        if len(cells) == 5 and re.fullmatch(r"[\d.]+", cells[4]):
            name = cells[0] or name
            found.append((name, *map(number, cells[2:])))
    assert found == [(name, *rest) for name, _, *rest in oneil2011.TABLE]
    assert [climbers for _, climbers, *_ in oneil2011.TABLE] == [100_000] * 5 + [200_000]
    assert "using 100,000 random restarts" in text and "Doubling the number of climbers to 200,000" in text
    assert f"median runtime, at {oneil2011.GPU:.3f} seconds" in text
    assert f"sequential CPU code ({oneil2011.SEQUENTIAL / 60:.2f} minutes)" in text
    assert f"speedup of around {oneil2011.GPU_SPEEDUP} compared" in text
    assert f"pthreads version's median speedup of {oneil2011.THREADS_SPEEDUP}." in text


def test_utnes_accuracies_are_theirs() -> None:
    text = text_of("utne")
    body = text[text.index("\n7.4 Accuracy") :]
    found = re.findall(r"^(\d+)\t(\d+)\t([\d.]+)$", body, re.MULTILINE)
    reported = [(count, length) for each in utne2023.ACCURACY.values() for count, length in each.items()]
    assert [(int(count), int(length)) for count, length, _ in found] == reported
    optima = [utne_optimum(text, name) for name, each in utne2023.ACCURACY.items() for _ in each]
    for optimum, (_, length, percent) in zip(optima, found, strict=True):
        assert 100 * optimum / int(length) == pytest.approx(float(percent), abs=1e-4)


def utne_optimum(text: str, name: str) -> int:
    """The optimum that their table 1 prints."""
    for cells in cells_of(text):
        if len(cells) == 3 and re.sub(r"\\rm|\W", "", cells[0]) == f"{name}tsp":
            return int(cells[2])
    raise AssertionError(f"{name} is not in their table 1")


def test_utnes_times_are_theirs() -> None:
    rows = list(cells_of(text_of("utne")))
    heads = [place for place, cells in enumerate(rows) if cells[0] == "Time in milisecs"]
    for head, name in zip(heads, ("kroA100", "berlin52"), strict=True):
        counts = [int(cell.removesuffix(" climbers").replace(".", "")) for cell in rows[head][1:] if cell]
        programs = rows[head + 1 : head + 5]
        assert [cells[0] for cells in programs] == [f"TSP - {program}" for program in PROGRAMS]
        times = zip(*([int(cell) for cell in cells[1:] if cell] for cells in programs), strict=True)
        assert dict(zip(counts, times, strict=True)) == utne2023_programs.TIMES[name]


def test_utnes_gains_are_theirs() -> None:
    text = text_of("utne")
    for other, key in ((714, ("zipped", True)), (765, ("closed-form", False))):
        # As they print it: 792 / 765 is nearer to 1.04.
        assert f"$\\frac{{792}}{{{other}}} \\approx {utne2023_speed.GAINS[key]:.2f}$" in text
    assert utne2023_programs.TIMES["kroA100"][utne2023_speed.OPTIMISED][1:] == (792, 714, 765)


def test_utnes_throughput_and_parameters_are_theirs() -> None:
    text = text_of("utne")
    found = re.findall(r"^(\S+)\t(\d+)\t(\d+\.\d\d)\t*$", text[text.index("\nFigure 22: ") :], re.MULTILINE)
    reported = {re.sub(r"\W|mathbf", "", name).lower(): (int(passes), float(speed)) for name, passes, speed in found}
    assert reported == {name.lower(): theirs for name, theirs in utne2023_speed.THROUGHPUT.items()}
    assert f"only {utne2023_others.THEIR_TRIALS} iterations were done" in text
    ants = utne2023_others.THEIR_ANTS
    for name, option in (("alpha", "alpha"), ("beta", "beta"), ("rho", "evaporation")):
        assert f"{name} = {ants[option]:.1f}" in text


def test_rockis_table_is_theirs() -> None:
    text = text_of("rocki")
    amount = r"([\d.]+) ?(µs|ms|s|m|h)"
    row = re.compile(rf"^ (\w+) {amount} {amount} {amount} {amount} ([\d.]+) {amount} (\d+) (\d+)$", re.MULTILINE)
    found = {}
    for name, *cells in row.findall(text[text.index("\nTable II\n") :]):
        total, unit, checks, seconds, last, initial, length = cells[6:]
        found[name] = rocki.Theirs(
            *(pytest.approx(value) for value in (float(total) * UNITS[unit], 1e6 * float(checks))),
            pytest.approx(float(seconds) * UNITS[last]),
            int(initial),
            int(length),
        )
    assert len(found) == 27
    # Three instances are not at hand.
    assert set(found) - set(rocki.THEIRS) == {"sra104815", "lra498378", "lrb744710"}
    assert {name: found[name] for name in rocki.THEIRS} == rocki.THEIRS


def test_robinsons_tables_are_theirs() -> None:
    text = text_of("robinson")
    rows = [tuple(map(number, cells)) for cells in cells_of(text) if len(cells) == 8 and cells[0].endswith(",000")]
    assert len(rows) == 6
    found: dict[float, list[tuple[float, ...]]] = {}
    for count, *cells in sorted(rows):
        found.setdefault(count, []).extend((tuple(cells[4:]), tuple(cells[:3])))
    for place, count in enumerate(robinson2018_blocks.QUEUED_RESTARTS):
        assert {each[place] for each in robinson2018_blocks.THEIRS.values()} == {*found[count]}
    assert all(word in text for word in ("from 1.48 to 23.48", "from 0.9947 to 1.0046 with an average of 0.9992"))


def delevacq_tables() -> dict[int, dict[str, list[list[str]]]]:
    """The rows of their tables, by number and instance: cells as they are printed."""
    text = text_of("delevacq")
    places = [text.index(f"Table {number}: ") for number in (1, 2, 3)]
    found: dict[int, dict[str, list[list[str]]]] = {}
    for table, (begin, end) in enumerate(pairwise([*places, text.index("\n6. Conclusion")]), start=1):
        name = ""
        for reported in cells_of(text[begin:end], "|"):
            # The first cell of an instance's later rows is empty, and stripped with the line's end.
            name = reported[0] if reported[0] in delevacq.FIRST else name
            cells = reported[1:] if reported[0] == name else reported
            if name and cells[0].isdigit():
                found.setdefault(table, {}).setdefault(name, []).append(cells)
    return found


def test_delevacqs_tables_are_theirs() -> None:
    found = delevacq_tables()
    for table, setting in delevacq.TABLES.items():
        rows = found[table]
        assert list(rows) == list(setting.theirs) == list(setting.totals) == list(setting.draws)
        for name, each in rows.items():
            assert [int(cells[0]) for cells in each] == list(delevacq.POPULATIONS)
            assert [(float(cells[-2]), float(cells[-1])) for cells in each] == list(setting.theirs[name])
            columns = zip(*(cells[1:-2] for cells in each), strict=True)
            for theirs, printed in zip(delevacq2012.SPEEDUPS[table].values(), columns, strict=True):
                assert [float(cell) for cell in printed if cell != "-"] == list(theirs.get(name, ()))


def test_delevacqs_numbers_of_blocks_are_theirs() -> None:
    rows = delevacq_tables()[2]
    assert {name: tuple(map(int, cells)) for name, (cells,) in rows.items()} == delevacq.BLOCKS


def test_delevacqs_iterations_and_draws_are_theirs() -> None:
    text = text_of("delevacq")
    assert f"set to {delevacq.TOTAL} for each problem" in text
    (reported,) = re.findall(r"They are then set to (.*)\.$", text, re.MULTILINE)
    found = re.findall(r"(\d[\d, ]*)/(\d[\d, ]*) for (\w+)", reported)
    assert {name: (int(re.sub(r"\D", "", total)), int(re.sub(r"\D", "", k))) for total, k, name in found} == {
        name: (delevacq.RANDOM_K_TOTALS[name], k) for name, k in delevacq.DRAWS.items()
    }
