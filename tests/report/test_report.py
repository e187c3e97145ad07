"""The report: what its page says, and what it does in a browser."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paths import ROOT

import pytsp
from pytsp import Instance
from pytsp.cli.commands import main
from pytsp.exceptions import PytspError
from pytsp.report import document as report
from pytsp.run.saved_runs import Run

pytest.importorskip("matplotlib", reason="a report's curves need matplotlib: pip install 'pytsp-futhark[plot]'")

VOID = {"meta", "br", "img", "link", "input"}
SQUARE = [[0, 0], [0, 30], [40, 30], [40, 0]]


class Page(HTMLParser):
    """A page's elements with their attributes and text; complains of one that is not closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


def run(tour: list[int], label: str = "run", points: Any = SQUARE, **facts: Any) -> Run:
    """A run of four cities."""
    instance = (
        points if isinstance(points, Instance) else Instance.from_coordinates(points, metric="EUC_2D", name="square")
    )
    length = instance.tour_length(tour)
    known = {"length": length, "seconds": 2.0, "solver": "ils", "backend": "c", "seed": 0, **facts}
    history = np.array([[0.5, 0, length + 9], [1.0, 1, length]])
    lengths = np.array([length, length + 9, length + 30])
    return Run(label, np.array(tour, dtype=np.int32), instance, history, lengths, known)


