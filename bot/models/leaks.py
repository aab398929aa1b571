"""Tool calls that a server left in the text of a reply: each family of models writes them in its own marks."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

_MARK = re.compile(
    r"<tool_call>|<\|tool_call\|>|<\|python_tag\|>|\[TOOL_CALLS\]|<function_call>|<function=(?P<named>[\w.-]+)>"
    r"|^[ \t]*```(?:json|tool_call|tool_code|xml)?[ \t]*$",
    re.MULTILINE,
)
_END = re.compile(r"\s*(?:</tool_call>|</function_call>|</function>|<\|/tool_call\|>|<\|eom_id\|>|`{3,})")
_PARAMETER = re.compile(
    r"<parameter=(?P<name>[\w.-]+)>\n?(?P<value>.*?)\n?(?:</parameter>|(?=<parameter=)|(?=</function>)|\Z)",
    re.DOTALL,
)
_DECODER = json.JSONDecoder(strict=False)

Found = tuple[str, str]
"""A call's name and the JSON text of its arguments."""


def leaked_calls(text: str, names: Collection[str]) -> tuple[list[Found], str]:
    """Return the calls that stand in a text, and the text without them.

    Args:
        names: Of the tools that there are; what looks like a call of another one is text.
    """
    stripped = text.strip()
    if stripped.startswith(("{", "[")):
        found = [call for call in _calls_in(_value_at(stripped, 0)[0]) if call[0] in names]
        if found:
            return found, ""
    calls: list[Found] = []
    kept: list[str] = []
    place = 0
    while mark := _MARK.search(text, place):
        found, end = _call_after(text, mark, names)
        kept.append(text[place : mark.start() if found else end])
        calls.extend(found)
        place = end
    kept.append(text[place:])
    return calls, "".join(kept).strip() if calls else text


def _call_after(text: str, mark: re.Match[str], names: Collection[str]) -> tuple[list[Found], int]:
    """Return the calls that follow a mark, and where the text goes on; none, and the mark's end, where there are none."""
    start = _skip(text, mark.end())
    inner = re.compile(r"<function=(?P<named>[\w.-]+)>").match(text, start)
    named = mark["named"] or (inner["named"] if inner else None)
    body = _skip(text, inner.end()) if inner else start
    if named is not None:
        found, end = _named(named, text, body)
    else:
        value, end = _value_at(text, start)
        found = list(_calls_in(value))
    if not found or any(name not in names for name, _ in found):
        return [], mark.end()
    while closing := _END.match(text, end):
        end = closing.end()
    return found, end


def _named(name: str, text: str, start: int) -> tuple[list[Found], int]:
    """Return a call whose name stands in its mark: its arguments are JSON, or each in marks of its own."""
    if text.startswith("{", start):
        value, end = _value_at(text, start)
        return ([(name, json.dumps(value))] if isinstance(value, Mapping) else []), end
    end = text.find("</function>", start)
    end = len(text) if end < 0 else end
    arguments = {each["name"]: _plain(each["value"]) for each in _PARAMETER.finditer(text, start, end)}
    return ([(name, json.dumps(arguments))] if arguments or not text[start:end].strip() else []), end


def _plain(value: str) -> Any:
    """Return a value written without quotes: a number or null if it is one, otherwise the text."""
    return json.loads(value) if re.fullmatch(r"-?\d{1,9}|null|true|false", value) else value


def _calls_in(value: Any) -> Iterator[Found]:
    """Yield the calls that a JSON value is: an object with a name and arguments, or a list of such."""
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, Mapping):
            return
        inner = each.get("function")
        call = inner if isinstance(inner, Mapping) else each
        name, arguments = call.get("name"), call.get("arguments", call.get("parameters"))
        if not isinstance(name, str) or arguments is None:
            return
        yield name, arguments if isinstance(arguments, str) else json.dumps(arguments)


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that begins at a place, and where it ends; None if there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start


def _skip(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start
