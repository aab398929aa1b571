"""The documentation says what is true: what is generated is up to date, links lead somewhere, commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
SCHEMA = ROOT / "docs" / "testforge.schema.json"


@pytest.mark.parametrize("script", ["configuration_docs.py", "command_docs.py"])
def test_what_is_generated_is_up_to_date(script: str) -> None:
    command = [sys.executable, str(ROOT / "scripts" / script), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    files = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in files if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_named_exists(page: Path) -> None:
    from bot.cli import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    named = set(
        re.findall(
            r"^    (?:\$ )?(?:\.venv/bin/)?testforge ([a-z]+)\b", page.read_text("utf-8"), re.MULTILINE
        )
    )
    assert named <= known


def test_the_readmes_configuration_fits_the_schema() -> None:
    import json

    blocks = re.findall(r"(?:^    .*\n|^\n)+", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    (block,) = [block for block in blocks if "max_iterations:" in block]
    jsonschema.validate(yaml.safe_load(block), json.loads(SCHEMA.read_text()))


def test_the_schema_refuses_a_key_that_does_not_exist() -> None:
    import json

    with pytest.raises(jsonschema.ValidationError, match="itterations"):
        jsonschema.validate({"itterations": 3}, json.loads(SCHEMA.read_text()))
