"""Files that nobody wants tests for, and why: tests themselves, migrations, generated and vendored code, build scripts."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath

from bot.changes.source import UnreadableError, parse

_VENDOR_DIRECTORIES = frozenset(
    {
        "vendor",
        "vendored",
        "_vendor",
        "_vendored",
        "third_party",
        "third-party",
        "node_modules",
        "site-packages",
    }
)
_GENERATED_NAMES = re.compile(r"(?:.*_pb2(?:_grpc)?|_version|.*[_.-]generated|.*_autogen)\.pyi?\Z")
_GENERATED_MARKS = re.compile(
    r"^\s*#.*(?:\bgenerated\s+by\b|\bauto-?generated\b|\bautomatically\s+generated\b|\bdo\s+not\s+edit\b|@generated\b)",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD_OF_FILE = 2000  # characters in which a generator leaves its mark


def is_test(path: str) -> bool:
    """Return whether a path is that of a test file, or of something that only tests use."""
    pure = PurePosixPath(path)
    name = pure.name
    if (
        name == "conftest.py"
        or (name.startswith("test_") and name.endswith(".py"))
        or name.endswith("_test.py")
    ):
        return True
    directories = pure.parts[:-1]
    # `testing` inside a package is often a public library for its users, such as numpy.testing; at the top it is not.
    return any(part in ("test", "tests") for part in directories) or directories[:1] == ("testing",)


def reason_by_path(path: str) -> str:
    """Return why a file with this path needs no tests; empty if the path says nothing of the kind."""
    pure = PurePosixPath(path)
    directories = pure.parts[:-1]
    if any(part in _VENDOR_DIRECTORIES for part in directories):
        return "is vendored: somebody else's code"
    if is_test(path):
        return "is a test itself"
    if "migrations" in directories or directories[-2:] == ("alembic", "versions"):
        return "is a database migration"
    if _GENERATED_NAMES.match(pure.name):
        return "is generated, as its name says"
    if pure.name == "setup.py":
        return "is a build script"
    if pure.name == "noxfile.py":
        return "configures nox"
    if pure.name == "conf.py" and any(part in ("doc", "docs") for part in directories):
        return "configures the documentation"
    return ""


def holds_tests(source: str) -> bool:
    """Return whether a file defines tests at its top level: functions, or classes with methods, named as pytest expects."""
    try:
        body = parse(source).body
    except UnreadableError:
        return False
    within = [statement for node in body if isinstance(node, ast.ClassDef) for statement in node.body]
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
        for node in (*body, *within)
    )


def reason_by_content(path: str, source: str) -> str:
    """Return why a file with this content needs no tests; empty if nothing in it says so."""
    # Django's `tests.py` is one; a library's module of that name, such as jinja2's, is not.
    if PurePosixPath(path).name in ("tests.py", "test.py") and holds_tests(source):
        return "is a test itself"
    head = source[:_HEAD_OF_FILE]
    comments = "\n".join(line for line in head.splitlines() if line.lstrip().startswith("#"))
    if _GENERATED_MARKS.search(comments):
        return "is generated, as a comment at its top says"
    return ""
