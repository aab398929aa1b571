"""Models by name, and real calls of LiteLLM to a small server of the OpenAI kind."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from bot.domain import Usage
from bot.errors import ModelError
from bot.models import Reply, ToolCall
from bot.models.budget import Budget, BudgetError
from bot.models.client import load
from bot.models.remote import Remote
from bot.models.retry import Retry

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
HANGS_UP = -1
USER = {"role": "user", "content": "Write tests."}


class Server:
    """Answers chat completions from a list of (status, headers, body) and keeps what it was sent."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], dict[str, Any] | str]] = []
        self.requests: list[dict[str, Any]] = []
        self.stalls = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                server.requests.append(json.loads(self.rfile.read(length)))
                status, headers, body = server.answers.pop(0)
                if status == HANGS_UP:
                    return
                if status == 0:
                    server.stalls.wait(20)
                    return
                content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def answer(self, status: int, body: dict[str, Any] | str, **headers: str) -> None:
        self.answers.append((status, {key.replace("_", "-"): value for key, value in headers.items()}, body))

    def close(self) -> None:
        self.stalls.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture(name="server")
def _server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-a-test")
    server = Server()
    yield server
    server.close()


def remote(server: Server, name: str = "openai/gpt-4o", budget: float | None = None, **more: Any) -> Remote:
    retry = Retry(sleep=lambda _: None, chance=random.Random(0))
    return Remote(name, 7, Budget(budget), retry, options={"api_base": server.base}, **more)


def completion(text: str | None = "hello", usage: bool = True, **message: Any) -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, **message},
        "finish_reason": "tool_calls" if message else "stop",
    }
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-2024-08-06",
        "choices": [choice],
    }
    if usage:
        details = {"cached_tokens": 400}
        body["usage"] = {
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "total_tokens": 1100,
            "prompt_tokens_details": details,
        }
    return body


def failure(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "error", "code": None}}


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


def test_a_budget_is_set_aside_before_and_settled_after() -> None:
    budget = Budget(1.0)
    budget.reserve(0.6)
    with pytest.raises(BudgetError, match=r"may cost \$0\.5000.*budget of \$1\.00.*raise --budget"):
        budget.reserve(0.5)
    budget.settle(0.6, 0.1)
    budget.reserve(0.5)
    assert (budget.spent_usd, budget.reserved_usd) == (0.1, 0.5)


def test_without_a_limit_everything_fits() -> None:
    budget = Budget(None)
    budget.reserve(1e9)
    assert budget.reserved_usd == 1e9


