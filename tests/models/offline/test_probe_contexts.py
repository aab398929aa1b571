"""Context managers are entered, used inside and left by an exception, and the tests of that read as a person's."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.models.offline import outline, style, writing
from tests.models.offline.test_explore import explored

pytestmark = pytest.mark.slow

JOURNAL = '''
import contextlib

LIMITS = {"depth": 3}


class Journal:
    """Keeps lines; takes them back if something goes wrong inside."""

    def __init__(self, name: str = "day") -> None:
        self.name = name
        self.lines = []

    def write(self, line: str) -> int:
        if not self.lines:
            raise RuntimeError("the journal is closed")
        self.lines.append(line)
        return len(self.lines)

    def __len__(self):
        return len(self.lines)

    def __enter__(self):
        self.lines.append("opened")
        return self

    def __exit__(self, kind, error, trace):
        if kind is KeyError:
            self.lines.clear()
            return True
        return False


@contextlib.contextmanager
def limited(depth: int):
    if depth < 1:
        raise ValueError("too shallow a limit")
    yield depth * 2
'''


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = explored(Path(tmp_path_factory.mktemp("journal")), JOURNAL)
    known = outline.read(JOURNAL)
    return writing.write(found, "shop", known, style.read((), "shop", JOURNAL)).content


def test_an_object_is_used_inside_its_context(suite: str) -> None:
    assert "with journal as entered:\n        assert entered.write(" in suite


def test_an_exception_inside_is_thrown_and_what_it_leaves_is_looked_at(suite: str) -> None:
    assert '    with journal:\n        raise KeyError("inside")\n' in suite
    assert "assert len(journal) == 0" in suite.partition("raise KeyError")[2]


def test_what_a_function_yields_is_asserted_within_its_context(suite: str) -> None:
    assert "with limited(" in suite
    assert "assert entered == " in suite
    assert "inside = " not in suite


def test_a_context_that_cannot_be_entered_has_an_empty_body(suite: str) -> None:
    assert 'match="too shallow a limit"):\n        with limited(0):\n            pass\n' in suite
