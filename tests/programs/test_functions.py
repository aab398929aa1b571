"""Which functions can be asked about, and how their text is taken apart."""

from __future__ import annotations

import ast

import pytest

from bot.errors import UsageError
from bot.programs.functions import find, unsuitable

MODULE = '''import re


def before(x):
    return x


@staticmethod
def cut(text: str, *, most: int = 5) -> str:
    """Cut.

    >>> cut("abc")
    'abc'
    """
    if len(text) > most:
        return text[:most]
    return text


def after(x):
    return cut(x)
'''


def test_a_function_is_found_with_its_lines_and_parameters():
    subject = find(MODULE, "cut")
    assert subject.text.startswith("@staticmethod\ndef cut(")
    assert subject.text.endswith("    return text\n")
    assert subject.parameters == ("text", "most")
    assert subject.documentation.startswith("Cut.")


def test_its_body_is_hidden_with_all_that_follows():
    hidden = find(MODULE, "cut").without_body()
    assert hidden.endswith('    """\n    pass\n')
    assert "text[:most]" not in hidden
    assert "after" not in hidden
    ast.parse(hidden)


def test_other_text_takes_its_place_and_nothing_else_changes():
    subject = find(MODULE, "cut")
    changed = subject.with_function("def cut(text):\n    return ''")
    assert changed.replace("def cut(text):\n    return ''\n", subject.text) == MODULE


def test_a_function_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(
        UsageError, match=r"no function 'x' at the top of the file\. There are: before, cut, after"
    ):
        find(MODULE, "x")


def test_a_method_is_told_as_one():
    with pytest.raises(UsageError, match=r"'A\.b' is a method"):
        find("class A:\n    def b(self): return 1\n", "A.b")


def test_a_file_that_does_not_parse_is_told():
    with pytest.raises(UsageError, match="does not parse"):
        find("def f(:\n", "f")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("async def f(x): return x", "is async"),
        ("def f(x): yield x", "is a generator"),
        ("def f(): return 1", "takes no arguments, so that there is only one thing to ask"),
        ("def f(x): x.append(1)", "returns nothing"),
        ("def f(x):\n    def g(y):\n        return y\n    x.append(g)", "returns nothing"),
        ("def f(x):\n    global y\n    y = x\n    return y", "changes global variables"),
        (
            "import random\ndef f(x): return random.random() + x",
            "uses random.random, so that its results depend",
        ),
        ("import os\ndef f(x): return os.environ[x]", "uses os.environ, so that its results depend"),
        (
            "from random import choice as pick\ndef f(x): return pick(x)",
            "uses random.choice, so that its results",
        ),
        ("import random as r\ndef f(x): return r.random() + x", "uses random.random, so that its results"),
        (
            "def f(x):\n    from time import time\n    return time() + x",
            "uses time.time, so that its results",
        ),
        ("import os.path\ndef f(x): return os.getcwd() + x", "uses os.getcwd, so that its results"),
        ("def f(x): return x\nasync def f(x): return x", "is async"),
        ("def f(x): return open(x).read()", "calls open, so that it does more than return a value"),
    ],
)
def test_what_depends_on_more_than_its_arguments_or_does_more_is_left_out(source, reason):
    assert unsuitable(find(source, "f")).startswith(reason)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return x",
        "def f(*x): return x",
        "import os\ndef f(x): return os.path.join(x, 'a')",
        "import datetime\ndef f(x): return x + datetime.timedelta(1)",
        "from os.path import join\ndef f(x): return join(x, 'a')",
        "from datetime import timedelta as days\ndef f(x): return x + days(1)",
        "import time\ndef f(time): return time.hour",
        "from .random import choice\ndef f(x): return choice(x)",
        "def f(x):\n    def g(y):\n        return y\n    return g(x)",
    ],
)
def test_what_only_computes_can_be_asked_about(source):
    assert unsuitable(find(source, "f")) == ""
