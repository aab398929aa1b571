"""Recording a run's calls and giving them back: strictly, without secrets, whatever the order of threads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.domain import Usage
from bot.errors import InconclusiveError, ModelError, UsageError
from bot.models import Message, Reply, ToolCall, ToolSchema, Traits
from bot.models.budget import BudgetError
from bot.models.cassette import FILE, Recorder, Recording
from bot.models.failures import ContextError
from bot.models.redaction import Redactor
from bot.models.replay import Cassette, ReplayError, Replaying

NAME = "openai/fixed"
SECRET = "hunter2-hunter2"
TASK = {"role": "user", "content": "Go."}
TOOL = {"type": "function", "function": {"name": "run_tests", "parameters": {}}}
RICH = Reply(
    "look",
    (ToolCall("1", "run_tests", "{"),),
    "tool_calls",
    Usage(10, 5, 2, 0.25),
    cost_source="provider",
    leaked=True,
    attempts=3,
)


class Fixed:
    name = NAME
    traits = Traits(1000, False)

    def __init__(self, *answers: Reply | Exception) -> None:
        self.answers = list(answers)

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def recording(directory: Path, *answers: Reply | Exception) -> Recording:
    redactor = Redactor([SECRET])
    return Recording(Fixed(*answers), 7, Recorder(directory, redactor), redactor)


def replaying(directory: Path, seed: int = 7, name: str = NAME) -> Replaying:
    return Replaying(name, seed, Cassette(directory), Redactor([SECRET]))


def said(text: str) -> Message:
    return {"role": "user", "content": text}


def test_a_recorded_reply_is_given_back_with_all_it_was(tmp_path: Path) -> None:
    assert recording(tmp_path, RICH).complete((TASK,), (TOOL,)) == RICH
    model = replaying(tmp_path)
    assert model.complete((TASK,), (TOOL,)) == RICH
    assert model.traits == Traits(1000, False)


def test_equal_calls_get_their_replies_in_the_order_recorded(tmp_path: Path) -> None:
    tape = recording(tmp_path, Reply("a"), Reply("other"), Reply("b"))
    for message in (TASK, said("x"), TASK):
        tape.complete((message,))
    model = replaying(tmp_path)
    assert [model.complete((message,)).text for message in (said("x"), TASK, TASK)] == ["other", "a", "b"]


def test_a_recorded_failure_is_raised_again_as_what_it_was(tmp_path: Path) -> None:
    tape = recording(tmp_path, ContextError("Too long.", "X"), BudgetError("No money."))
    for _ in range(2):
        with pytest.raises(ModelError):
            tape.complete((TASK,))
    model = replaying(tmp_path)
    with pytest.raises(ContextError, match="Too long"):
        model.complete((TASK,))
    with pytest.raises(BudgetError, match="No money"):
        model.complete((TASK,))


@pytest.mark.parametrize(
    ("recorded", "now"),
    [
        ("3 passed in 0.42 s", "3 passed in 1.07 s"),
        ("<object at 0x7f00aa11bb22>", "<object at 0x7f99aa11bb22>"),
        ("/tmp/testforge-ab12/head/a.py:3", "/var/tmp/testforge-zz99/head/a.py:3"),
        (f"key {SECRET}", f"key {SECRET}"),
    ],
)
def test_what_differs_from_run_to_run_is_no_difference(tmp_path: Path, recorded: str, now: str) -> None:
    recording(tmp_path, Reply("a")).complete((said(recorded),))
    assert replaying(tmp_path).complete((said(now),)).text == "a"


def test_another_call_is_an_error_that_shows_the_difference(tmp_path: Path) -> None:
    tape = recording(tmp_path, Reply("a"), Reply("b"))
    tape.complete((TASK,))
    tape.complete((TASK, said("one\ntwo\nthree")))
    with pytest.raises(ReplayError, match="asks what the recorded one did not") as caught:
        replaying(tmp_path).complete((TASK, said("one\n2\nthree")))
    assert "-two\n+2" in caught.value.detail
    assert "message 2" in caught.value.detail


@pytest.mark.parametrize(
    ("seed", "name", "tools", "told"),
    [
        (8, NAME, (), "seed: recorded with 7, now 8"),
        (7, "openai/x", (), "model: recorded with openai/fixed, now openai/x"),
        (7, NAME, (TOOL,), "the tools or their descriptions differ"),
    ],
)
def test_another_seed_model_or_set_of_tools_is_told(
    tmp_path: Path, seed: int, name: str, tools: tuple[ToolSchema, ...], told: str
) -> None:
    recording(tmp_path, Reply("a")).complete((TASK,))
    with pytest.raises(ReplayError) as caught:
        replaying(tmp_path, seed, name).complete((TASK,), tools)
    assert caught.value.detail == told


def test_a_call_more_than_recorded_is_an_error(tmp_path: Path) -> None:
    recording(tmp_path, Reply("a")).complete((TASK,))
    model = replaying(tmp_path)
    model.complete((TASK,))
    with pytest.raises(ReplayError, match="more often"):
        model.complete((TASK,))


def test_no_secret_is_in_a_cassette_and_no_message_in_it_twice(tmp_path: Path) -> None:
    tape = recording(tmp_path, Reply(f"it is {SECRET}"), Reply("b"))
    first = said(f"a long message with {SECRET} in it")
    tape.complete((first,))
    tape.complete((first, TASK))
    text = (tmp_path / FILE).read_text("utf-8")
    assert SECRET not in text
    assert text.count("a long message") == 1
    assert json.loads(text.splitlines()[0]) == {"cassette": 1}


def test_a_recording_is_never_overwritten(tmp_path: Path) -> None:
    recording(tmp_path, Reply("a")).complete((TASK,))
    with pytest.raises(UsageError, match="holds a recording already"):
        Recorder(tmp_path, Redactor())


@pytest.mark.parametrize("content", [None, "", "no json", '{"cassette": 1}\n'])
def test_a_directory_without_a_recording_is_wrong_usage(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / FILE).write_text(content, "utf-8")
    with pytest.raises(UsageError, match="holds no record"):
        Cassette(tmp_path)


def test_a_disk_that_takes_no_more_is_told(tmp_path: Path) -> None:
    redactor = Redactor([])
    recorder = Recorder(tmp_path / "tape", redactor)
    (tmp_path / "tape" / FILE).unlink()
    (tmp_path / "tape" / FILE).symlink_to("/dev/full")
    model = Recording(Fixed(Reply("ready")), 0, recorder, redactor)
    with pytest.raises(InconclusiveError, match="could not be continued: No space left"):
        model.complete([TASK])
