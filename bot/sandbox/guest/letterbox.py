"""Letters from the processes in which a repository's code runs to the clerk, who is told by the kernel who posts.

A name is connected to for each letter, so that no test can close or inherit anything, and the sender's process id comes
with it, which no process can choose (SCM_CREDENTIALS).
"""

from __future__ import annotations

# Not `socket`: tests and plugins replace what is in there.
import _socket
import os
import struct
from collections.abc import Callable, Iterator
from typing import Any

LARGEST = 1 << 30
PATIENCE_S = 10.0
"""How long the rest of a letter is waited for, in seconds."""
_CHUNK = 1 << 18
_CREDENTIALS = struct.Struct("3i")


class Letterbox:
    """Where letters arrive.

    Attributes:
        address: What a `Sender` needs to know.
    """

    def __init__(self) -> None:
        self.address = f"testforge-{os.urandom(12).hex()}"
        self._socket: Any = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._socket.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
        self._socket.bind(b"\0" + self.address.encode("ascii"))
        self._socket.listen(128)
        self._socket.settimeout(0)

    def fileno(self) -> int:
        """Return the descriptor that is readable when a letter waits."""
        return int(self._socket.fileno())

    def letters(self, trusted: Callable[[int], bool]) -> Iterator[tuple[bytes, bool]]:
        """Yield the letters that have been posted by now, in their order, and whether a trusted process has posted each.

        Args:
            trusted: Tells this by a process's id.
        """
        while True:
            try:
                file, _ = self._socket._accept()
            except (BlockingIOError, InterruptedError):
                return
            connection = _socket.socket(fileno=file)
            try:
                connection.settimeout(PATIENCE_S)
                letter, sender = _received(connection)
                if letter.endswith(b"\n"):
                    yield letter, trusted(sender)
                    connection.send(b"+")
            except OSError:
                continue  # the sender was ended in the middle
            finally:
                connection.close()


def _received(connection: _socket.socket) -> tuple[bytes, int]:
    connection.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
    data, about, _, _ = connection.recvmsg(_CHUNK, _socket.CMSG_SPACE(_CREDENTIALS.size))
    senders: list[int] = [
        _CREDENTIALS.unpack(value[: _CREDENTIALS.size])[0]
        for level, kind, value in about
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_CREDENTIALS)
    ]
    whole = bytearray(data)
    while data and len(whole) < LARGEST:
        data = connection.recv(_CHUNK)
        whole += data
    return bytes(whole), senders[0] if senders else 0


class Sender:
    """Posts letters; what it uses is kept, for tests replace functions of the standard library.

    Args:
        address: Of the letterbox.
    """

    def __init__(self, address: str) -> None:
        self._name = b"\0" + address.encode("ascii")
        self._open, self._pack = _socket.socket, _CREDENTIALS.pack
        self._ids = (os.getpid, os.getuid, os.getgid)

    def post(self, letter: bytes, waits: bool = True) -> None:
        """Post whole lines.

        Args:
            letter: The lines.
            waits: Whether to go on only when this letter, and so all before it, has been dealt with.

        Raises:
            OSError: Nobody is there to take them.
        """
        connection = self._open(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            connection.connect(self._name)
            who = self._pack(*(ask() for ask in self._ids))
            sent = connection.sendmsg([letter], [(_socket.SOL_SOCKET, _socket.SCM_CREDENTIALS, who)])
            connection.sendall(letter[sent:])
            if waits:
                connection.shutdown(_socket.SHUT_WR)
                connection.recv(1)
        finally:
            connection.close()
