"""TSPLIB's instances by name: the list, and downloads from a server on this machine that does all that servers do."""

from __future__ import annotations

import gzip
import hashlib
import logging
import re
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType

import pytest
from paths import OPTIMA, TSPLIB, listed_optima, tsplib_file
from processes import PATIENCE, run_python

import pytsp
from pytsp import DatasetError, InstanceError
from pytsp.datasets import download as _download
from pytsp.datasets import registry as datasets
from pytsp.io.tsplib import reader as tsplib
from pytsp.problem.optima import FILES
from pytsp.problem.optima import OPTIMA as KNOWN

SMALL = b"""NAME : tiny4
TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 0 3
3 4 3
4 4 0
EOF
"""


# The list


def test_all_names_of_the_library_are_listed() -> None:
    listed = datasets.tsplib()
    assert len(listed) == len({each.name for each in listed}) == 111
    assert {each.name for each in listed} == {name for optima in KNOWN.values() for name in optima} | {"linhp318"}
    assert [each.n for each in listed] == sorted(each.n for each in listed)
    assert all(each.name.endswith(str(each.n)) for each in listed)


def test_types_and_optima_agree_with_what_is_known() -> None:
    for each in datasets.tsplib():
        if each.name == "dsj1000":
            assert (each.type, each.optimum) == (None, None)
        elif each.name == "linhp318":
            assert (each.type, each.optimum) == ("EUC_2D", 41345)
        else:
            assert each.type is not None
            assert KNOWN[each.type][each.name] == each.optimum


def test_facts_and_sums_are_those_of_the_files_at_hand() -> None:
    names = [path.name.removesuffix(".tsp.gz") for path in TSPLIB.glob("*.tsp.gz")]
    if not names:
        pytest.skip(f"TSPLIB's files are expected in {TSPLIB}")
    for name in names:
        n, kind, checksum = FILES[name]
        content = gzip.decompress((TSPLIB / f"{name}.tsp.gz").read_bytes())
        assert hashlib.sha256(content).hexdigest() == checksum
        assert re.search(rb"DIMENSION\s*:\s*(\d+)", content)[1] == str(n).encode()  # type: ignore[index]
        assert re.search(rb"EDGE_WEIGHT_TYPE\s*:\s*(\w+)", content)[1] == (kind or "").encode()  # type: ignore[index]
    if OPTIMA.is_file():
        assert all(each.optimum == listed_optima()[each.name] for each in datasets.tsplib() if each.name in names)


def test_one_host_is_named() -> None:
    assert datasets.TSPLIB_URL == "http://comopt.ifi.uni-heidelberg.de/software/TSPLIB95/tsp/"


# Downloads


