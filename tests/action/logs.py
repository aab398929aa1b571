"""What a step says to the runner: annotations in its log, and outputs in its file."""

from __future__ import annotations

import re
from urllib.parse import unquote

_COMMAND = re.compile(r"::(?P<name>[a-z-]+)(?: (?P<place>[^:]*))?::(?P<text>.*)")
_LEVELS = ("notice", "warning", "error")


def annotations(log: str) -> list[str]:
    """Return the annotations of a step's log as `level: text`, or `level FILE:LINE: text`."""
    found = []
    until = ""
    for line in log.splitlines():
        if until:
            until = "" if line == f"::{until}::" else until
            continue
        command = _COMMAND.fullmatch(line)
        if command is None:
            continue
        if command["name"] == "stop-commands":
            until = command["text"]
        elif command["name"] in _LEVELS:
            place = dict(part.split("=", 1) for part in (command["place"] or "").split(",") if part)
            at = f" {place['file']}:{place.get('line', '')}" if "file" in place else ""
            found.append(f"{command['name']}{at}: {unquote(command['text'])}")
        else:
            found.append(f"command {command['name']}: {command['text']}")
    return found


def outputs(text: str) -> dict[str, str]:
    """Return what a step wrote to `GITHUB_OUTPUT`."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, _, mark = line.partition("<<")
        value = []
        for inner in lines:
            if inner == mark:
                break
            value.append(inner)
        found[name] = "\n".join(value)
    return found
