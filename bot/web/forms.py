"""What a browser sends with a form: small, and read without believing it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request

_LARGEST = 64 * 1024
_MOST = 20


async def fields(request: Request) -> Mapping[str, str]:
    """Return the fields of a form; empty if it is too large or no form."""
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > _LARGEST:
            return {}
        chunks.append(chunk)
    try:
        return dict(parse_qsl(b"".join(chunks).decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST))
    except ValueError:
        return {}