def data_of(html: str) -> dict[str, Any]:
    """What the page's script is given to draw."""
    found = re.search(r'id="tours">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def numbers(text: str, dtype: str = "<u2") -> list[int]:
    return np.frombuffer(base64.b64decode(text), dtype=dtype).tolist()


# The page


def test_a_page_holds_the_tour_in_steps_of_its_longer_side() -> None:
    data = data_of(report.page([run([2, 0, 1, 3])]))
    assert (data["width"], data["height"], data["period"]) == (65535, round(65535 * 3 / 4), None)
    assert numbers(data["xy"]) == [0, 0, 0, 49151, 65535, 49151, 65535, 0]
    assert [numbers(tour["order"]) for tour in data["tours"]] == [[2, 0, 1, 3]]


def test_an_open_path_is_told_as_such() -> None:
    html = report.page([run([0, 1, 2, 3], open=True), run([0, 2, 1, 3], seed=1)])
    assert [tour["open"] for tour in data_of(html)["tours"]] == [True, False]
    assert "open path of length 140" in html


@pytest.mark.parametrize(("n", "width"), [(2**16, 2), (2**16 + 1, 4)])
def test_cities_have_as_many_bytes_as_they_need(n: int, width: int) -> None:
    tour = np.random.default_rng(0).permutation(n).tolist()
    instance = Instance.from_coordinates(np.arange(2 * n).reshape(n, 2), metric="EUC_2D")
    [found] = data_of(report.page([run(tour, points=instance)]))["tours"]
    assert numbers(found["order"], f"<u{width}") == tour


def visits(html: str) -> list[str]:
    found = re.search(r'<ol id="visit">(.*?)</ol>', html)
    assert found is not None
    return re.findall("<li>(.*?)</li>", found[1])


def test_the_order_of_the_visit_is_that_of_the_best_run_by_names(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = Instance.from_coordinates(SQUARE, metric="EUC_2D", labels=["Ulm", "<Köln>", "", "Bonn"])
    html = report.page([run([0, 2, 1, 3], points=instance), run([3, 0, 1, 2], points=instance, seed=1)])
    assert visits(html) == ["Bonn", "Ulm", "&lt;Köln&gt;", "2"]
    assert data_of(html)["names"] == ["Ulm", "<Köln>", "2", "Bonn"]
    assert "counted from 0" not in html and "returns to the first" in html
    plain = report.page([run([3, 0, 1, 2], open=True)])
    assert visits(plain) == ["3", "0", "1", "2"]
    assert "counted from 0" in plain and "returns to the first" not in plain
    # A matrix has no map, but an order.
    matrix = Instance.from_matrix(instance.distance_matrix(), labels="abcd")
    assert visits(report.page([run([3, 0, 1, 2], points=matrix)])) == ["d", "a", "b", "c"]
    monkeypatch.setattr(report, "MOST_LISTED", 3)
    monkeypatch.setattr(report, "MOST_LABELLED", 3)
    short = report.page([run([3, 0, 1, 2], points=instance)])
    assert (visits(short), data_of(short)["names"]) == (["Bonn", "Ulm", "&lt;Köln&gt;"], None)
    assert "Only the first 3 of 4 are listed." in short


def test_the_best_run_comes_first_and_is_marked() -> None:
    html = report.page([run([0, 2, 1, 3], "long", seed=1), run([0, 1, 2, 3], "short")])
    assert [numbers(tour["order"]) for tour in data_of(html)["tours"]] == [[0, 1, 2, 3], [0, 2, 1, 3]]
    assert "the best of 2 runs (seed 0)" in html
    [best] = re.findall(r'<tr class="best"><td data-name="run">(.*?)</td>', html)
    assert best == "seed 0"
    assert [each["id"] for each in Page(html).named("select")] == ["run", "other"]


def test_a_single_run_has_nothing_beside_it() -> None:
    assert [each["id"] for each in Page(report.page([run([0, 1, 2, 3])])).named("select")] == ["run"]


def test_all_that_is_known_is_in_the_table() -> None:
    facts = {"climbers": 1200, "gap": 0.0125, "stop_reason": "time limit", "device": "CPU, 2 threads"}
    page = Page(report.page([run([0, 1, 2, 3], **facts)]))
    assert {"1,200", "1.250 %", "time limit", "CPU, 2 threads", "140", "2.00"} <= {*page.texts["td"]}
    assert "iterations" not in page.texts["th"]


def test_environments_have_a_column_each() -> None:
    runs = [
        run([0, 1, 2, 3], seed=k, environment={"Python": version}) for k, version in enumerate(["3.10", "3.12", "3.10"])
    ]
    html = report.page(runs)
    table = html[html.index('id="environment"') :]
    assert "<tr><th>run</th><td>seed 0; seed 2</td><td>seed 1</td></tr>" in table
    assert "<tr><th>Python</th><td>3.10</td><td>3.12</td></tr>" in table
    assert "The runs do not tell it" in report.page([run([0, 1, 2, 3])])


def test_curves_are_pictures_within_the_page() -> None:
    images = Page(report.page([run([0, 1, 2, 3]), run([0, 2, 1, 3], seed=1)])).named("img")
    assert [each["id"] for each in images] == ["convergence", "climbers"]
    assert all((each["src"] or "").startswith("data:image/svg+xml;base64,") and each["alt"] for each in images)
    bare = Run("bare", np.arange(4, dtype=np.int32), run([0, 1, 2, 3]).instance, facts={"length": 140})
    assert "neither improvements nor climbers" in report.page([bare])


def test_nothing_in_a_page_lies_elsewhere() -> None:
    page = Page(report.page([run([0, 1, 2, 3])]))
    sources = [
        value for _, attributes in page.elements for name, value in attributes.items() if name in ("src", "href")
    ]
    assert all((source or "").startswith("data:") for source in sources)
    [policy] = [each["content"] for each in page.named("meta") if "http-equiv" in each]
    assert policy is not None and policy.startswith("default-src 'none'; ")


def test_names_are_no_markup() -> None:
    hostile = "</script><script>alert(1)</script>@data@"
    instance = Instance.from_coordinates(SQUARE, metric="EUC_2D", name=hostile, comment=hostile)
    runs = [
        run([0, 1, 2, 3], hostile, instance, device=hostile, seed=k, environment={hostile: hostile}) for k in (0, 1)
    ]
    html = report.page(runs)
    assert len(Page(html).named("script")) == 2
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;@data@" in html


def test_a_map_around_the_earth_says_after_how_much_it_begins_again() -> None:
    earth = Instance.from_coordinates([[0, 170], [10, -170], [0, -160]], metric="GEO")
    data = data_of(report.page([run([0, 1, 2], points=earth)]))
    assert data["period"] == pytest.approx(65535 * 360 / 340)


def test_a_matrix_without_places_has_a_page_without_a_map() -> None:
    matrix = Instance.from_matrix(1 - np.eye(4, dtype=int), "hidden")
    html = report.page([run([0, 1, 2, 3], points=matrix)])
    assert "Not drawn: hidden is given by a matrix without DISPLAY_DATA" in html
    assert Page(html).named("canvas") == []


@pytest.mark.parametrize(("most", "cities", "tours"), [(8, 4, 2), (7, 4, 1), (4, 4, 1), (3, 2, 1), (1, 1, 1)])
def test_what_a_large_page_leaves_out_is_said(
    most: int, cities: int, tours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "MOST_CITIES", most)
    html = report.page([run([0, 2, 1, 3], "long", seed=1), run([0, 1, 2, 3], "short")])
    data = data_of(html)
    assert (len(numbers(data["xy"])) // 2, len(data["tours"])) == (cities, tours)
    assert ("The tours of 1 longer runs are not in this page" in html) is (tours == 1)
    assert (f"Only one city of {-(-4 // most)} along the tour" in html) is (cities < 4)


def test_results_at_hand_are_reported() -> None:
    result = pytsp.solve(pytsp.read(ROOT / "data" / "europe.tsp"), solver="restarts", climbers=9, backend="c")
    assert "tour of length" in report.page([result])


# What is refused


def test_a_page_is_of_one_instance() -> None:
    other = Instance.from_coordinates([*SQUARE[:3], [1, 1]], metric="EUC_2D", name="other")
    with pytest.raises(PytspError, match="a report is of one instance, but .* is of 'square' and .* of 'other'"):
        report.page([run([0, 1, 2, 3]), run([0, 1, 2, 3], points=other)])
    # The same cities under another name are the same instance.
    assert report.page(
        [run([0, 1, 2, 3]), run([0, 1, 2, 3], points=Instance.from_coordinates(SQUARE, metric="EUC_2D", name="b"))]
    )


def test_a_page_needs_a_run_and_its_instance() -> None:
    with pytest.raises(PytspError, match="there is none"):
        report.page([])
    with pytest.raises(PytspError, match="bare: its instance is needed"):
        report.page([Run("bare", np.arange(4, dtype=np.int32), facts={"length": 1})])


# The command


def test_report_writes_the_page_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in ("0", "1"):
        assert main(["solve", "europe", "--climbers", "20", "--seed", seed, "--json"]) == 0
        Path(f"seed{seed}.json").write_text(capsys.readouterr().out)
    assert main(["report", "seed0.json"]) == 0
    assert main(["report", "seed0.json", "seed1.json", "--output", "both.html"]) == 0
    assert tuple(capsys.readouterr()) == ("seed0.html\nboth.html\n", "")
    page = Page(Path("both.html").read_text(encoding="utf-8"))
    assert page.texts["title"] == ["europe: 53 cities"]
    assert {"seed 0", "seed 1"} <= {*page.texts["td"]}


# The browser


class Tab:
    """A page in the browser, without a network; it notes what goes wrong in it and what it asks for."""

    def __init__(self, browser: Any, html: str, folder: Path) -> None:
        path = folder / "report.html"
        path.write_text(html, encoding="utf-8")
        self.page = browser.new_page(viewport={"width": 900, "height": 900})
        self.page.context.set_offline(True)
        self.faults: list[str] = []
        self.asked: list[str] = []
        # Warnings are about these tests' reading of pixels.
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.address = path.as_uri()

    def map(self, name: str) -> str:
        """What the map notes of itself once it is drawn."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return str(self.page.locator("#map").get_attribute(f"data-{name}"))

    def middle(self) -> list[float]:
        return [float(word) for word in self.map("middle").split()]

    def colours(self) -> set[str]:
        """Which of the map's colours are on it."""
        self.map("scale")
        script = """() => {
            const map = document.getElementById("map");
            const pixels = map.getContext("2d").getImageData(0, 0, map.width, map.height).data;
            const found = new Set();
            for (let i = 0; i < pixels.length; i += 4) {
                if (pixels[i + 3] > 200) found.add([pixels[i], pixels[i + 1], pixels[i + 2]].join(" "));
            }
            return [...found];
        }"""
        return {*self.page.evaluate(script)}

    def status(self) -> str:
        self.map("scale")
        return str(self.page.inner_text("#status"))

    def is_sound(self) -> bool:
        """Nothing went wrong, and nothing was asked for but the page and what it holds."""
        return self.faults == [] and all(url == self.address or url.startswith("data:") for url in self.asked)


BLUE, ORANGE, GREY, BLACK = "31 119 180", "213 94 0", "200 200 200", "28 33 38"


def wide(*tours: list[int]) -> str:
    """The page of tours of four cities."""
    return report.page([run(tour, seed=k) for k, tour in enumerate(tours)])


@pytest.mark.browser
def test_the_tour_is_drawn_and_the_curves_are_shown(chromium: Any, tmp_path: Path) -> None:
    tab = Tab(chromium, wide([0, 1, 2, 3]), tmp_path)
    assert {BLUE, BLACK} <= tab.colours()
    assert (tab.map("scale"), tab.map("lines")) == ("1", "4")
    loaded = "() => [...document.images].map(image => image.complete && image.naturalWidth > 100)"
    assert tab.page.evaluate(loaded) == [True, True]
    assert tab.is_sound()


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 390, 700, 900])
def test_nothing_is_wider_than_a_telephone(width: int, chromium: Any, tmp_path: Path) -> None:
    long = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" * 3
    instance = Instance.from_coordinates(SQUARE, metric="EUC_2D", name=long, comment=long, labels=[long] * 4)
    facts = {"device": long, "date": "2026-11-23T12:00:00Z", "iterations": 10**12, "stop_reason": "no improvement"}
    runs = [run(tour, long[:58], instance, environment={long: long}, **facts) for tour in ([0, 1, 2, 3], [0, 2, 1, 3])]
    tab = Tab(chromium, report.page(runs), tmp_path)
    tab.page.set_viewport_size({"width": width, "height": 844})
    tab.page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true; })")
    widest = "() => Math.max(...[...document.querySelectorAll('body *')].map(e => e.getBoundingClientRect().right))"
    # Where there is room for a table it may have a bar of its own.
    assert tab.page.evaluate(widest) <= width or width > 768
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= width
    # Whatever a table's head says elsewhere stands beside each cell.
    heads = "() => [...document.querySelectorAll('#runs td')].map(e => getComputedStyle(e, '::before').content)"
    assert ('"solver"' in tab.page.evaluate(heads)) is (width < 768)
    assert tab.is_sound()


