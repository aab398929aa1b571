"""What a model costs and how much it reads and writes, as LiteLLM's own list or the operator has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.errors import UsageError

MAX_TOKENS = 16_384
UNKNOWN_MAX_TOKENS = 8_192
UNKNOWN_WINDOW = 32_768
_ASKS_A_SERVER = ("ollama/", "ollama_chat/")


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs in USD a token, and its limits in tokens; zeros where nobody knows the price.

    Attributes:
        cached: For a token of the prompt that the provider has read before.
        max_tokens: What one reply may hold.
        window: What prompt and reply together may hold.
        source: Who says so: `list` (LiteLLM's), `configured` (the operator) or `unknown`.
        calls_tools: Whether it can call tools; None if nobody knows.
    """

    prompt: float = 0.0
    completion: float = 0.0
    cached: float = 0.0
    max_tokens: int = UNKNOWN_MAX_TOKENS
    window: int = UNKNOWN_WINDOW
    source: str = "unknown"
    calls_tools: bool | None = None

    @property
    def is_known(self) -> bool:
        """Whether USD can be counted."""
        return self.source != "unknown"

    def cost(self, prompt: int, completion: int, cached: int = 0) -> float:
        """Return what so many tokens cost, in USD; `cached` of those of the prompt were read before."""
        return (prompt - cached) * self.prompt + cached * self.cached + completion * self.completion


def price_of(litellm: Any, name: str, configured: str | None = None) -> Price:
    """Return what is known of a model.

    Args:
        configured: The operator's price, as `read_price` takes it; it goes before the list.
    """
    info = _listed(litellm, name)
    price = Price()
    if info:
        prompt = info.get("input_cost_per_token") or 0.0
        cached = info.get("cache_read_input_token_cost")
        price = Price(
            prompt,
            info.get("output_cost_per_token") or 0.0,
            prompt if cached is None else cached,
            min(MAX_TOKENS, info.get("max_output_tokens") or UNKNOWN_MAX_TOKENS),
            info.get("max_input_tokens") or UNKNOWN_WINDOW,
            "list",
            bool(info.get("supports_function_calling")),
        )
    if configured is None:
        return price
    prompt, completion = read_price(configured)
    limits = (price.max_tokens, price.window, "configured", price.calls_tools)
    return Price(prompt, completion, prompt, *limits)


def read_price(text: str) -> tuple[float, float]:
    """Return a price written as `2.50,10`, in USD for a million tokens of prompt and of reply, in USD a token.

    Raises:
        UsageError: It is not two numbers.
    """
    try:
        prompt, completion = (float(part) / 1e6 for part in text.split(","))
        if not (0 <= prompt < 1 and 0 <= completion < 1):
            raise ValueError
    except ValueError:
        raise UsageError(
            f"The environment variable TESTFORGE_MODEL_PRICE is {text!r}; "
            "it is two numbers, such as 2.50,10: USD for a million tokens of prompt and of reply."
        ) from None
    return prompt, completion


def _listed(litellm: Any, name: str) -> dict[str, Any]:
    """Return LiteLLM's entry for a model; empty without one. Servers on this machine are not asked for theirs."""
    entry = litellm.model_cost.get(name)
    if entry is None and not name.startswith(_ASKS_A_SERVER):
        try:
            entry = litellm.get_model_info(name)
        except Exception:  # an unknown name raises a bare Exception
            entry = None
    return dict(entry or {})
