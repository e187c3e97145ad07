"""Instances by name: those that come with pytsp, and TSPLIB's, which are downloaded on request."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from pytsp.exceptions import InstanceError, InstanceNotFound
from pytsp.problem.optima import FILES, FIXED_OPTIMA, optimum_of
from pytsp.utils.text import hint

TSPLIB_URL = "http://comopt.ifi.uni-heidelberg.de/software/TSPLIB95/tsp/"
"""The address of TSPLIB's symmetric instances; the environment's PYTSP_TSPLIB_URL says otherwise."""

# In a wheel the instances lie inside the package, in a checkout beside it.
_HERE = Path(__file__).resolve().parents[1]
_FOLDERS = (_HERE / "data", _HERE.parent / "data")
_ENDINGS = ("", ".tsp", ".tsp.gz")
# Names are alike where they have this share of letters in common.
_LIKENESS = 0.8


@dataclass(frozen=True)
class Dataset:
    """An instance of TSPLIB.

    Attributes
    ----------
    name : str
    n : int
        Its number of cities.
    type : str or None
        Its EDGE_WEIGHT_TYPE; None for dsj1000, of which there are files of two types.
    optimum : int or None
        The length of its shortest tour; None for dsj1000. That of linhp318 is as TSPLIB lists it, without the
        length of its fixed edge.
    is_checked : bool
        True if `fetch` knows the checksum of its file. Otherwise the file must have its name, size and type.
    is_cached : bool
        True if it has been downloaded.
    """

    name: str
    n: int
    type: str | None
    optimum: int | None
    is_checked: bool
    is_cached: bool

    def to_dict(self) -> dict[str, object]:
        """Return the attributes by their names."""
        return asdict(self)


def tsplib() -> list[Dataset]:
    """Return all 111 symmetric instances of TSPLIB, smallest first."""
    listed = []
    for name, (n, kind, checksum) in sorted(FILES.items(), key=lambda item: (item[1][0], item[0].lower())):
        optimum = FIXED_OPTIMA[name] if name == "linhp318" else optimum_of(name, n, kind)
        listed.append(Dataset(name, n, kind, optimum, checksum is not None, cached(name) is not None))
    return listed


def names() -> list[str]:
    """Return the names of the instances that come with pytsp."""
    files = (file for folder in _FOLDERS if folder.is_dir() for file in folder.iterdir())
    return sorted({file.name.split(".")[0] for file in files if file.name.endswith(_ENDINGS[1:])})


def find(name: str) -> Path:
    """Return the path of an instance: a file, one that comes with pytsp, or one that was downloaded.

    Nothing is downloaded here.

    Parameters
    ----------
    name : str
        A path, one of `names()`, or a name in TSPLIB.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InstanceNotFound
        If there is none.
    """
    if Path(name).exists():
        return Path(name)
    shipped = (folder / f"{name}{ending}" for folder in _FOLDERS for ending in _ENDINGS)
    if Path(name).name == name and (path := next(filter(Path.is_file, shipped), None)) is not None:
        return path
    if name in FILES:
        if (path := cached(name)) is not None:
            return path
        raise InstanceNotFound(
            f"there is no file {name!r}; TSPLIB has an instance of that name: "
            f"pytsp datasets --fetch {name} downloads it"
        )
    beside = []
    with suppress(OSError):
        beside = [str(file) for file in Path(name).parent.iterdir() if file.is_file()]
    raise InstanceNotFound(
        f"there is no file {name!r}, and no instance of that name; known: {', '.join(names())}"
        f"{hint(name, [*names(), *beside, *FILES], _LIKENESS)}"
    )


def cached(name: str) -> Path | None:
    """Return the path of a downloaded instance of TSPLIB, or None before."""
    path = _folder() / f"{name}.tsp"
    return path if path.is_file() else None


def fetch(name: str, *, url: str | None = None, timeout: float = 60.0) -> Path:
    """Return the path of an instance of TSPLIB, which is downloaded once.

    It needs pooch: ``pip install 'pytsp-futhark[datasets]'``. The file lies in the user's cache folder, decompressed.
    Each call compares it with its checksum, and downloads a damaged one again.

    Parameters
    ----------
    name : str
        One of TSPLIB's, as `tsplib` lists them.
    url : str, optional
        The folder to download from; by default the environment's PYTSP_TSPLIB_URL, or `TSPLIB_URL`.
    timeout : float, optional
        The seconds that a download may take.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InstanceError
        If TSPLIB has no instance of that name.
    DatasetError
        If it cannot be downloaded, or the download is not that instance. Nothing is kept then.
    """
    key = name.strip().removesuffix(".gz").removesuffix(".tsp")
    if key not in FILES:
        close = hint(key, FILES, _LIKENESS)
        raise InstanceError(f"TSPLIB has no symmetric instance {name!r}; pytsp datasets lists those it has{close}")
    if not timeout > 0:
        raise ValueError(f"timeout must be a positive number of seconds; it is {timeout!r}")
    from pytsp.datasets.download import download  # noqa: PLC0415

    folder = url or os.environ.get("PYTSP_TSPLIB_URL") or TSPLIB_URL
    return download(key, folder if folder.endswith("/") else f"{folder}/", _folder(), timeout)


def _folder() -> Path:
    return Path(platformdirs.user_cache_dir("pytsp")) / "tsplib"
