"""Any model that LiteLLM reaches. LiteLLM costs seconds to import and is imported with the first reply."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.domain import Usage
from bot.models import Message, Reply, ToolSchema, Traits
from bot.models.budget import Budget
from bot.models.caching import marked
from bot.models.failures import CallError, told
from bot.models.prices import Price, price_of
from bot.models.redaction import Redactor
from bot.models.retry import Retry
from bot.models.transport import bound
from bot.models.waiting import wait_for
from bot.models.wire import reply_from, usage_from, valid_history

CALL_S = 300.0
BYTES_PER_TOKEN = 3.0
"""Fewer than there mostly are (code has 3 to 4; a Chinese sign has 3 and is one), so that what is set aside suffices."""
MARGIN = 1.2
HIDDEN_TOKENS = 20_000
"""What a provider may put before a prompt, tools and a template of its own."""
LEAST_TOKENS = 2_048
"""A reply shorter than that holds no test file; below it the budget is at its end."""


@dataclass(slots=True)
class Remote:
    """A model reached through LiteLLM; several threads may call it at once.

    Attributes:
        call_s: Seconds that one call may take; LiteLLM's own limit counts each read anew and is not enough.
        options: More arguments for LiteLLM, such as `api_base`.
        redactor: Strikes secrets out of what is sent and of what failures are told as.
        configured_price: As `prices.read_price` takes it; None leaves it to LiteLLM's list.
    """

    name: str
    seed: int
    budget: Budget
    retry: Retry = field(default_factory=Retry)
    call_s: float = CALL_S
    options: dict[str, Any] = field(default_factory=dict)
    redactor: Redactor = field(default_factory=Redactor)
    configured_price: str | None = None
    _price: Price | None = None

    @property
    def price(self) -> Price:
        """What the model costs, and its limits."""
        if self._price is None:
            self._price = price_of(imported(), self.name, self.configured_price)
        return self._price

    @property
    def traits(self) -> Traits:
        """How it is talked to; a model that nobody knows is believed to call tools until it shows otherwise."""
        return Traits(self.price.window, self.price.calls_tools is not False)

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        """Return the reply to a conversation.

        Raises:
            BudgetError: It might cost more than is left of the budget.
            CallError: No reply could be had.
        """
        litellm = imported()
        history = self.redactor.data(valid_history(messages))
        call = _Call(history, tools, self.price, self.budget.left_usd)
        self.budget.reserve(call.most_usd)
        reply, failure = None, None
        try:
            reply = self._reply(litellm, call)
        except Exception as error:
            failure = told(litellm, self.name, error, self.redactor)
        finally:
            self.budget.settle(call.most_usd, reply.usage.cost_usd if reply else 0.0)
        if failure is not None:  # raised here, for what LiteLLM's own exception says may hold the key
            raise failure
        assert reply is not None
        return reply

    def _reply(self, litellm: Any, call: _Call) -> Reply:
        attempts = 0

        def request() -> Any:
            nonlocal attempts
            attempts += 1
            return self._request(litellm, call)

        response = self.retry.call(request)
        try:
            data = response.model_dump()
        except Exception as error:  # what a server sent may not be what LiteLLM's own classes allow
            raise CallError(
                f"The model {self.name} gave no reply: it cannot be read.", type(error).__name__
            ) from None
        usage, source = call.charge(data, getattr(response, "_hidden_params", {}).get("response_cost"))
        names = {tool["function"]["name"] for tool in call.tools}
        reply = reply_from(data, tools=names)
        return replace(reply, usage=usage, cost_source=source, attempts=attempts)

    def _request(self, litellm: Any, call: _Call) -> Any:
        arguments: dict[str, Any] = {
            "model": self.name,
            "messages": marked(call.history, _provider(litellm, self.name)),
            "max_tokens": call.max_tokens,
            "seed": self.seed,
            "drop_params": True,
            "timeout": 0.9
            * self.call_s,  # before the outer limit, which cannot tell silence from no connection
            "max_retries": 0,
            "num_retries": 0,
            **self.options,
        }
        if call.tools:
            arguments["tools"] = list(call.tools)
        return wait_for(litellm.acompletion(**arguments), self.call_s)


class _Call:
    """One request, and what it may cost at most.

    Args:
        left_usd: What the budget has left; None without a limit. The reply may be no longer than that pays for.
    """

    def __init__(
        self, history: list[Message], tools: Sequence[ToolSchema], price: Price, left_usd: float | None
    ) -> None:
        self.history = history
        self.tools = tools
        self.price = price
        text = json.dumps([history, list(tools)], ensure_ascii=False)
        self.prompt_tokens = round(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)
        most = min(price.max_tokens, max(LEAST_TOKENS, price.window - self.prompt_tokens))
        prompt_usd = self.prompt_tokens * MARGIN * price.prompt
        if left_usd is not None and price.completion:
            most = min(most, max(LEAST_TOKENS, int((left_usd - prompt_usd) / price.completion)))
        self.max_tokens = most
        self.most_usd = prompt_usd + most * price.completion

    def charge(self, response: dict[str, Any], told_usd: float | None) -> tuple[Usage, str]:
        """Return what a response used and cost, and where the cost comes from, as `Reply.cost_source` says it."""
        usage = usage_from(response.get("usage") or {}, 0.0)
        if not usage.prompt + usage.completion or not self._can_be(usage):
            written = len(json.dumps(response.get("choices") or [], default=str)) / BYTES_PER_TOKEN
            guessed = Usage(self.prompt_tokens, round(written), 0, self.most_usd)
            return guessed, "estimate" if self.price.is_known else "unknown"
        if self.price.source == "configured":
            cost, source = self.price.cost(usage.prompt, usage.completion, usage.cached), "configured"
        elif told_usd or self.price.is_known:
            cost, source = float(told_usd or 0.0), "provider" if told_usd else ""
        else:
            cost, source = 0.0, "unknown"
        unpriced = source == "unknown"
        return Usage(usage.prompt, usage.completion, usage.cached, cost, unpriced), source

    def _can_be(self, usage: Usage) -> bool:
        """Whether a server can have used so much: no token is less than a byte, and no reply much longer than asked."""
        most_prompt = self.prompt_tokens * BYTES_PER_TOKEN * MARGIN + HIDDEN_TOKENS
        return usage.prompt <= most_prompt and usage.completion <= 4 * self.max_tokens


def imported() -> Any:
    """Import LiteLLM: no price list from the network, no `.env` of somebody else's, no telemetry, no printing."""
    os.environ["LITELLM_OFFLINE_MODE"] = "true"
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # otherwise it loads a `.env` from above its own files
    import litellm

    # Its classes for Google's answers make pydantic warn of itself, which is no concern of who runs this.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"pydantic\.")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    bound()
    return litellm


def _provider(litellm: Any, name: str) -> str:
    """Return a model's provider; raises what LiteLLM raises for a name that has none."""
    return str(litellm.get_llm_provider(name)[1])
