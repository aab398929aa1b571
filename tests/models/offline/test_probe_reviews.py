"""The probe on a change in a package that has tests: where it looks, what it starts from and what it leaves out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.models.offline import explore
from bot.models.offline.scenario import Scenario

PACKAGE = '''
from parcel.splitter import Splitter


def split(text):
    """Split a text into its statements."""
    return list(Splitter().process(text.split(" ")))
'''
SPLITTER = """
class Splitter:
    def __init__(self):
        self._reset()

    def _reset(self):
        self.depth = 0
        self.words = []

    def process(self, words):
        for word in words:
            self.depth += self._step(word)
            self.words.append(word)
            if word == "stop" and self.depth <= 0:
                yield " ".join(self.words)
                self._reset()
        if self.words:
            yield " ".join(self.words)

    def _step(self, word):
        if word == "open":
            return 1
        if word == "close":
            return -1
        return 0


def unrelated(number):
    if number > 10:
        return "many"
    return "few"
"""
TESTS = """
import parcel


def test_split():
    text = "one stop two"
    assert parcel.split(text) == ["one stop", "two"]


def test_split_keeps_what_is_open_together():
    assert parcel.split("please open the big door stop now and then close it again stop end") == []
"""


def explored(
    tmp_path: Path, files: dict[str, str], module: str, changed: set[int], **more: object
) -> tuple[Scenario, ...]:
    """Write a tree, run a first command for its module as the sandbox would, and read what it prints."""
    tree = tmp_path / "tree"
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    path = f"{module.replace('.', '/')}.py"
    command = explore.first_command(
        files[path],
        module,
        path,
        python="3.11",
        seed=0,
        changed_lines=frozenset(changed),
        **more,  # type: ignore[arg-type]
    )
    done = subprocess.run(
        ["bash", "-s"],
        input=command,
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


def line_of(text: str, wanted: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if wanted in line)


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scenario, ...]:
    """What is found where `_step` was changed."""
    files = {"parcel/__init__.py": PACKAGE, "parcel/splitter.py": SPLITTER, "tests/test_parcel.py": TESTS}
    changed = {line_of(SPLITTER, 'word == "open"') + n for n in range(4)}
    return explored(tmp_path_factory.mktemp("split"), files, "parcel.splitter", changed)


def test_the_package_is_entered_as_the_repository_s_tests_do(split: tuple[Scenario, ...]) -> None:
    entering = [scenario for scenario in split if scenario.when.startswith("parcel.split(")]
    assert entering
    assert all("import parcel" in scenario.imports for scenario in entering)
    assert {fault for scenario in entering for fault in scenario.kills}


def test_functions_far_from_the_change_are_left_alone(split: tuple[Scenario, ...]) -> None:
    assert not [scenario for scenario in split if "unrelated" in scenario.when]


def test_long_texts_of_tests_are_cut_down(split: tuple[Scenario, ...]) -> None:
    assert max(len(scenario.when) for scenario in split) < 60


CODEC = """
import hashlib


class BadText(ValueError):
    pass


def _digest(text):
    return hashlib.sha1(text.encode()).hexdigest()


def sign(text):
    return text + "." + _digest(text)


def unsign(signed):
    text, dot, digest = signed.rpartition(".")
    if not dot or digest != _digest(text):
        raise BadText("the signature does not match")
    return text
"""


def test_what_undoes_itself_is_a_round_trip_and_no_digest_is_asserted(tmp_path: Path) -> None:
    changed = set(range(1, CODEC.count("\n") + 1))
    found = explored(tmp_path, {"codec.py": CODEC}, "codec", changed)
    whens = [scenario.when for scenario in found]
    assert any(when.startswith("unsign(sign(") and when.endswith("))") for when in whens)
    assert not [when for when in whens if when.startswith(("sign(", "_digest("))]


RULES = """
WORDS = ["a"]


def use(words):
    WORDS[:] = words


