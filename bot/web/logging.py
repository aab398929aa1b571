"""Logs: lines for a person on a terminal, JSON elsewhere, and never a secret in them."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping, Sequence
from typing import Any, TextIO

import structlog

from bot.models.redaction import redact

Event = MutableMapping[str, Any]
_DEEPEST = 6


class Redaction:
    """A processor that takes secrets out of every text of an event: what looks like one, and these very ones.

    Args:
        secrets: Texts that must never be written, such as the webhook's secret.
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._secrets = tuple(
            sorted((secret for secret in secrets if len(secret) >= 6), key=len, reverse=True)
        )

    def __call__(self, _logger: object, _method: str, event: Event) -> Event:
        """Return the event without secrets."""
        return {key: self._clean(value, 0) for key, value in event.items()}

    def _clean(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            for secret in self._secrets:
                value = value.replace(secret, "***")
            return redact(value)
        if isinstance(value, bytes):
            return self._clean(value.decode("utf-8", "replace"), depth)
        if depth < _DEEPEST and isinstance(value, dict):
            return {self._clean(str(key), depth): self._clean(each, depth + 1) for key, each in value.items()}
        if depth < _DEEPEST and isinstance(value, list | tuple | set | frozenset):
            return [self._clean(each, depth + 1) for each in value]
        if value is None or isinstance(value, bool | int | float):
            return value
        return self._clean(str(value), depth)


def configure(secrets: Sequence[str] = (), stream: TextIO | None = None) -> None:
    """Send all logs of this process, other libraries' included, through one form.

    Args:
        secrets: Texts that must never be written.
        stream: Where to; standard error, if not given.
    """
    stream = stream or sys.stderr
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if stream.isatty():
        last += [structlog.processors.format_exc_info, Redaction(secrets), structlog.dev.ConsoleRenderer()]
    else:
        last += [
            structlog.processors.format_exc_info,
            Redaction(secrets),
            structlog.processors.JSONRenderer(),
        ]
    handler = logging.StreamHandler(stream)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=last))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for name in ("dbos", "uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    for name in ("httpx", "httpcore", "uvicorn.access"):
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
