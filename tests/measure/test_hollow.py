"""Hollow tests, found by running them against emptied functions in a real sandbox."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.domain import Target
from bot.measure.hollow import hollow_tests
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox

OpenBox = Callable[..., Sandbox]


def judged(open_box: OpenBox, source: str, tests: str, path: str = "mod.py") -> tuple[set[str], set[str]]:
    """The names of the passing tests, and of those among them that are hollow."""
    box = open_box({path: source, "tests/test_it.py": tests})
    target = Target(path=path, module=path[:-3].replace("/", "."), source=source, changed_lines=frozenset())
    run = run_tests(box, cover=[path])
    assert not run.crash, run.output
    hollow = hollow_tests(box, target, run, run.passed)
    return {id_.rpartition("::")[2] for id_ in run.passed}, {id_.rpartition("::")[2] for id_ in hollow}


PLAIN = '''
def double(x):
    """Twice."""
    if x is None:
        raise ValueError("nothing to double")
    return x + x


def log(x):
    print(x)


def silent(x):
    return None
'''


def test_a_test_that_asserts_a_result_is_not_hollow_and_one_that_only_calls_is(open_box: OpenBox) -> None:
    tests = """
import pytest
from mod import double, log, silent
def test_result(): assert double(2) == 4
def test_call(): double(2)
def test_type(): assert isinstance(double(2), object)
def test_raises():
    with pytest.raises(ValueError): double(None)
def test_output(capsys):
    log("x")
    assert capsys.readouterr().out == "x\\n"
def test_none(): assert silent(1) is None
def test_docstring(): assert double.__doc__ == "Twice."
def test_nothing_of_it(): assert 1 + 1 == 2
"""
    passed, hollow = judged(open_box, PLAIN, tests)

    assert len(passed) == 8
    assert hollow == {"test_call", "test_type", "test_none", "test_docstring", "test_nothing_of_it"}


KINDS = """
import asyncio
import functools

def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

def register(registry):
    def keep(function):
        registry.append(function)
        return function
    return keep

HANDLERS = []

@register(HANDLERS)
def handle(x):
    return x + 1

@traced
def wrapped(x):
    return x + 1

@functools.lru_cache
def cached(x):
    return x + 1

def counting(n):
    for i in range(n):
        yield i

async def answer():
    return 42

async def stream():
    yield 1

TABLE = {"inc": lambda x: x + 1}

class Base:
    def name(self):
        return "base"

class Thing(Base):
    def __init__(self, x):
        self.x = x
    def name(self):
        return "thing of " + super().name()
    @property
    def double(self):
        return self.x * 2
    @classmethod
    def make(cls):
        return cls(3)
    @staticmethod
    def plus(x):
        return x + 1

def outer(x):
    def inner():
        return x
    return inner()
"""


def test_every_kind_of_function_is_emptied(open_box: OpenBox) -> None:
    names = {
        "handler": "mod.HANDLERS[0](1)",
        "wrapped": "mod.wrapped(1)",
        "cached": "mod.cached(1)",
        "generator": "list(mod.counting(2))",
        "coroutine": "asyncio.run(mod.answer())",
        "async_generator": "mod.stream().__aiter__()",
        "lambda": "mod.TABLE['inc'](1)",
        "super": "mod.Thing(1).name()",
        "property": "mod.Thing(1).double",
        "classmethod": "mod.Thing.make()",
        "staticmethod": "mod.Thing.plus(1)",
        "closure": "mod.outer(1)",
    }
    calls = "".join(f"def test_{name}_called(): {call}\n" for name, call in names.items())
    checks = "".join(f"def test_{name}_checked(): assert {call}\n" for name, call in names.items())
    passed, hollow = judged(open_box, KINDS, f"import asyncio, mod\n{calls}{checks}")

    assert len(passed) == 2 * len(names)
    # An object that is made is one whatever its function does.
    made = {"test_async_generator_checked"}
    # Emptied, `__init__` sets nothing that the property could read.
    assert hollow == {f"test_{name}_called" for name in names} | made


def test_a_module_that_only_a_test_imports_is_emptied_too(open_box: OpenBox) -> None:
    tests = """
import importlib, sys
def test_checked():
    import mod
    assert mod.double(2) == 4
def test_called():
    import mod
    mod.double(2)
def test_reloaded():
    import mod
    assert importlib.reload(mod).double(2)
def test_reloaded_and_called():
    import mod
    importlib.reload(mod).double(2)
"""
    passed, hollow = judged(open_box, PLAIN, tests)

    assert len(passed) == 4
    assert hollow == {"test_called", "test_reloaded_and_called"}


def test_what_a_module_runs_while_it_is_imported_is_not_emptied(open_box: OpenBox) -> None:
    source = "def square(x):\n    return x * x\n\nTABLE = [square(i) for i in range(4)]\n"
    tests = """
def test_checked():
    from mod import TABLE, square
    assert square(2) == TABLE[2]
def test_called():
    from mod import TABLE, square
    square(2)
    assert TABLE[2] == 4
"""
    _, hollow = judged(open_box, source, tests)

    assert hollow == {"test_called"}


@pytest.mark.slow
def test_a_test_that_never_ends_without_the_functions_is_not_hollow(open_box: OpenBox) -> None:
    tests = """
from mod import double
def test_waits():
    while double(1) != 2: pass
"""
    _, hollow = judged(open_box, PLAIN, tests)

    assert hollow == set()


def test_fixtures_and_classes_are_run_as_pytest_runs_them(open_box: OpenBox) -> None:
    tests = """
import unittest
import pytest
from mod import double
@pytest.fixture(scope="module")
def four(): return double(2)
@pytest.mark.parametrize("add", [0, 1])
def test_fixture(four, add): assert four + add == 4 + add
def test_fixture_unused(four, tmp_path): assert tmp_path.is_dir()
class TestCase(unittest.TestCase):
    def setUp(self): self.value = double(2)
    def test_checked(self): self.assertEqual(self.value, 4)
    def test_called(self): self.assertIsNot(self.value, 3)
"""
    passed, hollow = judged(open_box, PLAIN, tests)

    assert len(passed) == 5
    assert hollow == {"test_fixture_unused", "test_called"}
