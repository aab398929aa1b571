"""The set-up: who may do it, what GitHub is asked to make, and where what it gives out is kept."""

from __future__ import annotations

import html
import json
import re
import stat
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from bot.web.setup import web_address
from tests.github.server import GitHub, UnavailableError
from tests.web.chromium import browsing
from tests.web.conftest import served


@pytest.fixture
def github(tmp_path):
    """The tests' GitHub, with nothing in it."""
    try:
        with GitHub(tmp_path / "github") as found:
            yield found
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def place(tmp_path):
    """The server's directory."""
    directory = tmp_path / "server"
    directory.mkdir()
    return directory


@pytest.fixture
def bare(github, place):
    """A server that has no App yet. It never works on anything, as it may not start an engine beside another's."""
    with served(place, {"github_url": github.url}) as found:
        found.station.start = lambda: None
        yield found


@pytest.fixture
def browser(bare):
    """A browser on the server's own machine."""
    with httpx.Client(base_url=bare.url, timeout=60) as client:
        yield client


def field(text, name):
    return html.unescape(re.search(rf'name="{name}" value="([^"]*)"', text)[1])


def action(text):
    return html.unescape(re.search(r'<form method="post" action="([^"]*)"', text)[1])


def go(browser, **changes):
    """Fill in the form, and return the page with the manifest."""
    first = browser.get("/setup").text
    given = {name: field(first, name) for name in ("address", "name", "organisation")}
    return browser.post("/setup", data={**given, **changes})


def test_from_the_form_to_the_installation(bare, browser, github, place):
    page = go(browser).text
    manifest = json.loads(field(page, "manifest"))
    assert manifest["default_permissions"] == {
        "checks": "write",
        "contents": "write",
        "issues": "write",
        "metadata": "read",
        "pull_requests": "write",
    }
    assert sorted(manifest["default_events"]) == [
        "issue_comment",
        "pull_request",
        "pull_request_review_comment",
    ]
    assert manifest["hook_attributes"]["url"] == f"{bare.url}/webhook"
    made = httpx.post(action(page), data={"manifest": field(page, "manifest")}, timeout=60)
    back = made.headers["location"]
    assert back.startswith(f"{bare.url}/setup/done?code=")
    done = browser.get(back)
    assert (done.status_code, done.headers["location"]) == (
        303,
        f"{github.shapes.app()['html_url']}/installations/new",
    )
    kept = place / "app.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert json.loads(kept.read_text())["private_key"] == github.world.pem
    assert bare.station.webhook_secret == github.world.webhook_secret
    assert bare.station.bot_login == "testforge[bot]"
    for path in ("/setup", "/setup/done?code=x&state=y"):
        assert browser.get(path).status_code == 404
    assert github.world.pem[40:80] not in json.dumps(bare.lines, default=str)


def test_github_leads_the_browser_back_to_where_it_came_from_whatever_the_webhooks_address(bare, browser):
    page = go(browser, address="https://testforge.example.org").text
    manifest = json.loads(field(page, "manifest"))
    assert manifest["hook_attributes"]["url"] == "https://testforge.example.org/webhook"
    assert manifest["redirect_url"] == f"{bare.url}/setup/done"
    made = httpx.post(action(page), data={"manifest": field(page, "manifest")}, timeout=60)
    assert browser.get(made.headers["location"]).status_code == 303


def test_an_organisation_makes_its_own_app(browser, github):
    page = go(browser, organisation="octo-org").text
    assert action(page).startswith(f"{github.url}/organizations/octo-org/settings/apps/new?state=")


@pytest.mark.parametrize("state", ["", "another"])
def test_a_code_that_nobody_asked_for_is_refused(bare, browser, place, state):
    page = go(browser).text
    right = parse_qs(urlsplit(action(page)).query)["state"][0]
    assert browser.get(f"/setup/done?code=abc&state={state}").status_code == 400
    with httpx.Client(base_url=bare.url, timeout=60) as other:  # without the cookie of who asked
        assert other.get(f"/setup/done?code=abc&state={right}").status_code == 400
    assert not (place / "app.json").exists()


def test_a_code_that_github_does_not_know_is_told(browser, place):
    page = go(browser).text
    state = parse_qs(urlsplit(action(page)).query)["state"][0]
    answer = browser.get(f"/setup/done?code=abc&state={state}")
    assert answer.status_code == 502
    assert "does not know that code" in answer.text
    assert not (place / "app.json").exists()


@pytest.mark.parametrize(
    "headers",
    [{"X-Forwarded-For": "203.0.113.9"}, {"Forwarded": "for=203.0.113.9"}, {"Host": "rebound.example.org"}],
    ids=["proxy", "proxy by the standard", "a name that leads here"],
)
def test_from_elsewhere_the_code_of_the_log_is_needed(bare, headers):
    assert httpx.get(f"{bare.url}/setup", headers=headers, timeout=60).status_code == 401
    answer = httpx.post(f"{bare.url}/setup", data={"name": "x"}, headers=headers, timeout=60)
    assert answer.status_code == 401
    with httpx.Client(base_url=bare.url, headers=headers, timeout=60, follow_redirects=True) as client:
        given = {"code": bare.codes[-1], "target": "/setup"}
        page = client.post("/signin", data=given)
        if "Host" not in headers:  # a cookie belongs to the name it came from
            assert "Set up testforge" in page.text


@pytest.mark.parametrize(
    "changes",
    [
        {"address": "javascript:alert(1)"},
        {"address": "https://x/<y>"},
        {"address": ""},
        {"name": "<b>"},
        {"name": "x" * 40},
        {"organisation": "../x"},
    ],
    ids=range(6),
)
def test_a_form_that_makes_no_sense_comes_back_with_why(browser, changes):
    answer = go(browser, **changes)
    assert answer.status_code == 400
    assert 'class="problem"' in answer.text
    assert "<b>" not in answer.text


def test_a_form_of_another_site_is_refused(browser):
    answer = browser.post("/setup", data={"name": "x"}, headers={"Origin": "https://evil.example.org"})
    assert answer.status_code == 403


def test_the_site_that_belongs_to_an_api():
    assert web_address("https://api.github.com") == "https://github.com"
    assert web_address("https://github.example.org/api/v3") == "https://github.example.org"
    assert web_address("https://github.example.org/api/v3/") == "https://github.example.org"


@pytest.mark.slow
def test_the_set_up_works_in_a_real_browser(bare, place, tmp_path):
    with browsing(tmp_path / "profile") as chromium:
        chromium.go(f"{bare.url}/setup")
        chromium.wait_for_heading("Set up testforge")
        chromium.type_into("name", "parcels-testforge")
        chromium.click_button()
        chromium.wait_for_heading("Make the App on GitHub")
        chromium.click_button()
        chromium.wait_for_heading("Install the App")
        assert json.loads((place / "app.json").read_text())["slug"] == "testforge"
        chromium.go(f"{bare.url}/runs")
        chromium.wait_for_heading("Runs")
