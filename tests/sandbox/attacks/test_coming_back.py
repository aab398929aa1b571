"""What comes out of a container is believed only as far as it can be right."""

from __future__ import annotations

import json
import socket
import struct
import threading

import pytest

from bot.errors import SandboxError
from bot.sandbox import Limits
from bot.sandbox.answers import completed, listing
from bot.sandbox.channel import Channel
from bot.sandbox.docker import DockerSandbox


@pytest.mark.parametrize("target", ["/etc/passwd", "../../etc/passwd", "/proc/self/environ", "loop"])
def test_a_link_that_leads_out_is_not_followed(shared_container: DockerSandbox, target: str) -> None:
    container = shared_container
    container.run(["ln", "-sfn", target, "loop"], timeout_s=20)

    with pytest.raises((SandboxError, FileNotFoundError)):
        container.read("loop")
    with pytest.raises(SandboxError):
        container.write("loop", b"x")


@pytest.mark.parametrize(
    "path", ["../scratch/../../etc/passwd", "/etc/passwd", "/testforge/other", "a/../../../x"]
)
def test_a_path_that_leads_out_is_refused(shared_container: DockerSandbox, path: str) -> None:
    container = shared_container
    with pytest.raises(SandboxError, match="leads out"):
        container.read(path)
    with pytest.raises(SandboxError, match="leads out"):
        container.write(path, b"")


def test_a_pipe_is_no_file_and_does_not_block(container: DockerSandbox) -> None:
    container.run(["mkfifo", "pipe"], timeout_s=20)

    with pytest.raises(SandboxError, match="not a regular file"):
        container.read("pipe")
    with pytest.raises(SandboxError):
        container.write("pipe", b"x")
    assert container.files() == ()


def test_a_file_larger_than_asked_for_is_refused(container: DockerSandbox) -> None:
    container.run(["truncate", "-s", "400M", "large"], timeout_s=20)

    with pytest.raises(SandboxError, match="larger than 1000 bytes"):
        container.read("large", limit=1000)


def test_names_with_newlines_and_other_bytes_come_back_whole(container: DockerSandbox) -> None:
    program = "for name in (b'a\\nb', b'-rf', b'\\xff\\xfe', b'x\\x1b[31m'): open(name, 'w').close()"
    container.run(["python", "-I", "-S", "-c", program], timeout_s=20)

    assert set(container.files()) == {"a\nb", "-rf", "\udcff\udcfe", "x\x1b[31m"}
    assert container.read("a\nb") == b""


@pytest.mark.parametrize(
    "names", [["../x"], ["/etc/passwd"], ["a/../../b"], ["a//b"], ["a\0b"], [7], {"a": 1}, "text", [""]]
)
def test_a_listing_that_lies_is_refused(names: object) -> None:
    with pytest.raises(SandboxError, match="cannot be right"):
        listing(json.dumps(names).encode())


@pytest.mark.parametrize("content", [b"", b"[", b"[" * 100_000, b"\xff"])
def test_a_listing_that_is_none_is_refused(content: bytes) -> None:
    with pytest.raises(SandboxError, match="cannot be right"):
        listing(content)


@pytest.mark.parametrize(
    "change",
    [
        {"code": "0"},
        {"code": 1000},
        {"lengths": [1, 2]},
        {"lengths": [-1, 1, 0, 0, 0, 0]},
        {"duration": None},
        {"lengths": [9, 0, 0, 0, 0, 0]},
    ],
)
def test_a_result_that_lies_is_refused(change: dict[str, object]) -> None:
    right: dict[str, object] = {"code": 0, "reason": "ended", "lengths": [2, 0, 0, 0, 0, 0], "duration": 0.1}
    assert completed(right, b"ok", Limits()).stdout == "ok"

    with pytest.raises(SandboxError, match="cannot be right"):
        completed(right | change, b"ok", Limits())


@pytest.mark.parametrize(
    "answer",
    [
        struct.pack(">I", 2**31) + b"x",
        struct.pack(">I", 3) + b"abc",
        struct.pack(">I", 2) + b"[]",
        struct.pack(">I", 13) + b'{"size": 1e9}',
        struct.pack(">I", 12) + b'{"size": 99}',
        struct.pack(">I", 12) + b'{"size": -1}',
    ],
)
def test_an_answer_that_cannot_be_right_is_not_waited_for(answer: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(struct.pack(">BxxxI", 1, len(answer)) + answer)

        with pytest.raises(SandboxError, match="cannot be right"):
            Channel(ours).ask({"do": "read"}, seconds=5, most=10)


def test_an_answer_that_does_not_come_ends_the_conversation() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(SandboxError, match="does not answer"):
        Channel(ours).ask({"do": "read"}, seconds=0.2, most=10)


def test_what_the_container_said_last_is_told() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        theirs.sendall(struct.pack(">BxxxI", 2, 5) + b"oh no")
        threading.Timer(0.2, theirs.close).start()

        with pytest.raises(SandboxError) as caught:
            Channel(ours).ask({"do": "read"}, seconds=5, most=10)

    assert caught.value.detail == "oh no"
