"""What requests to three providers and their replies look like, by the descriptions that the providers publish.

The schemas are closed and hold what is used here: chat completions of OpenAI (OpenAPI description), messages of Anthropic
(API reference, version 2023-06-01) and `generateContent` of Google (v1beta, whose JSON takes names in either case).
Beyond a form, providers ask that every call is answered in the message after it and that no id stands twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import jsonschema

TEXT = {"type": "string"}
FILLED = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 0}
OBJECT = {"type": "object"}
TOOL_NAME = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}


def closed(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    """Return the schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def listed(items: Any, least: int = 1) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least}


def one_of(*schemas: Any) -> dict[str, Any]:
    return {"oneOf": list(schemas)}


# ---------------------------------------------------------------- OpenAI

_CALL = closed(
    {
        "id": FILLED,
        "type": {"const": "function"},
        "function": closed({"name": TOOL_NAME, "arguments": TEXT}),
    }
)
_OPENAI_REQUEST = closed(
    {
        "model": FILLED,
        "messages": listed(
            one_of(
                closed({"role": {"enum": ["system", "user"]}, "content": FILLED}),
                closed({"role": {"const": "assistant"}, "content": FILLED}),
                closed(
                    {"role": {"const": "assistant"}, "tool_calls": listed(_CALL)},
                    content={"type": ["string", "null"]},
                ),
                # A tool's name is not in the description; servers take it, and some templates ask for it.
                closed({"role": {"const": "tool"}, "tool_call_id": FILLED, "content": TEXT}, name=TOOL_NAME),
            )
        ),
        "max_tokens": COUNT,
        "seed": {"type": "integer"},
    },
    tools=listed(
        closed(
            {
                "type": {"const": "function"},
                "function": closed({"name": TOOL_NAME, "description": TEXT, "parameters": OBJECT}),
            }
        )
    ),
)
_OPENAI_REPLY = closed(
    {
        "id": FILLED,
        "object": {"const": "chat.completion"},
        "created": COUNT,
        "model": FILLED,
        "choices": listed(
            closed(
                {
                    "index": COUNT,
                    "finish_reason": {"enum": ["stop", "length", "tool_calls", "content_filter"]},
                    "logprobs": {"type": "null"},
                    "message": closed(
                        {
                            "role": {"const": "assistant"},
                            "content": {"type": ["string", "null"]},
                            "refusal": {"type": ["string", "null"]},
                        },
                        tool_calls=listed(_CALL),
                    ),
                }
            )
        ),
        "usage": closed(
            {"prompt_tokens": COUNT, "completion_tokens": COUNT, "total_tokens": COUNT},
            prompt_tokens_details=closed({"cached_tokens": COUNT}),
        ),
    }
)

# ---------------------------------------------------------------- Anthropic

_MARK = closed({"type": {"const": "ephemeral"}})
_BLOCK = closed({"type": {"const": "text"}, "text": FILLED}, cache_control=_MARK)
_USE = closed(
    {
        "type": {"const": "tool_use"},
        "id": {"type": "string", "pattern": "^[a-zA-Z0-9_-]+$"},
        "name": TOOL_NAME,
        "input": OBJECT,
    }
)
_RESULT = closed(
    {"type": {"const": "tool_result"}, "tool_use_id": FILLED, "content": one_of(TEXT, listed(_BLOCK))},
    cache_control=_MARK,
)
_ANTHROPIC_REQUEST = closed(
    {
        "model": FILLED,
        "max_tokens": {"type": "integer", "minimum": 1},
        "messages": listed(
            one_of(
                closed(
                    {
                        "role": {"const": "user"},
                        "content": one_of(FILLED, listed({"anyOf": [_BLOCK, _RESULT]})),
                    }
                ),
                closed(
                    {
                        "role": {"const": "assistant"},
                        "content": one_of(FILLED, listed({"anyOf": [_BLOCK, _USE]})),
                    }
                ),
            )
        ),
    },
    system=one_of(FILLED, listed(_BLOCK)),
    tools=listed(
        closed(
            {"name": TOOL_NAME, "input_schema": closed({"type": {"const": "object"}}, properties=OBJECT)},
            description=TEXT,
            type={"const": "custom"},
        )
    ),
)
_ANTHROPIC_REQUEST["properties"]["tools"]["items"]["properties"]["input_schema"]["additionalProperties"] = (
    True
)
_ANTHROPIC_REPLY = closed(
    {
        "id": FILLED,
        "type": {"const": "message"},
        "role": {"const": "assistant"},
        "model": FILLED,
        "content": listed({"anyOf": [closed({"type": {"const": "text"}, "text": TEXT}), _USE]}, least=0),
        "stop_reason": {
            "enum": ["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"]
        },
        "stop_sequence": {"type": ["string", "null"]},
        "usage": closed(
            {"input_tokens": COUNT, "output_tokens": COUNT},
            cache_read_input_tokens=COUNT,
            cache_creation_input_tokens=COUNT,
        ),
    }
)

