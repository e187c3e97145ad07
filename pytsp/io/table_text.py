"""The text of a table, cut into rows of fields, and its numbers, each with its place."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.utils.notices import warn_user

# The first of these that stands in the first line, outside quotation marks, parts its fields; else blanks do.
_SEPARATORS = (";", "\t", ",")
# Excel's first line, which says what parts the fields.
_SAID = re.compile(r'\s*"?sep=([^\w"+.-])"?[ \r\n]*', re.IGNORECASE)
# Characters that no whole number has: decimal signs, exponents, nan and infinity.
_FRACTION = re.compile("[.,eEnNiI]")
# Words that programs write in a field without a value, in lower case.
_HOLES = frozenset(("", "na", "n/a", "#n/a", "<na>", "null", "none", "-", "--", "–", "—"))


class Row(NamedTuple):
    """A row of fields, and the line on which it ends, counted from 1."""

    line: int
    fields: list[str]

    @property
    def is_blank(self) -> bool:
        """Tell whether no field has a value."""
        return not any(field.strip() for field in self.fields)


class Numbers(NamedTuple):
    """The numbers of a row from the field `first` on; 0 in fields without one, which `holes` has by their place."""

    line: int
    first: int
    values: NDArray[Any]
    holes: dict[int, str]

    @property
    def is_blank(self) -> bool:
        """Tell whether no field has a value."""
        return len(self.holes) == len(self.values) and not any(self.holes.values())

    def name(self, place: int) -> str:
        """Name a field as messages do."""
        return f"line {self.line}, field {self.first + place + 1}"


class TableText:
    """A text whose rows are read one after the other."""

    def __init__(self, text: str) -> None:
        lines = text.splitlines(keepends=True)
        begin = next((number for number, line in enumerate(lines) if line.strip()), 0)
        said = _SAID.fullmatch(lines[begin]) if lines else None
        if said is None:
            start = re.sub('"[^"]*"', "", lines[begin] if lines else "")
            self._separator = next((each for each in _SEPARATORS if each in start), " ")
        else:
            self._separator = said[1]
            warn_user(f"line {begin + 1}, {lines[begin].strip()!r:.20}, is no row: it says what parts the fields")
            lines[begin] = "\n"
        has_blanks = self._separator == " "
        self._reader = csv.reader(
            (line.strip() for line in lines) if has_blanks else lines,
            delimiter=self._separator,
            skipinitialspace=has_blanks,
            strict=True,
        )
        # The decimal signs that numbers have had.
        self._signs: set[str] = set()

    def rows(self) -> Iterator[Row]:
        """Yield the rows; those with a value have as many fields as the first one of them."""
        width = None
        try:
            for fields in filter(None, self._reader):
                row = Row(self._reader.line_num, fields)
                # A line of blanks is an empty line.
                if row.is_blank and len(fields) == 1:
                    continue
                width = width or (None if row.is_blank else len(fields))
                if len(fields) != width and not row.is_blank:
                    raise InstanceError(f"line {row.line}: {len(fields)} fields, but the first line has {width}")
                yield row
        except csv.Error as error:
            raise InstanceError(f"line {self._reader.line_num}: {error}") from error

    def numbers(self, row: Row, first: int = 0) -> Numbers:
        """Return the numbers of a row from the field `first` on, whole ones where none has a fraction."""
        fields = row.fields[first:]
        joined = "".join(fields)
        read = float if _FRACTION.search(joined) else int
        try:
            values = np.array([read(self._pointed(field)) for field in fields])
        except ValueError:
            # Rows have few different holes.
            holes = {place: sys.intern(field.strip()) for place, field in enumerate(fields) if is_hole(field)}
            if holes:
                filled = [*row.fields[:first], *("0" if is_hole(field) else field for field in fields)]
                return self.numbers(Row(row.line, filled), first)._replace(holes=holes)
            named = enumerate(fields, first + 1)
            values = np.array([self.number(field, f"field {place}", row.line) for place, field in named])
        else:
            self._note(joined, row.line)
        return Numbers(row.line, first, values, {})

    def number(self, field: str, place: str, line: int) -> float:
        """Return a number, or say where there is none."""
        number = self.value(field)
        if number is None:
            raise InstanceError(f"line {line}, {place}: {field!r:.60} is not a number")
        self._note(field, line)
        return number

    def value(self, field: str) -> float | None:
        """Return the number that a field is, if it is one."""
        try:
            return float(self._pointed(field))
        except ValueError:
            return None

    def is_number(self, field: str) -> bool:
        return self.value(field) is not None

    def _pointed(self, field: str) -> str:
        """Return a number as Python has it, which takes 1_000 for one: that is none in a table."""
        field = field.replace("_", "?") if "_" in field else field
        return field if self._separator == "," else field.replace(",", ".")

    def _note(self, text: str, line: int) -> None:
        """Keep the decimal signs of numbers: where some are points and others commas, one of them means thousands."""
        self._signs.update(sign for sign in ".," if sign in text)
        if len(self._signs) > 1:
            raise InstanceError(f"line {line}: there are both decimal points and decimal commas")


def is_hole(field: str) -> bool:
    """Tell whether a field says that it has no value."""
    return field.strip().lower() in _HOLES
