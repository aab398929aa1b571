"""The model answers a conversation as an engineer would, from its messages alone."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from bot.agent.brief import Brief, suite_block, target_block
from bot.agent.tools import schemas
from bot.domain import Target
from bot.models import Message, Reply
from bot.models.offline import complete
from bot.models.offline.probe import legend
from bot.models.offline.scenario import Scenario

from .scenarios import SHELVES, SLUGS, SOURCE, call, value

TOOLS = ("execute_bash", "write_file", "run_tests", "coverage_report", "surviving_mutants", "finish")
GREEN = "9 passed, 0 failed, 0 errors, 0 skipped in 0.10 s"
COVERAGE = "shop.py: 20 of 25 lines (80.0%), 4 of 8 branches (50.0%)\nmissing lines: 20-22, 30\nmissing branches: 8->9"
MUTANTS = "10 of 20 mutants killed or timed out (score 0.500); 10 survive, 1 shown\nM1 core/Not in slug, line 40\n-  a\n+  b"


class Talk:
    """A conversation with the model in which each call is answered by what the test says."""

    def __init__(
        self,
        *,
        suite: str = "",
        result: str = GREEN,
        tools: Sequence[str] = TOOLS,
        changed: frozenset[int] | None = None,
        covered: frozenset[int] = frozenset(),
    ) -> None:
        lines = frozenset(range(1, SOURCE.count("\n") + 1))
        target = Target("shop.py", "shop", SOURCE, changed or lines, whole_file=changed is None)
        block = target_block(Brief(target, "tests/test_shop.py", "3.11", covered_lines=covered))
        text = f"{block}\n{suite_block('tests/test_shop.py', suite, result)}"
        self.messages: list[Message] = [{"role": "user", "content": text}]
        self.tools = [schema for schema in schemas() if schema["function"]["name"] in tools]

    def reply(self) -> Reply:
        """Return the model's next reply."""
        return complete(self.messages, self.tools)

    def answer(self, **outputs: str) -> Reply:
        """Let the model reply, answer its calls by name, and return the reply."""
        reply = self.reply()
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in reply.tool_calls
        ]
        self.messages.append({"role": "assistant", "content": reply.text, "tool_calls": calls})
        for each in reply.tool_calls:
            self.messages.append(
                {"role": "tool", "tool_call_id": each.id, "content": outputs.get(each.name, "ok")}
            )
        return reply


def names(reply: Reply) -> list[str]:
    return [each.name for each in reply.tool_calls]


def arguments(reply: Reply, name: str) -> dict[str, Any]:
    return next(json.loads(each.arguments) for each in reply.tool_calls if each.name == name)


def printed(*scenarios: Scenario, exit_code: int = 0) -> str:
    """What `execute_bash` prints for scenarios that the probe found."""
    shown, numbers = legend.encoded([[*map(str, s.lines), *s.kills] for s in scenarios])
    rows = [{**asdict(s), "lines": [], "shows": groups} for s, groups in zip(scenarios, numbers, strict=True)]
    lines = "\n".join(map(json.dumps, [{"legend": shown}, *rows]))
    return f"exit code {exit_code}\n--- stdout\n{lines}"


def test_without_tools_the_reply_is_one_block_of_tests() -> None:
    source = SOURCE.replace(
        "def ratio(part, whole):", 'def ratio(part, whole):\n    """ratio(4, 2) -> 2.0"""'
    )
    target = Target("shop.py", "shop", source, frozenset(), whole_file=True)
    text = complete([{"role": "user", "content": target_block(Brief(target, "t.py", "3.11"))}], ()).text
    assert text.count("```python\n") == 1
    assert "assert ratio(4, 2) == 2.0" in text


def test_the_loop_begins_with_an_exploration_in_the_sandbox() -> None:
    assert names(Talk().reply()) == ["execute_bash"]


def test_what_was_seen_is_written_down_and_run() -> None:
    talk = Talk()
    talk.answer(execute_bash=printed(*SLUGS))
    reply = talk.reply()
    assert names(reply) == ["write_file", "run_tests"]
    assert "assert slug(text) == expected" in arguments(reply, "write_file")["content"]


def test_the_suite_goes_where_the_brief_says() -> None:
    talk = Talk()
    talk.answer(execute_bash=printed(*SLUGS))
    assert arguments(talk.reply(), "write_file")["path"] == "tests/test_shop.py"


def test_a_row_that_fails_is_dropped_alone() -> None:
    talk = Talk()
    talk.answer(execute_bash=printed(*SLUGS))
    failed = "8 passed, 1 failed, 0 errors, 0 skipped in 0.1 s\nFAILED tests/test_shop.py::test_slug[A b-a-b]\n    E   assert 1"
    talk.answer(run_tests=failed)
    content = arguments(talk.reply(), "write_file")["content"]
    assert '("A b", "a-b")' not in content
    assert '("Hello  big world", "hello-big-world")' in content


