"""What depends on chance, clocks, the environment or the machine's files is no test, and changes nothing between runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.models.offline.scenario import Scenario
from tests.models.offline.test_explore import explored

pytestmark = pytest.mark.slow

LOTTERY = '''
import os
import random
import secrets
import time
import uuid
from random import Random


def sample(probability, items, state=None):
    """Return some of the items."""
    generator = state if hasattr(state, "random") else Random(state)
    return [item for item in items if generator.random() < probability]


def coin(sides: int = 2) -> int:
    if sides < 1:
        raise ValueError("a coin has a side")
    return random.randrange(sides)


def token(size: int = 8) -> str:
    if size > 99:
        raise ValueError("too long a token")
    return secrets.token_hex(size)[: size * 2]


def name(prefix: str = "n") -> str:
    return prefix + uuid.uuid4().hex[:1]


def is_over(limit: float) -> bool:
    return time.time() > limit


def greeting(who: str) -> str:
    if os.environ.get("LOTTERY_LANGUAGE"):
        return "salut " + who
    return "hello " + who


def language() -> str:
    return os.environ.get("LOTTERY_LANGUAGE", "en")


def find_settings(file_name: str = ".lottery") -> str:
    """Walk up from the working directory."""
    place = os.getcwd()
    while True:
        if os.path.isfile(os.path.join(place, file_name)):
            return os.path.join(place, file_name)
        if os.path.dirname(place) == place:
            return ""
        place = os.path.dirname(place)


def drawn(seed: int) -> int:
    random.seed(seed)
    return 100 + random.randrange(50)
'''


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scenario, ...]:
    return explored(tmp_path_factory.mktemp("lottery"), LOTTERY)


def told(seen: tuple[Scenario, ...], subject: str) -> set[str]:
    """Return what the tests of a function say comes of it."""
    return {(s.then.text or s.then.message) for s in seen if s.subject == subject and s.then is not None}


def test_what_chance_decides_is_no_test(seen: tuple[Scenario, ...]) -> None:
    assert told(seen, "coin") <= {"a coin has a side", "0"}
    assert told(seen, "token") <= {"too long a token", "''"}
    assert not told(seen, "name")


def test_what_comes_whatever_chance_decides_is_a_test(seen: tuple[Scenario, ...]) -> None:
    assert {"[0]", "[]"} & told(seen, "sample")
    assert "a coin has a side" in told(seen, "coin")


def test_a_generator_that_the_code_seeds_is_no_chance(seen: tuple[Scenario, ...]) -> None:
    assert told(seen, "drawn")


def test_what_the_clock_or_the_environment_decides_is_no_test(seen: tuple[Scenario, ...]) -> None:
    assert told(seen, "is_over") <= {"True", "False"}
    assert not told(seen, "greeting") | told(seen, "language")


def test_what_the_directories_above_decide_is_no_test(seen: tuple[Scenario, ...]) -> None:
    assert not told(seen, "find_settings")


def test_chance_changes_nothing_between_two_runs(seen: tuple[Scenario, ...], tmp_path: Path) -> None:
    assert explored(tmp_path, LOTTERY) == seen


LATE = '''
def spelled(number: int) -> str:
    """Spell a number by a table that is read when it is first needed."""
    import words_of_numbers

    return words_of_numbers.TABLE[number % 3]
'''
TABLE = """
import os

with open(os.path.join(os.path.dirname(__file__), "words.bin"), encoding="utf-8") as file:
    TABLE = file.read().split()
"""


def test_a_module_that_reads_its_data_when_it_is_imported_spoils_no_case(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "words_of_numbers.py").write_text(TABLE, encoding="utf-8")
    (tree / "words.bin").write_text("zero one two", encoding="utf-8")

    assert told(explored(tmp_path, LATE), "spelled")
