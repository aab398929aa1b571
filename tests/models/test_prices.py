"""What a model costs and reads, from LiteLLM's list or the operator."""

from __future__ import annotations

from typing import Any

import pytest

from bot.errors import UsageError
from bot.models.prices import UNKNOWN_MAX_TOKENS, UNKNOWN_WINDOW, Price, price_of, read_price

LISTED = {
    "input_cost_per_token": 2e-6,
    "output_cost_per_token": 8e-6,
    "cache_read_input_token_cost": 5e-7,
    "max_input_tokens": 100_000,
    "max_output_tokens": 100_000,
    "supports_function_calling": True,
}


class Lists:
    """As much of LiteLLM as prices need."""

    def __init__(self, **entries: Any) -> None:
        self.model_cost = {name.replace("__", "/"): entry for name, entry in entries.items()}

    def get_model_info(self, name: str) -> Any:
        assert not name.startswith("ollama"), "this would ask a server"
        raise ValueError(name)


def test_a_listed_model_has_its_price_and_limits() -> None:
    price = price_of(Lists(openai__x=LISTED), "openai/x")
    assert price == Price(2e-6, 8e-6, 5e-7, 16_384, 100_000, "list", True)
    assert price.is_known


def test_of_a_model_that_nobody_knows_only_cautious_limits_are_assumed() -> None:
    price = price_of(Lists(), "openai/mine")
    assert (price.is_known, price.max_tokens, price.window) == (False, UNKNOWN_MAX_TOKENS, UNKNOWN_WINDOW)
    assert price.calls_tools is None


def test_a_server_on_this_machine_is_not_asked_for_its_models() -> None:
    assert not price_of(Lists(), "ollama_chat/llama3").is_known


def test_a_listed_model_without_tools_is_known_not_to_call_any() -> None:
    assert price_of(Lists(x={"input_cost_per_token": 1e-6}), "x").calls_tools is False


def test_the_operators_price_goes_before_the_list_and_leaves_its_limits() -> None:
    price = price_of(Lists(openai__x=LISTED), "openai/x", "1,2")
    assert (price.prompt, price.completion, price.source) == (1e-6, 2e-6, "configured")
    assert price.window == 100_000


def test_cached_tokens_cost_their_own_price() -> None:
    assert Price(2.0, 8.0, 0.5).cost(10, 3, cached=4) == 6 * 2.0 + 4 * 0.5 + 3 * 8.0


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "1;2", "9e9,1", "nan,1"])
def test_a_price_that_is_not_two_numbers_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageError, match="TESTFORGE_MODEL_PRICE is"):
        read_price(text)
