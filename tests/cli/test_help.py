"""What the command line says to those who ask or err: examples, suggestions, completion, the manual page."""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import needs_checkout
from paths import ROOT
from processes import PATIENCE, run_python

from pytsp.cli import commands as cli
from pytsp.cli.commands import main
from pytsp.cli.help import EXAMPLES, SHELLS
from pytsp.cli.options import COMMON, PAPERS
from pytsp.datasets import registry as datasets
from pytsp.solvers.registry import fields
from pytsp.utils.text import suggest


def commands() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    actions = cli._parser()._actions
    return next(each for each in actions if isinstance(each, argparse._SubParsersAction)).choices


def examples(help_text: str) -> list[list[str]]:
    """The words after `pytsp` of each example at the end of a help, without what a shell does with its output."""
    lines = help_text.partition("examples:\n")[2].splitlines()
    words = (shlex.split(part) for line in lines for part in line.split(" | "))
    return [list(itertools.takewhile(lambda word: word not in (">", ">>"), each[1:])) for each in words]


# Examples


@pytest.mark.parametrize("name", ["pytsp", *commands()])
def test_every_help_ends_in_examples_that_are_accepted(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"] if name == "pytsp" else [name, "--help"])
    assert ended.value.code == 0
    found = examples(capsys.readouterr().out)
    assert found and (name == "pytsp" or [name] in [words[:1] for words in found])
    for words in found:
        if words[-1] != "--help":
            cli._parser().parse_args(words)


@pytest.mark.parametrize("name", ["pytsp", *commands()])
def test_every_help_fits_two_screens(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["--help"] if name == "pytsp" else [name, "--help"])
    assert len(capsys.readouterr().out.splitlines()) <= 70


def test_the_short_help_leaves_out_what_the_long_one_has(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for word in ("--help", "--help-all"):
        with pytest.raises(SystemExit) as ended:
            main(["solve", word])
        assert ended.value.code == 0
        shown[word] = set(re.findall(r"^  (?:-\w(?: \S+)?, )?(--[\w-]+)", capsys.readouterr().out, re.MULTILINE))
    every = {word for action in commands()["solve"]._actions for word in action.option_strings if word[:2] == "--"}
    assert shown["--help-all"] | {"--no-quadrants"} == every
    assert shown["--help"] < shown["--help-all"] and {"--time-limit", "--help-all", "--islands"} <= shown["--help"]
    assert not shown["--help"] & {f"--{name.replace('_', '-')}" for name in PAPERS}


def test_the_groups_of_the_help_name_options() -> None:
    assert {*COMMON, *PAPERS} <= fields().keys() and not {*COMMON} & {*PAPERS}


def test_examples_belong_to_commands() -> None:
    assert {*EXAMPLES} <= {"pytsp", *commands()}


# Suggestions


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["slove", "europe"], "did you mean solve?"),
        (["solve", "europe", "--solver", "eaxx"], "did you mean eax?"),
        (["solve", "europe", "--solver", "EAX"], "did you mean eax?"),
        (["generate", "unifrom", "--n", "3", "--seed", "1"], "did you mean uniform?"),
        (["solve", "europe", "--tmie-limit", "3"], "--tmie-limit: did you mean --time-limit?"),
        (["solve", "europe", "--tmie-limit=3"], "--tmie-limit: did you mean --time-limit?"),
        (["resume", "x", "--backend", "cud"], "did you mean cuda?"),
    ],
)
def test_a_mistyped_word_is_met_with_the_one_that_is_like_it(
    words: list[str], reported: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err.rstrip().endswith(reported)


@pytest.mark.parametrize("words", [["xyzzy"], ["solve", "europe", "--xyzzy"], ["solve", "europe", "--solver", "xyzzy"]])
def test_a_word_that_is_like_none_is_met_with_no_suggestion(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words)
    said = capsys.readouterr().err
    assert "xyzzy" in said and "did you mean" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["info", "europe", "--fast"], "pytsp info: unrecognized arguments: --fast"),
        (["info"], "pytsp info: the following arguments are required: FILE|NAME"),
        ([], "pytsp: the following arguments are required: COMMAND"),
        (
            ["solve", "x", "-t", "soon"],
            "pytsp solve: argument -t/--time-limit: invalid number of seconds value: 'soon'",
        ),
        (["solve", "x", "--\nfast\x1b[2J"], "pytsp solve: unrecognized arguments: -- fast\ufffd[2J"),
    ],
)
def test_wrong_usage_is_told_in_one_line_by_its_command(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert tuple(capsys.readouterr()) == ("", f"{said}\n")


def test_frequent_options_have_a_letter() -> None:
    short = {"-o": "--output", "-t": "--time-limit", "-q": "--quiet", "-v": "--verbose"}
    for name in ("solve", "resume"):
        options = commands()[name]._option_string_actions
        assert all(options[letter] is options[word] for letter, word in short.items())
    for name in ("plot", "report", "generate"):
        assert commands()[name]._option_string_actions["-o"].dest == "output"


@pytest.mark.parametrize(
    ("name", "reported"), [("eurpoe", "europe"), ("kroa100", "kroA100"), ("PR2392", "pr2392"), ("mine.tps", "mine.tsp")]
)
def test_a_mistyped_instance_is_met_with_names_and_files(
    name: str, reported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.tsp").touch()
    assert main(["info", name]) == 1
    assert f"did you mean {reported}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["compare", "europe", "--backends", "c,multicor"], "did you mean multicore?"),
        (["solve", "towns.csv", "--metric", "haversin"], "did you mean HAVERSINE?"),
    ],
)
def test_values_that_are_looked_at_later_are_met_likewise(
    words: list[str], reported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "towns.csv").write_text("x,y\n0,0\n3,4\n9,9\n")
    assert main(words) == 1
    assert capsys.readouterr().err.rstrip().endswith(reported)


