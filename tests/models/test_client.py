"""Models by name, and real calls of LiteLLM to a small server in three forms."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import KEY, MODELS, ModelServer, Raw, Turn, serving

from bot.domain import Usage
from bot.models import Kind, Reply, ToolCall
from bot.models.budget import Budget, BudgetError
from bot.models.client import load
from bot.models.failures import CallError, ContextError, SetupError
from bot.models.redaction import Redactor
from bot.models.remote import Remote
from bot.models.retry import Retry
from bot.models.wire import assistant_message, tool_message

TOOLS = (
    {
        "type": "function",
        "function": {
            "name": "run_tests",
            "description": "Run the suite.",
            "parameters": {"type": "object", "properties": {"reflection": {"type": "string"}}},
        },
    },
)
USER = {"role": "user", "content": "Write tests."}
ASSISTANT = {"role": "assistant", "content": "I do."}
MORE = {"role": "user", "content": "Go on."}


@pytest.fixture(name="server")
def _server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture(name="form", params=sorted(MODELS))
def _form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def remote(name: str = MODELS["openai"], budget: float | None = None, **more: Any) -> Remote:
    retry = Retry(sleep=lambda _: None, chance=random.Random(0))
    return Remote(name, 7, Budget(budget), **{"retry": retry, **more})


def failure(message: str, status: int = 400, **headers: str) -> Raw:
    body = {"error": {"message": message, "type": "error", "code": None}}
    return Raw(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


def test_the_built_in_model_answers_without_importing_litellm() -> None:
    program = """
