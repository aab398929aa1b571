"""What tox installs for tests: read where nothing else says what they need."""

from __future__ import annotations

import re
from pathlib import Path

from bot.environment import requirement_files
from bot.environment.tables import ini, lines

PLACES = (("tox.ini", "testenv"), ("setup.cfg", "testenv"))
_FILE = re.compile(r"^(?:-r|--requirement[ =])\s*(\S+)$")
_REQUIREMENT = re.compile(r"^[A-Za-z0-9][\w.\[\], -]*\s*(?:[<>=!~;@].*)?$")


def test_requirements(tree: Path) -> tuple[str, tuple[str, ...]]:
    """Return the file that says it, and the requirements that hold in every environment; empty where there are none.

    Lines for some environments only (`py39: mock`) and such with substitutions are left out; a file that one names is read.
    """
    for name, section in PLACES:
        text = ini(tree / name).get(section, {}).get("deps", "")
        found: list[str] = []
        for line in lines(text.replace("{toxinidir}/", "").replace("{tox_root}/", "")):
            plain = re.split(r"\s#", line)[0].strip()
            file = _FILE.match(plain)
            if file:
                found += [each.strip() for each in requirement_files.lines(tree, file[1]) if each.strip()]
            elif "{" not in plain and _REQUIREMENT.match(plain):
                found.append(plain)
        if found:
            return name, tuple(line for line in found if not line.startswith(("#", "-")))
    return "", ()


test_requirements.__test__ = False  # type: ignore[attr-defined]
