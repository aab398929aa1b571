"""`POST /webhook`: who says so, whether it was said before, and into the database with it; the work is for others."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import time
from typing import Any
from urllib.parse import parse_qs

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from bot.github.events import interpret
from bot.web.intake import Intake
from bot.web.metrics import Metrics
from bot.web.station import Station

LARGEST = 25 * 1024**2
"""Bytes; GitHub sends no larger payloads."""
BODY_S = 30.0
"""How long the body of a delivery may take to arrive."""
_FORM = "application/x-www-form-urlencoded"
"""The other way in which GitHub sends payloads, where an App's owner chose it."""
_LARGE = 512 * 1024
_DELIVERY = re.compile(r"[A-Za-z0-9-]{1,64}")
_EVENT = re.compile(r"[a-z_]{1,64}")


class Webhook:
    """The endpoint."""

    def __init__(self, station: Station, metrics: Metrics) -> None:
        self._station = station
        self._metrics = metrics
        self._intake = Intake(station.submit)

    async def __call__(self, request: Request) -> Response:
        """Answer a delivery: 202 once what it asks for is in the database, or if it asks for nothing."""
        began = time.perf_counter()
        outcome, response = await self._answer(request)
        self._metrics.delivery(outcome, time.perf_counter() - began)
        return response

    async def close(self) -> None:
        """Wait for what is being stored."""
        await self._intake.close()

    async def _answer(self, request: Request) -> tuple[str, Response]:
        secret = self._station.webhook_secret
        if not secret:
            return "refused", _said(503, "This server has no webhook secret yet; it takes nothing.")
        try:
            body = await asyncio.wait_for(_body(request), BODY_S)
        except (ClientDisconnect, TimeoutError):
            return "refused", _said(400, "The body did not arrive.")
        if body is None:
            return "refused", _said(413, "The body is larger than 25 MB.")
        if not is_signed(secret, body, request.headers.get("x-hub-signature-256", "")):
            return "refused", _said(401, "The signature is missing or wrong.")
        event = request.headers.get("x-github-event", "")
        delivery = request.headers.get("x-github-delivery", "")
        if not _EVENT.fullmatch(event) or not _DELIVERY.fullmatch(delivery):
            return "refused", _said(400, "X-GitHub-Event or X-GitHub-Delivery is missing or odd.")
        content_type = request.headers.get("content-type", "")
        if len(body) > _LARGE:  # reading it takes long enough for others to notice
            payload = await run_in_threadpool(_decoded, body, content_type)
        else:
            payload = _decoded(body, content_type)
        if payload is None:
            return "refused", _said(400, "The body is not a JSON object.")
        return await self._taken(event, delivery, payload)

    async def _taken(self, event: str, delivery: str, payload: dict[str, Any]) -> tuple[str, Response]:
        """Store what a payload asks for."""
        log = structlog.get_logger("testforge.webhook").bind(delivery=delivery, event_name=event)
        wish = interpret(event, delivery, payload, bot_login=self._station.bot_login)
        if wish is None:
            return "ignored", _said(202, "Nothing to do.")
        if not self._station.is_ready:
            return "refused", _said(503, "The server is starting or stopping. Deliver this again.")
        try:
            receipt = await self._intake.put(wish)
        except Exception:
            log.exception("a delivery could not be stored", repository=wish.repository, pull=wish.number)
            return "failed", _said(500, "It could not be stored. Deliver this again.")
        log.info(receipt, kind=wish.kind, repository=wish.repository, pull=wish.number)
        return receipt, _said(202, "Stored." if receipt == "accepted" else "It is known already.")


def is_signed(secret: str, body: bytes, signature: str) -> bool:
    """Return whether a signature, as `X-Hub-Signature-256` has it, is that of the body; takes equally long either way."""
    expected = "sha256=" + hmac.digest(secret.encode(), body, "sha256").hex()
    return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "surrogateescape"))


async def _body(request: Request) -> bytes | None:
    """Return the body; None if it is too large, by what it says or by what it is."""
    announced = request.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > LARGEST:
        return None
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > LARGEST:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


def _decoded(body: bytes, content_type: str) -> dict[str, Any] | None:
    """Return the payload, sent as JSON or in a form's field; None if it is no JSON object."""
    kind = content_type.partition(";")[0].strip().lower()
    text: bytes | str = body
    try:
        if kind == _FORM:
            fields = parse_qs(body.decode("utf-8"), strict_parsing=True, max_num_fields=1)
            text = fields["payload"][0]
        elif kind not in ("application/json", ""):
            return None
        payload = json.loads(text)
    except (ValueError, KeyError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _said(status: int, text: str) -> Response:
    return JSONResponse({"message": text}, status_code=status)
