"""Plain sample values for parameters, from their annotation, default or name."""

from __future__ import annotations

import re

from bot.models.offline.outline import Parameter

_BY_ANNOTATION = (
    (r"bool", "True"),
    (r"float", "1.5"),
    (r"int|Integral|Number|Real|SupportsInt", "3"),
    (r"bytes", 'b"data"'),
    (r"str|Text|AnyStr", '"text"'),
    (r"[Dd]ict|Mapping", '{"key": 1}'),
    (r"[Ll]ist|Sequence|Iterable|Collection", "[1, 2, 3]"),
    (r"[Tt]uple", "(1, 2)"),
    (r"[Ss]et", "{1, 2}"),
)
_BY_NAME = (
    (
        r"(^|_)(n|num|number|count|size|maxsize|length|index|width|height|limit|major|minor|patch|year|age|x|y)($|_)",
        "3",
    ),
    (r"seq|items|values|elements|iterable|numbers", "[1, 2, 3]"),
    (r"name|text|string|word|title|label|message|path|key|prefix|suffix|^s$", '"text"'),
    (r"[a-z]{2}s$", "[1, 2, 3]"),
    (r"^(is|has|should|allow|use)_", "True"),
)


def sample(parameter: Parameter) -> str:
    """Return the text of a value that the parameter is likely to take."""
    for pattern, text in _BY_ANNOTATION:
        if parameter.annotation and re.search(rf"\b(?:{pattern})\b", parameter.annotation):
            return text
    for pattern, text in _BY_NAME:
        if re.search(pattern, parameter.name):
            return text
    return "3"
