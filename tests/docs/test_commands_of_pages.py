"""The commands on the documentation's pages: those marked as runnable are run, and all others exist."""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from bot.cli import app
from tests.docs import shop
from tests.docs.fences import ROOT, Fence, fences

BIN = Path(sys.executable).parent
PATIENCE_S = 240.0


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A reader's repository, with a remote to push to; the model is to be done soon."""
    root = tmp_path / "shop"
    root.mkdir()
    soon = {".github/testforge.yml": "max_iterations: 1\n"}
    shop.make(root, tmp_path / "remote", _environment(tmp_path), soon)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("fence", fences("sample", "anywhere"), ids=str)
def test_a_block_that_is_marked_runs_as_it_stands(fence: Fence, sample: Path, tmp_path: Path) -> None:
    _bash(sample, fence.text, tmp_path)


@pytest.mark.slow
def test_the_server_of_its_page_answers(tmp_path: Path) -> None:
    (serve,) = fences("server")
    with _serving(serve.text.strip(), tmp_path) as port:
        assert _status(f"http://127.0.0.1:{port}/setup") == 200


@pytest.mark.parametrize("fence", [fence for fence in fences() if fence.language == "sh"], ids=str)
def test_commands_and_their_options_exist(fence: Fence) -> None:
    group = typer.main.get_command(app)
    for line in fence.commands:
        words = [word for word in shlex.split(line) if "=" not in word]
        if words[0] == "testforge":
            options = {name for option in group.commands[words[1]].params for name in option.opts}
            assert {word for word in words[2:] if word.startswith("-")} <= options, line
        elif words[0] == "make":
            assert f"\n{words[1]}: " in (ROOT / "Makefile").read_text(), line
        elif words[0] == "sh":
            assert (ROOT / words[1]).is_file(), line
        else:
            assert words[0] in {"cd", "git", "python", "docker", "sudo"}, line


def test_each_quick_start_has_a_block_that_runs() -> None:
    run = {fence.page for fence in fences("sample", "server")}

    assert {"command.md", "action.md", "app.md"} <= run


def _bash(directory: Path, script: str, home: Path) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=directory,
        env=_environment(home),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _environment(home: Path) -> dict[str, str]:
    """Return a user's environment in which the command is installed, and nothing of ours."""
    return {
        "HOME": str(home),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "TESTFORGE_SANDBOX": "process",
        "TESTFORGE_ALLOW_PROCESS_SANDBOX": "1",
        "DOCKER_HOST": f"unix://{home}/docker.sock",
        **shop.AUTHOR,
    }


@contextlib.contextmanager
def _serving(command: str, home: Path) -> Iterator[int]:
    """Run a server and give its port; another one where somebody else took the port in between."""
    log = home / "log"
    for _ in range(5):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environment = {**_environment(home), "TESTFORGE_PORT": str(port)}
        with log.open("wb") as sink:
            server = subprocess.Popen(
                ["bash", "-c", f"exec {command}"], cwd=home, env=environment, stdout=sink, stderr=sink
            )
        try:
            if _answers(f"http://127.0.0.1:{port}/healthz", server):
                yield port
                return
        finally:
            server.terminate()
            server.wait(timeout=PATIENCE_S)
    raise AssertionError(log.read_text())


def _answers(address: str, server: subprocess.Popen[bytes]) -> bool:
    """Wait until a server answers; tell whether it did before it ended."""
    ends = time.monotonic() + PATIENCE_S
    while server.poll() is None and time.monotonic() < ends:
        if _status(address) == 200:
            return True
        time.sleep(0.05)
    return False


def _status(address: str) -> int:
    """Return the status of an answer; 0 while nobody answers."""
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
