"""Plain English: short sentences and paragraphs on every page, and docstrings that open with a verb or a noun."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from checkout import needs_checkout
from paths import ROOT

needs_checkout("docs", "bench", "buildtools", "futhark")

LONGEST_SENTENCE, MEDIAN_SENTENCE, LONGEST_PARAGRAPH = 35, 15, 80
# The most words of prose in docs/.
MOST_WORDS = 32_000
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOPS = ("pytsp", "bench", "buildtools", "futhark", "tests", "docs")

# The most first sentences of docstrings that open so, and the most lines with these words.
OPENERS = {"What", "Whether", "How", "Who", "Where", "Of", "So"}
MOST_OPENERS, MOST_VAGUE = 10, 30
VAGUE = re.compile(r"\bso many\b")

# A fenced block, a table, a heading, a picture, a footnote, a line of HTML, an indented line of code.
NO_PROSE = re.compile(r"^(?:```.*?^```|(?:\||#|!\[|\[\d+\]: |<| {4}\S).*?$)", re.MULTILINE | re.DOTALL)
# A new item of a list is a paragraph of its own.
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ", re.MULTILINE)
END = re.compile(r"(?<=[.!?])[)\"*]*\s+(?=[\"*(`]*[A-Z0-9])")


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a page, without code, tables, headings and targets of links."""
    text = NO_PROSE.sub("\n", text)
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]+`", "Code", text))
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", ITEM.sub("\n\n", text)) if part.strip()]


def words(text: str) -> int:
    """Return the number of words: those with a letter or a digit."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def faults(text: str) -> list[str]:
    """Return the sentences and paragraphs of a page that are too long, and its median if that is."""
    parts = paragraphs(text)
    sentences = [sentence for part in parts for sentence in END.split(part) if words(sentence)]
    found = [f"{words(each)} words in a sentence: {each}" for each in sentences if words(each) > LONGEST_SENTENCE]
    found += [f"{words(each)} words in a paragraph: {each}" for each in parts if words(each) > LONGEST_PARAGRAPH]
    middle = median(map(words, sentences)) if sentences else 0
    return found + [f"the median sentence has {middle} words"] * (middle > MEDIAN_SENTENCE)


def name_of(file: Path) -> str:
    """Return a file's path in the checkout."""
    return file.relative_to(ROOT).as_posix()


def sources(*patterns: str) -> Iterator[tuple[Path, str]]:
    """Yield the files of these patterns and their texts, without what the build and the tests' tools write."""
    for pattern in patterns:
        for file in sorted(ROOT.glob(pattern)):
            if not {"_kernels", "__pycache__"} & {*file.parts}:
                yield file, file.read_text(encoding="utf-8")


def opened(source: str) -> list[str]:
    """Return the docstrings that open with one of the openers."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    reported = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    return [text.splitlines()[0] for text in reported if re.split(r"\W", text, maxsplit=1)[0] in OPENERS]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_sentences_and_paragraphs_are_short(page: Path) -> None:
    assert faults(page.read_text(encoding="utf-8")) == []


def test_the_documentation_does_not_grow() -> None:
    counts = {name_of(page): sum(map(words, paragraphs(page.read_text("utf-8")))) for page in PAGES[2:]}
    assert sum(counts.values()) <= MOST_WORDS, counts


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    found = [
        f"{name_of(file)}: {line}"
        for file, text in sources("pytsp/**/*.py", "bench/**/*.py", "buildtools/**/*.py")
        for line in opened(text)
    ]
    assert len(found) <= MOST_OPENERS, "\n".join(found)


def test_numbers_have_names() -> None:
    found = [
        f"{name_of(file)}: {line.strip()}"
        for file, text in sources("*.md", *(f"{top}/**/*.{end}" for top in TOPS for end in ("py", "fut", "md")))
        for line in text.splitlines()
        if VAGUE.search(line)
    ]
    assert len(found) <= MOST_VAGUE, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One sentence. " * 60, 1),
        (f"{'word ' * 35}end.", 2),
        ("A sentence of five words.\n\n" + "It is a table.\n" * 3 + "\n| a " + "word " * 90, 0),
        (
            "```sh\n"
            + "word " * 90
            + "\n```\n\n    "
            + "code " * 90
            + "\n\n- An item.\n- Another item, `"
            + "a " * 90
            + "`.",
            0,
        ),
        ("It says this [here](" + "a/" * 90 + "). " + "See. " * 20, 0),
        ("\n".join(f"- {'word ' * 79}end, {'word ' * 10}." for _ in range(2)), 5),
    ],
)
def test_long_text_is_found_and_only_prose_counts(text: str, count: int) -> None:
    assert len(faults(text)) == count


def test_openers_are_found() -> None:
    source = '''"""What it is."""
def f():
    """Whether: so."""
def g():
    """Return what it is."""
class C:
    """Of."""
'''
    assert opened(source) == ["What it is.", "Whether: so.", "Of."]
