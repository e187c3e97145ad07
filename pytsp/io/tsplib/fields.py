"""The keyword lines and sections of a TSPLIB file by their names, as far as all kinds of files have them alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytsp.io.tsplib.lexer import Entry, Section, Text, parts, quoted

__all__ = ["check_agrees", "collected", "dimension", "required", "required_section", "type_of"]

_WHOLE = re.compile(r"[0-9]{1,18}")


def collected(
    text: Text, kinds: Sequence[str], keys: dict[str, Iterable[str] | None], sections: Iterable[str]
) -> tuple[dict[str, Entry], dict[str, Section], list[str]]:
    """Every keyword line and section by name, and the comments.

    Refuses what is unknown or doubled, and another TYPE than `kinds`.
    """
    entries: dict[str, Entry] = {}
    found: dict[str, Section] = {}
    comments: list[str] = []
    for part in parts(text):
        if part.keyword not in (sections if isinstance(part, Section) else keys):
            what = "section" if isinstance(part, Section) else "keyword"
            accepted = ", ".join((*keys, *sections, "EOF"))
            raise part.error(f"{what} {quoted(part.keyword)} is not supported; accepted: {accepted}")
        earlier = found.get(part.keyword) or entries.get(part.keyword)
        if earlier is not None:
            raise part.error(f"{part.keyword} is given twice; first in line {text.line(earlier.offset)}")
        if isinstance(part, Section):
            found[part.keyword] = part
        elif part.keyword == "COMMENT":
            comments.append(part.value)
        else:
            _check_value(part, kinds, keys[part.keyword])
            entries[part.keyword] = part
    return entries, found, comments


def _check_value(entry: Entry, kinds: Sequence[str], accepted: Iterable[str] | None) -> None:
    if accepted is not None and entry.value.upper() not in accepted:
        listed = ", ".join(accepted)
        raise entry.error(f"{entry.keyword} {quoted(entry.value)} is not supported; supported: {listed}")
    if entry.keyword == "TYPE":
        given = type_of(entry)
        if given not in kinds:
            instances = "; read instances with read"
            advice = {"TOUR": "; read tours with read_tour", "TSP": instances, "ATSP": instances}.get(given, "")
            listed = ", ".join(kinds)
            raise entry.error(f"TYPE {quoted(entry.value)} is not supported here; supported: {listed}{advice}")


def type_of(entry: Entry) -> str:
    """What a file is, by its TYPE; some files of TSPLIB name their author there, in parentheses."""
    return "".join(entry.value.upper().split(maxsplit=1)[:1])


def required(text: Text, keys: dict[str, Entry], keyword: str) -> Entry:
    """The keyword line; says what is missing where there is none."""
    if keyword not in keys:
        raise text.error(f"{keyword} is missing; every instance needs a line '{keyword} : …'")
    return keys[keyword]


def required_section(text: Text, sections: dict[str, Section], keyword: str, whom: str) -> Section:
    """The section, which `whom` needs."""
    if keyword not in sections:
        raise text.error(f"{keyword} is missing; {whom} needs it")
    return sections[keyword]


def dimension(entry: Entry) -> int:
    """The number of cities."""
    n = int(entry.value) if _WHOLE.fullmatch(entry.value) else 0
    if n < 1:
        raise entry.error(f"DIMENSION {quoted(entry.value)} is not a number of cities; accepted: 1, 2, 3, …")
    return n


def check_agrees(keys: dict[str, Entry], keyword: str, other: str, accepted: Iterable[str]) -> None:
    """Refuse a keyword line, if there is one, whose value another one, such as EDGE_WEIGHT_TYPE GEO, cannot go with."""
    entry = keys.get(keyword)
    if entry is not None and entry.value.upper() not in accepted:
        listed = ", ".join(accepted)
        raise entry.error(f"{keyword} {quoted(entry.value)} contradicts {other}; accepted: {listed}")