def test_files_of_another_folder_are_suggested_with_it(tmp_path: Path) -> None:
    (tmp_path / "mine.tsp").touch()
    with pytest.raises(datasets.InstanceError, match=rf"did you mean {tmp_path}/mine\.tsp\?$"):
        datasets.find(f"{tmp_path}/mine.tps")
    with pytest.raises(datasets.InstanceError, match="no instance of that name"):
        datasets.find(f"{tmp_path}/no/mine.tps")


def test_suggestions_know_a_bound_of_likeness() -> None:
    # Six of eight letters are shared: 12 / 16.
    assert suggest("abcdefxx", ["abcdefgh"], likeness=0.75) == "did you mean abcdefgh?"
    assert suggest("abcdefxx", ["abcdefgh"], likeness=0.76) == ""
    assert suggest("a", []) == ""


# Completion


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has this very `pytsp`, in a folder with one file."""
    pytest.importorskip("argcomplete", reason="completion needs it: pip install 'pytsp-futhark[completion]'")
    if shutil.which("bash") is None:
        pytest.skip("bash is not here")
    program = tmp_path / "bin" / "pytsp"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pytsp "$@"\n')
    program.chmod(0o755)
    (tmp_path / "euclid.tsp").touch()
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), *sys.path])),
        "HOME": str(tmp_path),
    }


def completed(line: str, environment: dict[str, str]) -> set[str]:
    """What bash offers where a line has come so far."""
    script = f"""
        eval "$(pytsp completion bash)"
        COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)} COMP_TYPE=9 COMP_WORDS=($COMP_LINE)
        _python_argcomplete pytsp
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script],
        env=environment,
        cwd=environment["HOME"],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return {*done.stdout.split()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pytsp res", {"resume"}),
        ("pytsp solve --time", {"--time-limit"}),
        ("pytsp solve --solver a", {"auto", "annealing", "ants"}),
        ("pytsp solve eu", {"europe", "euclid.tsp"}),
        ("pytsp datasets --fetch pr10", {"pr107", "pr1002"}),
        ("pytsp completion z", {"zsh"}),
    ],
)
def test_bash_completes(line: str, offered: set[str], shell: dict[str, str]) -> None:
    assert completed(line, shell) == offered


@pytest.mark.parametrize("shell_name", SHELLS)
def test_every_shell_has_lines_for_the_command(shell_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("argcomplete", reason="completion needs it: pip install 'pytsp-futhark[completion]'")
    assert main(["completion", shell_name]) == 0
    lines = capsys.readouterr().out
    assert "_ARGCOMPLETE" in lines and "pytsp" in lines
    program = shutil.which(shell_name)
    if program is not None:
        subprocess.run([program, "-n"], input=lines, text=True, check=True, timeout=PATIENCE)


def test_without_argcomplete_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    assert main(["completion", "bash"]) == 1
    assert "pip install 'pytsp-futhark[completion]'" in capsys.readouterr().err
    # A shell that asks without it gets no answer, and no error.
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    assert main(["info", "europe"]) == 0


def test_a_start_imports_neither_what_suggests_nor_what_completes() -> None:
    program = """if True:
        import sys
        import pytsp.cli.commands
        pytsp.cli.help.complete(pytsp.cli.commands._parser())
        pytsp.cli.commands._parser().parse_args(["solve", "any"])
        print(sorted({"difflib", "argcomplete", "numpy", "rich"} & sys.modules.keys()))
    """
    done = run_python("-c", program, check=True)
    assert done.stdout == "[]\n"


# The manual page


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The manual page, where there is a checkout."""
    needs_checkout("buildtools")
    from buildtools.manpage import write_manual  # noqa: PLC0415

    return write_manual(tmp_path / "man" / "pytsp.1")


def shown(text: str) -> str:
    """A manual page as a terminal shows it; a warning of groff's fails."""
    if shutil.which("groff") is None:
        pytest.skip("groff is not here: `apt install groff-base`")
    command = ["groff", "-ww", "-man", "-Tutf8", "-P-cbou", "-rLL=200n"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stderr == ""
    return done.stdout


def test_the_manual_page_holds_every_command_option_and_example(page: Path) -> None:
    text = shown(page.read_text(encoding="ascii"))
    for name, command in commands().items():
        assert f"pytsp {name}" in text
        for action in command._actions:
            assert all(option in text for option in action.option_strings)
        for line in (command.epilog or "").splitlines()[1:]:
            assert line.strip() in text


def test_the_manual_page_shows_special_characters_as_they_are(page: Path) -> None:
    from buildtools.manpage import manual  # noqa: PLC0415

    parser = argparse.ArgumentParser(prog="tool", description="Say -x, ~ and … with \\ and 100 % of 'it'.")
    command = parser.add_subparsers().add_parser("go", description=".hidden\n'lines'")
    command.add_argument("--far", help="5 %% of %(dest)s")
    text = shown(manual(parser, "1"))
    assert "say -x, ~ and … with \\ and 100 % of 'it'" in text
    assert ".hidden 'lines'" in text and "5 % of far" in text
