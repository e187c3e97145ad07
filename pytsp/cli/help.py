"""Help of the command line: examples, suggestions for mistyped words, completion."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeAlias

import pytsp
from pytsp.exceptions import PytspError
from pytsp.utils.text import hint, one_line, printable, suggest

Commands: TypeAlias = "argparse._SubParsersAction[Any]"
"""The commands of `pytsp`, to which each module adds its own."""

Run: TypeAlias = Callable[[argparse.Namespace], None]
"""Runs a command."""

SHELLS = ("bash", "zsh", "fish")

# Columns of the names of options in a short help, and its number of examples.
_NAME_COLUMNS, _SHORT_EXAMPLES = 27, 3

EXAMPLES = {
    "pytsp": """
  pytsp solve uniform100
  pytsp solve kroA100.tsp.gz --seed 0 --output kroA100.tour
  pytsp solve big.tsp --time-limit 3600 --checkpoint big.checkpoint
  pytsp resume big.checkpoint
  pytsp plot europe.json --output europe.svg
  pytsp solve --help""",
    "solve": """
  pytsp solve uniform100
  pytsp solve kroA100.tsp.gz --seed 0 --output kroA100.tour
  pytsp solve rat783.tsp.gz --target-gap 0.1% --time-limit 60
  pytsp solve big.tsp --backend cuda --time-limit 10 --json
  pytsp solve big.tsp --time-limit 3600 --checkpoint big.checkpoint
  pytsp solve kroA100.tsp.gz --solver restarts --climbers 100000
  pytsp solve towns.csv --columns east,north --order
  pytsp solve places.geojson --open --start-city 0 --output way.geojson""",
    "resume": """
  pytsp resume big.checkpoint
  pytsp resume big.checkpoint --time-limit 7200 --output big.tour
  pytsp resume big.checkpoint --backend multicore --patience 600""",
    "info": """
  pytsp info europe
  pytsp info pr2392.tsp --json""",
    "backends": """
  pytsp backends
  pytsp backends --json""",
    "compare": """
  pytsp compare kroA100.tsp --backends c,multicore,cuda
  pytsp compare kroA100.tsp --backends c,multicore --repeats 5 --json | pytsp report -
  pytsp compare uniform1000 --solver eax --climbers 50 --iterations 20
  pytsp compare uniform1000 --backends multicore --threads 1,2,4 --repeats 3""",
    "plot": """
  pytsp solve europe --json > europe.json
  pytsp plot europe.json
  pytsp plot europe.json --kind convergence --output europe.svg
  pytsp plot kroA100.tour --instance kroA100.tsp.gz --output kroA100.pdf
  pytsp plot first.json second.json --output difference.png
  pytsp solve europe --solver restarts --json | pytsp plot - --kind climbers --output climbers.png""",
    "report": """
  pytsp report europe.json
  pytsp report seed0.json seed1.json seed2.json --output seeds.html""",
    "segments": """
  pytsp segments drawing.svg --start 0,0 --time-limit 5
  pytsp segments holes.csv --closed --metric MAX_2D
  pytsp segments streets.geojson --output order.geojson --picture moves.png""",
    "bound": """
  pytsp bound europe
  pytsp bound kroA100.tsp.gz --tour kroA100.tour
  pytsp bound pcb3038.tsp.gz --time-limit 30 --certificate pcb3038.bound""",
    "check-bound": """
  pytsp check-bound pcb3038.tsp.gz pcb3038.bound
  pytsp check-bound pcb3038.tsp.gz pcb3038.bound --tour pcb3038.tour --json""",
    "datasets": """
  pytsp datasets
  pytsp datasets --fetch pr2392 kroA100
  pytsp solve pr2392""",
    "generate": """
  pytsp generate uniform --n 10000 --seed 10000 --output E10k.0.tsp
  pytsp generate clustered --n 1000 --seed 1000 --clusters 5 --output five.tsp
  pytsp generate grid --n 500 --seed 1 | pytsp solve -""",
    "completion": """
  pytsp completion bash >> ~/.bashrc
  pytsp completion zsh >> ~/.zshrc
  pytsp completion fish > ~/.config/fish/completions/pytsp.fish""",
}
"""The end of each command's help."""


