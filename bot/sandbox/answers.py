"""What a container's warden answered, checked and made into what the caller of a sandbox sees."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

from bot.errors import SandboxError
from bot.sandbox import Completed, Limits
from bot.sandbox.watching import KILLED


def completed(answer: Mapping[str, Any], content: bytes, limits: Limits) -> Completed:
    """Return a finished command.

    Raises:
        SandboxError: It could not be started, or the answer cannot be right.
    """
    if "refused" in answer:
        raise SandboxError(f"The container could not run a command: {str(answer['refused'])[:300]}.")
    code, reason, lengths, seconds = (answer.get(key) for key in ("code", "reason", "lengths", "duration"))
    if (
        not isinstance(lengths, list)
        or len(lengths) != 6
        or not all(isinstance(length, int) and length >= 0 for length in lengths)
        or not isinstance(seconds, float | int)
        or not (code is None or (isinstance(code, int) and 0 <= code <= 255))
        or sum(lengths[:2]) + sum(lengths[3:5]) != len(content)
    ):
        raise SandboxError("The container gave an answer that cannot be right, so nothing it says is used.")
    ends = [0, lengths[0], sum(lengths[:2]), sum(lengths[:2]) + lengths[3], len(content)]
    parts = [content[first:last] for first, last in itertools.pairwise(ends)]
    stdout, stderr = text(parts[0], parts[1], lengths[2]), text(parts[2], parts[3], lengths[5])
    if reason == "time":
        return Completed(None, stdout, stderr, float(seconds), timed_out=True)
    if reason == "memory":
        stderr += f"\ntestforge: stopped, more than {limits.memory // 1024**2} MB of memory\n"
    return Completed(KILLED if code is None else code, stdout, stderr, float(seconds))


def listing(content: bytes) -> tuple[str, ...]:
    """Return the paths of a listing, sorted; each stays below the tree, whatever the container says.

    Raises:
        SandboxError: It is no list of such paths.
    """
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(name, str) and _stays_below(name) for name in found):
        raise SandboxError("The container gave an answer that cannot be right, so nothing it says is used.")
    return tuple(sorted(found))


def _stays_below(name: str) -> bool:
    return "\0" not in name and all(part not in ("", ".", "..") for part in name.split("/"))


def text(head: bytes, tail: bytes, cut: int) -> str:
    """Return a stream's text from its beginning and its end; where its middle was cut, it says how much."""
    if not cut:
        return (head + tail).decode(errors="replace")
    return f"{head.decode(errors='replace')}\n[... {cut} bytes cut ...]\n{tail.decode(errors='replace')}"