def test_a_file_that_cannot_be_imported_loses_what_uses_the_missing_name() -> None:
    talk = Talk()
    talk.answer(execute_bash=printed(*SLUGS, *SHELVES))
    talk.answer(
        run_tests="0 passed, 0 failed, 1 errors, 0 skipped in 0.1 s\nERROR tests/test_shop.py\n"
        "    E   ImportError: cannot import name 'Shelf' from 'shop'"
    )
    content = arguments(talk.reply(), "write_file")["content"]
    assert "Shelf" not in content
    assert "slug(text)" in content


def test_after_green_tests_coverage_and_survivors_are_looked_at() -> None:
    talk = Talk()
    talk.answer(execute_bash=printed(*SLUGS))
    talk.answer(run_tests=GREEN)
    assert names(talk.reply()) == ["coverage_report", "surviving_mutants"]


def measured(talk: Talk, *scenarios: Scenario, coverage: str = COVERAGE, mutants: str = MUTANTS) -> None:
    """Take a talk through one round."""
    talk.answer(execute_bash=printed(*scenarios))
    talk.answer(run_tests=GREEN)
    talk.answer(coverage_report=coverage, surviving_mutants=mutants)


def test_the_next_exploration_is_aimed_at_what_is_missing() -> None:
    talk = Talk()
    measured(talk, *SLUGS)
    command = arguments(talk.reply(), "execute_bash")["command"]
    assert '"missing_lines": [20, 21, 22, 30]' in command
    assert '"missing_branches": [[8, 9]]' in command
    assert "M1 core/Not in slug, line 40" in command


def test_new_scenarios_join_the_tables_of_the_first_ones() -> None:
    talk = Talk()
    measured(talk, *SLUGS)
    talk.answer(execute_bash=printed(call("slug", value("'z'"), text="'Z'")))
    content = arguments(talk.reply(), "write_file")["content"]
    assert '        ("Z", "z"),\n        ("A b", "a-b"),\n' in content


def test_a_round_that_shows_nothing_new_is_the_last() -> None:
    talk = Talk()
    measured(talk, *SLUGS)
    talk.answer(execute_bash=printed(*SLUGS))
    assert names(talk.reply()) == ["finish"]


def test_a_round_that_gains_nothing_is_the_last() -> None:
    talk = Talk()
    measured(talk, *SLUGS)
    measured(talk, call("slug", value("'z'"), text="'Z'"))
    assert names(talk.reply()) == ["finish"]


def test_with_everything_covered_and_killed_there_is_nothing_more_to_do() -> None:
    talk = Talk()
    done = "shop.py: 25 of 25 lines (100.0%), 8 of 8 branches (100.0%)\nmissing lines: none\nmissing branches: none"
    killed = "20 of 20 mutants killed or timed out (score 1.000); 0 survive, 0 shown"
    measured(talk, *SLUGS, coverage=done, mutants=killed)
    reply = talk.reply()
    assert names(reply) == ["finish"]
    assert "25 of 25 lines" in arguments(reply, "finish")["summary"]


def test_a_module_that_cannot_be_imported_ends_the_work_and_says_why() -> None:
    talk = Talk()
    talk.answer(execute_bash="exit code 1\n--- stderr\nModuleNotFoundError: No module named 'absent'")
    reply = talk.reply()
    assert names(reply) == ["finish"]
    assert "No module named 'absent'" in arguments(reply, "finish")["summary"]


def test_a_file_that_may_not_be_written_ends_the_work() -> None:
    talk = Talk()
    talk.answer(execute_bash=printed(*SLUGS))
    talk.answer(
        write_file="error: tests/test_shop.py is outside of the test paths", run_tests="error: no suite"
    )
    assert names(talk.reply()) == ["finish"]


@pytest.mark.parametrize("missing", TOOLS)
def test_only_the_tools_that_are_given_are_used(missing: str) -> None:
    talk = Talk(tools=[name for name in TOOLS if name != missing])
    used: list[str] = []
    for _ in range(25):
        reply = talk.answer(
            execute_bash=printed(*SLUGS), run_tests=GREEN, coverage_report=COVERAGE, surviving_mutants=MUTANTS
        )
        used += names(reply)
        if "finish" in used or not reply.tool_calls:
            break
    else:
        pytest.fail("it never ended")
    assert missing not in used


def test_every_call_says_what_was_seen_and_what_comes_next() -> None:
    talk = Talk()
    for _ in range(8):
        reply = talk.answer(
            execute_bash=printed(*SLUGS), run_tests=GREEN, coverage_report=COVERAGE, surviving_mutants=MUTANTS
        )
        for each in reply.tool_calls:
            assert len(json.loads(each.arguments)["reflection"].split()) > 5