class Print(argparse.Action):
    """Print the text that `const` returns of the parser, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(self.const(parser), end="")
        parser.exit()


class Parser(argparse.ArgumentParser):
    """A parser that suggests a word for a mistyped command, option or value; examples keep their lines."""

    common: frozenset[str] | None = None
    """The options that `--help` shows; None: all."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter, **settings})

    def shorten_help(self, common: Iterable[str]) -> None:
        """Have `--help` show these options only, and `--help-all` all of them."""
        self.common = frozenset({"help", "help_all", *common})
        self.add_argument("--help-all", action=Print, const=type(self).format_help, nargs=0, help="show all options")

    def print_help(self, file: Any = None) -> None:
        """Print the help, short if there is a short one."""
        print(self.format_help() if self.common is None else self._short_help(), end="", file=file)

    def _short_help(self) -> str:
        """Return the help with the common options, and the first examples."""
        assert self.common is not None
        formatter = argparse.RawDescriptionHelpFormatter(self.prog, max_help_position=_NAME_COLUMNS)
        names = " ".join(str(action.metavar) for action in self._get_positional_actions())
        formatter.add_usage(f"{self.prog} [OPTION ...] {names}", [], [])
        formatter.add_text(self.description)
        for group in self._action_groups:
            actions = [each for each in group._group_actions if not each.option_strings or each.dest in self.common]
            if actions:
                formatter.start_section(group.title)
                formatter.add_arguments(actions)
                formatter.end_section()
        formatter.add_text("\n".join((self.epilog or "").splitlines()[: 1 + _SHORT_EXAMPLES]))
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong with the words of a command, and exit."""
        self.exit(2, f"{self.prog}: {printable(one_line(message))}\n")

    # The standard library's stubs promise no types of this method.
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; unknown words are an error of the command that they were given to, not of `pytsp` as a whole."""
        found, unknown = super().parse_known_args(args, namespace)
        if not unknown or self._subparsers is not None:
            return found, unknown
        options = [name for name in self._option_string_actions if name.startswith("--")]
        mistyped = (word.partition("=")[0] for word in unknown if word.startswith("-"))
        close = (f"{word}: {suggestion}" for word in mistyped if (suggestion := suggest(word, options, likeness=0.7)))
        self.error("; ".join([f"unrecognized arguments: {' '.join(unknown)}", *close]))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            suggestion = hint(str(value), map(str, action.choices or ()))
            raise argparse.ArgumentError(action, error.message + suggestion) from None


def add_command(commands: Commands, name: str, run: Run, words: str, description: str = "") -> Parser:
    """Add a command, and return its parser; its description is by default the words of the list of commands."""
    described = description or f"{words[0].upper()}{words[1:]}."
    command: Parser = commands.add_parser(name, help=words, description=described, epilog=examples(name))
    command.set_defaults(run=run)
    return command


def examples(name: str) -> str:
    """Return the end of a command's help."""
    return f"examples:{EXAMPLES[name]}\n"


def add_completion(commands: Commands) -> None:
    description = "Print the lines that let a shell complete commands, options, their values and instances."
    command = add_command(commands, "completion", _completion, "have a shell complete commands", description)
    command.add_argument("shell", choices=SHELLS, help="the shell that reads these lines when it starts")


def _completion(options: argparse.Namespace) -> None:
    try:
        import argcomplete.shell_integration  # noqa: PLC0415
    except ImportError as error:
        raise PytspError(
            "completion needs argcomplete, which is not installed: pip install 'pytsp-futhark[completion]'"
        ) from error
    print(argcomplete.shell_integration.shellcode(["pytsp"], shell=options.shell))


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks how a command may go on, and exit; return where none asks."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        import argcomplete  # noqa: PLC0415
    except ImportError:
        return
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for command in commands.choices.values():
        for action in command._actions:
            if action.choices is None and "NAME" in str(action.metavar):
                action.completer = _instances
    argcomplete.autocomplete(parser)


def _instances(prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """Return the files and the instances that begin so; of TSPLIB's, those to download or those that are here."""
    from argcomplete.completers import FilesCompleter  # noqa: PLC0415

    listed = pytsp.datasets.tsplib()
    if "fetch" in parsed_args:
        return [each.name for each in listed]
    names = [*pytsp.datasets.names(), *(each.name for each in listed if each.is_cached)]
    return [*(name for name in names if name.startswith(prefix)), *FilesCompleter()(prefix)]
