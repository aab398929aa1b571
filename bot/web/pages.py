"""Pages for people: templates filled in, closed to scripts and to other sites' frames."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action {}"
)


def page(template: str, *, status: int = 200, form_action: str = "'self'", **values: Any) -> Response:
    """Return a page.

    Args:
        template: Its name without `.html`.
        form_action: Where its forms may lead, as a content security policy says it.
    """
    text = _environment().get_template(f"{template}.html").render(**values)
    headers = {
        "Content-Security-Policy": _POLICY.format(form_action),
        "Cache-Control": "no-store",
        # With `no-referrer` a browser would not say either that a form comes from this very server.
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }
    return HTMLResponse(text, status_code=status, headers=headers)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bot.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["when"] = _when
    environment.filters["percent"] = lambda value: "" if value is None else f"{100 * value:.0f} %"
    return environment


def _when(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
