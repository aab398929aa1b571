"""A server of the OpenAI kind that gives the replies of a cassette, in order, over real HTTP."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROMPT_TOKENS = 1_000
COMPLETION_TOKENS = 100


class Completions:
    """Answers each request with the next turn, and keeps what it was sent; past the last turn it answers 404."""

    def __init__(self, turns: list[dict[str, Any]]) -> None:
        self.requests: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                number = len(server.requests)
                known = number <= len(turns)
                body = completion(number, turns[number - 1]) if known else {"error": {"message": "over"}}
                content = json.dumps(body).encode()
                self.send_response(200 if known else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def completion(number: int, turn: dict[str, Any]) -> dict[str, Any]:
    """Return a turn as a chat completion; calls are known by the numbers of their turn and place."""
    calls = [
        {"id": f"call_{number}_{place}", "type": "function", "function": dict(call)}
        for place, call in enumerate(turn["calls"], 1)
    ]
    message = {"role": "assistant", "content": turn["text"], **({"tool_calls": calls} if calls else {})}
    return {
        "id": f"reply-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": "by-hand",
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"},
        ],
        "usage": {
            "prompt_tokens": PROMPT_TOKENS,
            "completion_tokens": COMPLETION_TOKENS,
            "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
        },
    }
