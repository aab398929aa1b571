"""How the server bears a load of webhooks: python -m bench.webhook [--rates 50,150] [--seconds 60]

Deliveries are sent at fixed moments, whether earlier ones were answered or not, and each is timed from the moment it
was due. One in ten is sent twice. What must hold: all are answered within the ten seconds that GitHub waits, 99 of 100
within one second at 50 a second, and the database holds each delivery once. The server is `testforge serve` with SQLite
on disk, its worker included; GitHub is not there, so that nothing but the intake is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import hmac
import json
import os
import resource
import sqlite3
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.jobs.serving import Process
from tests.web.payloads import comment, pull_request

SECRET = "a secret for the bench"
GITHUB_WAITS_S = 10.0
TWICE_EVERY = 10
CONNECTIONS = 64
FILLER = "x" * 8_000
"""GitHub's payloads of pull requests are some 20 kB."""


@dataclass
class Load:
    """What became of one load: seconds of each answer by what was sent, and answers other than 202."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unique: set[str] = field(default_factory=set)


class Connections:
    """Open connections to the server, taken and given back."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()

    async def open(self) -> None:
        """Open them."""
        for _ in range(CONNECTIONS):
            self._free.put_nowait(await asyncio.open_connection("127.0.0.1", self._port))

    async def send(self, request: bytes) -> int:
        """Send a request and return the status of its answer."""
        connection = await self._free.get()
        reader, writer = connection
        writer.write(request)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        self._free.put_nowait(connection)
        return int(head.split(b" ", 2)[1])


async def load(port: int, rate: float, seconds: float, tag: str) -> Load:
    """Send deliveries at a rate for a time, and wait for every answer."""
    found = Load()
    connections = Connections(port)
    await connections.open()
    requests = []
    for number in range(int(rate * seconds)):
        delivery = f"{tag}-{number - 1 if number % TWICE_EVERY == TWICE_EVERY - 1 else number}"
        found.unique.add(delivery)
        requests.append(_request(number, delivery))
    began = time.perf_counter() + 0.5

    async def one(number: int, request: bytes) -> None:
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        try:
            status = await connections.send(request)
        except (OSError, asyncio.IncompleteReadError) as error:
            found.wrong.append(repr(error))
            return
        found.seconds.append(time.perf_counter() - due)
        if status != 202:
            found.wrong.append(str(status))

    await asyncio.gather(*(one(number, request) for number, request in enumerate(requests)))
    return found


def _request(number: int, delivery: str) -> bytes:
    """Return a delivery as bytes: mostly pushes to pull requests, some comments."""
    event, payload = "pull_request", pull_request("synchronize", number % 500 + 1, filler=FILLER)
    if number % 20 >= 18:  # a pair, so that one sent twice stays the same
        event, payload = "issue_comment", comment("/testforge help", filler=FILLER)
    repository = {"id": 1, "full_name": f"octo/repository-{number // 2 % 40}"}
    body = json.dumps({**payload, "repository": repository}).encode()
    if number % TWICE_EVERY == TWICE_EVERY - 1:
        return _request(number - 1, delivery)
    signature = hmac.digest(SECRET.encode(), body, "sha256").hex()
    head = (
        "POST /webhook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"X-GitHub-Event: {event}\r\nX-GitHub-Delivery: {delivery}\r\n"
        f"X-Hub-Signature-256: sha256={signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def stored(database: Path, tag: str) -> list[str]:
    """Return the deliveries of a load that lie in the database, each as often as it does."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        rows = connection.execute(
            "SELECT workflow_uuid FROM workflow_status WHERE workflow_uuid LIKE ?", (f"%/{tag}-%",)
        )
        return [name.rpartition("/")[2] for (name,) in rows]


def resident_mb(pid: int) -> float:
    """Return the memory of a process, in MB."""
    line = next(
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")
    )
    return int(line.split()[1]) / 1024


def cpu_s(pid: int) -> float:
    """Return the processor time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def environment(directory: Path) -> dict[str, str]:
    """Return the environment of the server."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = directory / "key.pem"
    pem.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return {
        **os.environ,
        "TESTFORGE_DATA_DIRECTORY": str(directory),
        "TESTFORGE_APP_ID": "7",
        "TESTFORGE_PRIVATE_KEY_FILE": str(pem),
        "TESTFORGE_WEBHOOK_SECRET": SECRET,
        "TESTFORGE_GITHUB_URL": "http://127.0.0.1:9",
        "TESTFORGE_WORKER_NAME": "bench",
        "TESTFORGE_SANDBOX": "docker",
    }


def main() -> None:
    """Measure, print, and fail where something does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rates", default="50,150", help="deliveries a second, one load after the other")
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    faults = []
    with tempfile.TemporaryDirectory(prefix="testforge-bench-") as place:
        directory = Path(place)
        began = time.perf_counter()
        with Process("serve", environment(directory), directory / "log") as server:
            server.wait_until_ready()
            pid = server.process.pid
            print(f"ready after {time.perf_counter() - began:.2f} s ({cpu_s(pid):.2f} s of processor time)")
            time.sleep(5)
            print(f"idle: {resident_mb(pid):.0f} MB")
            for rate in map(float, arguments.rates.split(",")):
                faults += _measured(server, directory, rate, arguments.seconds)
            print(f"afterwards: {resident_mb(pid):.0f} MB")
    if faults:
        sys.exit("; ".join(faults))


def _measured(server: Process, directory: Path, rate: float, seconds: float) -> list[str]:
    """Put one load on the server, print what became of it, and return what did not hold."""
    tag = f"rate{rate:.0f}"
    before = cpu_s(server.process.pid)
    found = asyncio.run(load(server.port, rate, seconds, tag))
    spent = cpu_s(server.process.pid) - before
    rows = stored(directory / "testforge.sqlite", tag)
    ordered = sorted(found.seconds) or [float("inf")]
    p50, p99 = (ordered[min(len(ordered) - 1, int(len(ordered) * part))] for part in (0.5, 0.99))
    print(
        f"{rate:.0f}/s for {seconds:.0f} s: {len(found.seconds)} answered, p50 {1000 * p50:.0f} ms, p99 {1000 * p99:.0f} ms, "
        f"longest {1000 * ordered[-1]:.0f} ms; {len(found.unique)} deliveries sent, {len(rows)} stored, "
        f"{len(found.wrong)} wrong answers; {1000 * spent / max(1, len(found.seconds)):.1f} ms of processor time each"
    )
    faults = []
    if found.wrong or sorted(rows) != sorted(found.unique):
        faults.append(f"at {rate:.0f}/s not every delivery is stored once")
    if ordered[-1] > GITHUB_WAITS_S:
        faults.append(f"at {rate:.0f}/s an answer took {ordered[-1]:.1f} s")
    if rate <= 50 and p99 > 1.0:
        faults.append(f"at {rate:.0f}/s p99 is {p99:.2f} s")
    return faults


if __name__ == "__main__":
    main()
