"""The entry points of the Futhark programs, from one template: ``python -m buildtools.entries FOLDER``.

A program is a file of futhark/entries and behind it the entry points that the template there, entries.fut.in, gives it;
the template's first lines say how it is written. The command copies futhark/ into a folder, with the programs whole.
"""

from __future__ import annotations

import argparse
import itertools
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.paths import ENTRIES, SOURCES

# The names of a directive and its values: `#for form/w in plane/, matrices/[w]`, `#programs/gpu cpu/, gpu_blocks/gpu_`.
DIRECTIVE = re.compile(r"#(?:for (?P<names>\w+(?:/\w+)*) in|(?P<programs>programs(?:/\w+)*)) (?P<values>.+)")
# A name in braces, or a brace that is none.
NAME = re.compile(r"\{(\w+)\}|[{}]")


@dataclass(frozen=True)
class _Loop:
    """A directive: its line, its names, and their values, row by row."""

    number: int
    names: tuple[str, ...]
    rows: tuple[dict[str, str], ...]


@dataclass(frozen=True)
class _Piece:
    """An entry point or a comment: its programs, the loops around it, and its lines by their numbers."""

    programs: _Loop
    loops: tuple[_Loop, ...]
    lines: list[tuple[int, str]]


class Template:
    """The entry points of all programs.

    `BuildError` is raised if a line is malformed; with its number.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.programs = sorted(program.stem for program in file.parent.glob("*.fut"))
        self._pieces: list[_Piece] = []
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise BuildError(f"{file} is missing: the checkout is not complete") from None
        self._read(text)
        for program in self.programs:
            self.expand(program)

    def expand(self, program: str) -> str:
        """Give the entry points of a program."""
        found: list[str] = []
        for piece in self._pieces:
            for own in (row for row in piece.programs.rows if row["programs"] == program):
                found += [""] * piece.lines[0][1].startswith("--")
                for rows in itertools.product(*(loop.rows for loop in piece.loops)):
                    values = {name: value for row in (own, *rows) for name, value in row.items()}
                    found += [self._fill(number, line, values) for number, line in piece.lines]
        if not any(line.startswith("entry ") for line in found):
            raise BuildError(f"{self.file}: no entry is of {program}.fut")
        return "\n".join(found) + "\n"

    def _read(self, text: str) -> None:
        programs: _Loop | None = None
        loops: tuple[_Loop, ...] = ()
        unused: list[_Loop] = []
        for number, line in _joined(text):
            if not line:
                loops = ()
            elif re.match(r"#\w", line):
                loop = self._directive(number, line)
                if loop.names[0] == "programs":
                    programs = loop
                else:
                    loops, unused = (*loops, loop), [*unused, loop]
            elif line.startswith("#"):
                continue
            elif programs is None:
                raise self._error(number, "#programs must come before the first entry")
            elif self._goes_on(number, line):
                self._pieces[-1].lines.append((number, line))
            elif line.startswith(("entry ", "--")):
                around = loops if line.startswith("entry ") else ()
                self._pieces.append(_Piece(programs, around, [(number, line)]))
                unused = [loop for loop in unused if loop not in around]
            else:
                raise self._error(number, f"an entry, a comment or a directive is expected, got {line!r}")
        if unused:
            raise self._error(unused[0].number, "no entry follows before the next empty line")
        for piece in self._pieces:
            self._check_names(piece)

    def _goes_on(self, number: int, line: str) -> bool:
        """Tell whether a line continues the entry point or the comment on the line above it."""
        above, last = self._pieces[-1].lines[-1] if self._pieces else (0, "")
        return above == number - 1 and (line[0].isspace() or (line.startswith("--") and last.startswith("--")))

    def _directive(self, number: int, line: str) -> _Loop:
        found = DIRECTIVE.fullmatch(line)
        if not found:
            raise self._error(number, f"neither `#programs a, b` nor `#for name in a, b`: {line!r}")
        names = tuple((found["names"] or found["programs"]).split("/"))
        rows = [value.strip().split("/") for value in found["values"].split(",")]
        for row in rows:
            if len(row) != len(names) or not row[0]:
                raise self._error(number, f"{'/'.join(row)!r} is not one value for each of {'/'.join(names)}")
        firsts = [row[0] for row in rows]
        if len({*firsts}) != len(firsts):
            raise self._error(number, f"a value of {names[0]} stands twice")
        unknown = [name for name in firsts if names[0] == "programs" and name not in self.programs]
        if unknown:
            raise self._error(number, f"no such program: {', '.join(unknown)}; there are {', '.join(self.programs)}")
        return _Loop(number, names, tuple(dict(zip(names, row, strict=True)) for row in rows))

    def _check_names(self, piece: _Piece) -> None:
        """Refuse a name with two values, and an entry that would be the same for each value of a loop."""
        number, text = piece.lines[0][0], "\n".join(line for _, line in piece.lines)
        names = [name for loop in (piece.programs, *piece.loops) for name in loop.names]
        if len({*names}) != len(names):
            raise self._error(number, f"a name has two values among {', '.join(names)}")
        for loop in piece.loops:
            if f"{{{loop.names[0]}}}" not in text:
                raise self._error(number, f"without {{{loop.names[0]}}} it would stand {len(loop.rows)} times")

    def _fill(self, number: int, line: str, values: Mapping[str, str]) -> str:
        """Put the values in the place of the names in braces, also of those in values."""

        def value_of(found: re.Match[str]) -> str:
            if found[1] not in values:
                raise self._error(number, f"{found[0]} has no value here; names are {', '.join(values)}")
            others = {name: value for name, value in values.items() if name != found[1]}
            return self._fill(number, values[found[1]], others)

        return NAME.sub(value_of, line)

    def _error(self, number: int, reason: str) -> BuildError:
        return BuildError(f"{self.file}:{number}: {reason}")


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines by their numbers, without blanks at their ends; directives that go on behind a comma as one line."""
    lines = [line.rstrip() for line in text.splitlines()]
    waiting = ""
    for number, (line, after) in enumerate(itertools.pairwise([*lines, ""]), 1):
        whole = waiting + (line.removeprefix("#").strip() if waiting else line)
        goes_on = re.match(r"#\w.*,$", whole) and after.startswith("#")
        waiting = f"{whole} " if goes_on else ""
        if not goes_on:
            yield number, whole


def text_of(file: Path) -> str:
    """Give the text of a Futhark file; of a program with its entry points."""
    text = file.read_text(encoding="utf-8")
    return f"{text}{Template(ENTRIES).expand(file.stem)}" if file.parent == ENTRIES.parent else text


def copy_all(folder: Path) -> None:
    """Copy all Futhark files into a new folder, the programs with their entry points."""
    for file in sorted(SOURCES.glob("*/*.fut")):
        copy = folder / file.relative_to(SOURCES)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text_of(file), encoding="utf-8")
        shutil.copystat(file, copy)


def main() -> int:
    """Copy the Futhark files; give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the copy is made")
    try:
        copy_all(parser.parse_args().folder)
    except (BuildError, OSError) as error:
        print(f"the programs could not be written: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
