"""Any model that LiteLLM reaches. LiteLLM costs seconds to import and is imported with the first reply."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.errors import ModelError
from bot.models import Message, Reply, ToolSchema
from bot.models.budget import Budget
from bot.models.retry import Retry, status_of, unreachable
from bot.models.waiting import wait_for
from bot.models.wire import reply_from, valid_history

MAX_TOKENS = 16_384
UNKNOWN_MAX_TOKENS = 8_192
CALL_S = 300.0
CHARACTERS_PER_TOKEN = 3.0
MARGIN = 1.2
MESSAGE_CHARACTERS = 300
LAYERS = re.compile(r"^(?:[\w.]*(?:Error|Exception)\s*[:-]\s*)+")
"""The names of the exceptions through which a message came, which LiteLLM puts before it."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs in USD a token, and how many tokens it writes at most; zeros where nobody knows."""

    prompt: float = 0.0
    completion: float = 0.0
    max_tokens: int = UNKNOWN_MAX_TOKENS


@dataclass(slots=True)
class Remote:
    """A model reached through LiteLLM.

    Attributes:
        call_s: Seconds that one call may take; LiteLLM's own limit counts each read anew and is not enough.
        options: More arguments for LiteLLM, such as `api_base`.
    """

    name: str
    seed: int
    budget: Budget
    retry: Retry = field(default_factory=Retry)
    call_s: float = CALL_S
    options: dict[str, Any] = field(default_factory=dict)

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        """Return the reply to a conversation.

        Raises:
            BudgetError: It might cost more than is left of the budget.
            ModelError: No reply could be had.
        """
        litellm = imported()
        history = valid_history(messages)
        price = price_of(litellm, self.name)
        estimate = _estimate(history, tools, price)
        self.budget.reserve(estimate)
        cost = 0.0
        try:
            response = self.retry.call(lambda: self._request(litellm, history, tools, price.max_tokens))
            cost = _cost(response, estimate)
        except Exception as error:
            raise told(litellm, self.name, error) from error
        finally:
            self.budget.settle(estimate, cost)
        return reply_from(response.model_dump(), cost)

    def _request(
        self, litellm: Any, history: Sequence[Message], tools: Sequence[ToolSchema], max_tokens: int
    ) -> Any:
        arguments: dict[str, Any] = {
            "model": self.name,
            "messages": list(history),
            "max_tokens": max_tokens,
            "seed": self.seed,
            "drop_params": True,
            "timeout": self.call_s,
            "max_retries": 0,
            "num_retries": 0,
            **self.options,
        }
        if tools:
            arguments["tools"] = list(tools)
        return wait_for(litellm.acompletion(**arguments), self.call_s)


def imported() -> Any:
    """Import LiteLLM: no price list from the network, no `.env` of somebody else's, no telemetry, no printing."""
    os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    return litellm


def price_of(litellm: Any, name: str) -> Price:
    """Return what LiteLLM's own list says of a model."""
    try:
        info = litellm.get_model_info(name)
    except Exception:  # an unknown name raises a bare Exception
        return Price()
    return Price(
        prompt=info.get("input_cost_per_token") or 0.0,
        completion=info.get("output_cost_per_token") or 0.0,
        max_tokens=min(MAX_TOKENS, info.get("max_output_tokens") or UNKNOWN_MAX_TOKENS),
    )


def told(litellm: Any, name: str, error: Exception) -> ModelError:
    """Turn a failure into one sentence that says what to do."""
    missing = litellm.validate_environment(name).get("missing_keys")
    if missing and not isinstance(error, TimeoutError):
        return ModelError(f"The model {name} needs a key: set {' and '.join(missing)} in the environment.")
    status = status_of(error)
    if "LLM Provider NOT provided" in str(error):
        return ModelError(f"There is no model {name!r}; name it as LiteLLM does, such as openai/gpt-4o.")
    if status in (401, 403):
        return ModelError(f"The provider of {name} refused the key; set a valid one in the environment.")
    if status == 404:
        return ModelError(f"The provider does not know the model {name}; check its name.")
    if status == 429:
        return ModelError(
            f"The provider of {name} answered again and again that there are too many requests."
        )
    if isinstance(error, TimeoutError) or status == 408:
        return ModelError(f"The model {name} did not answer in time.")
    if isinstance(error, litellm.ContextWindowExceededError):
        return ModelError(
            f"The request is longer than the model {name} can read; use a model that reads more, or leave large files out."
        )
    if unreachable(error):
        return ModelError(
            f"The provider of {name} cannot be reached; check the network and the address in the environment."
        )
    said = " ".join(str(error).split())
    said = LAYERS.sub("", said) or said
    return ModelError(f"The model {name} gave no reply: {said[:MESSAGE_CHARACTERS]}")


def _estimate(history: Sequence[Message], tools: Sequence[ToolSchema], price: Price) -> float:
    """Return what a call may cost at most, in USD."""
    prompt = len(json.dumps([list(history), list(tools)])) / CHARACTERS_PER_TOKEN
    return prompt * MARGIN * price.prompt + price.max_tokens * price.completion


def _cost(response: Any, estimate: float) -> float:
    """Return what a call did cost, in USD; what was set aside where the response does not say what it used."""
    cost = getattr(response, "_hidden_params", {}).get("response_cost")
    usage = getattr(response, "usage", None)
    if cost is None or not getattr(usage, "total_tokens", 0):
        return estimate
    return float(cost)
