"""Seals: lines that only who has the key can have written, each in its place.

The clerk seals with a key that no process has in which a repository's code runs; the host, which made the key, opens.
"""

from __future__ import annotations

from _blake2 import blake2b

LENGTH = 16
"""Of a seal and of a key, in bytes."""


class BrokenSealError(Exception):
    """A line was changed, added, left out or moved."""


class Seal:
    """Seals one line after the other.

    Args:
        key: Secret bytes, `LENGTH` of them.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._count = 0

    def closed(self, line: bytes) -> bytes:
        """Return a line, its end included, with its seal before it."""
        return b"%s %s" % (self._next(line), line)

    def opened(self, sealed: bytes) -> bytes:
        """Return a line without its seal.

        Raises:
            BrokenSealError: It is not the next line that was sealed.
        """
        seal, _, line = sealed.partition(b" ")
        if seal != self._next(line):
            raise BrokenSealError
        return line

    def _next(self, line: bytes) -> bytes:
        place = self._count.to_bytes(8, "big")
        self._count += 1
        return blake2b(place + line, key=self._key, digest_size=LENGTH).hexdigest().encode("ascii")
