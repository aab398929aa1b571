"""Poetry's own way of writing dependencies, told as requirements that every installer reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_OPERATOR = re.compile(r"^(\^|~=?|>=|<=|!=|===?|<|>)?\s*v?([0-9][^\s]*|\*)$")


def requirements(table: Mapping[str, Any], *, optional: bool = False) -> list[str]:
    """Return a table of dependencies (`name = "^1.2"` or `name = {...}`) as requirements, without `python`.

    Args:
        optional: Take optional ones too; a lock file's have a marker that names their extra.
    """
    found: list[str] = []
    for name, wanted in table.items():
        if name.lower() == "python":
            continue
        for choice in wanted if isinstance(wanted, list) else [wanted]:
            line = _requirement(name, choice, optional)
            if line:
                found.append(line)
    return found


def _requirement(name: str, wanted: object, optional: bool) -> str:
    if isinstance(wanted, str):
        return f"{name}{specifiers(wanted)}"
    if not isinstance(wanted, Mapping) or (wanted.get("optional") and not optional):
        return ""
    if "path" in wanted:
        return str(wanted["path"]) if str(wanted["path"]).startswith((".", "/")) else f"./{wanted['path']}"
    extras = f"[{','.join(map(str, wanted['extras']))}]" if wanted.get("extras") else ""
    markers = [f"({wanted['markers']})"] if wanted.get("markers") else []
    if wanted.get("python"):
        markers += [f"({_python_marker(str(wanted['python']))})"]
    marker = f" ; {' and '.join(m for m in markers if m != '()')}" if markers and markers != ["()"] else ""
    if "git" in wanted:
        at = wanted.get("rev") or wanted.get("tag") or wanted.get("branch")
        return f"{name}{extras} @ git+{wanted['git']}{f'@{at}' if at else ''}{marker}"
    if "url" in wanted:
        return f"{name}{extras} @ {wanted['url']}{marker}"
    return f"{name}{extras}{specifiers(str(wanted.get('version', '*')))}{marker}"


def specifiers(constraint: str) -> str:
    """Return a constraint such as `^1.2 || 3.*` as PEP 440 specifiers; alternatives, which those cannot say, give none."""
    if "|" in constraint:
        return ""
    parts = re.sub(r"([\^~<>=!])\s+", r"\1", constraint).replace(",", " ").split()
    found = [text for part in parts for text in _specifier(part)]
    return ",".join(found)


def _specifier(part: str) -> list[str]:
    matched = _OPERATOR.match(part)
    if matched is None or part == "*":
        return []
    operator, version = matched[1] or "==", matched[2]
    if operator not in ("^", "~"):
        return [f"{operator}{version}"]
    numbers = [int(number) for number in re.findall(r"\d+", version.split("-")[0])][:3]
    if not numbers:  # `^*`: any version
        return []
    if operator == "~":
        keep = min(len(numbers), 2) - 1
    else:
        keep = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
    above = [*numbers[:keep], numbers[keep] + 1]
    return [f">={version}", f"<{'.'.join(map(str, above))}"]


def _python_marker(constraint: str) -> str:
    found = (re.match(r"([<>=!~]+)(.*)", text) for text in specifiers(constraint).split(",") if text)
    return " and ".join(f"python_version {m[1]} '{m[2]}'" for m in found if m)
