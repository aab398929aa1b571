"""The built-in model through LiteLLM itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

import bot.models.offline
from bot.domain import Usage
from bot.models import Message, Reply, ToolCall, ToolSchema
from bot.models.budget import Budget
from bot.models.provider import register
from bot.models.remote import Remote, imported

pytestmark = pytest.mark.slow

USER = {"role": "user", "content": "Improve the suite."}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "run_tests",
            "description": "Run the suite.",
            "parameters": {"type": "object", "properties": {"reflection": {"type": "string"}}},
        },
    }
]


@pytest.fixture(name="litellm")
def _litellm(monkeypatch: pytest.MonkeyPatch) -> Any:
    """LiteLLM with the provider registered, over a built-in model that says what it was asked."""

    def complete(messages: Sequence[Message], tools: Sequence[ToolSchema], *, seed: int = 0) -> Reply:
        text = f"{messages[-1]['content']} {tools[0]['function']['name']} seed {seed}"
        return Reply(
            text, (ToolCall("c1", "run_tests", '{"reflection": "r"}'),), "tool_calls", Usage(10, 5, 2)
        )

    monkeypatch.setattr(bot.models.offline, "complete", complete, raising=False)
    register()
    return imported()


def test_a_completion_has_text_tool_calls_usage_and_no_cost(litellm: Any) -> None:
    response = litellm.completion(model="testforge/offline", messages=[USER], tools=TOOLS, seed=4)
    choice = response.choices[0]
    assert choice.message.content == "Improve the suite. run_tests seed 4"
    assert choice.message.tool_calls[0].id == "c1"
    assert choice.message.tool_calls[0].function.name == "run_tests"
    assert choice.message.tool_calls[0].function.arguments == '{"reflection": "r"}'
    assert choice.finish_reason == "tool_calls"
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (10, 5)
    assert response._hidden_params["response_cost"] == 0.0


def test_an_asynchronous_completion_is_the_same(litellm: Any) -> None:
    call = litellm.acompletion(model="testforge/offline", messages=[USER], tools=TOOLS, seed=4)
    assert asyncio.run(call).choices[0].message.content == "Improve the suite. run_tests seed 4"


def test_registering_twice_changes_nothing(litellm: Any) -> None:
    register()
    assert [entry["provider"] for entry in litellm.custom_provider_map].count("testforge") == 1


def test_the_client_reads_the_same_reply_through_litellm_as_directly(litellm: Any) -> None:
    through = Remote("testforge/offline", 4, Budget(1.0)).complete([USER], TOOLS)
    from bot.models.client import load

    direct = load("testforge/offline", seed=4, budget_usd=1.0).complete([USER], TOOLS)
    assert through == direct