@pytest.mark.browser
def test_cities_have_names_where_there_is_room(chromium: Any, tmp_path: Path) -> None:
    points = np.random.default_rng(0).integers(0, 10_000, (900, 2)).tolist()
    tab = Tab(chromium, report.page([run([*range(900)], points=points)]), tmp_path)
    assert tab.map("named") == "false"
    tab.page.focus("#map")
    for _ in range(4):
        tab.page.keyboard.press("+")
    assert tab.map("named") == "true"
    assert tab.is_sound()


@pytest.mark.browser
def test_wheel_keys_and_button_zoom(chromium: Any, tmp_path: Path) -> None:
    tab = Tab(chromium, wide([0, 1, 2, 3]), tmp_path)
    box = tab.page.locator("#map").bounding_box()
    # The point under the mouse stays where it is: a quarter to the left of the middle.
    before = tab.middle()
    tab.page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    tab.page.mouse.wheel(0, -500)
    tab.page.wait_for_function("() => Number(document.getElementById('map').dataset.scale) > 2")
    after = tab.middle()
    assert after[0] < before[0] and after[1] == pytest.approx(before[1], rel=0.01)
    tab.page.click("#whole")
    assert tab.map("scale") == "1" and tab.middle() == before
    tab.page.focus("#map")
    tab.page.keyboard.press("+")
    assert float(tab.map("scale")) == pytest.approx(1.5)
    tab.page.keyboard.press("-")
    assert float(tab.map("scale")) == pytest.approx(1)
    tab.page.keyboard.press("ArrowRight")
    assert tab.middle()[0] > before[0]
    tab.page.keyboard.press("0")
    assert tab.middle() == before
    for _ in range(40):
        tab.page.keyboard.press("-")
    assert float(tab.map("scale")) == pytest.approx(0.5)
    for _ in range(40):
        tab.page.keyboard.press("+")
    assert 100 < float(tab.map("scale")) < 1000
    assert tab.is_sound()


