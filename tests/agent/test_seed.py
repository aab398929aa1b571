"""Taking a suite out of whatever a model replies to the seed's prompt."""

from __future__ import annotations

import ast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scripted import Scripted

from bot.agent.brief import Brief
from bot.agent.seed import code_of, write_seed
from bot.domain import Target, Usage
from bot.models import Reply

A = "import pytest\n\n\ndef test_a():\n    assert 1 == 1\n"
B = "def test_b():\n    assert 2 == 2\n"


def fence(code: str, info: str = "python") -> str:
    return f"```{info}\n{code}```\n"


def names(code: str) -> list[str]:
    return [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def test_one_block_is_the_suite_without_the_text_around_it() -> None:
    assert code_of(f"Here are the tests:\n\n{fence(A)}\nThey cover everything.") == (A, "")


@pytest.mark.parametrize("info", ["", "python", "Python", "py", 'python path="tests/test_a.py"'])
def test_blocks_count_as_python_under_each_of_its_names(info: str) -> None:
    assert code_of(fence(A, info))[0] == A


def test_blocks_in_other_languages_are_left_out() -> None:
    assert code_of(fence("pip install thing\n", "bash") + fence(A))[0] == A


def test_several_blocks_with_tests_are_joined_in_order() -> None:
    code, note = code_of(fence(A) + "and\n" + fence(B))
    assert names(code) == ["test_a", "test_b"]
    assert note == "the suite was put together from 2 blocks"


def test_a_block_of_imports_before_the_tests_is_kept() -> None:
    code, _ = code_of(fence("import os\n") + fence("def test_cwd():\n    assert os.getcwd()\n"))
    assert code == "import os\n\n\ndef test_cwd():\n    assert os.getcwd()\n"


def test_an_excerpt_of_the_source_is_no_part_of_the_suite() -> None:
    code, _ = code_of(fence("def parse(text):\n    return text\n") + fence(A))
    assert names(code) == ["test_a"]


def test_a_block_that_writes_a_test_again_replaces_the_first_version() -> None:
    revised = A.replace("1 == 1", "1 < 2")
    assert code_of(fence(A) + "Better:\n" + fence(revised))[0] == revised


def test_a_reply_without_fences_is_read_from_its_first_line_of_python() -> None:
    assert code_of(f"Sure! From what I see, this will do.\n\n{A}")[0] == A


def test_prose_alone_is_never_stored() -> None:
    assert code_of("I am sorry, I cannot write tests for this.") == ("", "the reply holds no test")


def test_a_reply_cut_off_in_a_function_keeps_the_whole_ones_before_it() -> None:
    code, note = code_of("```python\n" + A + "\n\n" + B + "\n\ndef test_c():\n    assert parse(")
    assert names(code) == ["test_a", "test_b"]
    assert "cut" in note


def test_a_reply_cut_off_between_two_statements_of_a_test_loses_that_test() -> None:
    code, _ = code_of("```python\n" + A + "\n\ndef test_c():\n    value = 1\n    assert value ==")
    assert names(code) == ["test_a"]


def test_a_last_test_that_parses_is_not_trusted_at_the_length_limit() -> None:
    code, _ = code_of("```python\n" + A + "\n\ndef test_c():\n    value = 1\n", cut_off=True)
    assert names(code) == ["test_a"]


def test_a_forgotten_closing_fence_costs_nothing() -> None:
    assert code_of("```python\n" + A) == (A, "")


def test_a_reply_cut_off_in_a_class_keeps_its_whole_methods() -> None:
    text = "class TestA:\n    def test_x(self):\n        assert 1\n\n    def test_y(self):\n        assert ("
    code, _ = code_of("```python\n" + text)
    assert "test_x" in code
    assert "test_y" not in code


def test_a_decorator_that_lost_its_function_goes_with_it() -> None:
    code, _ = code_of("```python\n" + A + '\n\n@pytest.mark.parametrize("n", [1, 2')
    assert code == A


def test_a_reply_cut_off_after_its_fence_was_opened_is_no_suite() -> None:
    assert code_of("```python\nimport os\n")[0] == ""


def test_a_fence_inside_of_a_longer_one_belongs_to_the_code() -> None:
    code = 'TEXT = """\n```\ninner\n```\n"""\n\n\ndef test_text():\n    assert TEXT\n'
    assert code_of(f"````python\n{code}````\n")[0] == code


def test_blocks_that_do_not_compile_together_leave_the_longest() -> None:
    late_future = "from __future__ import annotations\n\n\ndef test_c():\n    assert 3 == 3, 'a longer one'\n"
    assert code_of(fence(A) + fence(late_future))[0] == late_future


def test_windows_line_ends_are_read() -> None:
    assert code_of(fence(A).replace("\n", "\r\n"))[0] == A


@given(st.text(), st.sampled_from(["", "```python\n", "```\n", "~~~py\n"]), st.text())
def test_whatever_is_replied_the_suite_compiles_and_has_a_test(before: str, opening: str, after: str) -> None:
    code, note = code_of(f"{before}\n{opening}{A}\n{after}")
    if code:
        compile(code, "suite", "exec")
        assert "def test" in code
    else:
        assert note


@given(st.integers(0, len(A + B) + 2))
@example(len(A + B) + 2)
def test_wherever_a_reply_is_cut_off_what_is_kept_are_whole_tests(length: int) -> None:
    whole = A + "\n\n" + B
    code, _ = code_of("```python\n" + whole[:length])
    assert whole.startswith(code.rstrip("\n"))
    assert length < len(whole) or names(code) == ["test_a", "test_b"]
    assert all("assert" in test for test in code.split("def test_")[1:])


def test_the_seed_is_one_completion_that_holds_the_target_and_no_tools() -> None:
    target = Target("mod.py", "mod", "MARK = 1\n", frozenset({1}))
    model = Scripted(Reply(fence(A), usage=Usage(10, 5, 0, 0.01)))
    seed = write_seed(model, Brief(target, "test_mod.py", "3.11"))
    assert (seed.code, seed.usage, seed.note) == (A, Usage(10, 5, 0, 0.01), "")
    (messages, tools), *more = model.asked
    assert not more
    assert tools == ()
    assert [message["role"] for message in messages] == ["system", "user"]
    assert '```python path="mod.py"\nMARK = 1\n```' in messages[1]["content"]
