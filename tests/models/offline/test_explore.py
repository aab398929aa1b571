"""The probe as the built-in model uses it: the command is run by bash on a real module, and what it prints is read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models.offline import explore
from bot.models.offline.scenario import Scenario

SHOP = '''
"""Prices."""


class Basket:
    """What a customer takes along."""

    def __init__(self, limit: int = 3) -> None:
        if limit < 1:
            raise ValueError("a basket holds at least one thing")
        self.limit = limit
        self._things: list[str] = []

    def add(self, thing: str) -> None:
        if len(self._things) >= self.limit:
            raise OverflowError("the basket is full")
        self._things.append(thing)

    def __len__(self) -> int:
        return len(self._things)


def discount(price: int, percent: int = 0) -> float:
    """Return the price with a discount.

    >>> discount(200, 50)
    100.0
    """
    if not 0 <= percent <= 100:
        raise ValueError(f"no such discount: {percent}")
    return price - price * percent / 100
'''


def explored(tmp_path: Path, source: str, command: str | None = None) -> tuple[Scenario, ...]:
    """Run a first command for a module `shop` of this source, as the sandbox would, and read what it prints."""
    tree = tmp_path / "tree"
    tree.mkdir(exist_ok=True)
    (tree / "shop.py").write_text(source, encoding="utf-8")
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    if command is None:
        command = explore.first_command(source, "shop", "shop.py", python="3.11", seed=0, changed_lines=None)
    script = tmp_path / "command.sh"
    script.write_text(command, encoding="utf-8")
    done = subprocess.run(
        ["bash", str(script)],
        cwd=tree,
        env={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(tree),
            "TMPDIR": str(scratch),
            "PYTHONHASHSEED": "0",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return explore.read(f"exit code 0\n--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scenario, ...]:
    return explored(tmp_path_factory.mktemp("shop"), SHOP)


def test_both_sides_of_a_boundary_are_tried(shop: tuple[Scenario, ...]) -> None:
    tried = {dict(s.args).get("percent") for s in shop if s.subject == "discount" and s.then is not None}

    assert {"100", "101"} <= tried


def test_an_exception_is_told_with_its_message(shop: tuple[Scenario, ...]) -> None:
    messages = {s.then.message for s in shop if s.then is not None and s.then.kind == "raises"}

    assert "a basket holds at least one thing" in messages


def test_an_object_is_filled_until_it_is_full(shop: tuple[Scenario, ...]) -> None:
    full = [s for s in shop if s.then is not None and s.then.type == "OverflowError"]

    assert any(step.startswith("basket.add(") for step in full[0].given)


def test_the_state_after_a_change_is_looked_at(shop: tuple[Scenario, ...]) -> None:
    looked = [check.expression for s in shop for check in s.checks]

    assert "len(basket)" in looked or any(s.when == "len(basket)" for s in shop)


def test_every_scenario_says_what_to_import(shop: tuple[Scenario, ...]) -> None:
    assert shop
    assert all(set(s.names) & {"Basket", "discount"} for s in shop)


def test_every_scenario_holds_on_the_real_module(shop: tuple[Scenario, ...], tmp_path: Path) -> None:
    space: dict[str, object] = {}
    exec(SHOP, space)
    for scenario in shop:
        if scenario.then is not None and scenario.then.kind == "value":
            here = dict(space)
            for step in scenario.given:
                exec(step, here)
            assert eval(scenario.when, here) == eval(scenario.then.text, here)


@pytest.mark.slow
def test_one_seed_gives_the_same_scenarios(shop: tuple[Scenario, ...], tmp_path: Path) -> None:
    assert explored(tmp_path, SHOP) == shop


def test_a_reported_survivor_is_told_from_the_real_code(tmp_path: Path) -> None:
    survivor = (
        "M1 core/ReplaceComparisonOperator_LtE_Lt in discount, line 31\n"
        "-    if not 0 <= percent <= 100:\n"
        "+    if not 0 <= percent < 100:"
    )
    command = explore.next_command(
        SHOP, "shop", "shop.py", python="3.11", seed=0, survivors=[survivor], missing_lines=(), round=1
    )

    found = explored(tmp_path, SHOP, command)

    assert [dict(s.args)["percent"] for s in found] == ["100"]


def test_what_changes_from_run_to_run_is_no_scenario(tmp_path: Path) -> None:
    source = """
import random
import time


def stamp(text: str) -> str:
    return f"{time.time()} {text}"


def roll(sides: int) -> float:
    return sides + random.random()


def names(text: str) -> list[str]:
    return list({text, "a", "bc", "def", "ghij"})


