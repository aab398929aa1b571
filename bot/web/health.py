"""`GET /healthz`: this process answers. `GET /readyz`: and it can do its work."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

Check = Callable[[], str]
"""Returns what is wrong, as a sentence; empty if nothing is."""


async def healthz(_request: Request) -> Response:
    """Answer that the process lives."""
    return JSONResponse({"status": "ok"})


class Readiness:
    """Answers whether all that a run takes is there.

    Args:
        checks: By what they check, such as `database`.
    """

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._checks = checks

    async def __call__(self, _request: Request) -> Response:
        """Answer 200 if nothing is wrong, otherwise 503 with what it is."""
        found = {name: await run_in_threadpool(check) for name, check in self._checks.items()}
        ready = not any(found.values())
        body = {
            "status": "ready" if ready else "not ready",
            "checks": {name: problem or "ok" for name, problem in found.items()},
        }
        return JSONResponse(body, status_code=200 if ready else 503)
