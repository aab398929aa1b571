"""Questions to a container's warden and its answers, over the container's standard streams as Docker carries them.

An answer comes from where untrusted code runs: it is bounded in size and checked in form before it is believed.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterable, Mapping
from typing import Any

from bot.errors import LostError, SandboxError

STDOUT = 1
LARGEST_HEADER = 1 << 16
NAP_S = 0.5
MOST_TOLD = 4096
"""Bytes of what the container says on standard error that are kept for the error message."""


class Channel:
    """One conversation with the first process of a container.

    Args:
        connection: A connection to the engine attached to the container's streams, without a terminal.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = bytearray()
        self._told = bytearray()

    def say(self, data: bytes) -> None:
        """Send bytes as they are.

        Raises:
            LostError: The container or the engine is gone.
        """
        try:
            self._connection.sendall(data)
        except OSError as problem:
            raise self._gone() from problem

    def ask(
        self,
        question: Mapping[str, Any],
        payload: bytes = b"",
        *,
        stream: Iterable[bytes] = (),
        seconds: float,
        most: int,
    ) -> tuple[dict[str, Any], bytes]:
        """Send a question and return the answer and the bytes that come with it.

        Args:
            stream: More bytes to send, which the question says the number of.
            seconds: How long to wait for the answer.
            most: The most bytes that may come with it.

        Raises:
            LostError: No answer comes.
            SandboxError: One comes that cannot be right: code in the container made it, and would again in a fresh one.
        """
        header = json.dumps({**question, "size": len(payload)}).encode("ascii")
        self._connection.settimeout(max(seconds, 1.0))
        self.say(struct.pack(">I", len(header)) + header)
        if payload:
            self.say(payload)
        for piece in stream:
            self.say(piece)
        give_up = time.monotonic() + seconds
        (length,) = struct.unpack(">I", self._take(4, give_up))
        if length > LARGEST_HEADER:
            raise _nonsense()
        try:
            answer = json.loads(self._take(length, give_up))
        except (ValueError, RecursionError):
            raise _nonsense() from None
        size = answer.get("size") if isinstance(answer, dict) else None
        if not isinstance(size, int) or not 0 <= size <= most:
            raise _nonsense()
        return answer, self._take(size, give_up)

    def close(self) -> None:
        """Let the conversation end; the container ends with it."""
        self._connection.close()

    def _take(self, size: int, give_up: float) -> bytes:
        """Return the next bytes that the warden said on standard output."""
        while len(self._buffer) < size:
            kind, length = struct.unpack(">BxxxI", self._receive(8, give_up))
            data = self._receive(length, give_up)
            if kind == STDOUT:
                self._buffer += data
            else:
                self._told += data[: MOST_TOLD - len(self._told)]
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def _receive(self, size: int, give_up: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            left = give_up - time.monotonic()
            if left <= 0:
                raise _silent()
            self._connection.settimeout(
                min(left, NAP_S)
            )  # a thread that is to stop hears of it between two naps
            try:
                piece = self._connection.recv(min(size - len(data), 1 << 20))
            except TimeoutError:
                continue
            except OSError as problem:
                raise self._gone() from problem
            if not piece:
                raise self._gone()
            data += piece
        return bytes(data)

    def _gone(self) -> LostError:
        told = self._told.decode(errors="replace").strip()
        return LostError(
            "The container ended in the middle of the run: the engine stopped, it was removed, or it ran out of memory.",
            told,
        )


def _silent() -> LostError:
    return LostError("The container does not answer any more; it is removed. Is the machine overloaded?")


def _nonsense() -> SandboxError:
    return SandboxError("The container gave an answer that cannot be right, so nothing it says is used.")
