"""`/runs` and `/runs/{id}`: what the server does and did, for the operator."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.store import Store
from bot.web.forms import fields
from bot.web.pages import page
from bot.web.setup import web_address
from bot.web.signing_in import Operator, is_from_own_page

_TARGETS = ("/runs", "/setup")


class RunPages:
    """The pages.

    Args:
        github_url: Base of GitHub's API.
    """

    def __init__(self, store: Store, operator: Operator, github_url: str) -> None:
        self._store = store
        self._operator = operator
        self._github = web_address(github_url)

    async def all(self, request: Request) -> Response:
        """Show the newest runs."""
        if not self._operator.is_signed_in(request):
            return page("signin", status=401, problem="", target="/runs")
        runs = await run_in_threadpool(self._store.runs.recent)
        return page("runs", runs=runs, github=self._github)

    async def one(self, request: Request) -> Response:
        """Show one run with its tests."""
        if not self._operator.is_signed_in(request):
            return page("signin", status=401, problem="", target="/runs")
        name = request.path_params["id"]
        run = await run_in_threadpool(self._store.runs.get, name)
        if run is None:
            return page("message", status=404, title="No such run", text="Runs are kept for a while only.")
        report = await run_in_threadpool(self._store.runs.report, name)
        return page("run", run=run, report=report, github=self._github)

    async def sign_in(self, request: Request) -> Response:
        """Take the code from the log."""
        form = await fields(request)
        code, target = form.get("code", ""), form.get("target", "")
        target = target if target in _TARGETS else "/runs"
        if not is_from_own_page(request) or not self._operator.try_code(code):
            problem = "That is not the code that stands in the log now."
            return page("signin", status=401, problem=problem, target=target)
        response = RedirectResponse(target, status_code=303)
        self._operator.sign_in(response, https=request.url.scheme == "https")
        return response
