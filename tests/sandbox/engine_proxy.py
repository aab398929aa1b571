"""Stands between testforge and a real Docker engine: passes everything on, until it is told to break."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from pathlib import Path

CHUNK = 1 << 16


class EngineProxy:
    """A proxy in front of the engine's Unix socket.

    Args:
        engine: The engine's socket.
        own: Where to listen.
    """

    def __init__(self, engine: str, own: Path) -> None:
        self.address = f"unix://{own}"
        self._engine = engine
        self._refusals: list[tuple[re.Pattern[bytes], str]] = []
        self._open: list[socket.socket] = []
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(own))
        self._server.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def refuse(self, request: str, message: str) -> None:
        """From now on, answer requests whose first line fits a pattern with an error of the engine's."""
        self._refusals.append((re.compile(request.encode()), message))

    def close(self) -> None:
        """Be gone, with all connections, as an engine that is stopped."""
        # A thread that waits in `accept` holds the socket open.
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            engine = socket.socket(socket.AF_UNIX)
            engine.connect(self._engine)
            self._open += [client, engine]
            threading.Thread(target=self._up, args=(client, engine), daemon=True).start()
            threading.Thread(target=self._down, args=(engine, client), daemon=True).start()

    def _up(self, client: socket.socket, engine: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(CHUNK):
                message = next((text for pattern, text in self._refusals if pattern.match(data)), None)
                if message is None:
                    engine.sendall(data)
                    continue
                body = json.dumps({"message": message}).encode()
                head = f"HTTP/1.1 500 Error\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                client.sendall(head.encode() + body)
            engine.shutdown(socket.SHUT_WR)

    def _down(self, engine: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := engine.recv(CHUNK):
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)
