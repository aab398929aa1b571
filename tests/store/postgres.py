"""A Postgres server for tests: from whatever installation there is, in a directory of its own, gone with the tests."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

_PLACES = "/usr/lib/postgresql/*/bin"


class Postgres:
    """A server that listens on a socket in its directory and nowhere else."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._numbers = itertools.count(1)

    @classmethod
    @contextlib.contextmanager
    def started(cls) -> Iterator[Postgres]:
        """Start a server for as long as the block runs; skip the test where there is none."""
        programs = _programs()
        if programs is None:
            pytest.skip("no Postgres server is installed here; `apt-get install postgresql` gives one")
        with (
            tempfile.TemporaryDirectory(prefix="testforge-postgres-") as place,
            cls._running(programs, Path(place)) as server,
        ):
            yield server

    @classmethod
    @contextlib.contextmanager
    def _running(cls, programs: Path, directory: Path) -> Iterator[Postgres]:
        data = directory / "data"
        # It refuses to run as root, and its user has to own its directory.
        drop = _unprivileged() if os.getuid() == 0 else None
        if drop is not None:
            os.chown(directory, *drop)
        identity = {} if drop is None else {"user": drop[0], "group": drop[1], "extra_groups": []}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": directory, **identity}
        subprocess.run(
            [
                programs / "initdb",
                "-D",
                data,
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-locale",
                "-N",
            ],
            check=True,
            **quiet,
        )
        options = [
            "-c",
            "listen_addresses=",
            "-k",
            str(directory),
            "-c",
            "fsync=off",
            "-c",
            "max_connections=200",
        ]
        process = subprocess.Popen([programs / "postgres", "-D", data, *options], **quiet)
        try:
            server = cls(directory)
            server._wait(process)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def new_database(self) -> str:
        """Make an empty database, and return its URL."""
        name = f"testforge{next(self._numbers)}"
        with self._connection() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://postgres@/{name}?host={self.directory}"

    def _connection(self) -> psycopg.Connection:
        return psycopg.connect(f"host={self.directory} user=postgres dbname=postgres", autocommit=True)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        """Return when it answers."""
        while True:
            try:
                self._connection().close()
            except psycopg.OperationalError:
                if process.poll() is not None:
                    raise
            else:
                return


def _programs() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    places = sorted(Path("/").glob(_PLACES[1:]), key=lambda place: int(place.parent.name.partition(".")[0]))
    return next((place for place in reversed(places) if (place / "initdb").exists()), None)


def _unprivileged() -> tuple[int, int]:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return user.pw_uid, user.pw_gid
    return 65534, 65534
