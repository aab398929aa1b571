"""Functions of a source, with their names and lines."""

from __future__ import annotations

import ast

import pytest

from bot.changes import functions_of
from bot.changes.source import UnreadableError, code_lines, decode, parse
from bot.domain import Function

SOURCE = '''\
@first
@second(
    1,
)
def decorated(a):
    """Text."""
    return a


def one(): return 1


class Outer:
    def method(self):
        pass

    class Inner:
        async def deep(self):
            pass


def factory():
    def made():
        class Local:
            def run(self): ...
        return Local
    return made


if True:
    try:
        def conditional(): ...
    except ValueError:
        def handled(): ...
'''


def test_every_function_is_found_with_its_qualified_name():
    assert [function.qualname for function in functions_of(SOURCE)] == [
        "decorated",
        "one",
        "Outer.method",
        "Outer.Inner.deep",
        "factory",
        "factory.<locals>.made",
        "factory.<locals>.made.<locals>.Local.run",
        "conditional",
        "handled",
    ]


def test_the_names_are_those_that_python_gives():
    namespace: dict[str, object] = {}
    exec("def f():\n    def g(): ...\n    class C:\n        def m(self): ...\n    return g, C.m", namespace)
    names = [function.__qualname__ for function in namespace["f"]()]  # type: ignore[operator]
    source = "def f():\n    def g(): ...\n    class C:\n        def m(self): ...\n    return g, C.m"
    assert [function.qualname for function in functions_of(source)][1:] == names


def test_decorators_are_part_of_a_function():
    assert functions_of(SOURCE)[0] == Function("decorated", 1, 6, 7)


def test_a_one_liner_has_its_body_on_its_own_line():
    assert functions_of(SOURCE)[1] == Function("one", 10, 10, 10)


def test_source_that_does_not_parse_is_unreadable():
    with pytest.raises(UnreadableError, match="does not parse: line 2: "):
        functions_of("x = 1\nx = = 2\n")


def test_an_expression_nested_too_deeply_is_unreadable():
    with pytest.raises(UnreadableError, match="does not parse"):
        parse("(" * 5000 + ")" * 5000)


def test_a_coding_comment_is_ignored_in_decoded_text():
    assert functions_of("# coding: latin-1\ndef é(): ...\n")[0].qualname == "é"


def test_a_byte_order_mark_is_no_part_of_the_text():
    assert decode(b"\xef\xbb\xbfx = 1\n") == "x = 1\n"


def test_lines_with_comments_blanks_and_docstrings_hold_no_code():
    source = (
        '"""Doc\nstring."""\n\n# comment\nx = """a\n\nb"""\n\ndef f(): "doc"\n\ndef g():\n    "é"; y = 1\n'
    )
    assert code_lines(source, ast.parse(source)) == {5, 6, 7, 9, 11, 12}
