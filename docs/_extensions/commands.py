"""The directive `commands`: a section for each command of pytsp, with its help."""

from __future__ import annotations

import argparse
import os
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive


class Commands(Directive):
    """A section for each command, with what its `--help` prints."""

    def run(self) -> list[nodes.Node]:
        from pytsp.cli.commands import _parser  # noqa: PLC0415

        # The width of the help is the terminal's.
        os.environ["COLUMNS"] = "100"
        parser = _parser()
        commands = next(each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
        return [_section(f"pytsp {name}", command.format_help()) for name, command in commands.choices.items()]


def _section(title: str, text: str) -> nodes.section:
    section = nodes.section(ids=[nodes.make_id(title)], names=[title])
    section += [nodes.title(text=title), nodes.literal_block(text=text, language="none")]
    return section


def setup(app: Any) -> dict[str, bool]:
    """Have Sphinx know the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
