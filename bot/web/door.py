"""The server's side of a connection: a request has to have arrived within a minute, whoever sends it."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

ARRIVAL_S = 60.0
"""From a connection's beginning, or its next request's first byte, to a request's last byte."""
_WHOLE = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED, h11.ERROR)


class Door(H11Protocol):
    """HTTP as uvicorn speaks it, but for those who open connections, or begin requests, only to hold them."""

    _arrival: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first request."""
        super().connection_made(transport)
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Begin to wait, or end it, as what has arrived so far wants it."""
        state = self.conn.their_state
        if state in _WHOLE:
            self._wait_no_more()
            return
        if state is h11.IDLE and not self.conn.trailing_data[0]:
            self._wait_no_more()  # nothing of the next request is there yet, so its time begins now
        if self._arrival is None:
            self._arrival = self.loop.call_later(ARRIVAL_S, self.transport.abort)

    def _wait_no_more(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None
