"""What only whoever runs it can mend is told at the first call, over HTTP, and the key goes nowhere else."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from model_server import KEY, MODELS, ModelServer, Raw, Turn, serving

from bot.agent.dialogue import Dialogue
from bot.errors import ModelError, UsageError
from bot.models import client
from bot.models.client import greet, load
from bot.models.failures import SetupError

pytestmark = pytest.mark.slow

FORMS = sorted(MODELS)
WORD = ({"role": "user", "content": "hello"},)
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "finish",
            "description": "End.",
            "parameters": {"type": "object", "properties": {"summary": {"type": "string"}}},
        },
    }
]


@pytest.fixture(name="server")
def _server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


def failure(form: str) -> SetupError:
    with pytest.raises(SetupError) as caught:
        load(MODELS[form], seed=0, budget_usd=None).complete(WORD)
    assert KEY not in caught.value.message
    return caught.value


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_redirect_is_not_followed_and_no_other_host_sees_the_key(
    server: ModelServer, form: str, status: int
) -> None:
    with Elsewhere() as other:
        server.say(Raw(b"", status, {"Location": f"{other.root}/v1/chat/completions"}))
        assert "sends to another address" in failure(form).message
        assert other.requests == []
    assert len(server.requests) == 1


class Elsewhere(ModelServer):
    """Another server, to which the environment does not lead."""

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "refusal",
    [
        Raw({"error": {"message": "Insufficient credits", "code": 402}}, 402),
        Raw({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, 429),
        Raw({"error": {"message": "Your credit balance is too low to access the API."}}, 400),
    ],
    ids=["402", "quota", "balance"],
)
def test_an_account_without_credit_is_told_at_once(server: ModelServer, form: str, refusal: Raw) -> None:
    server.afterwards = refusal
    assert "no credit left" in failure(form).message
    assert len(server.requests) == 1


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_key_is_a_missing_one(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv(f"{form.upper()}_API_KEY", " ")
    server.afterwards = Raw({"error": {"message": "no key"}}, 401)
    assert f"needs a key: set {form.upper()}_API_KEY" in failure(form).message


def test_an_address_without_its_scheme_is_told(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, server.base().removeprefix("http://"))
    monkeypatch.setattr("bot.models.retry.Retry.wait_s", lambda *_: 0.0)
    assert "OPENAI_API_BASE begins with neither http:// nor https://" in failure("openai").message


@pytest.mark.parametrize("form", FORMS)
def test_a_network_that_swallows_everything_is_told_after_one_attempt(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):  # the queue holds one more than it says; what comes then is dropped
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        address = f"http://127.0.0.1:{full.getsockname()[1]}"
        for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "ANTHROPIC_API_BASE", "GEMINI_API_BASE"):
            monkeypatch.setenv(name, address)
        monkeypatch.setattr(client, "CHECK_S", 2.0)
        model = load(MODELS[form], seed=0, budget_usd=None)
        waits: list[float] = []
        monkeypatch.setattr("bot.models.retry.Retry.wait_s", lambda *_: waits.append(0.0) or 0.0)
        with pytest.raises(UsageError, match="cannot be reached"):
            greet(model)
    assert waits == []


def test_a_model_that_is_only_slow_at_first_is_not_turned_away(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CHECK_S", 1.0)
    server.say(Raw(manner="stall"), Turn("hello"))
    model = load(MODELS["openai"], seed=0, budget_usd=None)
    assert greet(model).prompt == 0
    server.stalls.set()
    assert model.complete(WORD).text == "hello"


@pytest.mark.parametrize(
    "refusal",
    [
        "registry.ollama.ai/library/tiny does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "Function calling is not enabled for this model",
        "This model does not support function calling",
    ],
)
def test_a_server_that_takes_no_tools_is_talked_to_in_plain_text(server: ModelServer, refusal: str) -> None:
    server.say(Raw({"error": {"message": refusal}}, 400), Turn("All is well.\n\n```finish\ndone\n```"))
    dialogue = Dialogue(load(MODELS["openai"], seed=0, budget_usd=None), "tests/test_a.py")
    reply = dialogue.complete([{"role": "system", "content": "Work."}, *WORD], TOOLS)
    assert [call.name for call in reply.tool_calls] == ["finish"]
    assert ["tools" in request for request in server.requests] == [True, False]


def test_a_fault_in_a_tool_call_does_not_end_tool_calls(server: ModelServer) -> None:
    server.afterwards = Raw({"error": {"message": "tool_use ids were found without tool_result blocks"}}, 400)
    dialogue = Dialogue(load(MODELS["openai"], seed=0, budget_usd=None), "tests/test_a.py")
    with pytest.raises(ModelError):
        dialogue.complete(WORD, TOOLS)
    assert not dialogue.plain
