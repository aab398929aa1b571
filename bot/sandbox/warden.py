"""The first process of a container: keeps its files, runs its commands, and ends whatever these leave behind.

Its text is sent to the container's Python, 3.9 or newer (`loading.py`). It takes requests on standard input and
answers on standard output, both as frames: four bytes with the length of a JSON object, the object, and as many bytes
as its `size` says. As process 1 it cannot be killed by the code that it runs, adopts every process that is left over,
and takes all of them along when its own input ends, as it does when testforge is gone.
"""

# pathlib and contextlib would cost more to import than all the rest (pyproject lets ruff allow it).

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import struct
import sys
import time
from typing import BinaryIO

from bot.sandbox.holdings import Holdings, Refused, Reply, Request, write_all
from bot.sandbox.watching import CHUNK, KILLED, Stream, become, reap

PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
USER = 1000
"""The user, and the group, that code runs as; the warden is the same one, or root without most of its rights."""
TICK_S = 0.2
OOM_COUNTERS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")


class Warden:
    """Answers requests, those about files with the help of its holdings."""

    def __init__(self, home: str, source: BinaryIO, sink: BinaryIO) -> None:
        self.holdings = Holdings(home, source)
        self.source, self.sink = source, sink

    def serve(self) -> None:
        """Answer until the input ends."""
        while True:
            size = self.source.read(4)
            if len(size) < 4:
                return
            request = json.loads(self.source.read(struct.unpack(">I", size)[0]))
            reply, content = self.answer(request, self.source.read(request["size"]))
            header = json.dumps(dict(reply, size=len(content))).encode("ascii")
            self.sink.write(struct.pack(">I", len(header)) + header + content)
            self.sink.flush()

    def answer(self, request: Request, payload: bytes) -> Reply:
        """Return the answer to a request."""
        try:
            if request["do"] == "run":
                return self.run(request, payload)
            act_as(USER)
            reply: Reply = getattr(self.holdings, "do_" + request["do"])(request, payload)
            return reply
        except Refused as problem:
            return {"refused": str(problem)}, b""
        except FileNotFoundError:
            return {"missing": True}, b""
        except (OSError, ValueError, RecursionError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            return {"refused": "it cannot be used: " + reason, "errno": getattr(problem, "errno", 0)}, b""
        finally:
            act_as(0)

    def run(self, request: Request, payload: bytes) -> Reply:
        """Run a command to its end; all that it started is gone then."""
        act_as(USER)
        self.holdings.restore()
        lost = self.holdings.lost()
        act_as(0)
        if lost and request["whole"]:
            return {"lost": lost}, b""
        ooms, began = oom_kills(), time.monotonic()
        out, err = os.pipe(), os.pipe()
        child = os.fork()
        if not child:
            start(request, payload, self.holdings.tree, out[1], err[1])
        os.close(out[1])
        os.close(err[1])
        streams = {out[0]: Stream(request["output"]), err[0]: Stream(request["output"])}
        kept = dict(streams)
        code, reason = self.follow(child, streams, time.monotonic() + request["seconds"])
        code = end_all(child, code)
        drain(streams)
        for file in kept:
            os.close(file)
        if code == KILLED and reason == "ended" and oom_kills() > ooms:
            reason = "memory"
        pieces = [part for stream in kept.values() for part in stream.parts()]
        lengths = [part if isinstance(part, int) else len(part) for part in pieces]
        content = b"".join(part for part in pieces if not isinstance(part, int))
        duration = time.monotonic() - began
        return {"code": code, "reason": reason, "lengths": lengths, "duration": duration}, content

    def follow(self, child: int, streams: dict[int, Stream], deadline: float) -> tuple[int | None, str]:
        """Read what a command prints until it ends or must end."""
        poll = select.poll()
        for file in streams:
            poll.register(file, select.POLLIN | select.POLLHUP)
        poll.register(self.source.fileno(), select.POLLIN | select.POLLHUP)
        try:
            handle = os.pidfd_open(child)
            poll.register(handle, select.POLLIN)
            tick = TICK_S
        except (AttributeError, OSError):
            handle, tick = -1, 0.01
        code: int | None = None
        try:
            while True:
                code, _ = reap(child, code)
                if code is not None:
                    return code, "ended"
                left = deadline - time.monotonic()
                if left <= 0:
                    return None, "time"
                for file, _ in poll.poll(min(left, tick) * 1000):
                    if file == self.source.fileno():
                        os._exit(0)  # nobody is there any more who could ask: the input has ended
                    if file in streams:
                        data = os.read(file, CHUNK)
                        streams[file].add(data)
                        if not data:
                            poll.unregister(file)
        finally:
            if handle >= 0:
                os.close(handle)


def act_as(user: int) -> None:
    """Use files as this user does, where the warden is another; what it owns itself stays shut to the code meanwhile."""
    if os.getuid() == 0:
        os.setegid(user)
        os.seteuid(user)


def shed_rights(user: int) -> None:
    """Give up every right for good, where the warden has any."""
    if os.getuid() != 0:
        return
    library = ctypes.CDLL(None)
    for capability in range(64):
        library.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def start(request: Request, payload: bytes, tree: str, out: int, err: int) -> None:
    """Become the command, in a session of its own and under its limits."""
    try:
        source = os.memfd_create("stdin") if payload else os.open(os.devnull, os.O_RDONLY)
        if payload:
            write_all(source, payload)
            os.lseek(source, 0, os.SEEK_SET)
        for number, file in enumerate((source, out, err)):
            os.dup2(file, number)
        os.closerange(3, 256)
        os.setsid()
        # Where memory is short, the kernel ends the command and not the process that watches over it.
        try:
            with open("/proc/self/oom_score_adj", "w") as score:
                score.write("1000")
        except OSError:
            pass
        shed_rights(USER)
        os.chdir(tree)
        become(request["command"], request["limits"], request["env"])
    except (OSError, ValueError) as problem:
        os.write(2, f"{request['command'][0]}: {problem}\n".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def end_all(child: int, code: int | None) -> int | None:
    """End every process but this one: all of them are its children, or will be."""
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code, left = reap(child, code)
        if not left:
            return code
        time.sleep(0.001)


def drain(streams: dict[int, Stream]) -> None:
    """Take what still lies in the pipes; nothing can write to them any more."""
    for file, stream in streams.items():
        os.set_blocking(file, False)
        try:
            while True:
                data = os.read(file, CHUNK)
                if not data:
                    break
                stream.add(data)
        except BlockingIOError:
            pass


def oom_kills() -> int:
    """Return how many processes of this container were ended for want of memory."""
    for name in OOM_COUNTERS:
        try:
            with open(name) as file:
                counts = dict(line.split() for line in file)
        except (OSError, ValueError):
            continue
        return int(counts.get("oom_kill", 0))
    return 0


def main() -> None:
    """Serve on standard input and output; the argument is the directory that may be written to."""
    # Its memory and its open files are closed to the code that it runs, which has the same user.
    if ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0):
        raise OSError("the process cannot be closed to others")
    # For the first process, only what is handled is delivered, and Python handles this one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Warden(sys.argv[1], sys.stdin.buffer, sys.stdout.buffer).serve()
