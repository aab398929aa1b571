"""Walls around a command with bubblewrap: its own namespaces, no network, and of the host only what it needs."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix")
SETTINGS = (
    *("alternatives", "ca-certificates", "ca-certificates.conf", "fonts", "gai.conf", "host.conf", "inputrc"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic", "mime.types", "nsswitch.conf"),
    *("os-release", "pki", "protocols", "python3", "python3.11", "python3.12", "python3.13", "services"),
    *(
        "ssl/certs",
        "ssl/openssl.cnf",
        "terminfo",
        "timezone",
        "crypto-policies",
        "ImageMagick-6",
        "ImageMagick-7",
        "openal",
    ),
)
"""What of /etc is shown: no accounts, no keys, no names of this machine."""

USER = 1000
ACCOUNTS = (
    f"root:x:0:0:root:/root:/bin/sh\ntester:x:{USER}:{USER}::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
)
GROUPS = f"root:x:0:\ntester:x:{USER}:\nnogroup:x:65534:\n"
HOSTS = "127.0.0.1 localhost testforge\n::1 localhost\n"
PROBE_S = 10


@dataclass(frozen=True, slots=True)
class Walls:
    """What a command sees of the host besides the system.

    Attributes:
        readable, writable: Directories as (path on the host, path inside).
        network: Whether it may use the network.
        etc: A directory with `passwd`, `group` and `hosts` to show as those in /etc.
    """

    readable: tuple[tuple[str, str], ...]
    writable: tuple[tuple[str, str], ...]
    etc: str
    network: bool = False


def write_accounts(directory: Path) -> None:
    """Write the `passwd`, `group` and `hosts` that are shown inside."""
    (directory / "passwd").write_text(ACCOUNTS)
    (directory / "group").write_text(GROUPS)
    (directory / "hosts").write_text(HOSTS)


def wrap(command: Sequence[str], walls: Walls, cwd: str) -> list[str]:
    """Return the command that runs `command` within these walls, in the directory `cwd` as seen inside."""
    words = [
        *(shutil.which("bwrap") or "bwrap", "--unshare-user", "--uid", str(USER), "--gid", str(USER)),
        *(
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--hostname",
            "testforge",
        ),
        *(() if walls.network else ("--unshare-net",)),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *_system(walls.network),
        *_bind(
            "--ro-bind", ((f"{walls.etc}/{name}", f"/etc/{name}") for name in ("passwd", "group", "hosts"))
        ),
        *("--proc", "/proc", "--dev", "/dev"),
        *_bind("--bind", sorted(walls.writable, key=lambda pair: pair[1])),
        *_bind("--ro-bind-try", sorted(walls.readable, key=lambda pair: pair[1])),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", cwd, "--"),
    ]
    return [*words, *command]


def _bind(option: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [word for host, inside in pairs for word in (option, host, inside)]


@functools.cache
def _system(network: bool) -> tuple[str, ...]:
    """Return the options that show the system's own directories, read-only."""
    words: list[str] = []
    for path in SYSTEM:
        if Path(path).is_symlink():
            words += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).is_dir():
            words += ["--ro-bind", path, path]
    for name in SETTINGS:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    if network:
        words += ["--ro-bind-try", os.path.realpath("/etc/resolv.conf"), "/etc/resolv.conf"]
    home = str(Path.home().resolve())
    if home.startswith(("/usr/", "/opt/")):
        words += ["--tmpfs", home]
    return tuple(words)


@functools.cache
def works() -> bool:
    """Return whether bubblewrap is installed and allowed here, found out by running it once."""
    if shutil.which("bwrap") is None:
        return False
    with tempfile.TemporaryDirectory(prefix="testforge-probe-") as name:
        write_accounts(Path(name))
        walls = Walls(readable=(), writable=((name, "/tmp"),), etc=name)
        try:
            done = subprocess.run(
                wrap(["/bin/sh", "-c", "test -r /proc/self/stat && echo x > /tmp/x"], walls, "/tmp"),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROBE_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0
