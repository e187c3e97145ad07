"""The keyword lines and sections of a TSPLIB file by their names, as far as all kinds of files have them alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pytsp.io.tsplib.lexer import Entry, Section, Text, parts, quoted

_WHOLE = re.compile(r"[0-9]{1,18}")


class Fields:
    """Every keyword line and section of a file by name, and its comments."""

    def __init__(
        self, text: Text, kinds: Sequence[str], keys: Mapping[str, Iterable[str] | None], sections: Iterable[str]
    ) -> None:
        """Collect them; refuse what is unknown or doubled, and another TYPE than `kinds`."""
        self.text = text
        self.comments: list[str] = []
        self.entries: dict[str, Entry] = {}
        self.sections: dict[str, Section] = {}
        for part in parts(text):
            is_section = isinstance(part, Section)
            if part.keyword not in (sections if is_section else keys):
                what = "section" if is_section else "keyword"
                accepted = ", ".join((*keys, *sections, "EOF"))
                raise part.error(f"{what} {quoted(part.keyword)} is not supported; accepted: {accepted}")
            earlier = self.sections.get(part.keyword) or self.entries.get(part.keyword)
            if earlier is not None:
                raise part.error(f"{part.keyword} is given twice; first in line {text.line(earlier.offset)}")
            if isinstance(part, Section):
                self.sections[part.keyword] = part
            elif part.keyword == "COMMENT":
                self.comments.append(part.value)
            else:
                _check_value(part, kinds, keys[part.keyword])
                self.entries[part.keyword] = part

    def value(self, keyword: str) -> str:
        """Return what a keyword line says, in upper case; nothing where there is none."""
        return self.entries[keyword].value.upper() if keyword in self.entries else ""

    @property
    def type(self) -> str:
        """The type that the file declares."""
        return _first_word(self.value("TYPE"))

    def required(self, keyword: str) -> Entry:
        """Return the keyword line, or say that it is missing."""
        if keyword not in self.entries:
            raise self.text.error(f"{keyword} is missing; every instance needs a line '{keyword} : …'")
        return self.entries[keyword]

    def required_section(self, keyword: str, whom: str) -> Section:
        """Return the section, or say that `whom` needs it."""
        if keyword not in self.sections:
            raise self.text.error(f"{keyword} is missing; {whom} needs it")
        return self.sections[keyword]

    def check_agrees(self, keyword: str, other: str, accepted: Iterable[str]) -> None:
        """Refuse a keyword line, if there is one, that cannot go with another one, such as EDGE_WEIGHT_TYPE GEO."""
        if keyword in self.entries and self.value(keyword) not in accepted:
            entry = self.entries[keyword]
            raise entry.error(f"{keyword} {quoted(entry.value)} contradicts {other}; accepted: {', '.join(accepted)}")


def dimension(entry: Entry) -> int:
    """Return the number of cities."""
    n = int(entry.value) if _WHOLE.fullmatch(entry.value) else 0
    if n < 1:
        raise entry.error(f"DIMENSION {quoted(entry.value)} is not a number of cities; accepted: 1, 2, 3, …")
    return n


def _check_value(entry: Entry, kinds: Sequence[str], accepted: Iterable[str] | None) -> None:
    if accepted is not None and entry.value.upper() not in accepted:
        supported = ", ".join(accepted)
        raise entry.error(f"{entry.keyword} {quoted(entry.value)} is not supported; supported: {supported}")
    if entry.keyword == "TYPE" and (given := _first_word(entry.value.upper())) not in kinds:
        instances = "; read instances with read"
        advice = {"TOUR": "; read tours with read_tour", "TSP": instances, "ATSP": instances}.get(given, "")
        supported = ", ".join(kinds)
        raise entry.error(f"TYPE {quoted(entry.value)} is not supported here; supported: {supported}{advice}")


def _first_word(value: str) -> str:
    """Return the TYPE proper: some files of TSPLIB name their author behind it, in parentheses."""
    return "".join(value.split(maxsplit=1)[:1])
