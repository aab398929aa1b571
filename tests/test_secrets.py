"""No secret is in anything that a run sends, prints or leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from model_server import KEY, Raw, Turn, serving

from bot.sandbox import Interpreter

pytestmark = pytest.mark.slow

WEBHOOK = "a-webhooks-own-secret"
TOKEN = "ghp_" + "Planted0" * 5
DATABASE = "postgresql://bob:database-password@db/x"
SOURCE = f'''"""A client. {DATABASE}"""

TOKEN = "{TOKEN}"


def half(number):
    return number / 2
'''
SUITE = "```python\nfrom client import half\n\n\ndef test_half_of_ten():\n    assert half(10) == 5\n```"
SECRETS = (KEY, WEBHOOK, "Planted0", "database-password")


def test_prompts_traces_cassettes_reports_patches_and_what_is_printed_hold_none(
    tmp_path: Path, interpreter: Interpreter
) -> None:
    root, out = tmp_path / "project", tmp_path / "out"
    for place in (root / ".github", out):
        place.mkdir(parents=True)
    (root / "client.py").write_text(SOURCE, "utf-8")
    (root / ".github/testforge.yml").write_text("mutation:\n  enabled: false\n", "utf-8")
    refusal = Raw({"error": {"message": f"Incorrect API key provided: {KEY}", "code": None}}, 401)
    options = [
        "generate",
        "project/client.py",
        "--model",
        "openai/gpt-4o",
        "--sandbox",
        "process",
        "--max-iterations",
        "2",
    ]
    options += ["--record", "out/tape", "--json", "out/report.json", "--patch", "out/tests.patch"]
    with serving() as server:
        server.say(Turn("ready"), Turn(SUITE), refusal)
        done = subprocess.run(
            [sys.executable, "-c", "from bot.entry import main; main()", *options],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={
                **os.environ,
                "TESTFORGE_WEBHOOK_SECRET": WEBHOOK,
                "VIRTUAL_ENV": str(Path(interpreter.command).parents[1]),
            },
        )
        requests = json.dumps(server.requests)
    assert done.returncode == 0, done.stderr
    left = {str(path.relative_to(out)): path.read_text("utf-8") for path in out.rglob("*") if path.is_file()}
    assert sorted(left) == ["report.json", "tape/cassette.jsonl", "tape/trace.jsonl", "tests.patch"]
    assert json.loads(left["report.json"])["status"] == "proposed"
    assert "AuthenticationError" in left["tape/trace.jsonl"]
    for name, text in {**left, "requests": requests, "stdout": done.stdout, "stderr": done.stderr}.items():
        assert not [secret for secret in SECRETS if secret in text], name
