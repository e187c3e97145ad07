"""Instances by a name or out of a file."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pytsp.datasets.registry import find
from pytsp.io.files import read_any
from pytsp.io.streams import Source, is_path
from pytsp.problem.instance import Instance
from pytsp.utils.arguments import file_name


def read(
    source: Source,
    name: str | None = None,
    *,
    metric: str | None = None,
    columns: Sequence[str] | None = None,
    asymmetric: bool = False,
    ignore_fixed_edges: bool = False,
) -> Instance:
    """Read an instance from a file, or by the name of one that comes with pytsp or was downloaded.

    ====================  =============================================================================================
    file                  read as
    ====================  =============================================================================================
    ``.tsp``, ``.atsp``   TSPLIB's files, of TYPE TSP or ATSP
    ``.csv``, ``.tsv``    a table. Below a header: coordinates in columns x and y (and z), or latitude and longitude in
                          decimal degrees, a city a line; or distances, where the first field of each line is its
                          column's name. Without a header: an array of coordinates or distances. Fields are parted by
                          semicolons, tabs, commas or blanks, and decimal signs may be commas where commas part nothing.
                          A first line with a number is a header only where its fields are labels of the lines. In
                          distances ``inf``, ``NA``, ``null``, ``-`` or an empty field forbids an edge
    ``.npy``              an array, as `pytsp.as_instance` takes it
    ``.geojson``          points of longitude and latitude
    ``.json``             GeoJSON; a road server's table with durations or distances, which may be asymmetric, and where
                          null forbids an edge; or a list of rows, as an array
    any other             the one of these that it looks like; so is standard input, and any stream
    ====================  =============================================================================================

    Each may be compressed by gzip. Cities have names, `Instance.labels`, where a column or a feature's property name,
    label, city, place, title or id says them.

    Parameters
    ----------
    source : str, path-like or stream
        A path or a name, ``"-"`` for standard input, or an open stream of bytes or text.
    name : str, optional
        Name of the instance, in place of the file's NAME or of the name of the file.
    metric : str, optional
        Metric of coordinates, as in `pytsp.as_instance`. TSPLIB's files name their own.
    columns : sequence of str, optional
        Columns of the coordinates in a table; or the table of a road server to use, as ``["distances"]``, by default
        durations.
    asymmetric : bool, optional
        Accept distances that are not symmetric. TSPLIB's files of TYPE ATSP need no option.
    ignore_fixed_edges : bool, optional
        Read a TSPLIB file with a FIXED_EDGES_SECTION as if it had none. Its optimum is then taken as unknown.

    Returns
    -------
    Instance
        With `optimum` set for a known instance of TSPLIB, and `fixed` if its file has fixed edges. A file of TYPE ATSP
        gives an `asymmetric` instance, unless its matrix is symmetric.

    Raises
    ------
    TsplibError
        If a TSPLIB file is malformed or of a kind that is not supported, or gzip is damaged; the message names file,
        line, the offending text and what is accepted.
    InstanceError
        If another file makes no instance; the message names file and line.
    InstanceNotFound
        If there is no such file or name; it is an `InstanceError` and a `FileNotFoundError`.
    OSError
        If the file cannot be opened or read.

    Warns
    -----
    PytspWarning
        If part of the file is left out, such as a row without any value, a feature without a place or one of two
        tables; if a field without a number forbids an edge; or if minutes of metric GEO are 60 or more. The warning
        names file and place.

    Notes
    -----
    Of TSPLIB's files missing TYPE means TSP, a missing EOF the end of the file; whatever follows EOF is not read.

    Examples
    --------
    >>> read("europe").n
    53
    """
    if is_path(source):
        source = find(os.fspath(file_name("source", source)))
    return read_any(source, name, metric, columns, asymmetric, ignore_fixed_edges)