class Server:
    """A folder of files on this machine, and what goes wrong with them."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        # What is told as the length but not sent, how long is waited before the rest, and whether the length is told.
        self.missing = 0
        self.pause = 0.0
        self.has_length = True
        self.status = 200
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                content = server.files.get(self.path)
                self.send_response(server.status if content is not None else 404)
                content = content or b""
                if server.has_length:
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                half = (len(content) - server.missing) // 2
                try:
                    self.wfile.write(content[:half])
                    self.wfile.flush()
                    server.released.wait(server.pause)
                    self.wfile.write(content[half : len(content) - server.missing])
                except OSError:
                    # The other side has given up.
                    pass

            def log_message(self, *_: object) -> None:
                pass

        self.released = threading.Event()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/tsp"
        threading.Thread(target=self.http.serve_forever, daemon=True, kwargs={"poll_interval": 0.01}).start()

    def close(self) -> None:
        self.released.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server with the file of an instance "tiny4", which TSPLIB then has; an empty cache folder; no way elsewhere."""
    pytest.importorskip("pooch", reason="instances are downloaded where pooch is installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    files = MappingProxyType({**FILES, "tiny4": (4, "EUC_2D", hashlib.sha256(SMALL).hexdigest())})
    for module in (datasets, _download):
        monkeypatch.setattr(module, "FILES", files)
    running = Server()
    running.files["/tsp/tiny4.tsp.gz"] = gzip.compress(SMALL)
    monkeypatch.setenv("PYTSP_TSPLIB_URL", running.url)
    yield running
    running.close()


def without_sum(monkeypatch: pytest.MonkeyPatch, name: str, n: int, kind: str | None) -> None:
    """Have TSPLIB an instance whose checksum is not known."""
    files = MappingProxyType({**FILES, name: (n, kind, None)})
    for module in (datasets, _download):
        monkeypatch.setattr(module, "FILES", files)


def kept(tmp_path: Path) -> list[str]:
    """What lies in the cache folder."""
    return sorted(path.name for path in (tmp_path / "cache").rglob("*") if path.is_file())


def test_a_file_is_downloaded_once(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert datasets.cached("tiny4") is None
    path = datasets.fetch("tiny4")
    assert path == tmp_path / "cache" / "pytsp" / "tsplib" / "tiny4.tsp" == datasets.cached("tiny4")
    assert path.read_bytes() == SMALL
    assert tsplib.read(path).tour_length([0, 1, 2, 3]) == 14
    assert path.stat().st_mode & 0o022 == 0
    # From then on without a server.
    server.close()
    monkeypatch.setenv("PYTSP_TSPLIB_URL", "http://127.0.0.1:9/")
    assert datasets.fetch(" tiny4.tsp.gz ") == path
    assert datasets.find("tiny4") == path
    assert server.asked == ["/tsp/tiny4.tsp.gz"]
    assert kept(tmp_path) == ["tiny4.tsp"]
    assert capfd.readouterr() == ("", "")


def test_a_file_of_tsplib_is_what_it_was_when_its_sum_was_taken(server: Server) -> None:
    server.files["/tsp/pr76.tsp.gz"] = tsplib_file("pr76.tsp").read_bytes()
    assert pytsp.read(datasets.fetch("pr76")).optimum == 108159
    assert next(each for each in datasets.tsplib() if each.name == "pr76").is_cached


def test_the_address_may_be_given_with_a_slash_or_without(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTSP_TSPLIB_URL", "http://127.0.0.1:9/")
    assert datasets.fetch("tiny4", url=server.url + "/").is_file()
    (datasets.cached("tiny4") or Path()).unlink()
    assert datasets.fetch("tiny4", url=server.url).is_file()
    assert server.asked == ["/tsp/tiny4.tsp.gz"] * 2


def test_a_damaged_file_is_downloaded_again(server: Server) -> None:
    path = datasets.fetch("tiny4")
    path.write_bytes(SMALL[:-9])
    assert datasets.fetch("tiny4").read_bytes() == SMALL
    assert len(server.asked) == 2


def test_the_notes_of_pooch_are_heard_again_afterwards(server: Server) -> None:
    logger = logging.getLogger("pooch")
    before = logger.level
    datasets.fetch("tiny4")
    assert logger.level == before


def broken(server: Server, fault: str) -> None:
    """Have the server do something wrong."""
    path = "/tsp/tiny4.tsp.gz"
    whole = server.files[path]
    if fault == "absent":
        server.files.clear()
    elif fault == "refusing":
        server.status = 503
    elif fault == "truncated":
        server.missing = 20
    elif fault == "truncated without a length":
        server.missing, server.has_length = 20, False
    elif fault == "another file":
        server.files[path] = gzip.compress(SMALL.replace(b"4 4 0", b"4 4 1"))
    elif fault == "no gzip":
        server.files[path] = b"<html>moved</html>"
    elif fault == "damaged":
        server.files[path] = whole[:30] + bytes([whole[30] ^ 255]) + whole[31:]
    elif fault == "empty":
        server.files[path] = b""
    elif fault == "long":
        server.files[path] = b"\x1f\x8b" + bytes(_download.MOST_BYTES)
    elif fault == "bomb":
        server.files[path] = gzip.compress(bytes(2 * _download.MOST_BYTES))
    elif fault == "silent":
        server.pause = PATIENCE
    else:
        raise AssertionError(fault)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("absent", "the server answers 404, it has no such file"),
        ("refusing", "the server answers 503"),
        ("truncated", "the connection broke"),
        ("truncated without a length", "what came is cut off after"),
        ("another file", "is not TSPLIB's file: SHA256 hash of downloaded file"),
        ("no gzip", "what came is no gzip file"),
        ("damaged", "what came is no gzip file, or a damaged one|is not TSPLIB's file|cut off"),
        ("empty", "what came is cut off after 0 bytes"),
        ("long", r"the file is longer than any of TSPLIB's \(8 MiB\)"),
        ("bomb", r"the file is longer than any of TSPLIB's \(8 MiB\)"),
        ("silent", "the server does not answer in time"),
    ],
)
def test_what_goes_wrong_is_told_and_nothing_is_kept(server: Server, tmp_path: Path, fault: str, words: str) -> None:
    broken(server, fault)
    with pytest.raises(DatasetError, match=f"^tiny4: .*({words})"):
        datasets.fetch("tiny4", timeout=0.5 if fault == "silent" else PATIENCE)
    assert kept(tmp_path) == []
    assert datasets.cached("tiny4") is None


def test_a_server_that_trickles_is_left_in_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 7))
    monkeypatch.setattr(_download.time, "monotonic", lambda: next(clock))
    server.files["/tsp/tiny4.tsp.gz"] = bytes(100_000)
    with pytest.raises(DatasetError, match="tiny4: the download took longer than 20 s"):
        datasets.fetch("tiny4", timeout=20)


