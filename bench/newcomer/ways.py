"""Each way in, walked from a clean machine to its first result."""

from __future__ import annotations

import contextlib
import hmac
import html
import json
import re
import resource
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from bench.newcomer.machine import ADDRESS, Machine, Typed, TypingError, end
from bench.newcomer.pages import block, readme_line
from tests.action.workflows import Runner
from tests.docs import shop
from tests.github.server import GitHub

PATIENCE_S = 900.0
REPOSITORY = "octo/shop"
LISTENING = "http://127.0.0.1:8000"


def command(machine: Machine) -> None:
    """From nothing to a review of one's own change, as docs/command.md says."""
    install(machine)
    _own_repository(machine, machine.home / "remote.git")
    machine.type(block("command.md", holds="testforge review --base main\n"))


def readme(machine: Machine) -> None:
    """From a clone to the sample's review, as the README begins."""
    machine.type(f"git clone --quiet {ADDRESS}\ncd testforge")
    machine.typed.clear()
    machine.type(readme_line("make demo"))


def app(machine: Machine, github: GitHub) -> None:
    """From nothing to the first review by one's own server, as docs/app.md says, the button on GitHub's page included."""
    install(machine)
    machine.type(block("app.md", holds="build.sh"))
    spent = _children()
    typed = block("app.md", holds="testforge serve")
    with _part(machine, f"`{typed.strip()}`"):
        server = machine.begin(typed, machine.home / "server.log")
        _wait(lambda: _status(f"{LISTENING}/healthz") == 200, server, machine)
    try:
        with _part(machine, "/setup, and the button on GitHub"):
            _make_app()
        with _part(machine, "a pull request's review"):
            pull = _open_pull(github, github.world.install())
            reviews = github.world.repositories[REPOSITORY].pulls[pull].reviews
            _wait(lambda: bool(reviews), server, machine)
    finally:
        end(server)
    machine.typed.append(Typed("(the server's processors)", 0.0, _children() - spent))


@contextlib.contextmanager
def _part(machine: Machine, text: str) -> Iterator[None]:
    """Note what the block takes on the clock."""
    started = time.monotonic()
    yield
    machine.typed.append(Typed(text, time.monotonic() - started, 0.0))


def action(machine: Machine, github: GitHub, directory: Path) -> None:
    """From `testforge init` to the review of the next pull request, as docs/action.md says.

    The command is installed before, and that is not counted; the Action sets itself up anew.
    """
    install(machine)
    machine.type("git clone --quiet " + ADDRESS + " ~/action")
    world = github.world
    installation = world.install()
    repository = world.add_repository(
        REPOSITORY, {name: text.encode() for name, text in shop.FILES.items()}, installation=installation
    )
    _own_repository(machine, Path(repository.store.directory), begin="main")
    machine.typed.clear()
    machine.type(block("action.md", holds="testforge init"))
    pull = _open_pull(github, installation)
    runner = _Timed(github, directory, REPOSITORY, machine)
    workflow = repository.store.file(str(repository.store.tip("main")), ".github/workflows/testforge.yml")
    event = github.shapes.payload(REPOSITORY, pull, "opened")
    done = runner.run((workflow or b"").decode(), "pull_request", event)
    if done.conclusion != "success" or not world.repositories[REPOSITORY].pulls[pull].reviews:
        raise TypingError(f"The job ended as {done.conclusion} with {done.annotations}:\n{done.log[-4000:]}")


def install(machine: Machine) -> None:
    """Type what docs/command.md says under *Install*."""
    machine.type(block("command.md", holds="git clone"))


class _Timed(Runner):
    """A runner that notes what each step of the Action takes."""

    def __init__(self, github: GitHub, directory: Path, repository: str, machine: Machine) -> None:
        kept = {name: text for name, text in machine.environment.items() if name != "HOME"}
        super().__init__(
            github, directory, repository, action=machine.home / "action", variables=_fresh(directory, kept)
        )
        self._machine = machine

    def shell(self, step: Mapping[str, Any], contexts: Mapping[str, Any]) -> dict[str, str]:
        """Run a step, and note it."""
        started, cpu = time.monotonic(), _children()
        outputs = super().shell(step, contexts)
        took = Typed(f"step: {step['name']}", time.monotonic() - started, _children() - cpu)
        self._machine.typed.append(took)
        return outputs