def test_tests_of_another_hand_stay_if_they_pass() -> None:
    suite = "from shop import ratio\n\n\ndef test_mine():\n    assert ratio(4, 2) == 2\n\n\ndef test_wrong():\n    assert ratio(4, 2) == 3\n"
    result = "1 passed, 1 failed, 0 errors, 0 skipped in 0.1 s\nFAILED tests/test_shop.py::test_wrong\n    E   assert 2 == 3"
    talk = Talk(suite=suite, result=result)
    talk.answer(execute_bash=printed(*SLUGS))
    content = arguments(talk.reply(), "write_file")["content"]
    assert "def test_mine():\n    assert ratio(4, 2) == 2\n" in content
    assert "test_wrong" not in content
    assert "from shop import Shelf, ratio, slug\n" in content


def test_a_review_writes_about_changed_lines_only() -> None:
    slugs = [replace(scenario, lines=frozenset({45})) for scenario in SLUGS]
    shelves = [replace(scenario, lines=frozenset({20})) for scenario in SHELVES]
    talk = Talk(changed=frozenset({45}))
    talk.answer(surviving_mutants=SURVIVOR)
    talk.answer(execute_bash=printed(*slugs, *shelves))
    content = arguments(talk.reply(), "write_file")["content"]
    assert "slug(" in content
    assert "Shelf" not in content


SURVIVOR = (
    "1 of 2 mutants killed or timed out (score 0.500); 1 survive, 1 shown\n"
    "M1 core/NumberReplacer in slug, line 45\n-    return 1\n+    return 2"
)


def test_a_review_begins_with_what_existing_tests_leave_alive_and_looks_for_that() -> None:
    talk = Talk(changed=frozenset({45}))
    assert names(talk.answer(surviving_mutants=SURVIVOR)) == ["surviving_mutants"]
    reply = talk.reply()
    assert names(reply) == ["execute_bash"]
    assert "core/NumberReplacer in slug, line 45" in arguments(reply, "execute_bash")["command"]


def test_a_review_of_what_existing_tests_show_already_ends_at_once() -> None:
    talk = Talk(changed=frozenset({45}), covered=frozenset(range(1, 100)))
    talk.answer(surviving_mutants="2 of 2 mutants killed or timed out (score 1.000); 0 survive, 0 shown")
    assert names(talk.reply()) == ["finish"]


def documented(expected: str) -> Talk:
    """A talk about a function whose docstring promises something, with the zero-shot suite in place."""
    source = SOURCE.replace(
        "def ratio(part, whole):",
        f'def ratio(part, whole):\n    """\n    >>> ratio(4, 2)\n    {expected}\n    """',
    )
    target = Target("shop.py", "shop", source, frozenset({1}), whole_file=True)
    block = target_block(Brief(target, "tests/test_shop.py", "3.11"))
    code = (
        complete([{"role": "user", "content": block}], ()).text.split("```python\n")[1].removesuffix("```\n")
    )
    result = "0 passed, 1 failed, 0 errors, 0 skipped in 0.1 s\nFAILED tests/test_shop.py::test_ratio\n    E   assert 2.0 == 3"
    talk = Talk()
    talk.messages = [
        {"role": "user", "content": f"{block}\n{suite_block('tests/test_shop.py', code, result)}"}
    ]
    return talk


def test_documented_behaviour_that_the_code_contradicts_stays_for_the_author() -> None:
    talk = documented("3")
    seen = call("ratio", value("2.0"), part="4", whole="2")
    talk.answer(execute_bash=printed(seen, *SLUGS))
    content = arguments(talk.reply(), "write_file")["content"]
    assert "assert ratio(4, 2) == 3" in content
    assert "2.0" not in content


def test_the_same_conversation_gets_the_same_reply() -> None:
    talk = Talk()
    measured(talk, *SLUGS, *SHELVES)
    assert talk.reply() == talk.reply()


def test_a_conversation_about_nothing_is_answered_in_words() -> None:
    reply = complete([{"role": "user", "content": "Hello"}], ())
    assert "no file under test" in reply.text
    assert reply.tool_calls == ()


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (
            "killed after 120 s\n--- stderr\nTraceback\nMemoryError: too large",
            "killed after 120 s: MemoryError: too large",
        ),
        ("exit code 1\n--- stderr\nOSError: full", "exit code 1: OSError: full"),
        ("exit code 0", "trying inputs showed nothing that could be written down."),
    ],
)
def test_work_that_ends_without_result_says_what_the_probe_printed_last(output: str, told: str) -> None:
    talk = Talk()
    talk.answer(execute_bash=output)
    talk.answer(run_tests=GREEN)
    talk.answer(coverage_report=COVERAGE, surviving_mutants=MUTANTS)
    talk.answer(execute_bash=output)
    assert told in arguments(talk.reply(), "finish")["summary"]