def test_offline_is_told_as_such(server: Server, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(
            DatasetError, match=rf"from http://127.0.0.1:{port}/: the server cannot be reached; is this"
        ):
            datasets.fetch("tiny4", url=f"http://127.0.0.1:{port}")
    assert kept(tmp_path) == []


@pytest.mark.parametrize("url", ["file:///tsp", "nowhere", "http://", "ftp://127.0.0.1/tsp"])
def test_addresses_that_are_none_are_told(server: Server, url: str) -> None:
    with pytest.raises(DatasetError, match=f"tiny4: it could not be downloaded from {url}/?: "):
        datasets.fetch("tiny4", url=url)


def test_a_file_without_a_known_sum_must_be_the_instance(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    without_sum(monkeypatch, "tiny4", 4, "EUC_2D")
    path = datasets.fetch("tiny4")
    assert path.read_bytes() == SMALL
    path.unlink()
    without_sum(monkeypatch, "tiny4", 4, None)
    datasets.fetch("tiny4").unlink()
    for name, n, kind in (("tiny4", 5, "EUC_2D"), ("tiny4", 4, "CEIL_2D"), ("other4", 4, "EUC_2D")):
        without_sum(monkeypatch, name, n, kind)
        server.files[f"/tsp/{name}.tsp.gz"] = gzip.compress(SMALL)
        with pytest.raises(
            DatasetError, match=f"{name}: what came is 'tiny4' of 4 cities, EUC_2D, but it has {n} cities"
        ):
            datasets.fetch(name)
        assert datasets.cached(name) is None
    server.files["/tsp/tiny4.tsp.gz"] = gzip.compress(b"<html>moved</html>")
    without_sum(monkeypatch, "tiny4", 4, None)
    with pytest.raises(DatasetError, match="tiny4: what came is no instance: line 1: '<html>moved"):
        datasets.fetch("tiny4")


def test_a_folder_that_cannot_be_written_is_told(server: Server, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(DatasetError, match="tiny4: it could not be downloaded"):
        datasets.fetch("tiny4")


def test_names_that_tsplib_has_not_are_refused_with_those_that_are_meant(server: Server) -> None:
    with pytest.raises(InstanceError, match=r"no symmetric instance 'pr2329'; .*; did you mean pr2392"):
        datasets.fetch("pr2329")
    with pytest.raises(InstanceError, match="did you mean kroA100"):
        datasets.fetch("KROA100")
    with pytest.raises(InstanceError, match="no symmetric instance '../../etc/passwd'"):
        datasets.fetch("../../etc/passwd")
    with pytest.raises(ValueError, match="timeout must be a positive number of seconds; it is 0"):
        datasets.fetch("tiny4", timeout=0)
    assert server.asked == []


def test_without_pooch_it_is_said_how_to_get_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(
        DatasetError, match=r"needs pooch, which is not installed; pip install 'pytsp-futhark\[datasets\]'"
    ):
        datasets.fetch("tiny4")


# Names


def test_nothing_is_downloaded_unasked(server: Server) -> None:
    with pytest.raises(InstanceError, match="TSPLIB has an instance of that name: pytsp datasets --fetch pr2392"):
        datasets.find("pr2392")
    with pytest.raises(InstanceError, match=r"no instance of that name; known: .*; did you mean pr2392"):
        datasets.find("pr2393")
    assert server.asked == []


def test_neither_the_list_nor_a_name_imports_what_downloads() -> None:
    program = """if True:
        import sys
        from pytsp.datasets import registry as datasets
        datasets.tsplib(), datasets.find("europe")
        print(sorted({"pooch", "requests", "numpy"} & sys.modules.keys()))
    """
    reported = run_python("-c", program, check=True)
    assert reported.stdout == "[]\n"


def test_a_file_goes_before_a_name(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets.fetch("tiny4")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny4").write_bytes(SMALL)
    assert datasets.find("tiny4") == Path("tiny4")
