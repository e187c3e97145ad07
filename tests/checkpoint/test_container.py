"""The file of a checkpoint: what it holds, what is refused, and what is left when writing fails."""

from __future__ import annotations

import io
import resource
import signal
import stat
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from processes import run_python

from pytsp.checkpoint import container as _container
from pytsp.exceptions import CheckpointError

ARRAYS = npst.arrays(
    st.sampled_from((np.int32, np.int64, np.float64, np.bool_, np.uint8)), npst.array_shapes(min_dims=1, min_side=0)
)
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=9))
TREES = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        PLAIN | ARRAYS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)
TREE: dict[str, Any] = {"seed": 2**64 - 1, "tour": np.arange(5, dtype=np.int32), "part": {"done": np.array([True])}}


def data_of(tree: dict[str, Any]) -> bytes:
    """The bytes of a file that holds a tree."""
    stream = io.BytesIO()
    _container.write(stream, _container.pack(tree))
    return stream.getvalue()


def read(tmp_path: Path, data: bytes) -> dict[str, Any]:
    """What is read from a file of these bytes."""
    path = tmp_path / "some.checkpoint"
    path.write_bytes(data)
    return _container.read(path)


def same(a: object, b: object) -> bool:
    """Whether two values of trees are equal, types of arrays included."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return type(a) is type(b) and a == b


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property."""
    return tmp_path_factory.mktemp("files")


@given(TREES)
def test_what_is_written_is_read(folder: Path, tree: dict[str, Any]) -> None:
    assert same(read(folder, data_of(tree)), tree)


def test_numbers_of_numpy_and_arrays_of_the_other_byte_order_become_plain(tmp_path: Path) -> None:
    found = read(tmp_path, data_of({"n": np.int64(7), "f": np.float64(0.1), "a": np.arange(3, dtype=">i4")[::-1]}))
    assert (found["n"], found["f"]) == (7, 0.1)
    assert found["a"].tolist() == [2, 1, 0] and found["a"].dtype == np.int32 and found["a"].flags.writeable


def test_other_values_are_refused() -> None:
    with pytest.raises(TypeError, match="cannot hold a set"):
        _container.pack({"a": {1}})


@given(st.data())
def test_a_changed_byte_is_found_out(folder: Path, data: st.DataObject) -> None:
    whole = data_of(TREE)
    at = data.draw(st.integers(0, len(whole) - 1))
    change = data.draw(st.integers(1, 255))
    with pytest.raises(CheckpointError, match=r"some\.checkpoint: "):
        read(folder, whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :])


def test_every_beginning_of_a_file_and_a_longer_one_are_refused(tmp_path: Path) -> None:
    whole = data_of(TREE)
    for end in range(len(whole)):
        with pytest.raises(CheckpointError):
            read(tmp_path, whole[:end])
    with pytest.raises(CheckpointError, match="damaged: its checksum does not fit its"):
        read(tmp_path, whole + b"\0")


@pytest.mark.parametrize("data", [b"", b"NAME : berlin52\n", b"PK\x03\x04", b"pytsp checkpoint one\n", bytes(10**6)])
def test_a_foreign_file_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(CheckpointError, match=r"some\.checkpoint: this is no checkpoint of pytsp"):
        read(tmp_path, data)


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="it has version 2 of the format; this pytsp reads versions up to 1"):
        read(tmp_path, data_of(TREE).replace(b"checkpoint 1\n", b"checkpoint 2\n", 1))


@pytest.mark.parametrize(
    "head",
    [
        b"[]",
        b"{}",
        b'{"arrays": [], "tree": []}',
        b'{"arrays": [], "tree": {"a": {"array": 0}}}',
        b'{"arrays": [{"dtype": "|O", "shape": [1]}], "tree": {}}',
        b'{"arrays": [{"dtype": "<i8", "shape": [-1]}], "tree": {}}',
        b'{"arrays": [{"dtype": "<i8", "shape": [1000000000000]}], "tree": {}}',
        b"no JSON",
    ],
)
def test_what_has_a_checksum_but_no_sense_is_refused(tmp_path: Path, head: bytes) -> None:
    stream = io.BytesIO()
    _container.write(stream, [b"pytsp checkpoint 1\n" + head + b"\n"])
    with pytest.raises(CheckpointError, match="not as pytsp writes them"):
        read(tmp_path, stream.getvalue())


# Replacing


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_file_that_was(tmp_path: Path, failure: BaseException) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"before")

    def fill(stream: IO[bytes]) -> None:
        stream.write(b"half")
        raise failure

    with pytest.raises(type(failure)):
        _container.replace_file(path, fill)
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert path.read_bytes() == b"before"


def test_only_its_owner_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    _container.replace_file(path, lambda stream: _container.write(stream, [b"x"]))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_killed_writers_have_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in (".a[1].x.part", "a[1]", ".a1.x.part", ".b.x.part", "a[1].part"):
        (tmp_path / name).touch()
    _container.sweep(tmp_path / "a[1]")
    assert sorted(each.name for each in tmp_path.iterdir()) == [".a1.x.part", ".b.x.part", "a[1]", "a[1].part"]


FULL = """if True:
    import sys
    from pathlib import Path
    from pytsp.checkpoint import container as _container
    path = Path(sys.argv[1])
    try:
        _container.replace_file(path, lambda stream: _container.write(stream, [bytes(10**6)]))
    except OSError as error:
        print(error.strerror)
"""


def test_a_disk_that_is_full_leaves_the_file_that_was(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"before")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10**5, 10**5))

    done = run_python("-c", FULL, path, check=True, preexec_fn=limit)
    assert done.stdout == "File too large\n"
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert path.read_bytes() == b"before"
