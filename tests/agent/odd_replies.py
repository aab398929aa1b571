"""Replies that no careful model or server gives, and how a run ends in whose middle they come."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from model_server import KEY, MODELS, Raw, Turn, rendered
from prices import GOOD, SUITE_PATH

FORMS = tuple(sorted(MODELS))
RUN = ("run_tests", {"reflection": "r"})
DONE = Turn(None, [("finish", {"reflection": "r", "summary": "done"})])
SEED = Turn(f"```python\n{GOOD}```")


def error(status: int, message: str = "no", **headers: str) -> Raw:
    body = {"error": {"message": message, "type": "error", "code": None}}
    return Raw(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


def calls(*each: tuple[str, Any], **more: Any) -> Turn:
    return Turn(None, each, **more)


def write(path: str, content: str = GOOD) -> Turn:
    return calls(("write_file", {"reflection": "r", "path": path, "content": content}))


@dataclass(frozen=True)
class Case:
    """What a server answers in the middle of a run, and how the run ends.

    Attributes:
        answers: In the middle; afterwards the model behaves, unless `forever`.
        ended: The loop's end.
        replies: What the loop counts as the model's replies; None where forms differ.
        cost_source: Of the odd reply.
        note: Words that say how it ended.
    """

    name: str
    answers: Sequence[Turn | Raw | Callable[[str], Raw]]
    ended: str = "finish"
    forever: bool = False
    forms: tuple[str, ...] = FORMS
    model: Mapping[str, str] = field(default_factory=lambda: MODELS)
    cost_source: str = "provider"
    call_s: float = 60.0
    note: str = ""


def changed(form: str, turn: Turn, change: Callable[[dict[str, Any]], None]) -> Raw:
    body = rendered(form, 1, turn)
    change(body)
    return Raw(body)


def altered(change: Callable[[dict[str, Any]], None], turn: Turn = DONE) -> Callable[[str], Raw]:
    return lambda form: changed(form, turn, change)


def _nothing(body: dict[str, Any]) -> None:
    for key in ("choices", "content", "candidates"):
        if key in body:
            body[key] = []


def _endless_usage(body: dict[str, Any]) -> None:
    counts = body.get("usage") or body["usageMetadata"]
    for key, count in counts.items():
        if isinstance(count, int):
            counts[key] = 10**15


def _with_message(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda body: body["choices"][0]["message"].update(fields)


def _with_choice(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda body: body["choices"][0].update(fields)


LEAK = '<tool_call>\n{"name": "run_tests", "arguments": {"reflection": "r"}}\n</tool_call>'
TOO_LONG = {
    "openai": error(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens.",
    ),
    "anthropic": Raw(
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 210000 tokens > 200000 maximum",
            },
        },
        400,
    ),
    "gemini": Raw(
        {
            "error": {
                "code": 400,
                "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                "status": "INVALID_ARGUMENT",
            }
        },
        400,
    ),
}
BLOCKED = {
    "openai": Raw(
        {
            "error": {
                "message": "Your request was rejected as a result of our safety system.",
                "type": "invalid_request_error",
                "code": "content_policy_violation",
            }
        },
        400,
    ),
    "anthropic": Raw(
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "Output blocked by content filtering policy",
            },
        },
        400,
    ),
    "gemini": Raw(
        {
            "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
            "usageMetadata": {"promptTokenCount": 1_000, "totalTokenCount": 1_000},
            "modelVersion": "gemini-2.5-pro",
        }
    ),
}
PAGE = Raw("<html><body>502 Bad Gateway</body></html>", headers={"Content-Type": "text/html"})
CASES = [
    Case("an empty reply", [Turn(None)]),
    Case("an empty reply for ever", [Turn(None)], "silent", forever=True),
    Case("white space", [Turn(" \n\t ")]),
    Case("prose", [Turn("I think the tests look good.")]),
    Case("prose for ever", [Turn("I think so. " * 2_000)], "silent", forever=True),
    Case("no choices", [altered(_nothing)]),
    Case("no choices for ever", [altered(_nothing)], "silent", forever=True, forms=("openai", "anthropic")),
    Case("a page of HTML", [PAGE]),
    Case("a page of HTML for ever", [PAGE], "model", forever=True),
    Case("cut JSON", [Raw('{"id": "1", "choi')]),
    Case("cut JSON for ever", [Raw('{"id": "1", "choi')], "model", forever=True),
    Case("nothing at all", [Raw("")]),
    Case("null", [Raw("null")]),
    Case("a list", [Raw("[]")]),
    Case("an empty object", [Raw("{}")]),
    Case("invalid UTF-8", [Raw(b'{"a": "\xff\xfe\x80"}')]),
    Case("invalid UTF-8 for ever", [Raw(b"\xff\xfe")], "model", forever=True),
    Case("arguments as a list", [calls(("run_tests", "[1]"))]),
    Case("arguments as a number", [calls(("run_tests", "7"))]),
    Case("arguments as a string", [calls(("run_tests", '"run them"'))]),
    Case("arguments as null", [calls(("run_tests", "null"))]),
    Case("arguments cut", [calls(("write_file", '{"reflection": "r", "path": "tests/te'))]),
    Case("arguments cut for ever", [calls(("write_file", '{"path": "te'))], "stuck", forever=True),
    Case("arguments nested too deeply", [calls(("run_tests", "[" * 50_000))], forms=("openai",)),
    Case("arguments with numbers that are none", [calls(("view_file", '{"first": NaN}'))], forms=("openai",)),
    Case("arguments without a reflection", [calls(("run_tests", {}))]),
    Case("arguments of the wrong types", [calls(("view_file", {"reflection": 1, "path": [], "first": "x"}))]),
    Case("arguments that are not asked for", [calls(("run_tests", {"reflection": "r", "sudo": True}))]),
    Case("a tool that does not exist", [calls(("rm_rf", {"path": "/"}))]),
    Case("a tool without a name", [calls(("", {}))]),
    Case("a tool with an endless name", [calls(("run_" * 10_000, {"reflection": "r"}))]),
    Case("a tool whose name is a path", [calls(("../../bin/sh", {"reflection": "r"}))]),
    Case(
        "50 calls at once",
        [calls(*[("execute_bash", {"reflection": "r", "command": f"echo {n}"}) for n in range(50)])],
    ),
    Case("a call without an id", [calls(RUN, ids=[""])], forms=("openai", "anthropic")),
    Case(
        "calls of one id",
        [calls(RUN, ("coverage_report", {"reflection": "r"}), ids=["a", "a"])],
        forms=("openai", "anthropic"),
    ),
    Case(
        "ids used again in every turn",
        [calls(RUN, ids=["a"]), write(SUITE_PATH + ""), calls(RUN, ids=["a"])],
        forms=("openai", "anthropic"),
    ),
    Case("a leaked call", [Turn(LEAK)]),
    Case(
        "a leaked call in a JSON block",
        [Turn('```json\n{"name": "run_tests", "arguments": {"reflection": "r"}}\n```')],
    ),
    Case("a leaked call cut", [Turn('<tool_call>{"name": "run_te')]),
    Case("a refusal", [Turn("I cannot help with that.", ended="refused")]),
    Case("a refusal for ever", [Turn(None, ended="refused")], "silent", forever=True),
    Case(
        "a refusal in a field of its own",
        [altered(_with_message(content=None, tool_calls=None, refusal="I can't."))],
        forms=("openai",),
    ),
    Case("text cut off", [Turn("I will now wri", ended="length")]),
    Case(
        "a call cut off",
        [calls(("write_file", {"reflection": "r", "path": SUITE_PATH, "content": "impo"}), ended="length")],
    ),
    Case("calls cut off for ever", [calls(RUN, ended="length")], "silent", forever=True),
    Case("10 MB of text", [Turn("word " * 2_000_000)]),
    Case("10 MB in a call", [write(SUITE_PATH, "# x\n" * 2_500_000)]),
    Case("half a surrogate pair", [Turn("\ud83d")]),
    Case("control characters", [Turn("a\0b\x1b[2J\x07")]),
    Case("a path with a null in it", [write("tests/\0.py")]),
    Case("a path out of the repository", [write("../../etc/cron.d/x")]),
    Case("the file under test as the path", [write("shop/prices.py", "def discount(*_): return 4\n")]),
    Case("the same call for ever", [calls(RUN)], "stuck", forever=True),
    Case("exit", [calls(("execute_bash", {"reflection": "r", "command": "exit"}))]),
    Case("a call that the provider could not read", [Turn(None, ended="malformed")], forms=("gemini",)),
    Case(
        "calls that the provider cannot read for ever",
        [Turn(None, ended="malformed")],
        "silent",
        forever=True,
        forms=("gemini",),
    ),
    Case("no reason why it ended", [altered(_with_choice(finish_reason=None))], forms=("openai",)),
    Case(
        "a reason that nobody knows", [altered(_with_choice(finish_reason="moon_phase"))], forms=("openai",)
    ),
    Case(
        "content in parts",
        [altered(_with_message(content=[{"type": "text", "text": "Hi."}]))],
        forms=("openai",),
    ),
    Case("no message", [altered(_with_choice(message=None))], forms=("openai",)),
    Case("tool calls that are text", [altered(_with_message(tool_calls="run_tests()"))], forms=("openai",)),
    Case("429 and when to come again", [error(429, Retry_After="3")]),
    Case("429 and nothing more", [error(429)]),
    Case("429 for ever", [error(429, Retry_After="1")], "model", forever=True),
    Case("500 once", [error(500)]),
    Case("500 twice", [error(500), error(500)], "model"),
    Case("502, then 503", [error(502), error(503)]),
    Case("529", [error(529, "overloaded")]),
    Case("401 in the middle", [error(401, f"Incorrect API key provided: {KEY}")], "model"),
    Case("no credit left", [error(402, "Insufficient credits")], "model", note="no credit left"),
    Case("404 in the middle", [error(404)], "model"),
    Case("the context exceeded", [lambda form: TOO_LONG[form]], "model", note="longer than the model"),
    Case(
        "a request refused by its content",
        [lambda form: BLOCKED[form]],
        "model",
        forms=("openai", "anthropic"),
        note="rules on content",
    ),
    Case("a request blocked by its content", [lambda form: BLOCKED[form]], forms=("gemini",)),
    Case(
        "a request blocked by its content for ever",
        [lambda form: BLOCKED[form]],
        "silent",
        forever=True,
        forms=("gemini",),
    ),
    Case("a connection lost", [Raw(manner="hang-up")]),
    Case(
        "a stream that trickles",
        [Raw(json.dumps({"x": "y" * 9_999}), manner="trickle")],
        "model",
        forever=True,
        call_s=0.4,
    ),
    Case("usage missing", [calls(RUN, usage=False)], cost_source="estimate"),
    Case(
        "usage that cannot be",
        [
            altered(
                lambda body: body.update(usage={"prompt_tokens": -5, "completion_tokens": "many"}), calls(RUN)
            )
        ],
        cost_source="estimate",
        forms=("anthropic",),
    ),
    Case("usage past all bounds", [altered(_endless_usage, calls(RUN))], cost_source="estimate"),
    Case(
        "usage that cannot be read",
        [altered(lambda body: body.update(usage={"prompt_tokens": "many"}), calls(RUN))],
        forms=("openai",),
    ),
    Case(
        "a price that nobody knows",
        [calls(RUN, model="mine")],
        model={"openai": "openai/mine", "anthropic": "anthropic/mine", "gemini": "gemini/mine"},
        cost_source="unknown",
    ),
]
