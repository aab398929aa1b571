"""The first process of a container: keeps its files, runs its commands, and ends whatever these leave behind.

Its text is sent to the container's Python, 3.9 or newer; it is never imported. It takes requests on standard input and
answers on standard output, both as frames: four bytes with the length of a JSON object, the object, and as many bytes
as its `size` says. As process 1 it cannot be killed by the code that it runs, adopts every process that is left over,
and takes all of them along when its own input ends, as it does when testforge is gone.
"""

# pathlib, shutil and contextlib would cost more to import than all the rest (pyproject lets ruff allow it).

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import stat
import struct
import sys
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

Request = dict[str, Any]
Reply = tuple[dict[str, Any], bytes]

CHUNK = 1 << 16
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
USER = 1000
"""The user, and the group, that code runs as; the warden is the same one, or root without most of its rights."""
MOST_FILES = 200_000
TICK_S = 0.2
OOM_COUNTERS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")


class Refused(Exception):  # noqa: N818
    """A request that cannot be met; its text is for a person."""


class Stream:
    """The beginning and the end of what a command prints, each at most half of `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.half = max(limit // 2, 1)
        self.head, self.tail, self.seen = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.seen += len(data)
        room = max(self.half - len(self.head), 0)
        self.head += data[:room]
        self.tail += data[room:]
        if len(self.tail) > 2 * self.half:
            del self.tail[: -self.half]

    def parts(self) -> tuple[bytes, bytes, int]:
        """Return the beginning, the end, and how many bytes between them were left out."""
        tail = self.tail[-self.half :]
        return bytes(self.head), bytes(tail), self.seen - len(self.head) - len(tail)


class Warden:
    """Answers requests about the directories `tree` and `scratch` below `home`."""

    def __init__(self, home: str, source: BinaryIO, sink: BinaryIO) -> None:
        self.tree, self.scratch = home + "/tree", home + "/scratch"
        self.source, self.sink = source, sink

    def serve(self) -> None:
        """Answer until the input ends."""
        while True:
            size = self.source.read(4)
            if len(size) < 4:
                return
            request = json.loads(self.source.read(struct.unpack(">I", size)[0]))
            payload = self.source.read(request["size"])
            try:
                if request["do"] != "run":
                    act_as(USER)
                reply, content = getattr(self, "do_" + request["do"])(request, payload)
            except Refused as problem:
                reply, content = {"refused": str(problem)}, b""
            except FileNotFoundError:
                reply, content = {"missing": True}, b""
            except (OSError, ValueError, RecursionError) as problem:
                reason = getattr(problem, "strerror", None) or str(problem)
                reply, content = (
                    {"refused": "it cannot be used: " + reason, "errno": getattr(problem, "errno", 0)},
                    b"",
                )
            finally:
                act_as(0)
            header = json.dumps(dict(reply, size=len(content))).encode("ascii")
            self.sink.write(struct.pack(">I", len(header)) + header + content)
            self.sink.flush()

    # ------------------------------------------------------------ files

    def do_fill(self, request: Request, payload: bytes) -> Reply:
        """Write a tree's files, which follow the request, then those of `additions` that it does not have."""
        left = sum(more for _, kind, _, _, more in request["entries"] if kind == "file")
        try:
            self.restore()
            for name, kind, mode, changed, more in request["entries"]:
                path = self.tree + "/" + name
                if kind == "directory":
                    os.mkdir(path)
                elif kind == "link":
                    os.symlink(more, path)
                else:
                    with open(path, "xb") as file:
                        for size in pieces(more):
                            left -= size
                            file.write(self.source.read(size))
                    os.chmod(path, mode)
                    os.utime(path, ns=(changed, changed))
        except OSError:
            for size in pieces(left):
                self.source.read(size)
            raise
        if request["additions"]:
            self.add(request["additions"], self.tree)
        return {}, b""

    def add(self, source: str, target: str) -> None:
        """Copy the files of one directory that another one does not have."""
        for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
            to = target + "/" + entry.name
            if entry.is_dir(follow_symlinks=False):
                if not os.path.lexists(to):
                    os.mkdir(to)
                if not os.path.islink(to):
                    self.add(entry.path, to)
            elif entry.is_file(follow_symlinks=False) and not os.path.lexists(to):
                about = entry.stat()
                with open(entry.path, "rb") as file, open(to, "wb") as copy:
                    copy.write(file.read())
                os.chmod(to, about.st_mode & 0o777 | 0o600)
                os.utime(to, ns=(about.st_atime_ns, about.st_mtime_ns))

    def do_read(self, request: Request, payload: bytes) -> Reply:
        """Return the content of a regular file."""
        path = self.located(request["path"])
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(file, "rb") as stream:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise Refused("it is not a regular file")
            content = stream.read(request["limit"] + 1)
        if len(content) > request["limit"]:
            raise Refused(f"it is larger than {request['limit']} bytes")
        return {}, content

    def do_write(self, request: Request, payload: bytes) -> Reply:
        """Create or overwrite a regular file; a read-only one is replaced."""
        self.restore()
        path = self.located(request["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            file = os.open(path, flags, 0o644)
        except PermissionError:
            os.unlink(path)
            file = os.open(path, flags | os.O_EXCL, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise Refused("it is not a regular file")
            os.ftruncate(file, 0)
            write_all(file, payload)
        finally:
            os.close(file)
        return {}, b""

    def do_remove(self, request: Request, payload: bytes) -> Reply:
        """Delete a file or a directory."""
        name = request["path"].rstrip("/")
        if name in (self.tree, self.scratch):
            delete(name)
            self.restore()
        else:
            delete(os.path.join(self.located(os.path.dirname(name)), os.path.basename(name)))
        return {}, b""

    def do_files(self, request: Request, payload: bytes) -> Reply:
        """Return the paths of the regular files of the tree."""
        self.restore()
        found: list[str] = []
        for directory, names, files in os.walk(self.tree):
            names[:] = [name for name in names if name not in request["without"]]
            for name in files:
                path = directory + "/" + name
                if stat.S_ISREG(os.lstat(path).st_mode):
                    found.append(path[len(self.tree) + 1 :])
            if len(found) > MOST_FILES:
                raise Refused(f"it holds more than {MOST_FILES} files")
        return {}, json.dumps(sorted(found)).encode("ascii")

    def located(self, path: str) -> str:
        """Return where a path leads, links followed; nothing runs now that could change it meanwhile."""
        real = os.path.realpath(path)
        if not any(real == root or real.startswith(root + "/") for root in (self.tree, self.scratch)):
            raise Refused("it leads out of the sandbox")
        return real

    def restore(self) -> None:
        """Make again the directories that every command may count on, should one have deleted them."""
        for path in (self.tree, self.scratch, self.scratch + "/home", self.scratch + "/tmp"):
            if os.path.islink(path) or not os.path.isdir(path):
                if os.path.lexists(path):
                    os.unlink(path)
                os.mkdir(path, 0o700)

    # ------------------------------------------------------------ commands

    def do_run(self, request: Request, payload: bytes) -> Reply:
        """Run a command to its end; all that it started is gone then."""
        act_as(USER)
        self.restore()
        act_as(0)
        ooms, began = oom_kills(), time.monotonic()
        out, err = os.pipe(), os.pipe()
        child = os.fork()
        if not child:
            start(request, payload, self.tree, out[1], err[1])
        os.close(out[1])
        os.close(err[1])
        streams = {out[0]: Stream(request["output"]), err[0]: Stream(request["output"])}
        kept = dict(streams)
        code, reason = self.follow(child, streams, time.monotonic() + request["seconds"])
        code = end_all(child, code)
        drain(streams)
        for file in kept:
            os.close(file)
        if code == 128 + signal.SIGKILL and reason == "ended" and oom_kills() > ooms:
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


def become(user: int) -> None:
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
        for name, value in request["limits"].items():
            number = getattr(resource, name)
            hard = resource.getrlimit(number)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        become(USER)
        os.chdir(tree)
        os.execvpe(request["command"][0], request["command"], request["env"])
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        os.write(2, f"{request['command'][0]}: {reason}\n".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def reap(child: int, code: int | None) -> tuple[int | None, bool]:
    """Collect ended processes; returns the command's exit code (once known) and whether any process is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code, False
        if pid == 0:
            return code, True
        if pid == child:
            code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


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


def delete(path: str) -> None:
    """Delete a file, a link or a directory with all below it, whatever its permissions; nothing happens if there is none."""
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(about.st_mode):
        os.unlink(path)
        return
    os.chmod(path, 0o700)
    for name in os.listdir(path):
        delete(path + "/" + name)
    os.rmdir(path)


def pieces(size: int) -> Iterator[int]:
    """Divide so many bytes into portions that need little memory."""
    while size:
        portion = min(size, 1 << 20)
        yield portion
        size -= portion


def write_all(file: int, data: bytes) -> None:
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def main(home: str) -> None:
    """Serve on standard input and output; `home` is the directory that may be written to."""
    # Its memory and its open files are closed to the code that it runs, which has the same user.
    if ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0):
        raise OSError("the process cannot be closed to others")
    Warden(home, sys.stdin.buffer, sys.stdout.buffer).serve()


if __name__ == "__main__":
    main(sys.argv[1])
