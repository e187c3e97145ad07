"""Files of segments: tables, GeoJSON, SVG; read, and written in another order with everything else of them kept."""

from __future__ import annotations

from pathlib import PurePath

from pytsp.exceptions import InstanceError
from pytsp.io.segments.drawing import Drawing, Step, read_features, read_segment_table
from pytsp.io.segments.svg import read_svg
from pytsp.io.streams import Source, decoded, read_bytes
from pytsp.utils.notices import about

__all__ = ["Drawing", "KINDS", "Step", "read_drawing"]

KINDS = {
    ".csv": read_segment_table,
    ".tsv": read_segment_table,
    ".geojson": read_features,
    ".json": read_features,
    ".svg": read_svg,
}
"""The reader of each kind of file, by its ending."""


def read_drawing(source: Source, kind: str | None = None) -> Drawing:
    """Read a file of segments: of the `kind`, one of `KINDS`, by default that of its ending."""
    data, file = read_bytes(source)
    ending = kind or PurePath(PurePath(file).name.removesuffix(".gz")).suffix.lower()
    if ending not in KINDS:
        raise InstanceError(f"{file}: the ending {ending!r} is of no kind of drawing; known: {', '.join(KINDS)}")
    try:
        with about(file):
            return KINDS[ending](decoded(data))
    except InstanceError as error:
        raise InstanceError(f"{file}: {error}") from error
