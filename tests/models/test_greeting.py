"""What is wrong with a model's name, key, address or network is found before any work, and told with what to set."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import KEY, MODELS, ModelServer, Raw, Turn, serving

from bot.domain import Usage
from bot.errors import UsageError
from bot.models.client import Tapes, check, greet, load

PAGE = Raw("<html><title>Sign in</title></html>", headers={"Content-Type": "text/html"})
REFUSED = Raw({"error": {"message": f"bad key {KEY}", "type": "x", "code": None}}, 401)


@pytest.fixture(name="server")
def _server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


def test_the_built_in_model_needs_nothing() -> None:
    assert check("testforge/offline") == []
    assert greet(load("testforge/offline", seed=0, budget_usd=None)) == Usage()


@pytest.mark.slow
class TestOverHttp:
    @pytest.mark.parametrize("form", sorted(MODELS))
    def test_a_model_that_answers_needs_nothing(self, server: ModelServer, form: str) -> None:
        server.say(Turn("ready"))
        assert check(MODELS[form]) == []

    @pytest.mark.parametrize("name", ["gpt-99", "nobody/nothing", "x"])
    def test_an_unknown_model_is_found_without_a_call(self, server: ModelServer, name: str) -> None:
        assert check(name) == [f"There is no model {name!r}; name it as LiteLLM does, such as openai/gpt-4o."]
        assert server.requests == []

    @pytest.mark.parametrize(
        ("form", "keys"),
        [
            ("openai", "OPENAI_API_KEY"),
            ("anthropic", "ANTHROPIC_API_KEY"),
            ("gemini", "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ],
    )
    def test_a_missing_key_is_named_without_a_call(
        self, server: ModelServer, monkeypatch: pytest.MonkeyPatch, form: str, keys: str
    ) -> None:
        for key in keys.split(" or "):
            monkeypatch.delenv(key, raising=False)
        assert check(MODELS[form]) == [
            f"The model {MODELS[form]} needs a key: set {keys} in the environment."
        ]
        assert server.requests == []

    @pytest.mark.parametrize("form", sorted(MODELS))
    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            (REFUSED, "refused the key; set a valid one in {}_API_KEY."),
            (
                Raw({"error": {"message": "no such model"}}, 404),
                "check its name, and the address in {}_API_BASE if you set one.",
            ),
            (PAGE, "answered with something that is no model's reply; check the address in {}_API_BASE."),
        ],
        ids=["key", "model", "page"],
    )
    def test_what_has_to_be_set_up_is_told(
        self, server: ModelServer, form: str, answer: Raw, told: str
    ) -> None:
        server.say(answer)
        (problem,) = check(MODELS[form])
        assert told.format(form.upper()) in problem
        assert KEY not in problem

    @pytest.mark.parametrize("form", sorted(MODELS))
    def test_an_address_where_nobody_listens_is_told(
        self, server: ModelServer, monkeypatch: pytest.MonkeyPatch, form: str
    ) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "ANTHROPIC_API_BASE", "GEMINI_API_BASE"):
            monkeypatch.setenv(name, address)
        (problem,) = check(MODELS[form])
        told = f"cannot be reached; check the network, and the address in {form.upper()}_API_BASE if you set one."
        assert told in problem

    def test_a_greeting_is_traced_recorded_and_paid_for(self, server: ModelServer, tmp_path: Path) -> None:
        server.say(Turn("ready"))
        model = load(MODELS["openai"], seed=0, budget_usd=None, tapes=Tapes(record=tmp_path))
        assert greet(model).cost_usd == pytest.approx(0.003)
        (line,) = (tmp_path / "trace.jsonl").read_text("utf-8").splitlines()
        assert json.loads(line)["cost_usd"] == pytest.approx(0.003)
        again = load(MODELS["openai"], seed=0, budget_usd=None, tapes=Tapes(replay=tmp_path))
        assert greet(again).cost_usd == pytest.approx(0.003)
        assert len(server.requests) == 1

    def test_what_has_to_be_set_up_ends_a_run_as_wrong_usage(self, server: ModelServer) -> None:
        server.say(REFUSED)
        with pytest.raises(UsageError, match="refused the key"):
            greet(load(MODELS["openai"], seed=0, budget_usd=None))

    def test_what_may_pass_is_left_to_the_run(self, server: ModelServer) -> None:
        server.say(*[Raw({"error": {"message": "out of order"}}, 500)] * 2)
        assert greet(load(MODELS["openai"], seed=0, budget_usd=None)) == Usage()

    def test_a_budget_too_small_for_one_call_is_left_to_the_run(self, server: ModelServer) -> None:
        assert greet(load(MODELS["openai"], seed=0, budget_usd=0.0001)) == Usage()
        assert server.requests == []


def test_a_price_that_cannot_be_read_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTFORGE_MODEL_PRICE", "cheap")
    with pytest.raises(UsageError, match="TESTFORGE_MODEL_PRICE is 'cheap'; it is two numbers"):
        load("openai/gpt-4o", seed=0, budget_usd=None)
