"""Certificates of lower bounds as files: one JSON object, which other programs can read as well."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

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

    def field(name: str, law: str, is_lawful: Callable[[Any], bool], default: Any = None) -> Any:
        value = said.get(name, default)
        if not is_lawful(value):
            raise PytspError(f"{file}: {name} must be {law}; it is {value!r:.40}")
        return value

    bound = field("bound", "a number of at least 0", lambda x: type(x) in (int, float) and 0 <= x < math.inf)
    scale = field("scale", "a whole number", lambda x: type(x) is int)
    is_open = field("open", "true or false", lambda x: type(x) is bool, False)
    start, end = (
        field(name, "a whole number or null", lambda x: x is None or type(x) is int)
        for name in ("start_city", "end_city")
    )
    penalties = field("penalties", "a list", lambda x: isinstance(x, list))
    for place, value in enumerate(penalties):
        if type(value) is not int or not -MOST <= value <= MOST:
            raise PytspError(
                f"{file}: penalty {place} must be a whole number of at most 2**44 in size; it is {value!r:.40}"
            )
    return Certificate(bound, scale, np.array(penalties, np.int64), is_open, start, end)
