"""The text of a TSPLIB file, cut into keyword lines and sections of numbers, every part with its place."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import TsplibError
from pytsp.io.streams import without_end_mark
from pytsp.utils.notices import about

# A line that starts with a letter ends a section, unless it is one of the non-numbers that C's printf writes.
_NEXT_KEYWORD = re.compile(rb"\n[ \t\r]*(?!nan\b|inf\b|infinity\b)(?=[a-z_])", re.IGNORECASE)
# The end of a line before one that is neither blank nor a comment.
_BEYOND_COMMENTS = re.compile(rb"\n[ \t\r\f\v]*(?=\S)(?!COMMENT[ \t\r\f\v]*:)", re.IGNORECASE)
_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"[0-9]{1,18}")
_INK = re.compile(rb"\S")
_TOKEN = re.compile(rb"\S+")
# Comments of more lines than these are cut: a small compressed file may hold millions.
_MOST_COMMENTS = 10_000
_LAST_BLANK = ord(" ")


@dataclass(frozen=True)
class Text:
    """The bytes of one file and the name under which errors speak of it."""

    data: bytes
    file: str

    def line(self, offset: int) -> int:
        """Number of the line, counted from 1, of the byte at `offset`."""
        return self.data.count(b"\n", 0, offset) + 1

    def error(self, problem: str, offset: int | None = None) -> TsplibError:
        """The error that names this file and, with `offset`, the line."""
        return TsplibError(problem, file=self.file, line=None if offset is None else self.line(offset))


@dataclass(frozen=True)
class Part:
    """A line with a keyword."""

    text: Text
    keyword: str
    offset: int

    def error(self, problem: str) -> TsplibError:
        """The error that names this line."""
        return self.text.error(problem, self.offset)


@dataclass(frozen=True)
class Entry(Part):
    """A line ``KEYWORD : value``."""

    value: str


@dataclass(frozen=True)
class Section(Part):
    """A line ``…_SECTION`` and the numbers that follow it, up to the next keyword."""

    start: int
    end: int

    def numbers(self) -> NDArray[np.float64]:
        """The numbers, in their order, however they are spread over lines; refuses all but finite decimal numbers."""
        body = self.text.data[self.start : self.end]
        inked = np.frombuffer(body, np.uint8) > _LAST_BLANK
        count = int(np.count_nonzero(inked[1:] > inked[:-1])) + int(inked[:1].any())
        if count == 0:
            return np.empty(0)
        try:
            values = np.fromstring(body, dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            raise self._not_a_number(body) from None
        # Older NumPy stops at the first bad token without a word, and may part glued numbers such as 1-2.
        if len(values) != count:
            raise self._not_a_number(body)
        finite = np.isfinite(values)
        if not finite.all():
            raise self.error_at(int(np.argmin(finite)), "{} is not a finite number")
        return values

    def error_at(self, token: int, problem: str) -> TsplibError:
        """The error that names the line of the number `token`, quoted in place of the braces of `problem`."""
        found = next(islice(_TOKEN.finditer(self.text.data, self.start, self.end), token, None))
        problem = f"{self.keyword}: {problem.format(quoted(found.group()))}"
        return self.text.error(problem, found.start())

    def first_line_without(self, width: int) -> int | None:
        """Offset of the first line with other than `width` numbers; None if the very first is one."""
        position, is_first = self.start, True
        for line in self.text.data[self.start : self.end].split(b"\n"):
            words = len(line.split())
            if words not in (0, width):
                return None if is_first else position
            is_first = is_first and words == 0
            position += len(line) + 1
        return None

    def _not_a_number(self, body: bytes) -> TsplibError:
        for token, found in enumerate(_TOKEN.finditer(body)):
            if not _NUMBER.fullmatch(found.group()):
                return self.error_at(token, "{} is not a number; accepted: decimal numbers, apart by blanks")
        return self.error("the numbers cannot be read; accepted: decimal numbers, apart by blanks")


def as_text(data: bytes, file: str) -> Text:
    """The text that a file of that name holds; refuses one that is empty."""
    data = data.removeprefix(codecs.BOM_UTF8)
    with about(file):
        data = without_end_mark(data)
    if b"\n" not in data and b"\r" in data:
        data = data.replace(b"\r", b"\n")
    if not data.strip():
        raise TsplibError("the file is empty", file=file)
    return Text(data, file)


def parts(text: Text) -> Iterator[Entry | Section]:
    """The keyword lines and the sections of a file, in their order, up to EOF; refuses all other lines.

    Comments that only blank lines part are one entry of several lines.
    """
    data = text.data
    position = 0
    while (inked := _INK.search(data, position)) is not None:
        offset = max(position, data.rfind(b"\n", position, inked.start()) + 1)
        end = data.find(b"\n", offset)
        end = len(data) if end < 0 else end
        line = data[offset:end].strip()
        position = end + 1
        head, colon, value = line.partition(b":")
        keyword = head.strip().upper()
        if keyword == b"EOF":
            return
        if keyword.endswith(b"_SECTION") and not value.strip() and keyword.isascii():
            following = _NEXT_KEYWORD.search(data, end)
            position = following.end() if following else len(data)
            yield Section(text, keyword.decode(), offset, end, position)
        elif colon and keyword == b"COMMENT":
            following = _BEYOND_COMMENTS.search(data, end)
            position = following.start() + 1 if following else len(data)
            yield Entry(text, _decoded(keyword), offset, _comments(data[offset:position]))
        elif colon:
            yield Entry(text, _decoded(keyword), offset, _decoded(value.strip()))
        else:
            raise text.error(
                f"{quoted(line)} is not understood; accepted: KEYWORD : value, a line that ends in _SECTION "
                f"before its numbers, EOF",
                offset,
            )


def _comments(lines: bytes) -> str:
    """The values of COMMENT lines, one a line."""
    some = lines.split(b"\n", _MOST_COMMENTS)
    values = [_decoded(line.partition(b":")[2].strip()) for line in some[:_MOST_COMMENTS] if line.strip()]
    is_cut = len(some) > _MOST_COMMENTS and _INK.search(some[-1])
    return "\n".join([*values, *(["…"] if is_cut else [])])


def quoted(value: bytes | str) -> str:
    """`value` as a message shows it: printable, in quotation marks, and short."""
    shown = _decoded(value[:160]) if isinstance(value, bytes) else value
    return repr(shown if len(shown) <= 40 else shown[:39] + "…")


def _decoded(value: bytes) -> str:
    return value.decode("utf-8", errors="replace")


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