@pytest.mark.browser
def test_dragging_pans(chromium: Any, tmp_path: Path) -> None:
    tab = Tab(chromium, wide([0, 1, 2, 3]), tmp_path)
    box = tab.page.locator("#map").bounding_box()
    before = tab.middle()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x - 50, y + 20, steps=3)
    tab.page.mouse.up()
    after = tab.middle()
    assert after[0] > before[0] and after[1] > before[1]
    assert (after[0] - before[0]) / (after[1] - before[1]) == pytest.approx(2.5)
    tab.page.mouse.move(x, y)
    assert tab.middle() == after
    assert tab.is_sound()


@pytest.mark.browser
def test_two_fingers_zoom(chromium: Any, tmp_path: Path) -> None:
    tab = Tab(chromium, wide([0, 1, 2, 3]), tmp_path)
    box = tab.page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    fingers = tab.page.context.new_cdp_session(tab.page)

    def touch(kind: str, *distances: float) -> None:
        points = [{"x": x + distance, "y": y, "id": k} for k, distance in enumerate(distances)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    before = tab.middle()
    touch("touchStart", -50, 50)
    touch("touchMove", -100, 100)
    touch("touchEnd")
    assert float(tab.map("scale")) == pytest.approx(2, rel=0.01)
    assert tab.middle()[1] == pytest.approx(before[1], rel=0.01)
    assert tab.is_sound()


@pytest.mark.browser
def test_tours_are_compared(chromium: Any, tmp_path: Path) -> None:
    tab = Tab(chromium, wide([0, 1, 2, 3], [0, 2, 1, 3]), tmp_path)
    assert ORANGE not in tab.colours()
    tab.page.select_option("#other", "1")
    assert {BLUE, ORANGE, GREY} <= tab.colours()
    assert "2 edges differ" in tab.status()
    tab.page.select_option("#run", "1")
    assert "differ" not in tab.status()
    assert tab.is_sound()


@pytest.mark.browser
def test_an_open_path_has_no_line_back(chromium: Any, tmp_path: Path) -> None:
    # The fourth edge of the one lies where the other has none.
    runs = [run([0, 1, 2, 3], open=is_open, seed=int(is_open)) for is_open in (False, True)]
    tab = Tab(chromium, report.page(runs), tmp_path)
    tab.page.select_option("#other", "1")
    assert "1 edges differ" in tab.status() and BLUE in tab.colours()
    tab.page.select_option("#run", "1")
    tab.page.select_option("#other", "0")
    assert "0 edges differ" in tab.status()
    assert tab.is_sound()


@pytest.mark.browser
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_tours_are_drawn(n: int, chromium: Any, tmp_path: Path) -> None:
    tab = Tab(chromium, report.page([run([*range(n)], points=SQUARE[:n])]), tmp_path)
    assert BLACK in tab.colours()
    assert tab.is_sound()


@pytest.mark.browser
def test_edges_across_the_date_line_leave_the_map(chromium: Any, tmp_path: Path) -> None:
    # Around the earth near the equator: drawn across the map, the lines would pass through its middle.
    earth = Instance.from_coordinates([[0, 150], [1, -150], [20, 150], [-20, -150]], metric="GEO")
    tab = Tab(chromium, report.page([run([0, 1, 2, 3], points=earth)]), tmp_path)
    script = """() => {
        const map = document.getElementById("map");
        const pixels = map.getContext("2d").getImageData(map.width / 2, 0, 1, map.height).data;
        return pixels.every(value => value === 0);
    }"""
    assert BLUE in tab.colours()
    assert tab.page.evaluate(script)
    assert tab.is_sound()


@pytest.mark.browser
def test_a_page_without_a_map_is_sound(chromium: Any, tmp_path: Path) -> None:
    matrix = Instance.from_matrix(1 - np.eye(4, dtype=int))
    tab = Tab(chromium, report.page([run([0, 1, 2, 3], points=matrix)]), tmp_path)
    assert "Not drawn" in tab.page.inner_text("main")
    assert tab.is_sound()


@pytest.mark.browser
@pytest.mark.slow
def test_a_million_cities_are_thinned_out_until_one_zooms_in(chromium: Any, tmp_path: Path) -> None:
    side = 1000
    rows = np.arange(side * side).reshape(side, side)
    # Up one column and down the next.
    rows[1::2] = rows[1::2, ::-1]
    instance = Instance.from_coordinates(np.column_stack(np.divmod(np.arange(side * side), side)), metric="EUC_2D")
    tour = rows.ravel()
    html = report.page([run(tour.tolist(), points=instance), run(np.roll(tour[::-1], 5).tolist(), points=instance)])
    assert len(html) < 20_000_000
    tab = Tab(chromium, html, tmp_path)
    assert "one city of 7 is drawn" in tab.status()
    assert int(tab.map("lines")) <= 150_000
    tab.page.select_option("#other", "1")
    assert "0 edges differ" in tab.status()
    tab.page.focus("#map")
    for _ in range(12):
        tab.page.keyboard.press("+")
    assert "too many" not in tab.status()
    assert {GREY, BLACK} <= tab.colours()
    assert tab.is_sound()