def known(word):
    return word in WORDS


def shout(word):
    return word.upper() + "!" if known(word) else word
"""
RULES_TESTS = """
from shelf import rules
from shelf.text import loud


def test_other_words():
    rules.use(["b", "c"])
    assert loud("b") == "B!"


def test_loud():
    assert loud("a") == "A!"
"""
TEXT = """
from shelf.rules import shout


def loud(word):
    if not word:
        return "nothing"
    return shout(word)
"""


def test_a_program_that_changes_what_others_rely_on_is_left_out(tmp_path: Path) -> None:
    files = {
        "shelf/__init__.py": "",
        "shelf/rules.py": RULES,
        "shelf/text.py": TEXT,
        "tests/test_text.py": RULES_TESTS,
    }
    found = explored(tmp_path, files, "shelf.text", {5, 6, 7, 8})
    texts = ["\n".join([*scenario.given, scenario.when]) for scenario in found]
    assert "loud('a')" in texts
    assert not [text for text in texts if "rules.use" in text]


GAUGE = """
class Gauge:
    def __init__(self, level, limit=10):
        self.level = level
        self._raw = level
        self.is_full = level >= limit
"""


def test_what_changed_lines_assign_is_looked_at_and_private_attributes_are_not(tmp_path: Path) -> None:
    found = explored(
        tmp_path, {"gauge.py": GAUGE}, "gauge", {line_of(GAUGE, "is_full"), line_of(GAUGE, "_raw")}
    )
    looked = " ".join([s.when for s in found] + [check.expression for s in found for check in s.checks])
    assert ".is_full" in looked
    assert "._raw" not in looked


def test_lines_that_existing_tests_reach_and_faults_that_they_notice_are_not_looked_for(
    tmp_path: Path,
) -> None:
    lines = set(range(1, SPLITTER.count("\n") + 1))
    files = {"parcel/__init__.py": PACKAGE, "parcel/splitter.py": SPLITTER, "tests/test_parcel.py": TESTS}
    assert not explored(tmp_path, files, "parcel.splitter", {24, 25}, covered=lines, survivors=())


HOSTILE = """
import os


class Panic(BaseException):
    pass


def checked(word):
    if word == "panic" or not isinstance(word, str):
        raise Panic(word)
    return word.upper()


def home():
    return os.path.expanduser("~") + "/.shop"


def program():
    import sys
    return sys.argv[0]
"""


def test_what_the_machine_says_is_left_out_and_an_extension_s_own_panic_ends_nothing(tmp_path: Path) -> None:
    found = explored(tmp_path, {"shop.py": HOSTILE}, "shop", set(range(1, HOSTILE.count("\n") + 1)))
    whens = [scenario.when for scenario in found]
    assert any(when.startswith("checked(") for when in whens)
    assert not [when for when in whens if when.startswith(("home(", "program("))]


WAITING = """
import asyncio


class Till:
    def __init__(self, float_=3):
        self.float = float_

    async def take(self, amount: int) -> int:
        if amount < 0:
            raise ValueError("nothing to take")
        await asyncio.sleep(3600)
        self.float += amount
        return self.float


async def total(prices: list[int]) -> int:
    await asyncio.sleep(10)
    return sum(prices) + 1


async def forever() -> None:
    await asyncio.get_running_loop().create_future()
"""


def test_coroutine_functions_are_run_to_their_end_and_time_passes_at_once(tmp_path: Path) -> None:
    found = explored(tmp_path, {"till.py": WAITING}, "till", set(range(1, WAITING.count("\n") + 1)))
    whens = [scenario.when for scenario in found]
    assert any(when.startswith("asyncio.run(total(") for when in whens)
    assert any(when.startswith("asyncio.run(till.take(") for when in whens)
    assert all("import asyncio" in s.imports for s in found if "asyncio" in s.when)
    assert not [when for when in whens if "forever" in when]
