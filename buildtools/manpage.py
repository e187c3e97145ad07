"""The manual page, from the parser of the command line: ``python -m buildtools.manpage FILE``."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from buildtools.paths import ROOT

PLACE = "share/man/man1"
NAME = "pytsp.1"

_END = r"""
.SH EXIT STATUS
.TP
0
the command has done what it was asked for
.TP
1
a failure, told in one line on standard error
.TP
2
wrong usage
.SH ENVIRONMENT
.TP
.B PYTSP_TSPLIB_URL
the folder that \fBpytsp datasets \-\-fetch\fR downloads from
.TP
.B XDG_CACHE_HOME
where caches lie (default: ~/.cache)
.SH FILES
.TP
.I ~/.cache/pytsp
downloaded instances, compiled kernels of GPUs
.SH SEE ALSO
The documentation in docs/ of the source code.
"""


def manual(parser: argparse.ArgumentParser, version: str) -> str:
    """Return the manual page of a parser with sub-commands, in the language of man(7)."""
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    lines = [
        f'.TH {_quoted(parser.prog.upper())} 1 "" {_quoted(f"{parser.prog} {version}")} "User commands"',
        ".SH NAME",
        rf"{parser.prog} \- {_text(_uncapped(parser.description or ''))}",
        ".SH SYNOPSIS",
        *(rf".B {parser.prog} {name}" + "\n" + _synopsis(each) + "\n.br" for name, each in commands.choices.items()),
        ".SH DESCRIPTION",
        rf"Each command is described below, and by \fB{parser.prog}\fR \fICOMMAND\fR \fB\-\-help\fR.",
        ".SH OPTIONS",
        *_options(parser),
        ".SH COMMANDS",
    ]
    for name, command in commands.choices.items():
        lines += [f".SS {parser.prog} {name}", _text(command.description or ""), *_options(command)]
        lines += _examples(command)
    return "\n".join(lines) + _END


def _synopsis(parser: argparse.ArgumentParser) -> str:
    names = (_metavar(action) for action in parser._get_positional_actions())
    return r"[\fIoption\fR ...] " + " ".join(rf"\fI{name}\fR" for name in names)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the arguments by their groups; of a sub-command's list nothing, as it has a part of its own."""
    for group in parser._action_groups:
        actions = [each for each in group._group_actions if not isinstance(each, argparse._SubParsersAction)]
        if actions and group.title not in ("positional arguments", "options"):
            yield f".PP\n.I {_text(group.title or '')}"
        for action in actions:
            yield ".TP"
            yield _words(action)
            yield _text(_help_of(parser, action))


def _words(action: argparse.Action) -> str:
    """Return how an argument is written: its names in bold, its value in italics."""
    if not action.option_strings:
        return rf"\fI{_metavar(action)}\fR"
    names = ", ".join(rf"\fB{_text(name)}\fR" for name in action.option_strings)
    return names if action.nargs == 0 else rf"{names} \fI{_metavar(action)}\fR"


def _metavar(action: argparse.Action) -> str:
    name = "|".join(map(str, action.choices)) if action.choices is not None else str(action.metavar or action.dest)
    return _text(name) + (" ..." if action.nargs == "+" else "")


def _help_of(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action) if action.help else ""


def _examples(parser: argparse.ArgumentParser) -> list[str]:
    if not parser.epilog:
        return []
    lines = [line.strip() for line in parser.epilog.strip().splitlines()]
    return [".PP", "Examples:", ".PP", ".RS", ".nf", *map(_text, lines[1:]), ".fi", ".RE"]


def _uncapped(sentence: str) -> str:
    return (sentence[:1].lower() + sentence[1:]).rstrip(".")


def _text(text: str) -> str:
    """Write text so that it stands in the page as it is; what is not ASCII as groff's escapes."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("~", r"\(ti")
    escaped = re.sub(r"[^\x00-\x7f]", lambda found: rf"\[u{ord(found[0]):04X}]", escaped)
    return re.sub(r"(?m)^(?=[.'])", r"\\&", escaped)


def _quoted(text: str) -> str:
    return '"' + _text(text).replace('"', r"\(dq") + '"'


def write_manual(file: Path) -> Path:
    """Write the manual page of `pytsp`; return its path."""
    sys.path.insert(0, str(ROOT))
    from pytsp.cli.commands import _parser  # noqa: PLC0415
    from pytsp.distribution import VERSION  # noqa: PLC0415

    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(manual(_parser(), VERSION), encoding="ascii")
    return file


if __name__ == "__main__":
    print(write_manual(Path(sys.argv[1] if len(sys.argv) > 1 else NAME)))
