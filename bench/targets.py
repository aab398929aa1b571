"""Several files at once: how much longer a pull request of more files takes, while a model is waited for.

    python -m bench.targets [--latency S] [--counts 1,2,4]

A server on this machine answers every call after the same time, as a distant model does: a seed, one turn of the agent,
and the end. The same change is reviewed with one file, two and four, and with four in turn (`--jobs 1`), in the process
sandbox; every file is alike, so each is the slowest. What a file costs this machine is not hidden: its sandboxes run
beside the others', on as many cores as there are. The first review of all is not counted, for it imports what the others
find imported. Ratios are to the first review, of one file.

Seen on 2026-12-01 (8 s a call, two cores shared with others): one file 35.9 s, two 37.2 s (1.03 of the first), four 42.0 s
(1.17), four in turn 118.0 s (3.28); 4.6, 8.6 and 18 s of CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.stopwatch import Spent, stopwatch
from bot.domain import Request
from bot.pipeline import review

MODEL = "openai/gpt-4o"
CALLS = 3
"""Of each file: a seed, a turn, the end."""
SOURCE = '''def scaled(number):
    """Return a number times {factor}, at least 0."""
    if number < 0:
        return 0
    return number * {factor}
'''
SUITE = """from {module} import scaled


def test_two_is_scaled_by_{factor}():
    assert scaled(2) == {twice}
"""
MORE = """

def test_below_zero_there_is_nothing():
    assert scaled(-1) == 0
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the times and their ratios; a file that is left without tests is an error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--latency", type=float, default=8.0, help="seconds that each call takes")
    parser.add_argument("--counts", default="1,2,4", help="numbers of files")
    options = parser.parse_args(arguments)
    counts = [int(each) for each in options.counts.split(",")]
    with tempfile.TemporaryDirectory(prefix="testforge-bench-") as directory:
        with served(0.0) as address:
            reviewed(Path(directory, "first"), 1, address)
        with served(options.latency) as address:
            at_once = {count: reviewed(Path(directory, str(count)), count, address) for count in counts}
            in_turn = reviewed(Path(directory, "in-turn"), counts[-1], address, jobs=1)
    one = at_once[counts[0]].wall
    print(f"{CALLS} calls a file and a greeting, {options.latency:g} s each, on {os.cpu_count()} cores")
    for count, spent, how in (
        *((count, spent, "at once") for count, spent in at_once.items()),
        (counts[-1], in_turn, "in turn"),
    ):
        print(
            f"{count} {'file ' if count == 1 else 'files'} {how}   {spent.wall:6.1f} s   {spent.cpu:6.1f} s of CPU   "
            f"{spent.wall / one:5.2f} of the first"
        )
    return 0


def reviewed(place: Path, count: int, address: str, jobs: int | None = None) -> Spent:
    """Review a change of so many files, and return what that took.

    Raises:
        RuntimeError: A file was left without tests, so that the time says nothing.
    """
    root = project(place, count)
    os.environ.update(OPENAI_API_KEY="none-is-needed", OPENAI_API_BASE=address, OPENAI_BASE_URL=address)
    request = Request(root, base="main", model=MODEL, sandbox="process", jobs=jobs)
    with stopwatch() as spent:
        report = review(request, lambda _: None)
    if [target.status for target in report.targets] != ["proposed"] * count:
        raise RuntimeError(f"{report.status}: {[target.reason for target in report.targets]}")
    return spent()


def project(root: Path, count: int) -> Path:
    """Make a repository whose working tree adds so many files to its only commit."""
    (root / ".github").mkdir(parents=True)
    (root / ".github/testforge.yml").write_text("mutation:\n  enabled: false\n", "utf-8")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    for number in range(1, count + 1):
        (root / f"scale{number}.py").write_text(SOURCE.format(factor=number + 1), "utf-8")
    return root


# ---------------------------------------------------------------- the model


@contextmanager
def served(latency_s: float) -> Iterator[str]:
    """Serve a model that takes so long for each reply, and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(latency_s))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(latency_s: float) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            time.sleep(latency_s)
            body = json.dumps(reply(asked["messages"], bool(asked.get("tools")))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def reply(messages: Sequence[Mapping[str, Any]], tools: bool) -> dict[str, Any]:
    """Return the chat completion that goes on from a conversation."""
    task = json.dumps(messages)
    number = next((each for each in range(1, 100) if f"File under test: scale{each}.py" in task), 0)
    names = {"module": f"scale{number}", "factor": number + 1, "twice": 2 * (number + 1)}
    message: dict[str, Any] = {"role": "assistant", "content": "ready"}
    if number and not tools:
        message["content"] = f"```python\n{SUITE.format(**names)}```"
    elif number and messages[-1]["role"] == "user":
        path = f"tests/test_scale{number}.py"
        insert: dict[str, Any] = {
            "reflection": "The branch is open.",
            "path": path,
            "after": -1,
            "text": MORE,
        }
        message["tool_calls"] = [_call("insert_lines", insert), _call("run_tests", {"reflection": "So?"})]
    elif number:
        message["tool_calls"] = [_call("finish", {"reflection": "All is covered.", "summary": "Both ways."})]
    ended = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": "reply",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [{"index": 0, "message": message, "finish_reason": ended}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100},
    }


def _call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": f"call_{name}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


if __name__ == "__main__":
    sys.exit(main())