@pytest.mark.slow
class TestOverHttp:
    def test_tool_calls_usage_and_cost_are_read(self, server: Server) -> None:
        row = {"id": "call_9", "type": "function", "function": {"name": "run_tests", "arguments": "{}"}}
        server.answer(200, completion(None, tool_calls=[row]))
        model = remote(server)
        reply = model.complete([USER], TOOLS)
        assert reply.tool_calls == (ToolCall("call_9", "run_tests", "{}"),)
        assert reply.finish_reason == "tool_calls"
        # 600 fresh tokens at $2.50 a million, 400 cached at $1.25, 100 written at $10.
        assert reply.usage.cost_usd == pytest.approx(0.003)
        assert (reply.usage.prompt, reply.usage.completion, reply.usage.cached) == (1000, 100, 400)
        assert model.budget.spent_usd == pytest.approx(0.003)

    def test_the_request_holds_messages_tools_seed_and_a_length_limit(self, server: Server) -> None:
        server.answer(200, completion())
        remote(server).complete([USER], TOOLS)
        (request,) = server.requests
        assert (request["model"], request["messages"], request["seed"]) == ("gpt-4o", [USER], 7)
        assert request["tools"] == list(TOOLS)
        assert request["max_tokens"] == 16384

    def test_a_history_with_broken_arguments_reaches_the_server_valid(self, server: Server) -> None:
        from bot.models.wire import assistant_message

        server.answer(200, completion())
        broken = assistant_message(Reply("", (ToolCall("1", "run_tests", "{"),), "tool_calls"))
        remote(server).complete([USER, broken], TOOLS)
        _, asked, answered = server.requests[0]["messages"]
        assert asked["tool_calls"][0]["function"]["arguments"] == "{}"
        assert (answered["tool_call_id"], answered["role"]) == ("1", "tool")

    def test_too_many_requests_are_tried_again_after_the_time_asked(self, server: Server) -> None:
        server.answer(429, failure("slow down"), Retry_After="0")
        server.answer(200, completion("at last"))
        waits: list[float] = []
        model = remote(server)
        model.retry = Retry(sleep=waits.append)
        assert model.complete([USER]).text == "at last"
        assert waits == [0.0]

    def test_a_server_error_is_tried_again(self, server: Server) -> None:
        server.answer(500, failure("oops"))
        server.answer(200, completion("fine"))
        assert remote(server).complete([USER]).text == "fine"

    def test_a_server_that_hangs_up_is_tried_again(self, server: Server) -> None:
        for _ in range(3):
            server.answer(HANGS_UP, "")
        server.answer(200, completion("back"))
        assert remote(server).complete([USER]).text == "back"

    def test_a_server_that_is_not_there_is_told_to_be_out_of_reach(self, server: Server) -> None:
        model = remote(server)
        server.close()
        with pytest.raises(ModelError, match="The provider of openai/gpt-4o cannot be reached; check"):
            model.complete([USER])

    def test_a_request_that_is_too_long_is_told_as_such(self, server: Server) -> None:
        body = {
            "message": "This model's maximum context length is 8192 tokens.",
            "code": "context_length_exceeded",
        }
        server.answer(400, {"error": {**body, "type": "invalid_request_error"}})
        with pytest.raises(ModelError, match="is longer than the model openai/gpt-4o can read"):
            remote(server).complete([USER])

    def test_what_a_server_says_is_told_without_the_names_of_exceptions(self, server: Server) -> None:
        server.answer(400, failure("the engine\n is down"))
        with pytest.raises(ModelError) as caught:
            remote(server).complete([USER])
        assert caught.value.message == "The model openai/gpt-4o gave no reply: the engine is down"

    def test_a_refused_key_is_told_without_the_key(self, server: Server) -> None:
        server.answer(401, failure("Incorrect API key provided: sk-for-a-test"))
        with pytest.raises(ModelError, match="refused the key") as caught:
            remote(server).complete([USER])
        assert "sk-for-a-test" not in caught.value.message
        assert len(server.requests) == 1

    def test_a_missing_key_names_the_variable_to_set(
        self, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("OPENAI_API_KEY")
        with pytest.raises(ModelError, match="needs a key: set OPENAI_API_KEY in the environment"):
            remote(server).complete([USER])
        assert server.requests == []

    def test_an_unknown_model_is_told_by_name(self, server: Server) -> None:
        with pytest.raises(ModelError, match="There is no model 'nobody/nothing'"):
            remote(server, "nobody/nothing").complete([USER])

    def test_a_wrong_request_is_told_and_not_repeated(self, server: Server) -> None:
        server.answer(400, failure("the tools are too many"))
        with pytest.raises(ModelError, match=r"gave no reply: .*the tools are too many"):
            remote(server).complete([USER])
        assert len(server.requests) == 1

    def test_a_page_of_html_is_a_model_error(self, server: Server) -> None:
        for _ in range(4):
            server.answer(200, "<html>proxy</html>", Content_Type="text/html")
        with pytest.raises(ModelError):
            remote(server).complete([USER])

    def test_a_response_without_choices_is_an_empty_reply(self, server: Server) -> None:
        server.answer(200, {**completion(), "choices": []})
        assert remote(server).complete([USER]).text == ""

    def test_a_server_that_never_ends_is_left_at_the_time_limit(self, server: Server) -> None:
        server.answer(0, "")
        model = remote(server, call_s=0.5)
        model.retry = Retry(attempts=1)
        with pytest.raises(ModelError, match="did not answer in time"):
            model.complete([USER])

    def test_a_call_that_does_not_fit_the_budget_is_never_sent(self, server: Server) -> None:
        with pytest.raises(BudgetError, match=r"budget of \$0\.01"):
            remote(server, budget=0.01).complete([USER])
        assert server.requests == []

    def test_without_usage_the_estimate_is_charged(self, server: Server) -> None:
        server.answer(200, completion(usage=False))
        model = remote(server, budget=1.0)
        model.complete([USER])
        # 16,384 tokens written at $10 a million, and the prompt.
        assert model.budget.spent_usd == pytest.approx(0.1639, abs=0.001)

    def test_a_model_without_a_known_price_is_charged_its_tokens_only(self, server: Server) -> None:
        server.answer(200, {**completion(), "model": "local"})
        reply = remote(server, "openai/some-local-model", budget=0.01).complete([USER])
        assert reply.usage == Usage(1000, 100, 400, 0.0)

    def test_a_failed_call_gives_back_what_was_set_aside(self, server: Server) -> None:
        server.answer(400, failure("no"))
        model = remote(server, budget=1.0)
        with pytest.raises(ModelError):
            model.complete([USER])
        assert (model.budget.spent_usd, model.budget.reserved_usd) == (0.0, 0.0)

    def test_one_model_answers_call_after_call(self, server: Server) -> None:
        for number in range(3):
            server.answer(200, completion(f"reply {number}"))
        model = remote(server)
        assert [model.complete([USER]).text for _ in range(3)] == ["reply 0", "reply 1", "reply 2"]


def test_loading_a_model_by_name_keeps_name_and_seed() -> None:
    model = load("openai/gpt-4o", seed=5, budget_usd=2.0)
    assert isinstance(model, Remote)
    assert (model.name, model.seed, model.budget.limit_usd) == ("openai/gpt-4o", 5, 2.0)
