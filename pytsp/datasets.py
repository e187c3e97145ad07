"""The instances that come with pytsp, by name."""

from __future__ import annotations

from pathlib import Path

from pytsp.exceptions import InstanceError

# In a wheel the instances lie inside the package, in a checkout beside it.
_HERE = Path(__file__).resolve().parent
_FOLDERS = (_HERE / "data", _HERE.parent / "data")
_ENDINGS = ("", ".tsp", ".tsp.gz")


def names() -> list[str]:
    """Return the names of the instances that come with pytsp."""
    files = (file for folder in _FOLDERS if folder.is_dir() for file in folder.iterdir())
    return sorted({file.name.split(".")[0] for file in files if file.name.endswith(_ENDINGS[1:])})


def find(name: str) -> Path:
    """Return the path of an instance: a file as it stands, or one that comes with pytsp.

    Parameters
    ----------
    name : str
        A path, or one of `names()`.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InstanceError
        If there is neither.
    """
    if Path(name).exists():
        return Path(name)
    if Path(name).name == name:
        for folder in _FOLDERS:
            for ending in _ENDINGS:
                if (folder / f"{name}{ending}").is_file():
                    return folder / f"{name}{ending}"
    raise InstanceError(f"there is no file {name!r}, and no instance of that name; known: {', '.join(names())}")
