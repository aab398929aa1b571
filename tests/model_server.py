"""A server that answers as OpenAI, Anthropic and Google do, over real HTTP, with what a test puts in its hands."""

from __future__ import annotations

import base64
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

PROMPT_TOKENS = 1_000
CACHED_TOKENS = 400
COMPLETION_TOKENS = 100
KEY = "sk-for-a-test-0123456789"
MODELS = {
    "openai": "openai/gpt-4o",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-2.5-pro",
}
"""A model with a known price for each format."""

Call = tuple[str, Any]
"""A tool's name and its arguments: text goes out as it is, anything else as JSON."""


@dataclass(frozen=True)
class Turn:
    """What a model says, before it is put into a provider's form.

    Attributes:
        ended: `length`, `refused` or `malformed`; empty for an end of its own accord.
        ids: Ids of the calls; None gives each its own, an empty text leaves it out.
    """

    text: str | None = None
    calls: Sequence[Call] = ()
    ended: str = ""
    usage: bool = True
    ids: Sequence[str] | None = None
    model: str = ""


@dataclass(frozen=True)
class Raw:
    """Exactly these bytes; `manner` is how: `hang-up` sends nothing, `stall` waits, `trickle` sends a byte now and then."""

    body: bytes | str | Mapping[str, Any] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: str = ""


class ModelServer:
    """Answers each request with the next answer, in the form of the provider whose path was asked; keeps the requests.

    Past the last answer it gives `afterwards`, or 404 without one.
    """

    def __init__(self) -> None:
        self.answers: deque[Turn | Raw] = deque()
        self.afterwards: Turn | Raw | None = None
        self.chosen: Callable[[dict[str, Any]], Turn | Raw] | None = None
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.stalls = threading.Event()
        self.lock = threading.Lock()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    def base(self, form: str = "openai") -> str:
        """Return the address that LiteLLM is given for a provider."""
        if form == "gemini":
            return f"{self.root}/v1beta/models/gemini-2.5-pro"
        return f"{self.root}/v1" if form == "openai" else self.root

    def say(self, *turns: Turn | Raw) -> None:
        self.answers.extend(turns)

    def next(self, request: dict[str, Any]) -> tuple[int, Turn | Raw]:
        with self.lock:
            self.requests.append(request)
            if self.chosen is not None:
                return len(self.requests), self.chosen(request)
            last = self.afterwards or Raw({"error": {"message": "the script is over"}}, 404)
            return len(self.requests), self.answers.popleft() if self.answers else last

    def close(self) -> None:
        self.stalls.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@contextmanager
def serving() -> Iterator[ModelServer]:
    """Serve, with the environment set so that every provider's own name leads here."""
    server = ModelServer()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("OPENAI_API_BASE", server.base())
        patch.setenv("OPENAI_BASE_URL", server.base())
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        patch.setenv("ANTHROPIC_API_BASE", server.base("anthropic"))
        patch.setenv("GEMINI_API_KEY", KEY)
        patch.setenv("GEMINI_API_BASE", server.base("gemini"))
        try:
            yield server
        finally:
            server.close()


def rendered(form: str, number: int, turn: Turn) -> dict[str, Any]:
    """Return a turn as a provider's response; calls are known by the numbers of their turn and place."""
    return {"openai": _openai, "anthropic": _anthropic, "gemini": _gemini}[form](number, turn)


