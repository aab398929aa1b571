"""Tries to break out of a sandbox and tells what it could do; sent into it as text by `inspection.py`, never imported.

Takes a JSON object on standard input: `files` of the host, a `port` of its loopback, a `secret` of its environment.
Writes a JSON object: by what was tried, what came of it; an empty text is as it should be.
"""

from __future__ import annotations

import json
import os
import socket
import sys

PATIENCE_S = 2.0
ELSEWHERE = (("1.1.1.1", 443), ("8.8.8.8", 53), ("169.254.169.254", 80))


def network(port: int) -> str:
    """Reach the host, the internet, the cloud's metadata, or a name."""
    for address in (("127.0.0.1", port), *ELSEWHERE):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
            connection.settimeout(PATIENCE_S)
            try:
                connection.connect(address)
            except OSError:
                continue
            return "it reaches {}:{}".format(*address)
    return ""


def host_files(files: list[str]) -> str:
    """Read what lies on the host, the engine's socket included."""
    seen = [path for path in (*files, "/var/run/docker.sock", "/run/docker.sock") if os.path.lexists(path)]
    return "it sees {}".format(seen[0]) if seen else ""


def environment(secret: str) -> str:
    """Find a variable of the host's environment, here or in the first process."""
    places = [json.dumps(dict(os.environ))]
    for process in (1, os.getppid()):
        try:
            with open("/proc/{}/environ".format(process), errors="replace") as file:
                places.append(file.read())
        except OSError:
            continue
    return "it reads the host's environment" if any(secret in place for place in places) else ""


def rights() -> str:
    """Look for an account with rights."""
    if os.getuid() == 0:
        return "it is root"
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    for name in ("CapEff", "CapPrm", "CapAmb"):
        if int(status.get(name, "0"), 16):
            return "it has capabilities ({} is {})".format(name, status[name])
    if status.get("NoNewPrivs", "1") == "0":
        return "programs can give it more rights (no_new_privs is off)"
    return ""


def system() -> str:
    """Write where it must not."""
    for directory in ("/", "/etc", "/usr/local/bin", "/opt", "/var", os.path.dirname(sys.executable)):
        path = os.path.join(directory, "testforge-was-here")
        try:
            with open(path, "x"):
                pass
        except OSError:
            continue
        os.unlink(path)
        return "it writes to {}".format(directory)
    return ""


def main() -> None:
    """Try everything."""
    told = json.load(sys.stdin)
    json.dump(
        {
            "network": network(told["port"]),
            "host files": host_files(told["files"]),
            "environment": environment(told["secret"]),
            "rights": rights(),
            "system files": system(),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
