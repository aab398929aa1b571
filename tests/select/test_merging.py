"""An existing test file is extended in its own style, and what was there stays as it was."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.select.merging import merge


def text(source: str) -> str:
    return textwrap.dedent(source).lstrip("\n")


EXISTING = text('''
    """Tests of the module."""

    import os

    import pytest

    from pkg.mod import  parse   # odd  spacing stays


    def test_parse():
        assert  parse('x') == 1


    class TestNode:
        def test_size(self):
            assert True


    if __name__ == "__main__":
        pytest.main()
    ''')


def added(addition: str, existing: str = EXISTING) -> str:
    merged = merge(existing, text(addition))
    assert merged is not None
    ast.parse(merged.content)
    return merged.content


def test_every_existing_line_stays_in_order() -> None:
    content = added("from pkg.mod import parse\n\n\ndef test_empty():\n    assert parse('') == 0\n")
    rest = iter(content.splitlines())
    assert all(any(line == other for other in rest) for line in EXISTING.splitlines())


def test_an_import_that_is_there_is_not_repeated() -> None:
    assert added("import pytest\nfrom pkg.mod import parse\n\n\ndef test_b():\n    parse('')\n").count(
        "import"
    ) == EXISTING.count("import")


def test_a_name_from_a_module_that_is_imported_from_joins_that_statement_in_order() -> None:
    existing = "from pkg.mod import Node, parse\n\n\ndef test_a():\n    parse(Node)\n"
    content = added("from pkg.mod import Tree, emit\n\n\ndef test_b():\n    emit(Tree)\n", existing)
    assert content.startswith("from pkg.mod import Node, Tree, emit, parse\n")


def test_an_import_over_several_lines_stays_so() -> None:
    existing = "from pkg.mod import (\n    alpha,\n    beta,\n)\n\n\ndef test_a():\n    alpha(beta)\n"
    content = added("from pkg.mod import gamma\n\n\ndef test_b():\n    gamma()\n", existing)
    assert content.startswith("from pkg.mod import (\n    alpha,\n    beta,\n    gamma,\n)\n")


def test_new_imports_go_to_the_block_of_their_kind() -> None:
    content = added("import re\nimport time\n\n\ndef test_b():\n    re.match('', time.ctime())\n")
    assert "import os\nimport re\nimport time\n\nimport pytest\n" in content


def test_functions_go_before_the_main_guard() -> None:
    content = added("def test_b():\n    assert True\n")
    assert content.endswith(
        '\n\n\ndef test_b():\n    assert True\n\n\nif __name__ == "__main__":\n    pytest.main()\n'
    )


def test_methods_join_the_class_of_the_same_name() -> None:
    content = added("class TestNode:\n    def test_depth(self):\n        assert True\n")
    assert content.count("class TestNode") == 1
    names = {
        node.name: [m.name for m in node.body]
        for node in ast.parse(content).body
        if isinstance(node, ast.ClassDef)
    }  # type: ignore[attr-defined]
    assert names == {"TestNode": ["test_size", "test_depth"]}


def test_a_class_with_another_base_gets_a_name_of_its_own() -> None:
    merged = merge(
        EXISTING,
        "import unittest\n\n\nclass TestNode(unittest.TestCase):\n    def test_size(self):\n        pass\n",
    )
    assert merged is not None
    assert merged.renamed == {"TestNode::test_size": "TestNodeAdded::test_size"}


def test_a_test_whose_name_is_taken_gets_a_word_that_says_what_it_shows() -> None:
    merged = merge(
        EXISTING, "import pytest\n\n\ndef test_parse():\n    with pytest.raises(KeyError):\n        {}[1]\n"
    )
    assert merged is not None
    assert merged.renamed == {"test_parse": "test_parse_raises_key_error"}


def test_a_method_whose_name_is_taken_is_renamed_in_its_class_only() -> None:
    merged = merge(EXISTING, "class TestNode:\n    def test_size(self):\n        assert [] is not None\n")
    assert merged is not None
    assert list(merged.renamed) == ["TestNode::test_size"]
    assert merged.renamed["TestNode::test_size"].startswith("TestNode::test_size_")


def test_the_same_helper_is_not_added_twice_and_a_different_one_is_renamed_everywhere() -> None:
    existing = "def make():\n    return 1\n\n\ndef test_a():\n    assert make()\n"
    assert (
        added("def make():\n    return 1\n\n\ndef test_b():\n    assert make()\n", existing).count("def make")
        == 1
    )
    content = added("def make():\n    return 2\n\n\ndef test_b():\n    assert make() == 2\n", existing)
    assert "def make_added():" in content
    assert "assert make_added() == 2" in content


def test_a_fixture_is_renamed_where_tests_ask_for_it_and_equal_strings_are_left_alone() -> None:
    existing = (
        "import pytest\n\n\n@pytest.fixture\ndef box():\n    return 1\n\n\ndef test_a(box):\n    assert box\n"
    )
    addition = (
        "import pytest\n\n\n@pytest.fixture\ndef box():\n    return 2\n\n\n"
        "@pytest.mark.usefixtures('box')\ndef test_b(box):\n    assert box == 2 and 'box'\n"
    )
    content = added(addition, existing)
    assert "def test_b(box_added):" in content
    assert 'usefixtures("box_added")' in content
    assert "box_added == 2 and 'box'" in content


def test_an_import_whose_name_means_something_else_gets_an_alias() -> None:
    content = added("from pkg.other import parse\n\n\ndef test_b():\n    assert parse('') == 0\n")
    assert "from pkg.other import parse as parse_other" in content
    assert "assert parse_other('') == 0" in content


@pytest.mark.parametrize(
    "addition",
    [
        "import pytest\n\npytestmark = pytest.mark.slow\n\n\ndef test_b():\n    pass\n",
        "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef clean():\n    yield\n\n\ndef test_b():\n    pass\n",
        "print('at import')\n\n\ndef test_b():\n    pass\n",
        "def setup_module():\n    pass\n\n\ndef test_b():\n    pass\n",
    ],
)
def test_what_would_reach_the_existing_tests_too_is_not_merged(addition: str) -> None:
    assert merge(EXISTING, addition) is None


def test_windows_line_ends_are_kept() -> None:
    merged = merge(EXISTING.replace("\n", "\r\n"), "import re\n\n\ndef test_b():\n    assert re\n")
    assert merged is not None
    assert merged.content.count("\n") == merged.content.count("\r\n")


_NAMES = st.lists(
    st.sampled_from(["test_a", "test_b", "helper", "TestC", "VALUE", "test_parse"]), unique=True, min_size=1
)


def _definition(name: str, body: int) -> str:
    if name == "VALUE":
        return f"VALUE = {body}\n"
    if name == "TestC":
        return f"class TestC:\n    def test_m(self):\n        assert {body} >= 0\n"
    return f"def {name}():\n    return {body}\n"


@settings(max_examples=150, deadline=None, derandomize=True)
@given(old=_NAMES, new=_NAMES, bodies=st.tuples(st.integers(0, 1), st.integers(0, 1)))
def test_any_two_files_merge_into_one_where_nothing_is_defined_twice(
    old: list[str], new: list[str], bodies: tuple[int, int]
) -> None:
    existing = "import os\n\n\n" + "\n\n".join(_definition(name, bodies[0]) for name in old)
    merged = merge(existing, "\n\n".join(_definition(name, bodies[1]) for name in new))
    assert merged is not None
    bound: list[str] = []
    for node in ast.parse(merged.content).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.append(node.name)
            methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef)]
            assert len(methods) == len(set(methods))
    assert len(bound) == len(set(bound))
    assert set(merged.renamed.values()) <= {*bound, "TestC::test_m_behaviour"}
    rest = iter(merged.content.splitlines())
    assert all(any(line == other for other in rest) for line in existing.splitlines())


UNIT = "from unittest import TestCase, skip\n\n\nclass ATests(TestCase):\n    pass\n"


def test_what_the_file_imports_by_name_is_called_by_that_name() -> None:
    addition = "import unittest\n\n\nclass BTests(unittest.TestCase):\n    @unittest.skip('no')\n    def test_b(self): pass\n"
    content = added(addition, UNIT)
    assert "import unittest" not in content
    assert "class BTests(TestCase):\n    @skip('no')" in content


def test_a_module_stays_imported_whole_where_the_file_lacks_one_of_its_names() -> None:
    addition = "import unittest\n\n\nclass BTests(unittest.TestCase):\n    @unittest.skipIf(1, 'no')\n    def test_b(self): pass\n"
    content = added(addition, UNIT)
    assert "import unittest\n" in content
    assert "class BTests(unittest.TestCase):" in content