import sys
import bot.models.offline as offline
from bot.models import Reply
from bot.models.client import load
offline.complete = lambda messages, tools, *, seed: Reply(f"{len(messages)} {len(tools)} {seed}")
print(load("testforge/offline", seed=3, budget_usd=None).complete([{"role": "user", "content": "x"}]).text)
load("openai/gpt-4o", seed=3, budget_usd=None)
print("litellm" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1 0 3\nFalse\n"


@pytest.mark.slow
class TestEveryFormat:
    def test_text_calls_usage_and_cost_are_read(self, server: ModelServer, form: str) -> None:
        server.say(Turn("look", [("run_tests", {"reflection": "r"})]))
        model = remote(MODELS[form])
        reply = model.complete([USER], TOOLS)
        assert (reply.text, reply.finish_reason, reply.kind) == ("look", "tool_calls", Kind.OK)
        assert [(call.name, json.loads(call.arguments)) for call in reply.tool_calls] == [
            ("run_tests", {"reflection": "r"})
        ]
        assert (reply.usage.prompt, reply.usage.completion, reply.usage.cached) == (1000, 100, 400)
        # 600 fresh tokens, 400 read before and 100 written, at each model's prices.
        usd = {"openai": 0.003, "anthropic": 0.00342, "gemini": 0.0018}[form]
        assert reply.usage.cost_usd == pytest.approx(usd)
        assert (model.budget.spent_usd, reply.cost_source) == (pytest.approx(usd), "provider")

    @pytest.mark.parametrize(
        ("turn", "kind"),
        [
            (Turn("half a th", ended="length"), Kind.TRUNCATED),
            (Turn("I cannot", ended="refused"), Kind.REFUSED),
            (Turn(None), Kind.EMPTY),
            (Turn("fine"), Kind.OK),
        ],
    )
    def test_how_a_reply_ended_is_told(self, server: ModelServer, form: str, turn: Turn, kind: Kind) -> None:
        server.say(turn)
        assert remote(MODELS[form]).complete([USER], TOOLS).kind is kind

    def test_a_call_and_its_answer_go_back_as_each_provider_wants_them(
        self, server: ModelServer, form: str
    ) -> None:
        server.say(Turn(None, [("run_tests", {"reflection": "r"})]), Turn("done"))
        model = remote(MODELS[form])
        first = model.complete([USER], TOOLS)
        history = [USER, assistant_message(first), tool_message(first.tool_calls[0], "3 passed")]
        assert model.complete(history, TOOLS).text == "done"
        sent = json.dumps(server.requests[-1])
        assert sent.count("3 passed") == 1
        assert server.requests[-1].get("max_tokens") == 16384 or '"max_output_tokens": 16384' in sent

    def test_a_call_left_in_the_text_is_read_from_there(self, server: ModelServer, form: str) -> None:
        said = 'Let me see. <tool_call>{"name": "run_tests", "arguments": {"reflection": "r"}}</tool_call>'
        server.say(Turn(said))
        reply = remote(MODELS[form]).complete([USER], TOOLS)
        assert (reply.text, reply.leaked) == ("Let me see.", True)
        assert reply.tool_calls == (ToolCall("call_1", "run_tests", '{"reflection": "r"}'),)

    def test_too_many_requests_are_tried_again_after_the_time_asked(
        self, server: ModelServer, form: str
    ) -> None:
        server.say(failure("slow down", 429, Retry_After="2"), Turn("at last"))
        waits: list[float] = []
        reply = remote(MODELS[form], retry=Retry(sleep=waits.append)).complete([USER])
        assert (reply.text, reply.attempts, waits) == ("at last", 2, [2.0])

    @pytest.mark.parametrize("status", [500, 502, 503, 529])
    def test_a_server_error_is_tried_again(self, server: ModelServer, form: str, status: int) -> None:
        server.say(failure("oops", status), Turn("fine"))
        assert remote(MODELS[form]).complete([USER]).text == "fine"

    def test_a_refused_key_is_told_without_the_key(self, server: ModelServer, form: str) -> None:
        server.say(failure(f"Incorrect API key provided: {KEY}", 401))
        with pytest.raises(SetupError, match="refused the key") as caught:
            remote(MODELS[form]).complete([USER])
        assert KEY not in "".join(traceback.format_exception(caught.value))
        assert len(server.requests) == 1

    def test_a_trickling_server_is_left_at_the_time_limit(self, server: ModelServer, form: str) -> None:
        server.say(Raw(json.dumps({"x": "y" * 10_000}), manner="trickle"))
        with pytest.raises(CallError, match="did not answer in time"):
            remote(MODELS[form], call_s=0.4, retry=Retry(attempts=1)).complete([USER])

    def test_without_usage_the_estimate_is_charged(self, server: ModelServer, form: str) -> None:
        server.say(Turn("hello", usage=False))
        model = remote(MODELS[form], budget=1.0)
        reply = model.complete([USER])
        written = 16_384 * {"openai": 10, "anthropic": 15, "gemini": 10}[form] / 1e6
        assert model.budget.spent_usd == pytest.approx(written, abs=0.001)
        assert (reply.cost_source, reply.usage.cost_usd) == ("estimate", model.budget.spent_usd)
        assert reply.usage.prompt > 0

    def test_only_what_the_provider_asks_for_is_marked_for_its_cache(
        self, server: ModelServer, form: str
    ) -> None:
        server.say(Turn("hello"))
        remote(MODELS[form]).complete([{"role": "system", "content": "s"}, USER, ASSISTANT, MORE])
        marks = json.dumps(server.requests[-1]).count("cache_control")
        assert marks == (3 if form == "anthropic" else 0)


@pytest.mark.slow
class TestOverHttp:
    def test_the_request_holds_messages_tools_seed_and_a_length_limit(self, server: ModelServer) -> None:
        server.say(Turn("hello"))
        remote().complete([USER], TOOLS)
        (request,) = server.requests
        assert (request["model"], request["messages"], request["seed"]) == ("gpt-4o", [USER], 7)
        assert request["tools"] == list(TOOLS)
        assert request["max_tokens"] == 16384

    def test_a_history_with_broken_arguments_reaches_the_server_valid(self, server: ModelServer) -> None:
        server.say(Turn("hello"))
        broken = assistant_message(Reply("", (ToolCall("1", "run_tests", "{"),), "tool_calls"))
        remote().complete([USER, broken], TOOLS)
        _, asked, answered = server.requests[0]["messages"]
        assert asked["tool_calls"][0]["function"]["arguments"] == "{}"
        assert (answered["tool_call_id"], answered["role"]) == ("1", "tool")

    def test_a_server_that_hangs_up_is_tried_again(self, server: ModelServer) -> None:
        server.say(*[Raw(manner="hang-up")] * 3, Turn("back"))
        assert remote().complete([USER]).text == "back"

    def test_a_server_that_is_not_there_is_told_to_be_out_of_reach(
        self, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(SetupError, match=r"The provider of openai/gpt-4o cannot be reached; check"):
            remote(options={"api_base": address}).complete([USER])

    def test_a_request_that_is_too_long_is_told_as_such(self, server: ModelServer) -> None:
        body = {
            "message": "This model's maximum context length is 8192 tokens.",
            "code": "context_length_exceeded",
        }
        server.say(Raw({"error": {**body, "type": "invalid_request_error"}}, 400))
        with pytest.raises(ContextError, match="is longer than the model openai/gpt-4o can read"):
            remote().complete([USER])

    def test_what_a_server_says_is_told_without_the_names_of_exceptions(self, server: ModelServer) -> None:
        server.say(failure("the engine\n is down"))
        with pytest.raises(CallError) as caught:
            remote().complete([USER])
        assert caught.value.message == "The model openai/gpt-4o gave no reply: the engine is down"

    def test_a_missing_key_names_the_variable_to_set(
        self, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("OPENAI_API_KEY")
        with pytest.raises(SetupError, match="needs a key: set OPENAI_API_KEY in the environment"):
            remote().complete([USER])
        assert server.requests == []

    def test_an_unknown_model_is_told_by_name(self, server: ModelServer) -> None:
        with pytest.raises(SetupError, match="There is no model 'nobody/nothing'"):
            remote("nobody/nothing").complete([USER])

    def test_a_wrong_request_is_told_and_not_repeated(self, server: ModelServer) -> None:
        server.say(failure("the tools are too many"))
        with pytest.raises(CallError, match=r"gave no reply: .*the tools are too many"):
            remote().complete([USER])
        assert len(server.requests) == 1

    def test_a_call_that_does_not_fit_the_budget_is_never_sent(self, server: ModelServer) -> None:
        with pytest.raises(BudgetError, match=r"budget of \$0\.01"):
            remote(budget=0.01).complete([USER])
        assert server.requests == []

    def test_a_small_budget_makes_replies_shorter_rather_than_none(self, server: ModelServer) -> None:
        server.say(Turn("hello"))
        remote(budget=0.05).complete([USER])
        assert 2_048 <= server.requests[0]["max_tokens"] < 5_000

    def test_a_model_without_a_known_price_is_charged_its_tokens_only(self, server: ModelServer) -> None:
        server.say(Turn("hello", model="local"))
        reply = remote("openai/some-local-model", budget=0.01).complete([USER])
        assert (reply.usage, reply.cost_source) == (Usage(1000, 100, 400, 0.0, is_unpriced=True), "unknown")

    def test_a_configured_price_goes_before_the_list(self, server: ModelServer) -> None:
        server.say(Turn("hello", model="local"))
        reply = remote("openai/some-local-model", configured_price="10,20").complete([USER])
        assert (reply.usage.cost_usd, reply.cost_source) == (pytest.approx(0.012), "configured")

    def test_a_failed_call_gives_back_what_was_set_aside(self, server: ModelServer) -> None:
        server.say(failure("no"))
        model = remote(budget=1.0)
        with pytest.raises(CallError):
            model.complete([USER])
        assert (model.budget.spent_usd, model.budget.reserved_usd) == (0.0, 0.0)

    def test_one_model_answers_call_after_call(self, server: ModelServer) -> None:
        server.say(*(Turn(f"reply {number}") for number in range(3)))
        model = remote()
        assert [model.complete([USER]).text for _ in range(3)] == ["reply 0", "reply 1", "reply 2"]

    def test_secrets_never_leave_in_a_prompt(self, server: ModelServer) -> None:
        server.say(Turn("hello"))
        model = remote(redactor=Redactor(["hunter2-hunter2"]))
        model.complete([{"role": "user", "content": f"hunter2-hunter2 and {KEY} of ours"}])
        assert server.requests[0]["messages"][0]["content"] == "*** and *** of ours"

    def test_no_env_file_is_read(self, server: ModelServer, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("PLANTED=yes\nOPENAI_API_KEY=sk-planted\n", "utf-8")
        program = (
            "import os; from bot.models.remote import imported; imported(); print(os.environ.get('PLANTED'))"
        )
        environment = {**os.environ, "LITELLM_MODE": "DEV"}
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env=environment,
        )
        assert done.stdout == "None\n"


def test_loading_a_model_by_name_keeps_name_and_seed() -> None:
    model = load("openai/gpt-4o", seed=5, budget_usd=2.0)
    assert isinstance(model, Remote)
    assert (model.name, model.seed, model.budget.limit_usd) == ("openai/gpt-4o", 5, 2.0)
