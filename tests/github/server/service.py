"""The tests' GitHub on a socket: checks each request, answers it, and fails where it was told to."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from bot.github.clock import Clock
from tests.github.server import apps, checks, comments, control, githttp, graphql, pulls, refs, rest, reviews
from tests.github.server.faults import Fault, Faults
from tests.github.server.nouns import RefusalError, Token
from tests.github.server.openapi import Description, description
from tests.github.server.shapes import Shapes
from tests.github.server.world import World

_WRITES_A_MINUTE = 80
ENDPOINTS = (checks, comments, pulls, refs, reviews)  # each registers its own when it is imported
Json = Any


@dataclass(frozen=True)
class Logged:
    """A request that was answered."""

    at: float
    method: str
    path: str
    status: int

    @property
    def writes(self) -> bool:
        """Whether it created or changed something of a repository."""
        return self.method != "GET" and "/access_tokens" not in self.path


class GitHub:
    """A GitHub of its own for one test. Use it as a context manager.

    Attributes:
        world: What there is, and what people do.
        faults: What is to go wrong.
        violations: Requests that GitHub's descriptions do not allow, and answers they do not know; a test fails for any.
        log: All requests.
        hang_s: For how long a request that hangs does.

    Args:
        host: The address of this machine to listen on.
    """

    def __init__(
        self, directory: Path, clock: Clock | None = None, port: int = 0, host: str = "127.0.0.1"
    ) -> None:
        self.world = World(directory, clock)
        self.faults = Faults()
        self.violations: list[str] = []
        self.log: list[Logged] = []
        self.hang_s = 2.0
        self._writes: deque[float] = deque()
        self._description: Description | None = None
        self._server = _Server((host, port), _Handler)
        self._server.github = self
        self.url = f"http://{host}:{self._server.server_address[1]}"
        self.shapes = Shapes(self.world, self.url)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, name="github", daemon=True
        )

    def __enter__(self) -> Self:
        if self._description is None:
            self._description = description()
            graphql.schema()  # now, and not while a client waits
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def writes(self) -> list[Logged]:
        """Return the requests that changed something."""
        return [entry for entry in self.log if entry.writes]

    # ---------------------------------------------------------------- one request

    def answer(
        self, method: str, target: str, headers: dict[str, str], raw: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body for a request."""
        parts = urlsplit(target)
        path = parts.path.removeprefix("/api/v3") or "/"
        if path in ("/graphql", "/api/graphql"):
            path = "/graphql"
        if path.startswith("/_control"):
            return control.answer(self, path, raw)
        if ".git/" in path:
            return self._git(method, path, parts.query, headers, raw)
        if "/settings/apps/new" in path or path.startswith("/apps/"):
            return self._page(method, path, parts.query, raw)
        with self.world.lock:
            status, body = self._api(method, path, dict(parse_qsl(parts.query)), headers, raw)
        self.log.append(Logged(self.world.clock.now(), method, path, status))
        return (
            status,
            {"content-type": "application/json; charset=utf-8"},
            b"" if body is None else json.dumps(body).encode(),
        )

    def _api(
        self, method: str, path: str, query: dict[str, str], headers: dict[str, str], raw: bytes
    ) -> tuple[int, Json]:
        try:
            body = json.loads(raw) if raw else None
            if "user-agent" not in headers:
                raise RefusalError(
                    403,
                    "Request forbidden by administrative rules. Please make sure your request has a User-Agent header",
                )
            if path != "/graphql":
                self._check(method, path, query, body)
            status, answer = self._routed(method, path, query, headers, body or {})
            if path != "/graphql" and self._description is not None:
                problems = self._description.answer_problems(method, path, status, answer)
                # The description does not know of it, but the head of a deleted fork has no repository.
                problems = [problem for problem in problems if not problem.startswith("head/repo: None")]
                self.violations += [f"answer to {method} {path}: {problem}" for problem in problems]
        except RefusalError as refusal:
            return refusal.status, refusal.body
        return status, answer

    def _check(self, method: str, path: str, query: dict[str, str], body: Json) -> None:
        assert self._description is not None
        problems = self._description.problems(method, path, query, body)
        if problems:
            self.violations += [f"{method} {path}: {problem}" for problem in problems]
            raise RefusalError(400, f"The tests' GitHub refuses this request: {'; '.join(problems)}")

    def _routed(
        self, method: str, path: str, query: dict[str, str], headers: dict[str, str], body: dict[str, Json]
    ) -> tuple[int, Json]:
        authorization = headers.get("authorization", "")
        world = self.world
        if path.startswith("/app-manifests/"):
            return apps.convert(world, self.shapes, path.split("/")[2])
        if path == "/app" or path.startswith("/app/"):
            apps.authenticate(world, authorization)
            if path == "/app":
                return 200, self.shapes.app()
            return apps.mint(world, self.shapes, int(path.split("/")[3]), body)
        token = world.token_for(authorization.partition(" ")[2])
        if token is None:
            raise RefusalError(401, "Bad credentials")
        if token.installation in world.suspended or token.installation not in world.installations:
            raise RefusalError(403, "This installation has been suspended")
        self._limit(method, path, body)
        if path == "/graphql":
            return self._graphql(token, body)
        call = rest.Call(world, self.shapes, token, body, query)
        return rest.dispatch(call, method, path)

    def _graphql(self, token: Token, body: dict[str, Json]) -> tuple[int, Json]:
        answer, problems = graphql.execute(self.world, self.shapes, token, body)
        self.violations += [f"GraphQL: {problem}" for problem in problems]
        return 200, answer

    def _limit(self, method: str, path: str, body: dict[str, Json]) -> None:
        """Hold to GitHub's limit of content-creating requests a minute."""
        writes = (
            method != "GET"
            if path != "/graphql"
            else str(body.get("query", "")).lstrip().startswith("mutation")
        )
        if not writes:
            return
        now = self.world.clock.now()
        while self._writes and self._writes[0] <= now - 60:
            self._writes.popleft()
        if len(self._writes) >= _WRITES_A_MINUTE:
            raise RefusalError(
                403,
                "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
            )
        self._writes.append(now)

    # ---------------------------------------------------------------- git, and the pages of the set-up

    def _git(
        self, method: str, path: str, query: str, headers: dict[str, str], raw: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        full_name = path.split(".git/")[0].strip("/")
        push = "git-receive-pack" in path or "service=git-receive-pack" in query
        if not githttp.may(self.world, full_name, headers.get("authorization", ""), push=push):
            self.log.append(Logged(self.world.clock.now(), method, path, 401))
            return 401, {"www-authenticate": 'Basic realm="GitHub"'}, b"Repository not found."
        answer = githttp.serve(self.world.directory, method, path, query, headers, raw)
        self.log.append(Logged(self.world.clock.now(), "GIT", path, answer[0]))
        return answer

    def _page(self, method: str, path: str, query: str, raw: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return the page on which a person makes an App of a manifest, or installs one."""
        if path.startswith("/apps/"):
            return 200, {"content-type": "text/html"}, b"<h1>Install the App</h1>"
        form = {name: values[0] for name, values in parse_qs(raw.decode()).items()}
        state = {name: values[0] for name, values in parse_qs(query).items()}.get("state") or form.get(
            "state", ""
        )
        if method != "POST" or "manifest" not in form:
            return 400, {"content-type": "text/html"}, b"<h1>There is no manifest</h1>"
        manifest = json.loads(form["manifest"])
        code = f"code{self.world.new_id()}"
        self.world.manifests[code] = manifest
        location = f"{manifest['redirect_url']}?{urlencode({'code': code, 'state': state})}"
        return 302, {"location": location}, b""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    github: GitHub


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _handle(self) -> None:
        github = self.server.github
        headers = {name.lower(): value for name, value in self.headers.items()}
        raw = self._body(headers)
        path = urlsplit(self.path).path
        fault = github.faults.take(self.command, path)
        if fault is not None and not fault.kind.endswith("after-success") and fault.kind != "truncated":
            github.log.append(Logged(github.world.clock.now(), self.command, path, 0))
            self._fail(github, fault)
            return
        status, more, body = github.answer(self.command, self.path, headers, raw)
        if fault is not None:
            self._fail(github, fault, body)
            return
        self._send(status, more, body)

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            found = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found
        return self.rfile.read(int(headers.get("content-length", 0)))

    def _fail(self, github: GitHub, fault: Fault, body: bytes = b"") -> None:
        """Answer as a fault wants it; what was to be done has been done, or not, by now."""
        now = int(github.world.clock.now())
        limit = b'{"message": "You have exceeded a secondary rate limit."}'
        match fault.kind:
            case "502" | "502-after-success":
                self._send(502, {"content-type": "text/html"}, b"<h1>Unicorn!</h1>")
            case "drop" | "drop-after-success":
                self.close_connection = True
            case "hang" | "hang-after-success":
                time.sleep(github.hang_s)
                self.close_connection = True
            case "truncated":
                self._send(
                    200, {"content-type": "application/json"}, body[: len(body) // 2], claimed=len(body)
                )
                self.close_connection = True
            case "html":
                self._send(200, {"content-type": "text/html"}, b"<h1>Welcome to the proxy</h1>")
            case "401":
                github.world.revoke_tokens()
                self._send(401, {}, b'{"message": "Bad credentials"}')
            case "422":
                self._send(
                    422, {}, b'{"message": "Unprocessable Entity", "errors": ["Line could not be resolved"]}'
                )
            case "secondary":
                self._send(403, {"retry-after": str(fault.wait_s)}, limit)
            case "secondary-bare":
                self._send(403, {}, limit)
            case "429":
                self._send(429, {"retry-after": str(fault.wait_s)}, limit)
            case "primary":
                reset = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(now + fault.wait_s)}
                self._send(403, reset, b'{"message": "API rate limit exceeded for installation."}')

    def _send(self, status: int, headers: dict[str, str], body: bytes, claimed: int | None = None) -> None:
        self.send_response_only(status)
        clock = self.server.github.world.clock
        self.send_header("date", self.date_time_string(clock.now()))
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(body) if claimed is None else claimed))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""
