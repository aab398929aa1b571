"""Which variables of the environment a model needs, by name; their values are never looked at here."""

from __future__ import annotations

from bot.models.builtin import PROVIDER
from bot.models.remote import imported

WITHOUT_KEY = frozenset(["ollama", "ollama_chat", "lm_studio", "llamafile", "vllm", "hosted_vllm", PROVIDER])
"""Providers that run where their user says and ask for no key."""


def missing(model: str) -> tuple[str, ...] | None:
    """Return the names of the variables that a model needs and that are not set; None if LiteLLM does not know it.

    Args:
        model: LiteLLM's name of it, such as `openai/gpt-4o`.
    """
    if model.partition("/")[0] in WITHOUT_KEY:
        return ()
    litellm = imported()
    try:
        litellm.get_llm_provider(model)
    except litellm.exceptions.BadRequestError:
        return None
    return tuple(litellm.validate_environment(model)["missing_keys"])
