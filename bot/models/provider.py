"""The built-in model as a provider of LiteLLM: `litellm.completion(model="testforge/offline", ...)` reaches it."""

from __future__ import annotations

from typing import Any

from bot.models.builtin import NAME, PROVIDER, BuiltIn
from bot.models.remote import imported
from bot.models.wire import response_from


def register() -> None:
    """Make LiteLLM know the provider and that it costs nothing; a second call changes nothing."""
    litellm = imported()
    if any(entry["provider"] == PROVIDER for entry in litellm.custom_provider_map):
        return
    litellm.custom_provider_map.append({"provider": PROVIDER, "custom_handler": _handler(litellm)})
    litellm.register_model(
        {
            NAME: {
                "litellm_provider": PROVIDER,
                "mode": "chat",
                "input_cost_per_token": 0.0,
                "output_cost_per_token": 0.0,
                "cache_creation_input_token_cost": 0.0,
                "cache_read_input_token_cost": 0.0,
                "supports_function_calling": True,
            }
        }
    )


def _handler(litellm: Any) -> Any:
    """Return LiteLLM's handler for the provider; the class needs LiteLLM's own as its base, so it is made here."""

    class Offline(litellm.CustomLLM):  # type: ignore[misc]
        def completion(self, messages: list[Any], optional_params: dict[str, Any], **_: Any) -> Any:
            tools = optional_params.get("tools") or ()
            reply = BuiltIn(optional_params.get("seed") or 0).complete(messages, tools)
            return litellm.ModelResponse(**response_from(reply, NAME))

        async def acompletion(self, *arguments: Any, **options: Any) -> Any:
            return self.completion(*arguments, **options)

    return Offline()
