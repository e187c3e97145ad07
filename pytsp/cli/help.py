"""What the command line says to those who ask or err: examples, what a mistyped word may have meant, completion."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any, NoReturn

from pytsp.exceptions import PytspError

__all__ = ["EXAMPLES", "Parser", "add_completion", "add_examples", "complete"]

SHELLS = ("bash", "zsh", "fish")
"""The shells that `pytsp completion` knows."""

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
  pytsp compare uniform1000 --solver eax --climbers 50 --iterations 20""",
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
"""What stands at the end of the help, by command; `plot` and `report` have theirs where they are defined."""


class Parser(argparse.ArgumentParser):
    """A parser that says of a mistyped command, option or value what may have been meant; examples keep their lines."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter, **settings})

    # Of this method's types the standard library's stubs make no promise.
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and tell unknown words by the command that they were given to, not by `pytsp` as a whole."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self._refuse(unknown)
        return found, unknown

    def _refuse(self, words: Sequence[str]) -> NoReturn:
        from pytsp.utils.suggestions import meant  # noqa: PLC0415

        options = [name for name in self._option_string_actions if name.startswith("--")]
        mistyped = (word.partition("=")[0] for word in words if word.startswith("-"))
        close = (f"{word}: {told}" for word in mistyped if (told := meant(word, options, likeness=0.7)))
        self.error("; ".join([f"unrecognized arguments: {' '.join(words)}", *close]))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            from pytsp.utils.suggestions import meant  # noqa: PLC0415

            close = meant(str(value), map(str, action.choices or ()))
            raise argparse.ArgumentError(action, f"{error.message}; {close}" if close else error.message) from None


def add_examples(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add examples to the help of the commands that have none yet."""
    for name, command in commands.choices.items():
        if command.epilog is None and name in EXAMPLES:
            command.epilog = epilog(name)


def epilog(name: str) -> str:
    """Return the end of a command's help."""
    return f"examples:{EXAMPLES[name]}\n"


def add_completion(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `completion`."""
    command = commands.add_parser(
        "completion",
        help="have a shell complete commands",
        description="Print the lines by which a shell completes commands, options, their values and instances.",
    )
    command.set_defaults(run=_completion)
    command.add_argument("shell", choices=SHELLS, help="the shell that reads these lines when it starts")


def _completion(options: argparse.Namespace) -> None:
    try:
        import argcomplete.shell_integration  # noqa: PLC0415
    except ImportError as error:
        raise PytspError(
            "completion needs argcomplete, which is not installed: pip install 'pytsp[completion]'"
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
            if "NAME" in str(action.metavar):
                action.completer = _instances
    argcomplete.autocomplete(parser)


def _instances(prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """Return the files and the instances that may be meant; of TSPLIB's, those to download or those that are here."""
    from argcomplete.completers import FilesCompleter  # noqa: PLC0415

    from pytsp.datasets import registry as datasets  # noqa: PLC0415

    listed = datasets.tsplib()
    if "fetch" in parsed_args:
        return [each.name for each in listed]
    names = [*datasets.names(), *(each.name for each in listed if each.is_cached)]
    return [*(name for name in names if name.startswith(prefix)), *FilesCompleter()(prefix)]
