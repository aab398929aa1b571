"""The refine loop with a scripted model, over a real sandbox, real pytest and real mutants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from prices import GOOD, SUITE_PATH
from scripted import Scripted, call, calls

from bot.agent.brief import Brief
from bot.agent.limits import AgentLimits
from bot.agent.loop import Refinement, refine
from bot.agent.seed import Seed
from bot.agent.workbench import Workbench
from bot.domain import MutationResult, SuiteRun, Usage
from bot.errors import ModelError
from bot.measure import mutation, outcomes
from bot.models import Message, Reply, ToolCall
from bot.models.budget import BudgetError
from bot.sandbox import Sandbox

BETTER = (
    GOOD.replace("import discount", "import discount, shout")
    + '\n\ndef test_shout_adds_a_mark():\n    assert shout("a") == "A!"\n'
)
WRONG = GOOD.replace("== 4", "== 5")
DONE = calls(call("finish", summary="done"))


def write(text: str) -> ToolCall:
    return call("write_file", path=SUITE_PATH, content=text)


def observations(model: Scripted) -> list[str]:
    """The tools' outputs that the model saw, in order."""
    messages: Sequence[Message] = model.asked[-1][0]
    return [message["content"] for message in messages if message["role"] == "tool"]


_remembered: dict[object, Any] = {}


