"""One repository's client: tokens, limits, failures."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.errors import GitHubError, UsageError
from bot.github import pulls
from bot.github.app import PERMISSIONS, App
from bot.github.authority import may_command
from bot.github.faults import ForbiddenError, InvalidError, LimitedError, NotThereError, UnreachableError
from bot.github.hub import Hub
from bot.github.pacing import Pace
from bot.github.wire import Wire
from bot.models.redaction import redact
from bot.settings import Settings
from tests.github.hands import HandClock, app_for, settings_for
from tests.github.server import GitHub
from tests.github.server.world import ALL_PERMISSIONS

REPOSITORY = "octo/parcels"


def test_a_pull_request_is_read(hub: Hub, github: GitHub) -> None:
    pull = pulls.read(hub, 1)
    assert (pull.number, pull.head_ref, pull.base_ref, pull.state) == (1, "feature", "main", "open")
    assert pull.head == github.world.repositories[REPOSITORY].store.tip("feature")
    assert not pull.is_fork
    assert pull.can_push
    assert pulls.Pull.from_json(pull.as_json()) == pull


def test_a_pull_request_of_a_deleted_fork_is_read(hub: Hub, github: GitHub) -> None:
    world = github.world
    world.fork(REPOSITORY, "carol")
    world.push("carol/parcels", "idea", {"x.py": b"x = 1\n"}, author="carol")
    number = world.open_pull(REPOSITORY, "idea", head_repo="carol/parcels", author="carol").number
    assert pulls.read(hub, number).head_repo == "carol/parcels"
    world.delete_fork("carol/parcels")
    pull = pulls.read(hub, number)
    assert (pull.head_repo, pull.is_fork, pull.can_push) == ("", True, False)


def test_the_app_knows_who_it_is(app: App, github: GitHub) -> None:
    assert app.identity().login == "testforge[bot]"
    assert app.identity().login == "testforge[bot]"
    assert [entry.path for entry in github.log].count("/app") == 1


def test_a_token_is_for_the_one_repository(hub: Hub, github: GitHub) -> None:
    github.world.add_repository("octo/other", installation=hub.installation)
    pulls.read(hub, 1)
    assert [minted["repositories"] for minted in github.world.minted] == [[REPOSITORY]]
    with pytest.raises(NotThereError):
        hub.get("//repos/octo/other")


def test_eight_at_once_make_one_token(hub: Hub, github: GitHub) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: pulls.read(hub, 1), range(8)))
    assert len(github.world.minted) == 1


def test_the_tests_app_has_the_permissions_that_the_app_asks_for() -> None:
    assert ALL_PERMISSIONS == PERMISSIONS


def test_a_post_is_never_sent_twice(hub: Hub, github: GitHub) -> None:
    github.faults.add("502", "POST", "/issues/1/comments")
    with pytest.raises(UnreachableError):
        hub.post("/issues/1/comments", {"body": "hello"})
    assert [entry.path for entry in github.log if entry.method == "POST"].count(
        f"/repos/{REPOSITORY}/issues/1/comments"
    ) == 1


def test_reads_are_given_up_after_a_few_times(hub: Hub, github: GitHub, clock: HandClock) -> None:
    github.faults.add("502", "GET", "/pulls/1$", times=9)
    with pytest.raises(UnreachableError, match="502"):
        pulls.read(hub, 1)
    assert clock.waits == [1, 4, 9]


def test_a_limit_that_does_not_lift_is_an_error(hub: Hub, github: GitHub) -> None:
    github.faults.add("secondary", "GET", "/pulls/1$", times=9, wait_s=400)
    with pytest.raises(LimitedError, match="rate limit"):
        pulls.read(hub, 1)
    assert len(github.faults.struck) == 3


def test_bare_limits_are_waited_for_longer_each_time(hub: Hub, github: GitHub, clock: HandClock) -> None:
    github.faults.add("secondary-bare", "GET", "/pulls/1$", times=3)
    pulls.read(hub, 1)
    assert clock.waits == [60, 120, 240]


def test_a_permission_that_is_missing_is_not_waited_for(github: GitHub, clock: HandClock) -> None:
    installation = github.world.install({"metadata": "read"})
    github.world.repositories[REPOSITORY].installation = installation
    with (
        app_for(github, clock).connect(installation, REPOSITORY) as hub,
        pytest.raises(ForbiddenError, match="not accessible"),
    ):
        pulls.read(hub, 1)
    assert clock.waits == []


def test_an_uninstalled_app_is_said_plainly(hub: Hub, github: GitHub) -> None:
    github.world.uninstall(hub.installation)
    with pytest.raises(GitHubError, match="not installed on octo/parcels any more"):
        pulls.read(hub, 1)


def test_a_suspended_installation_is_said_plainly(hub: Hub, github: GitHub) -> None:
    github.world.suspended.add(hub.installation)
    with pytest.raises(ForbiddenError, match="suspended"):
        pulls.read(hub, 1)


def test_a_repository_that_the_app_is_not_installed_on_is_said_plainly(
    app: App, hub: Hub, github: GitHub
) -> None:
    github.world.add_repository("octo/other")
    with (
        app.connect(hub.installation, "octo/other") as other,
        pytest.raises(GitHubError, match="not on this repository"),
    ):
        other.get("")


def test_a_wrong_key_is_said_plainly(github: GitHub, clock: HandClock) -> None:
    settings = settings_for(github).model_copy(update={"app_id": 1})
    with pytest.raises(GitHubError, match="does not accept the App's key"):
        App(settings, clock).identity()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (Settings(), "TESTFORGE_APP_ID"),
        (Settings(app_id=1), "TESTFORGE_PRIVATE_KEY_FILE"),
        (Settings.model_validate({"app_id": 1, "private_key_file": "missing.pem"}), "cannot be read"),
    ],
)
def test_settings_that_are_missing_are_named(settings: Settings, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        App(settings)


def test_a_key_that_is_none_is_said_without_showing_it() -> None:
    app = App(
        Settings.model_validate({"app_id": 1, "private_key": "hunter2", "github_url": "http://127.0.0.1:9"})
    )
    with pytest.raises(UsageError, match="PEM") as caught:
        app.identity()
    assert "hunter2" not in f"{caught.value} {caught.value.detail}"


def test_a_github_that_is_not_there_is_said_plainly(github: GitHub, clock: HandClock) -> None:
    settings = settings_for(github).model_copy(update={"github_url": "http://127.0.0.1:9"})
    with pytest.raises(UnreachableError, match="The connection to GitHub broke"):
        App(settings, clock).identity()


def test_an_enterprise_servers_addresses_are_spoken_to(github: GitHub, clock: HandClock) -> None:
    settings = settings_for(github).model_copy(update={"github_url": f"{github.url}/api/v3"})
    installation = github.world.repositories[REPOSITORY].installation or 0
    with App(settings, clock).connect(installation, REPOSITORY) as hub:
        assert pulls.read(hub, 1).number == 1
        assert hub.graphql("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": []}) == {"nodes": []}
        assert hub.wire.git_url == github.url


def test_lists_are_read_to_their_end(hub: Hub, github: GitHub) -> None:
    for number in range(230):
        github.world.comment(REPOSITORY, 1, f"comment {number}")
    assert len(list(hub.pages("/issues/1/comments"))) == 230
    assert len(list(hub.pages("/issues/1/comments", most=150))) == 150


def test_a_refusal_tells_githubs_words(hub: Hub) -> None:
    with pytest.raises(InvalidError, match="body is too long"):
        hub.post("/issues/1/comments", {"body": "x" * 65_537})


def test_no_secret_reaches_a_log_or_an_error(
    hub: Hub, github: GitHub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    github.faults.add("502", "GET", "/pulls/1$", times=9)
    with pytest.raises(UnreachableError) as caught:
        pulls.read(hub, 1)
    told = f"{caplog.text} {caught.value!r} {caught.value.detail} {hub!r}"
    assert all(token not in told for token in github.world.tokens)
    assert "eyJ" not in told


@pytest.mark.parametrize(
    "secret",
    [
        "ghs_" + "a1B2" * 9,
        "ghs_4711_eyJhbGciOi.eyJpc3MiOi.c2lnbmF0dXJl-x_y",
        "github_pat_11ABCDEFG0_abcdef",
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiI0NzExIn0.c2ln_bmF0-dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_tokens_old_and_new_are_redacted(secret: str) -> None:
    assert redact(f"before {secret} after") == "before *** after"


def test_passwords_in_addresses_are_redacted() -> None:
    assert redact("fatal: https://x-access-token:abc@example.org/x") == "fatal: https://***@example.org/x"


def test_more_writes_than_an_hour_admits_wait_for_the_next(clock: HandClock) -> None:
    pace = Pace(clock)
    start = clock.now()
    for _ in range(451):
        pace.wait()
    assert clock.now() - start == 3600


@pytest.mark.parametrize(
    ("login", "level", "may"),
    [
        ("alice", "write", True),
        ("owner", "admin", True),
        ("bob", "read", False),
        ("stranger", "none", False),
        ("nobody", "", False),
        ("evil/../alice", "", False),
        ("testforge[bot]", "write", False),
        ("", "", False),
    ],
)
def test_only_writers_may_command(hub: Hub, github: GitHub, login: str, level: str, may: bool) -> None:
    if level:
        github.world.repositories[REPOSITORY].collaborators[login] = level
    assert may_command(hub, login) is may


@pytest.mark.parametrize("kind", ["502", "drop", "truncated", "html", "secondary", "secondary-bare"])
def test_a_token_is_asked_for_again(hub: Hub, github: GitHub, kind: str) -> None:
    github.faults.add(kind, "POST", "/access_tokens$")  # type: ignore[arg-type]
    assert pulls.read(hub, 1).number == 1


@pytest.mark.parametrize(
    ("api", "graphql", "git"),
    [
        ("https://api.github.com", "https://api.github.com/graphql", "https://github.com"),
        ("https://api.octo.ghe.com/", "https://api.octo.ghe.com/graphql", "https://octo.ghe.com"),
        ("https://git.example.org/api/v3", "https://git.example.org/api/graphql", "https://git.example.org"),
    ],
)
def test_each_kind_of_github_has_its_addresses(api: str, graphql: str, git: str) -> None:
    wire = Wire(api, api_version="")
    assert (wire.graphql_url, wire.git_url) == (graphql, git)
