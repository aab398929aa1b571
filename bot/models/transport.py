"""How LiteLLM's requests travel: to nobody but who was named, and back with no more than a reply can hold.

LiteLLM's clients would follow a server to another address with what they send along, their providers' own headers for
keys included, and would unpack whatever comes: a small packed answer can be gigabytes of blanks.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import AsyncIterable, Callable
from functools import wraps
from typing import Any

from bot.models.answers import readable

LONGEST_BYTES = 16 * 2**20
"""Of an answer, unpacked; many times what any model writes at once."""
_PLAIN = ("", "identity")
_PACKED = ("gzip", "x-gzip", "deflate")
_EITHER_HEADER = zlib.MAX_WBITS | 32


class RedirectError(Exception):
    """A server named another address."""


class OversizeError(Exception):
    """An answer was longer than any reply."""


def bound() -> None:
    """Make LiteLLM's transport raise RedirectError and OversizeError; a second call changes nothing.

    It has other transports, which these variables of its own ask for; all go through this one, proxies' clients too.
    """
    os.environ["DISABLE_AIOHTTP_TRANSPORT"] = "False"
    os.environ["LITELLM_HTTP2"] = "False"
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

    if not getattr(LiteLLMAiohttpTransport.handle_async_request, "bounded", False):
        bounded = _bounded(LiteLLMAiohttpTransport.handle_async_request)
        LiteLLMAiohttpTransport.handle_async_request = bounded


def _bounded(send: Callable[..., Any]) -> Callable[..., Any]:
    import httpx

    @wraps(send)
    async def handle(transport: Any, request: Any) -> Any:
        request.headers["Accept-Encoding"] = "identity"
        response = await send(transport, request)
        try:
            if response.has_redirect_location:
                raise RedirectError("it sends to another address")
            encoding = response.headers.pop("Content-Encoding", "").strip().lower()
            body = await _unpacked(response.stream, encoding)
        finally:
            await response.aclose()
        content = readable(response.status_code, body)
        response.headers["Content-Length"] = str(len(content))
        return httpx.Response(
            response.status_code, headers=response.headers, content=content, request=request
        )

    handle.bounded = True  # type: ignore[attr-defined]
    return handle


async def _unpacked(stream: AsyncIterable[bytes], encoding: str) -> bytes:
    """Return a whole body, never more of it in memory than a reply can hold."""
    import httpx

    if encoding not in (*_PLAIN, *_PACKED):
        raise httpx.DecodingError("the answer is packed in a way that was not asked for")
    unpacking = zlib.decompressobj(_EITHER_HEADER) if encoding in _PACKED else None
    body = bytearray()
    async for piece in stream:
        if unpacking is not None:
            try:
                piece = unpacking.decompress(piece, LONGEST_BYTES + 1)
            except zlib.error as error:
                raise httpx.DecodingError(f"the answer cannot be unpacked: {error}") from None
        body += piece
        if len(body) > LONGEST_BYTES:
            raise OversizeError(f"it answered with more than {LONGEST_BYTES} bytes")
    return bytes(body)
