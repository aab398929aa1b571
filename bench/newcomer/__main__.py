"""From a clean machine to the first result: python -m bench.newcomer [--ways command,readme,app,action] [--base IMAGE]

Each way types the blocks of the documentation's pages and nothing else, in an empty home with the system's own tools;
the tests' GitHub stands for github.com, a copy of the last commit for the repository there. `--image` walks `command` and
`readme` in a container of a bare system's image with Python, git and make, `--mount` shows it files of this machine, such
as certificates. `--base` is the sandbox image's base where the official one cannot be had. `--out` keeps the table.
"""

from __future__ import annotations

import argparse
import contextlib
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.newcomer import ways
from bench.newcomer.container import contained
from bench.newcomer.machine import Machine, Typed, TypingError
from tests.github.server import GitHub

LIMITS_S = {"command": 120, "readme": 120, "app": 300, "action": 180}
IMAGE = "testforge-sandbox:3.12"


def main() -> None:
    """Walk the ways and print what each took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ways", default=",".join(LIMITS_S))
    parser.add_argument("--base", help="base of the sandbox image, with Python 3.12")
    parser.add_argument("--image", help="a container's image to walk `command` and `readme` in")
    parser.add_argument("--mount", action="append", default=[], help="a file that the container is to see")
    parser.add_argument("--out", type=Path, help="a file for the table")
    given = parser.parse_args()
    rows, failed = [], False
    for way in given.ways.split(","):
        try:
            rows += _rows(way, _walk(way, given))
        except TypingError as error:
            failed = True
            print(f"{way}: {error}", file=sys.stderr)
    table = "\n".join(["| way | step | seconds | CPU seconds | limit |", "|---|---|--:|--:|--:|", *rows])
    own = [number for number, word in enumerate(sys.argv) if word in ("--mount", "--out")]
    words = [word for n, word in enumerate(sys.argv) if n and n not in own and n - 1 not in own]
    said = f"Printed by `{shlex.join(['python', '-m', 'bench.newcomer', *words])}` on {datetime.now(UTC):%d %B %Y}."
    print(f"{table}\n\n{said}")
    if given.out is not None:
        given.out.write_text(f"{table}\n\n{said}\n")
    sys.exit(failed)


def _walk(way: str, given: argparse.Namespace) -> list[Typed]:
    """Walk one way; return what was typed."""
    with ways.clean_source() as source, tempfile.TemporaryDirectory(prefix="newcomer-") as place:
        directory = Path(place)
        if way in ("command", "readme"):
            with contextlib.ExitStack() as stack:
                if given.image:
                    machine: Machine = stack.enter_context(contained(given.image, source, given.mount))
                else:
                    machine = Machine(directory, source)
                (ways.command if way == "command" else ways.readme)(machine)
            return machine.typed
        with GitHub(directory / "github") as github, _image_removed(), _new_base(given.base) as base:
            machine = Machine(directory, source, {"TESTFORGE_GITHUB_URL": github.url, **base})
            if way == "app":
                ways.app(machine, github)
            else:
                ways.action(machine, github, directory / "runner")
            return machine.typed


@contextlib.contextmanager
def _image_removed() -> Iterator[None]:
    """Take the sandbox image away while the block runs, if it is there, and leave the engine as it was."""
    kept = f"{IMAGE}-kept"
    had = _docker("tag", IMAGE, kept)
    _docker("rmi", IMAGE)
    try:
        yield
    finally:
        _docker("rmi", IMAGE)
        if had:
            _docker("tag", kept, IMAGE)
            _docker("rmi", kept)


@contextlib.contextmanager
def _new_base(base: str | None) -> Iterator[dict[str, str]]:
    """Give the variable that names the sandbox image's base: one that nothing was built on, so nothing is cached."""
    if base is None:
        yield {}
        return
    recipe = f"FROM {base}\nLABEL newcomer={secrets.token_hex(8)}\n"
    command = ["docker", "build", "--quiet", "--tag", "newcomer-base", "-"]
    subprocess.run(command, input=recipe, text=True, check=True, capture_output=True)
    try:
        yield {"BASE": "newcomer-base"}
    finally:
        _docker("rmi", "newcomer-base")


def _docker(*words: str) -> bool:
    return subprocess.run(["docker", *words], capture_output=True, check=False).returncode == 0


def _rows(way: str, typed: list[Typed]) -> list[str]:
    """Return the table's lines for one way."""
    rows = [f"| {way} | {one.text} | {one.seconds:.0f} | {one.cpu_s:.0f} | |" for one in typed]
    seconds, cpu_s = sum(one.seconds for one in typed), sum(one.cpu_s for one in typed)
    return [*rows, f"| {way} | **in all** | **{seconds:.0f}** | {cpu_s:.0f} | {LIMITS_S[way]} |"]


main()
