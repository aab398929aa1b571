"""No answer takes more time or memory than a reply can, over HTTP in three forms, however it is packed or sent."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from model_server import MODELS, ModelServer, Raw, Turn, rendered, serving

from bot.models import waiting
from bot.models.answers import LONGEST_ODD_BYTES, readable
from bot.models.client import load
from bot.models.failures import CallError, UnreadableError
from bot.models.transport import LONGEST_BYTES

pytestmark = pytest.mark.slow

FORMS = sorted(MODELS)
WORD = ({"role": "user", "content": "hello"},)
PACKED = {"Content-Encoding": "gzip"}
BOMB = gzip.compress(b" " * (4 * LONGEST_BYTES), 1)


@pytest.fixture(name="server")
def _server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr("bot.models.retry.Retry.wait_s", lambda *_: 0.0)
    with serving() as server:
        yield server


def failure(form: str) -> CallError:
    with pytest.raises(CallError) as caught:
        load(MODELS[form], seed=0, budget_usd=None).complete(WORD)
    return caught.value


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "answer",
    [Raw(BOMB, 200, PACKED), Raw(BOMB, 500, PACKED), Raw(b" " * (LONGEST_BYTES + 1))],
    ids=["packed", "packed error", "plain"],
)
def test_an_answer_longer_than_any_reply_is_not_read_to_its_end(
    server: ModelServer, form: str, answer: Raw
) -> None:
    server.afterwards = answer
    told = failure(form)
    assert isinstance(told, UnreadableError)
    assert "more than 16 MB, which is no model's reply" in told.message
    assert len(server.requests) == 2


@pytest.mark.parametrize("form", FORMS)
def test_a_packed_reply_is_read_though_none_was_asked_for(server: ModelServer, form: str) -> None:
    body = json.dumps(rendered(form, 1, Turn("packed"))).encode()
    server.say(Raw(gzip.compress(body), 200, PACKED))
    assert load(MODELS[form], seed=0, budget_usd=None).complete(WORD).text == "packed"
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert sent["accept-encoding"] == "identity"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "answer",
    [
        Raw(b"not packed at all", 200, PACKED),
        Raw(b"{}", 200, {"Content-Encoding": "br"}),
        Raw(gzip.compress(b'{"choices": [], "content": []}')[:-16], 200, PACKED),
    ],
    ids=["not packed", "packed otherwise", "cut"],
)
def test_what_cannot_be_unpacked_is_no_reply(server: ModelServer, form: str, answer: Raw) -> None:
    server.afterwards = answer
    assert "something that is no model's reply" in failure(form).message


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "body",
    [b" " * 15_000_000, {"x": " " * 15_000_000}, json.dumps([" " * 15_000_000])],
    ids=["blanks", "object", "list"],
)
def test_a_long_answer_that_is_no_reply_is_told_without_looking_through_it(
    server: ModelServer, form: str, body: bytes
) -> None:
    server.afterwards = Raw(body)
    assert "something that is no model's reply" in failure(form).message


@pytest.mark.parametrize("form", FORMS)
def test_parts_of_tokens_are_counted_as_whole_ones(server: ModelServer, form: str) -> None:
    body = rendered(form, 1, Turn("half"))
    usage = body.get("usage") or body["usageMetadata"]
    name = {"openai": "completion_tokens", "anthropic": "output_tokens", "gemini": "candidatesTokenCount"}
    usage[name[form]] = 99.5
    server.say(Raw(body))
    reply = load(MODELS[form], seed=0, budget_usd=None).complete(WORD)
    assert (reply.text, reply.usage.prompt, reply.usage.completion) == ("half", 1_000, 100)


def test_an_error_and_what_is_no_reply_keep_their_beginnings() -> None:
    long = b'{"error": "' + b"x" * (2 * LONGEST_ODD_BYTES)
    assert readable(500, long) == readable(200, long) == long[:LONGEST_ODD_BYTES]


def test_a_long_reply_is_handed_on_to_the_letter() -> None:
    reply = b'{"choices": [], "usage": {"prompt_tokens": 1}, "x": "' + b"x" * LONGEST_ODD_BYTES + b'"}'
    assert readable(200, reply) == reply


def test_the_time_limit_holds_where_the_reading_itself_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_GRACE_S", 0.0)
    over = threading.Event()

    async def busy() -> None:
        over.wait(60)

    try:
        with pytest.raises(TimeoutError):
            waiting.wait_for(busy(), 0.01)
        assert not over.is_set()
    finally:
        over.set()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
def test_bounds_hold_behind_a_proxy(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, form: str, variable: str
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LITELLM_HTTP2", "True")
    monkeypatch.setenv("DISABLE_AIOHTTP_TRANSPORT", "True")
    server.say(
        Turn("hello"), Raw(BOMB, 200, PACKED), Raw(BOMB, 200, PACKED), Raw(b"", 307, {"Location": "/x"})
    )
    with Proxy(server, f"{variable.replace('_', '-')}.invalid".lower()) as proxy:
        monkeypatch.setenv(variable, proxy.root)
        monkeypatch.setenv(f"{form.upper()}_API_BASE", server.base(form).replace("127.0.0.1", proxy.host))
        assert load(MODELS[form], seed=0, budget_usd=None).complete(WORD).text == "hello"
        assert "more than 16 MB" in failure(form).message
        assert "sends to another address" in failure(form).message
        assert len(proxy.asked) == len(server.requests) == 4


class Proxy:
    """A proxy that passes on what is asked of one server under a name that only the proxy knows."""

    def __init__(self, server: ModelServer, host: str) -> None:
        self.host = host  # each its own, for LiteLLM's clients remember the proxy of a host
        self.asked: list[str] = []
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), _passing_on(self, server.http.server_address[1]))
        self.http.daemon_threads = True
        self.root = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Proxy:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def _passing_on(proxy: Proxy, port: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            proxy.asked.append(self.path)
            content = self.rfile.read(int(self.headers["Content-Length"]))
            path = "/" + self.path.split("/", 3)[3]
            with socket.create_connection(("127.0.0.1", port)) as behind, suppress(OSError):
                sent = f"POST {path} HTTP/1.0\r\nContent-Length: {len(content)}\r\n\r\n"
                behind.sendall(sent.encode() + content)
                while piece := behind.recv(65_536):
                    self.wfile.write(piece)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    return Handler
