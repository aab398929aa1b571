"""What the agent prints is read back: the same formats, from the other side."""

from bot.agent import observations
from bot.agent.brief import Brief, suite_block, target_block
from bot.domain import (
    CollectionError,
    FileCoverage,
    Function,
    Mutant,
    MutantOutcome,
    MutantVerdict,
    MutationResult,
    Outcome,
    SuiteRun,
    Target,
    TestResult,
)
from bot.models.offline import reading
from bot.sandbox import Completed

SOURCE = 'def f(x):\n    """Has ``` and ```` in it."""\n    return x\n'
TARGET = Target(
    "pkg/mod.py",
    "pkg.mod",
    SOURCE,
    frozenset({2, 3}),
    functions=(Function("f", 1, 2, 3), Function("C.g", 5, 6, 9)),
)


def first_message(target: Target = TARGET) -> list[dict[str, str]]:
    brief = Brief(
        target,
        "tests/test_mod_new.py",
        "3.12",
        examples=(("tests/test_a.py", "def test_a():\n    assert 1\n"), ("tests/test_b.py", "import b\n")),
        covered_lines=frozenset({1, 4, 5}),
    )
    suite = suite_block(brief.suite_path, "def test_x():\n    assert f(1) == 1\n", "1 passed, 0 failed")
    return [
        {"role": "system", "content": "You write tests."},
        {"role": "user", "content": f"Improve it.\n\n{target_block(brief)}\n{suite}"},
    ]


def test_the_first_message_tells_where_the_tests_go() -> None:
    task = reading.assignment(first_message())
    assert task is not None
    assert (task.path, task.module, task.suite_path, task.python) == (
        "pkg/mod.py",
        "pkg.mod",
        "tests/test_mod_new.py",
        "3.12",
    )


def test_the_source_comes_back_as_it_was_with_backticks_inside() -> None:
    task = reading.assignment(first_message())
    assert task is not None
    assert task.source == SOURCE


def test_changed_lines_functions_and_covered_lines_are_read() -> None:
    task = reading.assignment(first_message())
    assert task is not None
    assert task.changed == {2, 3}
    assert task.functions == (("f", 1, 3), ("C.g", 5, 9))
    assert task.covered == {1, 4, 5}


def test_a_whole_file_has_no_changed_lines() -> None:
    whole = Target("pkg/mod.py", "pkg.mod", SOURCE, frozenset({1, 2, 3}), whole_file=True)
    task = reading.assignment(first_message(whole))
    assert task is not None
    assert task.changed is None


def test_examples_the_suite_and_its_result_are_told_apart() -> None:
    task = reading.assignment(first_message())
    assert task is not None
    assert [path for path, _ in task.examples] == ["tests/test_a.py", "tests/test_b.py"]
    assert task.suite.startswith("def test_x():")
    assert task.result == "1 passed, 0 failed\n"


def test_a_conversation_without_a_target_has_no_assignment() -> None:
    assert reading.assignment([{"role": "user", "content": "Hello"}]) is None


def test_tool_calls_are_read_with_their_outputs_in_order() -> None:
    calls = [
        {
            "id": "a",
            "type": "function",
            "function": {"name": "run_tests", "arguments": '{"reflection": "r"}'},
        },
        {"id": "b", "type": "function", "function": {"name": "finish", "arguments": "not json"}},
    ]
    messages = [
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": "error: the arguments are not JSON"},
        {"role": "tool", "tool_call_id": "a", "content": "1 passed"},
    ]
    first, second = reading.steps(messages)
    assert (first.name, first.arguments, first.output) == ("run_tests", {"reflection": "r"}, "1 passed")
    assert (second.name, second.arguments, second.refused) == ("finish", {}, True)


def test_failures_are_read_by_exact_node_id_with_their_lines() -> None:
    run = SuiteRun(
        (
            TestResult(
                "tests/test_m.py::test_a[x y-1]",
                Outcome.FAILED,
                0.1,
                detail="tests/test_m.py:3\nE   assert 1 == 2",
            ),
            TestResult("tests/test_m.py::test_b", Outcome.PASSED),
        ),
        (CollectionError("tests/test_c.py", "ImportError: cannot import name 'x'"),),
    )
    results = reading.results(observations.test_results(run))
    assert results is not None
    assert results.passed == 1
    assert {f.id: f.lines[-1] for f in results.failures} == {
        "tests/test_m.py::test_a[x y-1]": "E   assert 1 == 2",
        "tests/test_c.py": "E   ImportError: cannot import name 'x'",
    }


def test_an_error_is_not_a_result() -> None:
    assert reading.results(observations.error("there is no suite yet")) is None


def test_missing_lines_and_branches_are_read_with_marks_and_exits() -> None:
    every = frozenset({1, 2, 3, 5, 6})
    branches = frozenset({(2, 3), (2, 5), (6, -1)})
    known = FileCoverage("pkg/mod.py", every, every, {}, branches)
    printed = observations.coverage(known, frozenset({1}), frozenset({(2, 5)}), frozenset({5}))
    covered = reading.coverage(printed)
    assert covered is not None
    assert (covered.lines, covered.of_lines) == (1, 5)
    assert covered.missing_lines == {2, 3, 5, 6}
    assert set(covered.missing_branches) == {(2, 3), (6, -1)}


def test_survivors_are_read_one_block_each() -> None:
    mutants = [
        Mutant(f"m{n}", "pkg/mod.py", "core/Number", "f", n, n, 0, 1, "2", f"-    x = {n}\n+    x = 9")
        for n in (1, 2)
    ]
    result = MutationResult(tuple(MutantVerdict(m, MutantOutcome.SURVIVED) for m in mutants))
    found = reading.survivors(observations.mutants(result, {"m1": 1, "m2": 2}))
    assert found is not None
    assert (found.killed, found.judged, found.survive) == (0, 2, 2)
    assert [block.splitlines()[-2] for block in found.blocks] == ["-    x = 1", "-    x = 2"]


def test_an_exit_code_is_read_and_a_killed_command_has_none() -> None:
    assert reading.exit_code(observations.command(Completed(3, "", "", 0.1), 60)) == 3
    assert reading.exit_code(observations.command(Completed(None, "", "", 60.0, timed_out=True), 60)) is None


def test_an_import_error_is_told_from_other_ends_of_a_command() -> None:
    trace = (
        "Traceback\n  File \"<frozen importlib._bootstrap>\"\nModuleNotFoundError: No module named 'absent'\n"
    )
    failed = observations.command(Completed(1, "", trace, 0.1), 60)
    assert reading.import_problem(failed) == "ModuleNotFoundError: No module named 'absent'"
    assert reading.import_problem(observations.command(Completed(1, "", "killed\n", 0.1), 60)) == ""
    assert reading.import_problem(observations.command(Completed(0, "{}", trace, 0.1), 60)) == ""