def place(text: str) -> str:
    return repr(object())


def shout(text: str) -> str:
    return text.upper()
"""

    found = explored(tmp_path, source)

    assert {s.subject for s in found} == {"shout"}


def test_code_that_leaves_the_sandbox_is_not_let_out(tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("precious", encoding="utf-8")
    source = f"""
import os
import subprocess

VICTIM = {str(victim)!r}


def tidy(path: str = VICTIM) -> str:
    os.remove(VICTIM)
    return "gone"


def run(command: str) -> int:
    return subprocess.call(["touch", VICTIM + ".run"])


def overwrite(text: str) -> None:
    with open(VICTIM, "w") as stream:
        stream.write(text)


def double(number: int) -> int:
    return number * 2
"""

    found = explored(tmp_path, source)

    assert {s.subject for s in found} == {"double"}
    assert victim.read_text(encoding="utf-8") == "precious"
    assert not victim.with_suffix(".txt.run").exists()


def test_code_that_never_ends_is_given_up(tmp_path: Path) -> None:
    source = """
def wait(number: int) -> int:
    while True:
        number += 1


def grow(text: str):
    while True:
        yield text
        text = text * 2


def half(number: int) -> float:
    return number / 2
"""

    found = explored(tmp_path, source)

    assert "half" in {s.subject for s in found}
    assert "wait" not in {s.subject for s in found}


def test_a_loop_in_c_that_hears_no_signal_is_given_up(tmp_path: Path) -> None:
    source = """
from collections import deque
from itertools import repeat

MANY = 4_000_000_000_000


def drained(count: int) -> int:
    deque(repeat(1, count), maxlen=0)
    return count


def half(number: int) -> float:
    return number / 2
"""

    found = explored(tmp_path, source)

    assert {"drained", "half"} <= {s.subject for s in found}


def test_calls_in_the_repositorys_tests_are_tried(tmp_path: Path) -> None:
    source = """
def parse(text):
    if text == "open sesame, please":
        return 42
    return 0
"""
    test = "import pytest\n\n@pytest.mark.parametrize(('text', 'n'), [('open sesame, please', 42)])\ndef test_it(text, n):\n    assert parse(text) == n\n"
    command = explore.first_command(
        source.replace('"open sesame, please"', 'chr(111) + "pen sesame, please"'),
        "shop",
        "shop.py",
        python="3.11",
        seed=0,
        changed_lines=None,
        examples=[("tests/test_shop.py", test)],
    )

    found = explored(tmp_path, source, command)

    assert "42" in {s.then.text for s in found if s.then is not None}


@given(st.text(max_size=300))
def test_any_output_can_be_read(output: str) -> None:
    assert explore.read(output) == ()


def test_a_row_that_was_cut_is_left_out() -> None:
    row = '{"subject":"f","when":"f(1)","then":{"kind":"value","text":"2"},"shows":"0"}'
    first = '{"legend":["3-5,9"]}'
    output = f"exit code 0\n--- stdout\n{first}\n{row[:30]}\n[... 70 characters cut ...]\n{row}\n"

    (found,) = explore.read(output)

    assert found.when == "f(1)"
    assert found.lines == {3, 4, 5, 9}


def test_what_the_probed_code_wrote_to_stderr_is_not_read() -> None:
    row = '{"subject":"f","when":"f(1)","then":{"kind":"value","text":"2"}}'

    assert explore.read(f"exit code 0\n--- stderr\n{row}\n") == ()


REGISTRY = """
RULES = [("(?i)s$", ""), ("$", "s")]
KNOWN = {}


def _irregular(singular, plural):
    RULES.insert(0, (singular + "$", plural))
    KNOWN[singular] = plural


_irregular("cow", "kine")


def plural_of(word):
    return KNOWN.get(word, word + "s")
"""


def test_a_function_that_fills_containers_of_the_module_is_tried_on_small_ones(tmp_path: Path) -> None:
    (found,) = [s for s in explored(tmp_path, REGISTRY) if s.subject == "_irregular"]
    # `KNOWN` holds what the call puts there already, so nothing of it has to be replaced.
    assert found.given == ("""monkeypatch.setattr(shop, "RULES", [('(?i)s$', ''), ('$', 's')])""",)
    assert (found.when, found.imports) == ("_irregular('cow', 'kine')", ("import shop",))
    assert ("shop.RULES", "[('cow$', 'kine'), ('(?i)s$', ''), ('$', 's')]") in [
        (check.expression, check.then.text) for check in found.checks
    ]
