"""Keeping requests where they were sent: a server that answers with another address is not followed.

What LiteLLM's clients send along, its providers' own headers for keys included, would go to whoever is named there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


class RedirectError(Exception):
    """A server named another address."""


def refuse() -> None:
    """Make LiteLLM's transport raise RedirectError at an answer with another address; a second call changes nothing."""
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

    if not getattr(LiteLLMAiohttpTransport.handle_async_request, "stays", False):
        staying = _staying(LiteLLMAiohttpTransport.handle_async_request)
        LiteLLMAiohttpTransport.handle_async_request = staying


def _staying(send: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(send)
    async def handle(transport: Any, request: Any) -> Any:
        response = await send(transport, request)
        if response.has_redirect_location:
            await response.aclose()
            raise RedirectError("it sends to another address")
        return response

    handle.stays = True  # type: ignore[attr-defined]
    return handle
