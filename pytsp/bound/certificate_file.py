"""Certificates of lower bounds as files: one JSON object, which other programs can read as well."""

from __future__ import annotations

import json
import math
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from pytsp.bound.certificate import Certificate
from pytsp.bound.graphs import MOST
from pytsp.exceptions import PytspError
from pytsp.io.streams import Source, read_bytes
from pytsp.problem.instance import Instance
from pytsp.utils.text import one_line

# The value of "format", which other formats of later versions will not have.
FORMAT = "pytsp lower bound 1"


def certificate_text(instance: Instance, certificate: Certificate) -> str:
    """Return the file of a certificate, a JSON object: its numbers, and of which instance they are."""
    facts = {"format": FORMAT, "instance": instance.name, "n": instance.n, "metric": instance.metric}
    numbers = {"bound": certificate.bound, "scale": certificate.scale, "penalties": certificate.penalties.tolist()}
    kind = certificate.kind._asdict() if certificate.open else {}
    return json.dumps(facts | kind | numbers) + "\n"


def read_certificate(source: Source) -> Certificate:
    """Read a certificate from a path or file, compressed or not; `check_certificate` proves it.

    It raises `PytspError` if the file is no certificate, with the file and the reason.
    """
    data, file = read_bytes(source)
    try:
        said = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PytspError(f"{file}: it is not JSON: {one_line(str(error))}") from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise PytspError(f'{file}: it is no certificate of a lower bound, whose "format" is {FORMAT!r}')
    bound, scale = said.get("bound"), said.get("scale")
    if not _is_number(bound) or not 0 <= bound < math.inf:
        raise PytspError(f"{file}: bound must be a number of at least 0; it is {bound!r:.40}")
    if type(scale) is not int:
        raise PytspError(f"{file}: scale must be a whole number; it is {scale!r:.40}")
    is_open, start, end = said.get("open", False), said.get("start_city"), said.get("end_city")
    if type(is_open) is not bool:
        raise PytspError(f"{file}: open must be true or false; it is {is_open!r:.40}")
    for name, city in (("start_city", start), ("end_city", end)):
        if city is not None and type(city) is not int:
            raise PytspError(f"{file}: {name} must be a whole number or null; it is {city!r:.40}")
    return Certificate(bound, scale, _penalties(said.get("penalties"), file), is_open, start, end)


def _is_number(value: Any) -> TypeGuard[int | float]:
    return type(value) in (int, float)


def _penalties(values: Any, file: str) -> NDArray[np.int64]:
    if not isinstance(values, list):
        raise PytspError(f"{file}: penalties must be a list; it is {values!r:.40}")
    for place, value in enumerate(values):
        if type(value) is not int or not -MOST <= value <= MOST:
            raise PytspError(
                f"{file}: penalty {place} must be a whole number of at most 2**44 in size; it is {value!r:.40}"
            )
    return np.array(values, np.int64)
