"""What a container cannot have said is no sign that it is lost: the code in it gets no fresh one for it."""

from __future__ import annotations

import socket
import struct

import pytest

from bot.errors import LostError, SandboxError
from bot.sandbox.channel import LARGEST_HEADER, STDOUT, Channel


def framed(data: bytes) -> bytes:
    return struct.pack(">BxxxI", STDOUT, len(data)) + data


@pytest.mark.parametrize(
    "answer",
    [
        struct.pack(">I", LARGEST_HEADER + 1),
        struct.pack(">I", 3) + b"not",
        struct.pack(">I", 2) + b"[]",
        struct.pack(">I", 11) + b'{"size":-1}',
        struct.pack(">I", 12) + b'{"size":101}',
    ],
    ids=["too long", "no JSON", "a list", "a negative size", "more than asked for"],
)
def test_an_impossible_answer_is_an_error_of_its_own(answer: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(framed(answer))
        with pytest.raises(SandboxError, match="cannot be right") as caught:
            Channel(ours).ask({}, seconds=60, most=100)
    assert not isinstance(caught.value, LostError)