# ---------------------------------------------------------------- Google

_SIGNED = {"thoughtSignature": FILLED}
_ASKED = closed({"functionCall": closed({"name": TOOL_NAME, "args": OBJECT}, id=FILLED)}, **_SIGNED)
_ANSWERED = closed({"functionResponse": closed({"name": TOOL_NAME, "response": OBJECT}, id=FILLED)})
_SAID = closed({"text": TEXT}, **_SIGNED)
_GEMINI_REQUEST = closed(
    {
        "contents": listed(
            one_of(
                closed({"role": {"const": "user"}, "parts": listed({"anyOf": [_SAID, _ANSWERED]})}),
                closed({"role": {"const": "model"}, "parts": listed({"anyOf": [_SAID, _ASKED]})}),
            )
        ),
        "generationConfig": closed({"maxOutputTokens": COUNT}, seed={"type": "integer"}),
    },
    systemInstruction=closed({"parts": listed(_SAID)}, role=TEXT),
    tools=listed(
        closed(
            {
                "functionDeclarations": listed(
                    closed({"name": TOOL_NAME, "description": TEXT}, parameters=OBJECT)
                )
            }
        )
    ),
)
_GEMINI_REPLY = closed(
    {
        "candidates": listed(
            closed(
                {
                    "index": COUNT,
                    "finishReason": {"enum": ["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"]},
                },
                content=closed({"role": {"const": "model"}, "parts": listed({"anyOf": [_SAID, _ASKED]})}),
            )
        ),
        "modelVersion": FILLED,
        "usageMetadata": closed(
            {"promptTokenCount": COUNT, "candidatesTokenCount": COUNT, "totalTokenCount": COUNT},
            cachedContentTokenCount=COUNT,
        ),
    }
)
_SCHEMAS = {
    "openai": (_OPENAI_REQUEST, _OPENAI_REPLY),
    "anthropic": (_ANTHROPIC_REQUEST, _ANTHROPIC_REPLY),
    "gemini": (_GEMINI_REQUEST, _GEMINI_REPLY),
}


def check_request(form: str, body: Mapping[str, Any]) -> None:
    """Raise unless a provider would take a request. Raises ValidationError or AssertionError."""
    jsonschema.validate(_in_camel_case(body) if form == "gemini" else body, _SCHEMAS[form][0])
    check_answers(form, body)


def check_reply(form: str, body: Mapping[str, Any]) -> None:
    """Raise unless a reply has a provider's form. Raises ValidationError."""
    jsonschema.validate(body, _SCHEMAS[form][1])


def _in_camel_case(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return Google's request with its own names in the case of its description; a tool's arguments keep theirs."""
    if not isinstance(body, Mapping):
        return body
    kept = ("args", "response", "parameters")
    return {
        re.sub(r"_([a-z])", lambda found: found[1].upper(), key): (
            value
            if key in kept
            else [_in_camel_case(each) for each in value]
            if isinstance(value, list)
            else _in_camel_case(value)
        )
        for key, value in body.items()
    }


# ---------------------------------------------------------------- calls and their answers


def check_answers(form: str, request: Mapping[str, Any]) -> None:
    """Assert what providers answer 400 to: a call without an answer, an id used twice, arguments that are no object."""
    asked, answered = {"openai": _openai_ids, "anthropic": _anthropic_ids, "gemini": _gemini_names}[form](
        request
    )
    assert asked == answered
    if form != "gemini":
        assert len(set(asked)) == len(asked)


def _openai_ids(request: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    asked: list[str] = []
    answered: list[str] = []
    for message in request["messages"]:
        for call in message.get("tool_calls") or ():
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            asked.append(call["id"])
        if message["role"] == "tool":
            answered.append(message["tool_call_id"])
        assert message["role"] != "assistant" or message.get("content") or message.get("tool_calls")
    return asked, answered


def _anthropic_ids(request: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    parts = [part for message in request["messages"] for part in _parts(message["content"])]
    assert all(isinstance(part["input"], dict) for part in parts if part["type"] == "tool_use")
    assert all(part["text"] for part in parts if part["type"] == "text")
    asked = [part["id"] for part in parts if part["type"] == "tool_use"]
    return asked, [part["tool_use_id"] for part in parts if part["type"] == "tool_result"]


def _gemini_names(request: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    parts = [part for content in request["contents"] for part in content["parts"]]
    assert all(isinstance(part["function_call"]["args"], dict) for part in parts if "function_call" in part)
    asked = [part["function_call"]["name"] for part in parts if "function_call" in part]
    return asked, [part["function_response"]["name"] for part in parts if "function_response" in part]


def _parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
