"""Writes docs/configuration.md and docs/testforge.schema.json from `bot/repoconfig.py` and `bot/settings.py`.

python scripts/configuration_docs.py            writes both
python scripts/configuration_docs.py --check    fails if they are not what would be written
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bot.repoconfig import RepoConfig
from bot.settings import Settings

DOCS = Path(__file__).parents[1] / "docs"

HEAD = """\
# Configuration

<!-- Written by scripts/configuration_docs.py; change the descriptions in bot/repoconfig.py and bot/settings.py. -->

## `.github/testforge.yml`

The file is read from the base branch of a change, so that a pull request cannot change how it is judged. Every key has
a default, and an unknown key is an error that names the line. An editor that knows JSON schemas checks the file with
this line at its top:

    # yaml-language-server: $schema=https://raw.githubusercontent.com/testforge/testforge/main/docs/testforge.schema.json

| key | default | meaning |
|---|---|---|
"""
OPERATOR = """
## The operator's environment

| variable | default | meaning |
|---|---|---|
"""


def main() -> int:
    """Write both files, or check them."""
    wanted = {DOCS / "configuration.md": page(), DOCS / "testforge.schema.json": schema()}
    if "--check" in sys.argv[1:]:
        stale = [
            path.name
            for path, text in wanted.items()
            if not path.is_file() or path.read_text("utf-8") != text
        ]
        if stale:
            sys.stderr.write(
                f"{', '.join(stale)} is not what scripts/configuration_docs.py writes. Run it.\n"
            )
        return int(bool(stale))
    for path, text in wanted.items():
        path.write_text(text, "utf-8")
    return 0


def page() -> str:
    """Return docs/configuration.md."""
    keys = "".join(f"| `{name}` | {default} | {text} |\n" for name, default, text in rows(RepoConfig))
    variables = "".join(
        f"| `TESTFORGE_{name.upper()}` | {default} | {text} |\n" for name, default, text in rows(Settings)
    )
    return f"{HEAD}{keys}{OPERATOR}{variables}"


def rows(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield name, default and description of each key, those of sections with their section's name."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from rows(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _default(field), _meaning(field)


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _meaning(field: FieldInfo) -> str:
    text = (field.description or "").replace("|", "\\|")
    choices = [value for value in get_args(field.annotation) if isinstance(value, str)]
    return f"{text} One of {', '.join(f'`{value}`' for value in choices)}.".strip() if choices else text


def schema() -> str:
    """Return the JSON schema of `.github/testforge.yml`."""
    made = RepoConfig.model_json_schema()
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "testforge"
    return json.dumps(made, indent=2) + "\n"


if __name__ == "__main__":
    sys.exit(main())