def _fresh(directory: Path, kept: Mapping[str, str]) -> dict[str, str]:
    """Return a runner's variables; its cache is empty."""
    return {**kept, "XDG_CACHE_HOME": str(directory / "cache")}


def _own_repository(machine: Machine, remote: Path, begin: str = "change") -> None:
    """Put the newcomer's own repository in place, and go there; nobody types that."""
    root = machine.home / "shop"
    root.mkdir()
    if begin == "main":
        subprocess.run(
            ["git", "clone", "--quiet", str(remote), str(root)], check=True, env=machine.environment
        )
    else:
        shop.make(root, remote, machine.environment)
    machine.type(f"cd {root}")
    machine.typed.pop()


def _open_pull(github: GitHub, installation: int) -> int:
    """Push a change and open its pull request; the App is told as GitHub does."""
    world = github.world
    if REPOSITORY not in world.repositories:
        files = {name: text.encode() for name, text in shop.FILES.items()}
        world.add_repository(REPOSITORY, files, installation=installation)
    changed = (shop.SOURCE + shop.CHANGE).encode()
    world.push(REPOSITORY, "change", {"src/shop/prices.py": changed})
    number = world.open_pull(REPOSITORY, "change").number
    if _status(f"{LISTENING}/healthz") == 200:
        body = json.dumps(github.shapes.payload(REPOSITORY, number, "opened")).encode()
        digest = hmac.digest(world.webhook_secret.encode(), body, "sha256").hex()
        headers = {
            "content-type": "application/json",
            "x-github-event": "pull_request",
            "x-github-delivery": secrets.token_hex(8),
            "x-hub-signature-256": f"sha256={digest}",
        }
        httpx.post(f"{LISTENING}/webhook", content=body, headers=headers, timeout=60).raise_for_status()
    return number


def _make_app() -> None:
    """Press the buttons of /setup and of GitHub's page, as a browser on the server's machine does."""
    with httpx.Client(base_url=LISTENING, timeout=60, follow_redirects=True) as browser:
        form = browser.get("/setup").text
        given = {name: _field(form, name) for name in ("address", "name", "organisation")}
        page = browser.post("/setup", data=given).text
        target = html.unescape(_found(r'<form method="post" action="([^"]*)"', page))
        browser.post(target, data={"manifest": _field(page, "manifest")}).raise_for_status()


def _field(text: str, name: str) -> str:
    return html.unescape(_found(rf'name="{name}" value="([^"]*)"', text))


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise TypingError(f"The page lacks {pattern}: {text[:2000]}")
    return found[1]


def _wait(done: Callable[[], bool], server: subprocess.Popen[bytes], machine: Machine) -> None:
    """Wait for something of the server.

    Raises:
        TypingError: It ended, or it took too long.
    """
    until = time.monotonic() + PATIENCE_S
    while not done():
        if server.poll() is not None or time.monotonic() > until:
            said = (machine.home / "server.log").read_text("utf-8", "replace")[-4000:]
            raise TypingError(f"The server did not come so far:\n{said}")
        time.sleep(0.1)


def _status(address: str) -> int:
    try:
        return httpx.get(address, timeout=30).status_code
    except httpx.HTTPError:
        return 0


def _children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


@contextlib.contextmanager
def clean_source() -> Iterator[Path]:
    """Give a bare copy of this repository's last commit, which stands for the one on GitHub."""
    root = Path(__file__).parents[2]
    with tempfile.TemporaryDirectory(prefix="newcomer-source-") as directory:
        place = Path(directory) / "testforge"
        subprocess.run(["git", "clone", "--quiet", "--bare", str(root), str(place)], check=True)
        yield place
        shutil.rmtree(place, ignore_errors=True)
