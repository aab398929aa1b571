"""Git's smart HTTP: git's own `http-backend` behind a check of the token."""

from __future__ import annotations

import base64
import binascii
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.github.server.world import World


def token_of(authorization: str) -> str:
    """Return the password of basic authentication; empty if there is none."""
    kind, _, value = authorization.partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def may(world: World, full_name: str, authorization: str, *, push: bool) -> bool:
    """Whether a request may read, or write, a repository."""
    token = world.token_for(token_of(authorization))
    if token is None or full_name not in token.repositories:
        return False
    level = token.permissions.get("contents", "")
    return level == "write" or (level == "read" and not push)


def serve(
    directory: Path, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, dict[str, str], bytes]:
    """Return git's answer to one request: status, headers, body."""
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(directory),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "REQUEST_METHOD": method,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "GIT_PROTOCOL": headers.get("git-protocol", ""),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        "REMOTE_USER": "x-access-token",
        "REMOTE_ADDR": "127.0.0.1",
    }
    done = subprocess.run(
        ["git", "http-backend"], input=body, capture_output=True, env=environment, check=False
    )
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    found = {}
    for line in head.decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        found[name.strip().lower()] = value.strip()
    status = int(found.pop("status", "200").split()[0])
    return status, found, content