def _ids(number: int, turn: Turn) -> Sequence[str]:
    if turn.ids is not None:
        return turn.ids
    return [f"call_{number}_{place}" for place in range(1, len(turn.calls) + 1)]


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _value(arguments: Any) -> Any:
    """Return arguments as the value that Anthropic and Google send; what is no JSON stays a text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments, strict=False)
    except ValueError:
        return arguments


def _openai(number: int, turn: Turn) -> dict[str, Any]:
    calls = [
        {
            "type": "function",
            **({"id": key} if key else {}),
            "function": {"name": name, "arguments": _text(given)},
        }
        for key, (name, given) in zip(_ids(number, turn), turn.calls, strict=True)
    ]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": turn.text,
        "refusal": None,
        **({"tool_calls": calls} if calls else {}),
    }
    ends = {"length": "length", "refused": "content_filter"}
    finish = ends.get(turn.ended, "tool_calls" if calls else "stop")
    body = {
        "id": f"reply-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": turn.model or "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
    }
    if turn.usage:
        body["usage"] = {
            "prompt_tokens": PROMPT_TOKENS,
            "completion_tokens": COMPLETION_TOKENS,
            "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
            "prompt_tokens_details": {"cached_tokens": CACHED_TOKENS},
        }
    return body


def _anthropic(number: int, turn: Turn) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
    for key, (name, given) in zip(_ids(number, turn), turn.calls, strict=True):
        blocks.append(
            {"type": "tool_use", **({"id": key} if key else {}), "name": name, "input": _value(given)}
        )
    ends = {"length": "max_tokens", "refused": "refusal"}
    body = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": turn.model or "claude-sonnet-4-5",
        "content": blocks,
        "stop_reason": ends.get(turn.ended, "tool_use" if turn.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {},
    }
    if turn.usage:
        body["usage"] = {
            "input_tokens": PROMPT_TOKENS - CACHED_TOKENS,
            "cache_read_input_tokens": CACHED_TOKENS,
            "output_tokens": COMPLETION_TOKENS,
        }
    return body


def _gemini(number: int, turn: Turn) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": turn.text}] if turn.text else []
    parts += [{"functionCall": {"name": name, "args": _value(given)}} for name, given in turn.calls]
    if turn.calls:  # the first call of a turn is signed, and the signature has to come back with it
        parts[-len(turn.calls)]["thoughtSignature"] = signature(number)
    ends = {"length": "MAX_TOKENS", "refused": "SAFETY", "malformed": "MALFORMED_FUNCTION_CALL"}
    candidate: dict[str, Any] = {"index": 0, "finishReason": ends.get(turn.ended, "STOP")}
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    body: dict[str, Any] = {
        "candidates": [candidate],
        "modelVersion": turn.model or "gemini-2.5-pro",
        "usageMetadata": {},
    }
    if turn.usage:
        body["usageMetadata"] = {
            "promptTokenCount": PROMPT_TOKENS,
            "cachedContentTokenCount": CACHED_TOKENS,
            "candidatesTokenCount": COMPLETION_TOKENS,
            "totalTokenCount": PROMPT_TOKENS + COMPLETION_TOKENS,
        }
    return body


def signature(number: int) -> str:
    """Return what Google's thinking models sign the calls of a turn with."""
    return base64.b64encode(f"signature of turn {number}".encode()).decode()


def _form_of(path: str) -> str:
    if "generateContent" in path:
        return "gemini"
    return "anthropic" if path.split("?")[0].endswith("/messages") else "openai"


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.headers.append(dict(self.headers))
            number, answer = server.next(asked)
            if isinstance(answer, Turn):
                answer = Raw(rendered(_form_of(self.path), number, answer))
            if answer.manner == "hang-up":
                return
            if answer.manner == "stall":
                server.stalls.wait(20)
                return
            self._send(answer)

        def _send(self, answer: Raw) -> None:
            body = json.dumps(answer.body) if isinstance(answer.body, Mapping) else answer.body
            content = body.encode() if isinstance(body, str) else body
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            try:
                if answer.manner != "trickle":
                    self.wfile.write(content)
                    return
                for place in range(len(content)):
                    self.wfile.write(content[place : place + 1])
                    self.wfile.flush()
                    if server.stalls.wait(0.05):
                        return
            except OSError:  # whoever asked has gone
                return

        def log_message(self, *_: object) -> None:
            pass

    return Handler
