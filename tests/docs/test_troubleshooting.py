"""The page on troubleshooting quotes messages that exist, and knows every kind of error."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

from bot import errors

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
QUOTED = [
    line.split(" | ")[0].removeprefix("| ")
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| message", "| annotation", "| reason"))
]
GAP = "\0"
"""Stands in a message for what is filled in."""


INNER = frozenset({"bot/github/cloning.py: git \0 took too long"})
"""Messages that another one is made from before anybody sees them."""
SPOKEN = (
    "bot/github/applying.py",
    "bot/jobs/plans.py",
    "bot/measure/baseline.py",
    "bot/measure/importing.py",
    "bot/models/failures.py",
    "bot/web/setup.py",
    "bot/web/webhook.py",
)
"""Files whose sentences people see although nothing is raised."""
UNTOLD = frozenset({"Nothing to do.", "Stored.", "It is known already.", "This one may cost \0 USD at most."})
"""What is said although nothing is wrong."""


def test_a_quoted_message_exists() -> None:
    assert [quoted for quoted in QUOTED if not any(_says(message, quoted) for message in _messages())] == []


def test_every_message_of_an_error_is_told_of() -> None:
    raised = _raised()

    assert len(raised) > 180
    untold = [one for one in raised if one not in INNER and not _is_told(one.partition(": ")[2])]
    assert untold == [], "each wants a row in docs/troubleshooting.md"


@pytest.mark.parametrize("name", SPOKEN)
def test_every_sentence_that_people_are_given_is_told_of(name: str) -> None:
    untold = [one for one in _sentences(ROOT / name) if one not in UNTOLD and not _is_told(one)]
    assert untold == [], "each wants a row in docs/troubleshooting.md"


def test_every_annotation_is_told_of() -> None:
    calls = [call for call in _calls(_tree(ROOT / "bot/action/run.py")) if _called(call) == "annotate"]
    texts = [text for call in calls if (text := _text(call.args[1]))]

    assert texts
    assert [text for text in texts if text.strip(GAP) and not _is_told(text)] == []


def test_a_message_that_nobody_says_is_found_out() -> None:
    assert not any(_says(message, "There is no unicorn ... here.") for message in _messages())


def test_every_kind_of_error_is_told_of() -> None:
    kinds = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.TestforgeError)
    }
    bases = {"TestforgeError", "InconclusiveError"}

    assert {name for name in kinds - bases if f"`{name}`" not in PAGE} == set()


def test_no_message_is_told_of_twice() -> None:
    assert len(QUOTED) == len(set(QUOTED)) > 40


def _is_told(message: str) -> bool:
    """Tell whether a row of the page quotes a message."""
    return any(_says(message, quoted) for quoted in QUOTED)


def _raised() -> list[str]:
    """Return the texts that errors of the family are made with, each after its file; `GAP` as in `_messages`."""
    trees = {
        path: _tree(path) for path in sorted((ROOT / "bot").rglob("*.py")) if "offline" not in path.parts
    }
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    family = {"TestforgeError", "UnreadableError"}
    while (
        more := {one.name for one in classes if family & {ast.unparse(base) for base in one.bases}} - family
    ):
        family |= more
    return [
        f"{path.relative_to(ROOT)}: {text}"
        for path, tree in trees.items()
        for call in _calls(tree)
        if _called(call) in family and call.args and (text := _text(call.args[0])).strip(GAP)
    ]


def _sentences(path: Path) -> list[str]:
    """Return the texts of a file that are sentences, without its documentation."""
    tree = _tree(path)
    documentation = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    texts = [
        text
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and node not in documentation | inside and (text := _text(node))
    ]
    return [text for text in texts if re.fullmatch(r"[A-Z\0].* .*[.:]\0?", text)]


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _text(node: ast.expr) -> str:
    """Return a literal text with `GAP` for what is filled in; empty for what is no text."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else GAP for part in node.values]
        return re.sub(r"\s+", " ", "".join(map(str, parts)))
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return re.sub(r"\s+", " ", str(node.value)) if is_text else ""


def _says(message: str, quoted: str) -> bool:
    """Tell whether a message has the words of a quotation, one piece after the other."""
    place = 0
    for piece in (piece.strip() for piece in quoted.split("...")):
        found = message.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return True


@functools.cache
def _messages() -> tuple[str, ...]:
    """Return every text of the program; `GAP` stands for what is filled in."""
    found = {(ROOT / name).read_text("utf-8") for name in ("action.yml", "scripts/setup.sh")}
    for path in (ROOT / "bot").rglob("*.py"):
        found |= {_text(node) for node in ast.walk(_tree(path)) if isinstance(node, ast.expr)}
    return tuple(re.sub(r"\s+", " ", text) for text in sorted(found))
