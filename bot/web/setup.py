"""`/setup`: makes the GitHub App by GitHub's manifest flow, and keeps what GitHub gives out for it. First run only."""

from __future__ import annotations

import hmac
import json
import re
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.errors import TestforgeError
from bot.github.app import EVENTS, PERMISSIONS
from bot.jobs.credentials import Credentials, exchange
from bot.web.forms import fields
from bot.web.pages import page
from bot.web.signing_in import Operator, is_from_here, is_from_own_page
from bot.web.station import Station

_STATE = "testforge_setup"
_NAME = re.compile(r"[\w .-]{1,34}")
_ORGANISATION = re.compile(r"[A-Za-z0-9-]{1,39}")
_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
_HOMEPAGE = "https://github.com/testforge/testforge"


class Setup:
    """The pages of the flow.

    Args:
        directory: Where the credentials are kept.
    """

    def __init__(self, station: Station, operator: Operator, directory: Path) -> None:
        self._station = station
        self._operator = operator
        self._directory = directory
        self._state = ""

    async def form(self, request: Request) -> Response:
        """Ask for what the manifest needs."""
        if self._station.has_app:
            return page("message", status=404, title="There is an App already", text=_DONE)
        refused = self._refused(request)
        if refused is not None:
            return refused
        address = self._station.settings.public_url or str(request.base_url).rstrip("/")
        response = page("setup", address=address, name="testforge", organisation="", problem="")
        return self._remembered(request, response)

    async def manifest(self, request: Request) -> Response:
        """Show the manifest, with the button that takes it to GitHub."""
        if self._station.has_app:
            return page("message", status=404, title="There is an App already", text=_DONE)
        refused = self._refused(request)
        if refused is not None:
            return refused
        if not is_from_own_page(request):
            return page(
                "message", status=403, title="Not from here", text="This form was sent by another site."
            )
        form = await fields(request)
        given = {name: form.get(name, "").strip() for name in ("address", "name", "organisation")}
        problem = _problem(given)
        if problem:
            return page("setup", status=400, problem=problem, **given)
        self._state = secrets.token_urlsafe(24)
        github = web_address(self._station.settings.github_url)
        owner = f"/organizations/{given['organisation']}" if given["organisation"] else ""
        response = page(
            "manifest",
            form_action=f"'self' {_origin(github)}",
            action=f"{github}{owner}/settings/apps/new?state={self._state}",
            manifest=json.dumps(manifest(given["name"], given["address"].rstrip("/"), _here(request))),
            permissions=PERMISSIONS,
            events=EVENTS,
        )
        response.set_cookie(
            _STATE, self._state, max_age=3600, httponly=True, samesite="lax",
            secure=request.url.scheme == "https", path="/setup",
        )  # fmt: skip
        return self._remembered(request, response)

    async def done(self, request: Request) -> Response:
        """Take the code that GitHub sends back, exchange it for the credentials, and lead on to the installation."""
        state, code = request.query_params.get("state", ""), request.query_params.get("code", "")
        if self._station.has_app:
            return page("message", status=404, title="There is an App already", text=_DONE)
        same = bool(self._state) and hmac.compare_digest(state.encode(), self._state.encode())
        own = hmac.compare_digest(request.cookies.get(_STATE, "").encode(), self._state.encode())
        if not (same and own and _CODE.fullmatch(code)):
            return page("message", status=400, title="That did not come from here", text=_ODD)
        self._state = ""
        try:
            made = await run_in_threadpool(self._exchange, code)
        except TestforgeError as error:
            return page("message", status=502, title="GitHub did not make the App", text=error.message)
        structlog.get_logger("testforge.setup").info("the App is made", app_id=made.app_id, slug=made.slug)
        return RedirectResponse(f"{made.html_url}/installations/new", status_code=303)

    def _exchange(self, code: str) -> Credentials:
        """Return the new App's credentials, kept and in use."""
        made = exchange(self._station.settings, code)
        made.save(self._directory)
        self._station.adopt(made)
        return made

    def _refused(self, request: Request) -> Response | None:
        """Return what to say to somebody who is not the operator; None for who is."""
        if is_from_here(request) or self._operator.is_signed_in(request):
            return None
        return page("signin", status=401, problem="", target="/setup")

    def _remembered(self, request: Request, response: Response) -> Response:
        """Keep the operator signed in, so that /runs need not ask after the set-up."""
        if not self._operator.is_signed_in(request):
            self._operator.sign_in(response, https=request.url.scheme == "https")
        return response


_DONE = "This server has its GitHub App. To make another one, remove app.json from its data directory first."
_ODD = "The address was not the one that GitHub was sent to lead back to. Open /setup and begin again."


def manifest(name: str, address: str, here: str) -> dict[str, Any]:
    """Return what GitHub is to make the App from: exactly the permissions and events that are used.

    Args:
        address: Where GitHub reaches this server, without a slash at its end.
        here: Where the operator's browser reaches it: GitHub leads that back, and the cookie of the flow lies there.
    """
    return {
        "name": name,
        "url": _HOMEPAGE,
        "hook_attributes": {"url": f"{address}/webhook", "active": True},
        "redirect_url": f"{here}/setup/done",
        "public": False,
        "default_permissions": dict(PERMISSIONS),
        "default_events": list(EVENTS),
    }


def _here(request: Request) -> str:
    """Return where the browser reaches this server: a form of our own page says so, also from behind a proxy."""
    return request.headers.get("origin") or str(request.base_url).rstrip("/")


def web_address(api: str) -> str:
    """Return where people find the GitHub whose API lies at an address."""
    if _origin(api) == "https://api.github.com":
        return "https://github.com"
    return re.sub(r"/api/v3/?\Z", "", api).rstrip("/")


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _problem(given: dict[str, str]) -> str:
    """Return what is wrong with the form; empty if nothing is."""
    address = urlsplit(given["address"])
    if (
        address.scheme not in ("http", "https")
        or not address.netloc
        or quote(given["address"], ":/[]%@") != given["address"]
    ):
        return "The address must be one that GitHub can reach, such as https://testforge.example.org."
    if not _NAME.fullmatch(given["name"]):
        return "The name may have 34 letters, digits, spaces, dots and hyphens."
    if given["organisation"] and not _ORGANISATION.fullmatch(given["organisation"]):
        return "The organisation is written as in its address on GitHub."
    return ""