@pytest.fixture(autouse=True)
def _each_suite_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real results, remembered from test to test: the tree is the same in all, so that the suite decides them."""
    run_tests, judge = outcomes.run_tests, mutation.judge

    def remembered_run(box: Sandbox, selection: Sequence[str] = (), **options: Any) -> SuiteRun:
        key = (box.read(selection[0]), selection, str(options))
        if key not in _remembered:
            _remembered[key] = run_tests(box, selection, **options)
        found: SuiteRun = _remembered[key]
        return found

    def remembered_judge(box: Sandbox, *arguments: Any, **options: Any) -> MutationResult:
        key = (box.read(SUITE_PATH), str(options))
        if key not in _remembered:
            _remembered[key] = judge(box, *arguments, **options)
        found: MutationResult = _remembered[key]
        return found

    monkeypatch.setattr(outcomes, "run_tests", remembered_run)
    monkeypatch.setattr(mutation, "judge", remembered_judge)


class Run:
    """Runs the loop and keeps the model."""

    def __init__(self, bench: Workbench, brief: Brief) -> None:
        self.bench = bench
        self.brief = brief

    def __call__(self, model: Scripted, seed: str = GOOD, **limits: Any) -> Refinement:
        return refine(model, self.brief, Seed(seed), self.bench, AgentLimits(**limits))


@pytest.fixture(name="run")
def _run(bench: Workbench, brief: Brief) -> Run:
    return Run(bench, brief)


class TestConversation:
    def test_it_opens_with_the_target_the_suite_and_its_result(self, run: Run) -> None:
        model = Scripted(DONE)
        run(model, WRONG)
        (system, user), tools = model.asked[0]
        assert (system["role"], user["role"]) == ("system", "user")
        assert "File under test: shop/prices.py\nImport it as: shop.prices\n" in user["content"]
        assert f'The suite as it stands:\n```python path="{SUITE_PATH}"\n{WRONG}```\n' in user["content"]
        assert re.search(
            r"\nIts result:\n```text\n1 passed, 1 failed, 0 errors, 0 skipped in \d+\.\d\d s\nFAILED ",
            user["content"],
        )
        assert len(tools) == 10

    def test_an_empty_seed_is_shown_as_an_empty_suite(self, run: Run) -> None:
        model = Scripted(DONE)
        assert run(model, "").best is None
        assert (
            f'```python path="{SUITE_PATH}"\n```\nIts result:\n```text\n0 passed, 0 failed, 0 errors, 0 skipped'
            in model.asked[0][0][1]["content"]
        )

    def test_every_call_of_a_reply_is_run_in_order_and_answered(self, run: Run) -> None:
        first = ToolCall("id/1", "write_file", write(BETTER).arguments)
        second = ToolCall("id/2", "run_tests", '{"reflection": "see"}')
        model = Scripted(calls(first, second), DONE)
        run(model)
        _, _, asked, *answers = model.asked[-1][0]
        assert [row["id"] for row in asked["tool_calls"]] == ["id/1", "id/2"]
        assert [(row["role"], row["tool_call_id"]) for row in answers] == [("tool", "id/1"), ("tool", "id/2")]
        assert answers[0]["content"] == f"wrote {SUITE_PATH} (16 lines)"
        assert answers[1]["content"].startswith("3 passed, ")

    @pytest.mark.parametrize(
        ("wrong", "answer"),
        [
            (
                ToolCall("1", "rm_rf", "{}"),
                "error: there is no tool 'rm_rf'; there are search_files, view_file",
            ),
            (ToolCall("1", "run_tests", "{"), "error: the arguments of run_tests are not valid JSON"),
            (
                ToolCall("1", "run_tests", "{}"),
                "error: wrong arguments for run_tests: `reflection` is missing",
            ),
            (
                ToolCall("1", "run_tests", "[]"),
                "error: the arguments of run_tests must be a JSON object, not a",
            ),
            (call("edit_file", path="a"), "error: wrong arguments for edit_file: `old` is missing; `new` is"),
            (call("write_file", path="shop/x.py", content=""), "error: shop/x.py is not a test file"),
        ],
    )
    def test_a_wrong_call_is_answered_with_an_error_and_the_loop_goes_on(
        self, run: Run, wrong: ToolCall, answer: str
    ) -> None:
        model = Scripted(calls(wrong), calls(call("view_file", path=SUITE_PATH)), DONE)
        refinement = run(model)
        assert observations(model)[0].startswith(answer)
        assert (refinement.ended, refinement.iterations) == ("finish", 3)

    def test_broken_arguments_go_back_into_the_history_as_valid_json(self, run: Run) -> None:
        model = Scripted(calls(ToolCall("1", "run_tests", '{"refl')), DONE)
        run(model)
        assert model.asked[-1][0][2]["tool_calls"][0]["function"]["arguments"] == "{}"

    def test_a_reply_without_a_call_gets_a_nudge(self, run: Run) -> None:
        model = Scripted(Reply("I am done, I think."), DONE)
        assert run(model).ended == "finish"
        *_, spoken, nudge = model.asked[-1][0]
        assert spoken == {"role": "assistant", "content": "I am done, I think."}
        assert nudge["role"] == "user"
        assert nudge["content"].startswith("That reply called no tool")

    def test_a_reply_cut_off_has_its_calls_answered_but_not_run(self, run: Run) -> None:
        cut = Reply("", (write("broken"), call("run_tests")), "length")
        model = Scripted(cut, DONE)
        run(model)
        assert [answer.split(",")[0] for answer in observations(model)] == [
            "error: the reply was cut off at its length limit"
        ] * 2
        assert run.bench.suite() == GOOD


class TestEnds:
    def test_finish_ends_it_with_the_summary(self, run: Run) -> None:
        refinement = run(Scripted(DONE))
        assert (refinement.ended, refinement.note, refinement.iterations) == ("finish", "done", 1)

    def test_the_bash_command_exit_is_finish_and_not_executed(self, run: Run) -> None:
        refinement = run(Scripted(calls(call("execute_bash", command="exit"))))
        assert refinement.ended == "finish"

    def test_calls_after_finish_in_the_same_reply_are_still_run(self, run: Run) -> None:
        refinement = run(Scripted(calls(call("finish", summary="so"), write(BETTER))))
        assert refinement.best is not None
        assert refinement.best.content == BETTER

    def test_four_replies_without_a_call_in_a_row_end_it(self, run: Run) -> None:
        refinement = run(Scripted(Reply("prose"), forever=True))
        assert (refinement.ended, refinement.iterations) == ("silent", 4)
        assert refinement.note == "4 replies in a row did nothing; the last one called no tool"
        assert refinement.best is not None

    def test_replies_cut_off_again_and_again_end_it(self, run: Run) -> None:
        cut = Reply("", (write("broken"),), "length")
        refinement = run(Scripted(cut, forever=True))
        assert (refinement.ended, refinement.iterations) == ("silent", 4)
        assert refinement.note.endswith("the last one was cut off at its length limit")

    def test_a_call_in_between_makes_the_silence_begin_anew(self, run: Run) -> None:
        talk = Reply("prose")
        look = calls(call("view_file", path=SUITE_PATH))
        assert run(Scripted(talk, talk, look, talk, talk, DONE)).ended == "finish"

    def test_the_limit_of_iterations_ends_it(self, run: Run) -> None:
        replies = [calls(call("view_file", path=SUITE_PATH, first=n)) for n in range(1, 9)]
        refinement = run(Scripted(*replies), iterations=4)
        assert (refinement.ended, refinement.iterations) == ("iterations", 4)

    def test_the_same_call_with_the_same_output_three_times_ends_it(self, run: Run) -> None:
        replies = [
            calls(ToolCall("1", "view_file", f'{{"reflection": "{n}", "path": "{SUITE_PATH}"}}'))
            for n in range(9)
        ]
        refinement = run(Scripted(*replies))
        assert (refinement.ended, refinement.iterations) == ("stuck", 3)
        assert refinement.note == "view_file was called 3 times with the same result"

    def test_calls_repeated_in_turns_end_it_too(self, run: Run) -> None:
        turns = [calls(call("run_tests")), calls(call("coverage_report"))] * 5
        assert run(Scripted(*turns)).ended == "stuck"

    @pytest.mark.slow
    def test_the_same_call_after_a_change_of_the_suite_is_no_repetition(self, run: Run) -> None:
        turns = [calls(write(GOOD + f"# {n}\n"), call("run_tests")) for n in range(4)]
        assert run(Scripted(*turns, DONE)).ended == "finish"

    @pytest.mark.slow
    def test_runs_that_show_nothing_new_end_it_on_a_plateau(self, run: Run) -> None:
        turns = [calls(write(GOOD + f"# {n}\n"), call("run_tests")) for n in range(20)]
        refinement = run(Scripted(*turns), plateau=3)
        assert (refinement.ended, refinement.iterations) == ("plateau", 4)

    def test_looking_around_for_long_is_no_plateau(self, run: Run) -> None:
        looks = [calls(call("execute_bash", command=f"echo {n}")) for n in range(8)]
        turns = [calls(write(GOOD + "# 1\n"), call("run_tests")), DONE]
        assert run(Scripted(*looks, *turns), plateau=3).ended == "finish"

    @pytest.mark.slow
    def test_something_new_makes_the_plateau_begin_anew(self, run: Run) -> None:
        idle = [calls(write(GOOD + f"# {n}\n"), call("run_tests")) for n in range(3)]
        gain = calls(write(BETTER), call("run_tests"))
        more = [calls(write(BETTER + f"# {n}\n"), call("run_tests")) for n in range(3)]
        assert run(Scripted(*idle, gain, *more, DONE), plateau=3).ended == "finish"

    @pytest.mark.slow
    def test_a_new_caught_mutant_alone_is_progress(self, run: Run) -> None:
        idle = [calls(write(GOOD + f"# {n}\n"), call("surviving_mutants")) for n in range(3)]
        sharper = GOOD.replace("discount(10, 3) == 4", "(discount(10, 3), discount(30, 10)) == (4, 10)")
        gain = calls(write(sharper), call("surviving_mutants"))
        more = [calls(write(sharper + f"# {n}\n"), call("run_tests")) for n in range(3)]
        model = Scripted(*idle, gain, *more, DONE)
        assert run(model, plateau=3).ended == "finish", observations(model)

    def test_tokens_past_the_limit_end_it(self, run: Run) -> None:
        look = call("view_file", path=SUITE_PATH)
        reply = Reply("", (look,), "tool_calls", Usage(prompt=700, completion=300))
        refinement = run(Scripted(reply, forever=True), tokens=2000)
        assert (refinement.ended, refinement.usage.prompt) == ("tokens", 1400)

    def test_time_past_the_limit_ends_it_before_a_reply(self, run: Run) -> None:
        assert (run(Scripted(DONE), wall_s=0.0).ended) == "time"

    @pytest.mark.parametrize(
        ("error", "ended"), [(ModelError("no key"), "model"), (BudgetError("no money"), "budget")]
    )
    def test_a_model_that_fails_ends_it_and_what_there_is_stays(
        self, run: Run, error: ModelError, ended: str
    ) -> None:
        refinement = run(Scripted(calls(write(BETTER)), error))
        assert (refinement.ended, refinement.note) == (ended, error.message)
        assert refinement.best is not None
        assert refinement.best.content == BETTER


class TestBest:
    def test_the_last_state_is_verified_by_a_run_at_the_end(self, run: Run) -> None:
        refinement = run(Scripted(calls(write(BETTER)), DONE))
        assert refinement.snapshots[-1].content == BETTER
        assert refinement.snapshots[-1].verified
        assert len(refinement.snapshots[-1].passed) == 3

    def test_a_good_state_is_not_lost_to_a_worse_last_one(self, run: Run) -> None:
        refinement = run(Scripted(calls(write(BETTER), call("run_tests")), calls(write(WRONG)), DONE))
        assert refinement.best is not None
        assert refinement.best.content == BETTER
        assert [each.content for each in refinement.snapshots] == [GOOD, BETTER, WRONG]

    def test_a_last_state_that_does_not_parse_leaves_the_one_before(self, run: Run) -> None:
        refinement = run(Scripted(calls(write("def test_(:\n")), DONE))
        assert refinement.best is not None
        assert refinement.best.content == GOOD
        assert (refinement.snapshots[-1].verified, refinement.snapshots[-1].collected) == (True, False)

    def test_a_suite_that_was_deleted_leaves_the_one_before(self, run: Run) -> None:
        refinement = run(Scripted(calls(call("execute_bash", command=f"rm {SUITE_PATH}")), DONE))
        assert refinement.best is not None
        assert refinement.best.content == GOOD

    def test_more_caught_mutants_win_over_more_tests(self, run: Run) -> None:
        weak = "".join(
            f"def test_discount_{n}():\n    assert discount(10, {n}) is not None\n\n\n" for n in range(4)
        )
        refinement = run(
            Scripted(calls(write(f"from shop.prices import discount\n\n\n{weak}"), call("run_tests")), DONE)
        )
        assert refinement.best is not None
        assert refinement.best.content == GOOD

    def test_a_suite_without_a_passing_test_is_still_told_of(self, run: Run) -> None:
        failing = "from shop.prices import shout\n\n\ndef test_a():\n    assert shout('a') == 'a'\n"
        refinement = run(Scripted(DONE), failing)
        assert refinement.best is not None
        assert refinement.best.content == failing

    def test_nothing_that_can_be_collected_is_no_suite(self, run: Run) -> None:
        refinement = run(Scripted(DONE), "import nothing_of_that_name\n\n\ndef test_a():\n    assert 1\n")
        assert refinement.best is None

    def test_a_change_made_by_a_command_is_a_snapshot_too(self, run: Run) -> None:
        command = f"echo '# more' >> {SUITE_PATH}"
        refinement = run(Scripted(calls(call("execute_bash", command=command)), DONE))
        assert [each.content for each in refinement.snapshots] == [GOOD, GOOD + "# more\n"]
