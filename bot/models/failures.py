"""What a failed call is told as: one sentence that says what to do, without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from bot.errors import ModelError
from bot.models.redaction import Redactor
from bot.models.retry import (
    oversize,
    redirected,
    status_of,
    unconnected,
    unreachable,
    unreadable,
    without_credit,
)
from bot.models.transport import LONGEST_BYTES

MESSAGE_CHARACTERS = 300
LAYERS = re.compile(r"^(?:[\w.]*(?:Error|Exception)\s*[:-]\s*)+")
"""The names of the exceptions through which a message came, which LiteLLM puts before it."""

_ADVICE = re.compile(r"\s*Handle with `litellm[.\w]*`\.?$")
_NO_TOOLS = re.compile(
    r"(?:not|n't|no)\b[^.]{0,60}\b(?:support|enable|allow|take)[^.]{0,40}\b(?:tools?|tool[ _](?:use|calls?|calling|choice)|functions?(?: calling)?)\b"
    r"|\b(?:tools?|tool[ _](?:use|calls?|calling|choice)|functions?(?: calling)?)\b[^.]{0,60}(?:not|n't) (?:be )?(?:supported|enabled|allowed)"
    r"|No endpoints found that support tool use|requires --enable-auto-tool-choice",
    re.IGNORECASE,
)

BLOCKED = frozenset({"content_filter", "content_policy_violation"})
"""What OpenAI and Azure call a request that they do not answer for what it holds; LiteLLM looks at the words alone."""
_PLAINLY_NAMED = frozenset(
    {
        "anthropic",
        "deepseek",
        "gemini",
        "groq",
        "mistral",
        "ollama",
        "ollama_chat",
        "openai",
        "openrouter",
        "xai",
    }
)
"""Providers whose key and address are in `<PROVIDER>_API_KEY` and `<PROVIDER>_API_BASE`."""
_ELSEWHERE = "the environment"
_REFUSING = (400, 404, 405, 422, 501)
"""Statuses with which servers say that they do not do what was asked."""


class CallError(ModelError):
    """A call that gave no reply.

    Attributes:
        cause: The name of the exception behind it.
    """

    def __init__(self, message: str, cause: str = "") -> None:
        super().__init__(message)
        self.cause = cause


class SetupError(CallError):
    """No call to this model can succeed until something is set up: its name, its key, its address, the network."""


class UnreadableError(CallError):
    """What came back is no model's reply."""


class ToolsError(CallError):
    """The server takes no tools with this model."""


class ContextError(CallError):
    """The conversation is longer than the model can read."""


def told(litellm: Any, name: str, error: Exception, redactor: Redactor) -> CallError:
    """Turn a failure into one sentence that says what to do."""
    if isinstance(error, CallError):
        return error
    kind, message = _told(litellm, name, error)
    return kind(redactor.text(message), type(error).__name__)


def missing_keys(litellm: Any, name: str) -> Sequence[str]:
    """Return the variables one of which has to hold the key of a model; none if one does, or none is needed."""
    own = _place(litellm, name, "API_KEY")
    if own in os.environ and not os.environ[own].strip():
        return [own]
    missing = litellm.validate_environment(name).get("missing_keys") or ()
    # LiteLLM lists what is optional too: the address of a server on this machine has a default.
    return [key for key in missing if re.search(r"KEY|TOKEN|SECRET|CREDENTIALS", key)]


def unknown_name(name: str) -> str:
    """Say that there is no such model."""
    return f"There is no model {name!r}; name it as LiteLLM does, such as openai/gpt-4o."


def needs_key(name: str, missing: Sequence[str]) -> str:
    """Say that a key is missing."""
    return f"The model {name} needs a key: set {' or '.join(missing)} in the environment."


def _told(litellm: Any, name: str, error: Exception) -> tuple[type[CallError], str]:
    address = _place(litellm, name, "API_BASE")
    to_set_up = _to_set_up(litellm, name, error, address)
    if to_set_up:
        return SetupError, to_set_up
    status = status_of(error)
    if status in _REFUSING and _NO_TOOLS.search(str(error)):
        return ToolsError, f"The provider of {name} takes no tools with this model."
    if status in (401, 403):
        key = _place(litellm, name, "API_KEY")
        return SetupError, f"The provider of {name} refused the key; set a valid one in {key}."
    if status == 404:
        return (
            SetupError,
            f"The provider does not know the model {name}; check its name, and the address in {address} if you set one.",
        )
    if status == 429:
        return CallError, f"The provider of {name} answered again and again that there are too many requests."
    if (isinstance(error, TimeoutError) or status == 408) and not unconnected(error):
        return CallError, f"The model {name} did not answer in time."
    return _unanswered(litellm, name, error, address)


def _to_set_up(litellm: Any, name: str, error: Exception, address: str) -> str:
    """Return what has to be set up before any call can succeed, whatever status came back; empty if nothing is seen."""
    missing = missing_keys(litellm, name)
    if missing and not isinstance(error, TimeoutError):
        return needs_key(name, missing)
    if "LLM Provider NOT provided" in str(error):
        return unknown_name(name)
    base = os.environ.get(address, "")
    if base and not base.startswith(("http://", "https://")):
        return f"The address in {address} begins with neither http:// nor https://; correct it."
    if redirected(error):
        return (
            f"What answers for {name} sends to another address, to which no key is sent; "
            f"set the right one in {address}."
        )
    if without_credit(error):
        return (
            f"The account at the provider of {name} has no credit left; add some there, or use another model."
        )
    return ""


def _unanswered(litellm: Any, name: str, error: Exception, address: str) -> tuple[type[CallError], str]:
    """Tell a failure whose status says too little: what the request held, the network, what came back."""
    if isinstance(error, litellm.ContextWindowExceededError):
        return (
            ContextError,
            f"The request is longer than the model {name} can read; use a model that reads more, or leave large files out.",
        )
    if isinstance(error, litellm.ContentPolicyViolationError) or _code(error) in BLOCKED:
        return CallError, f"The provider of {name} refused the request by its rules on content."
    if unreachable(error):
        return (
            SetupError,
            f"The provider of {name} cannot be reached; check the network, and the address in {address} if you set one.",
        )
    if oversize(error):
        return (
            UnreadableError,
            f"The provider of {name} answered with more than {LONGEST_BYTES // 2**20} MB, which is no model's reply; "
            f"check the address in {address}.",
        )
    if unreadable(error):
        return (
            UnreadableError,
            f"The provider of {name} answered with something that is no model's reply; "
            f"check the address in {address}.",
        )
    said = " ".join(str(error).split())
    said = _ADVICE.sub("", LAYERS.sub("", said)) or said
    return CallError, f"The model {name} gave no reply: {said[:MESSAGE_CHARACTERS]}"


def _code(error: Exception) -> str:
    """Return the name that a provider gave a failure; empty without one."""
    code = getattr(error, "code", None)
    return code if isinstance(code, str) else ""


def _place(litellm: Any, name: str, what: str) -> str:
    """Return the variable that holds a provider's key or address; of one with other names, where they all are."""
    try:
        provider = str(litellm.get_llm_provider(name)[1])
    except litellm.exceptions.BadRequestError:
        return _ELSEWHERE
    return f"{provider.removesuffix('_chat').upper()}_{what}" if provider in _PLAINLY_NAMED else _ELSEWHERE
