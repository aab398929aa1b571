"""A repository's formatter and linter settings, read as data: none of its code is run, none of its files is loaded."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

Read = Callable[[str], str]

_LINT_KEYS = (
    "select",
    "extend-select",
    "ignore",
    "extend-ignore",
    "per-file-ignores",
    "extend-per-file-ignores",
)
_LINT_TABLES = (
    "isort",
    "flake8-quotes",
    "flake8-pytest-style",
    "flake8-tidy-imports",
    "pydocstyle",
    "flake8-annotations",
)
_ISORT_KEYS = {
    "force_single_line": "force-single-line",
    "force_sort_within_sections": "force-sort-within-sections",
    "lines_after_imports": "lines-after-imports",
    "lines_between_types": "lines-between-types",
    "order_by_type": "order-by-type",
    "combine_as_imports": "combine-as-imports",
    "known_first_party": "known-first-party",
    "known_third_party": "known-third-party",
    "case_sensitive": "case-sensitive",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How a repository's code is laid out.

    Attributes:
        formatted: Whether the repository says it uses a formatter (ruff or black).
        sorts_imports: Whether it says it sorts imports (ruff's I, isort).
        line_length: Columns.
        quotes: `double`, `single` or `preserve`.
        options: Ruff's options as `key = TOML value`, ready for `ruff --config`.
        lint: Rule prefixes the repository has chosen, for fixes that are safe.
    """

    formatted: bool = False
    sorts_imports: bool = False
    line_length: int = 88
    quotes: str = "double"
    options: tuple[str, ...] = ()
    lint: tuple[str, ...] = ()
    lint_options: tuple[str, ...] = field(default=())


def style_of(files: Collection[str], read: Read, path: str, *, near: Sequence[str] = ()) -> Style:
    """Return the style that a file at `path` is to have.

    Args:
        files: All paths of the repository.
        read: Gives a file's text.
        path: Of the test file; configuration nearest to it counts, as for ruff itself.
        near: Texts of neighbouring test files, which decide on quotes where nothing is configured.
    """
    present = set(files)
    ruff, toml = _ruff(present, read, path), _toml(present, read, "pyproject.toml")
    tools: Mapping[str, Any] = toml.get("tool", {})
    ini = _ini(present, read)
    if ruff:
        lowest = _lowest_python(toml.get("project", {}).get("requires-python"))
        return _from_ruff({**lowest, **ruff}, files)
    black, isort = tools.get("black"), tools.get("isort") or ini.get("isort") or ini.get("settings")
    flake8 = ini.get("flake8") or ini.get("pycodestyle") or {}
    length = _number((black or {}).get("line-length")) or _number(flake8.get("max-line-length"))
    quotes = "double" if black is not None else _usual_quotes(near)
    options: list[str] = []
    if black is not None:
        if black.get("skip-string-normalization"):
            quotes = "preserve"
        if black.get("skip-magic-trailing-comma"):
            options.append("format.skip-magic-trailing-comma = true")
        options += _target_version(black.get("target-version"))
    isort = {str(key): value for key, value in (isort or {}).items()}
    lint_options = [_first_party(files, _names(isort.get("known_first_party", [])))]
    for key, name in _ISORT_KEYS.items():
        if key in isort and key != "known_first_party":
            lint_options.append(f"lint.isort.{name} = {_value(_typed(isort[key]))}")
    return Style(
        formatted=black is not None,
        sorts_imports=bool(isort),
        line_length=length or _usual_length(near),
        quotes=quotes,
        options=(*options, *_indentation(near)),
        lint=("I",) if isort else (),
        lint_options=tuple(lint_options),
    )


def _from_ruff(ruff: Mapping[str, Any], files: Collection[str]) -> Style:
    """Translate ruff's own table, the older layout with lint settings at its top included."""
    lint = {**{key: ruff[key] for key in (*_LINT_KEYS, *_LINT_TABLES) if key in ruff}, **ruff.get("lint", {})}
    layout = ruff.get("format", {})
    options = [
        f"format.{key} = {_value(layout[key])}"
        for key in ("indent-style", "skip-magic-trailing-comma", "docstring-code-format", "line-ending")
        if key in layout
    ]
    for key in ("target-version", "indent-width", "preview"):
        if key in ruff:
            options.append(f"{key} = {_value(ruff[key])}")
    chosen = [*_names(lint.get("select", ["E4", "E7", "E9", "F"])), *_names(lint.get("extend-select", []))]
    isort = dict(lint.get("isort", {}))
    lint_options = [_first_party(files, _names(isort.pop("known-first-party", [])))]
    for key in ("ignore", "extend-ignore"):
        if lint.get(key):
            lint_options.append(f"lint.{key} = {_value(lint[key])}")
    for key in ("per-file-ignores", "extend-per-file-ignores"):
        for pattern, rules in dict(lint.get(key, {})).items():
            lint_options.append(f"lint.{key}.{_value(pattern)} = {_value(rules)}")
    for name in _LINT_TABLES:
        table = isort if name == "isort" else dict(lint.get(name, {}))
        lint_options += [f"lint.{name}.{key} = {_value(value)}" for key, value in sorted(table.items())]
    return Style(
        formatted=True,
        sorts_imports=any(rule in ("ALL", "I", "I0", "I00", "I001") for rule in chosen),
        line_length=_number(ruff.get("line-length")) or 88,
        quotes=str(layout.get("quote-style", "double")),
        options=tuple(options),
        lint=tuple(chosen),
        lint_options=tuple(lint_options),
    )


# ---------------------------------------------------------------- reading


def _ruff(present: Collection[str], read: Read, path: str) -> Mapping[str, Any]:
    """Return ruff's table that applies to a path: from the nearest directory upward, `extend` followed."""
    for directory in PurePosixPath(path).parents:
        for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
            place = str(directory / name)
            if place not in present:
                continue
            table = _toml(present, read, place)
            if name == "pyproject.toml":
                table = table.get("tool", {}).get("ruff", {})
                if not table:
                    continue
            return _extended(present, read, place, table)
    return {}


def _extended(
    present: Collection[str], read: Read, place: str, table: Mapping[str, Any]
) -> Mapping[str, Any]:
    above = table.get("extend")
    if not isinstance(above, str):
        return table
    parts: list[str] = []
    for part in (PurePosixPath(place).parent / above).parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    other = "/".join(parts)
    if other == place:
        return table
    base = _toml(present, read, other)
    if other.endswith("pyproject.toml"):
        base = base.get("tool", {}).get("ruff", {})
    merged = {**base, **table}
    for key in ("lint", "format"):
        if isinstance(base.get(key), dict) and isinstance(table.get(key), dict):
            merged[key] = {**base[key], **table[key]}
    return merged


def _toml(present: Collection[str], read: Read, path: str) -> dict[str, Any]:
    if path not in present:
        return {}
    try:
        return tomllib.loads(read(path))
    except (OSError, ValueError, RecursionError):
        return {}


def _ini(present: Collection[str], read: Read) -> dict[str, Mapping[str, Any]]:
    """Return the sections about style of the files that older tools read, `tool:` prefixes dropped."""
    found: dict[str, Mapping[str, Any]] = {}
    for path in (".isort.cfg", ".flake8", "tox.ini", "setup.cfg"):
        if path not in present:
            continue
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read_string(read(path))
        except (OSError, ValueError, configparser.Error):
            continue
        for section in parser.sections():
            name = section.removeprefix("tool:")
            if name in ("isort", "settings", "flake8", "pycodestyle") and name not in found:
                found[name] = {
                    key.replace("_", "-") if name == "flake8" else key: v
                    for key, v in parser[section].items()
                }
    return found


# ---------------------------------------------------------------- values


def _first_party(files: Collection[str], known: Iterable[str]) -> str:
    """Return ruff's option that says which packages are the repository's own: nothing on disk is looked at."""
    tops: set[str] = set(known)
    for path in files:
        parts = PurePosixPath(path).parts
        if path.endswith(".py") and parts:
            inner = parts[1:] if parts[0] in ("src", "lib") and len(parts) > 1 else parts
            tops.add(inner[0].removesuffix(".py"))
    names = sorted(name for name in tops if name.isidentifier() and name not in ("setup", "conftest"))
    return f"lint.isort.known-first-party = {_value(names)}"


def _usual_quotes(near: Sequence[str]) -> str:
    """Return the quotes that neighbouring files use mostly; double where there are none."""
    single = sum(len(re.findall(r"'[^'\"\n]*'", text)) for text in near)
    double = sum(len(re.findall(r'"[^\'"\n]*"', text)) for text in near)
    return "single" if single > 2 * double else "double"


def _usual_length(near: Sequence[str]) -> int:
    """Return PEP 8's line length where all neighbouring files keep to it."""
    lines = [line for text in near for line in text.splitlines()]
    return 79 if len(lines) > 50 and all(len(line) <= 79 for line in lines) else 88


def _lowest_python(requires: object) -> dict[str, str]:
    """Return the target version that ruff itself would read from `requires-python`."""
    found = re.search(r">=?\s*3\.(\d+)", requires) if isinstance(requires, str) else None
    return {"target-version": f"py3{found.group(1)}"} if found else {}


def _indentation(near: Sequence[str]) -> list[str]:
    widths = [
        len(match) for text in near for match in re.findall(r"^def [^\n]*:\n( +)\S", text, re.MULTILINE)
    ]
    usual = max(set(widths), key=lambda width: (widths.count(width), width)) if widths else 4
    return [f"indent-width = {usual}"] if usual in (2, 3, 8) else []


def _target_version(value: object) -> list[str]:
    versions = sorted(_names(value), key=lambda text: [int(digits) for digits in re.findall(r"\d", text)])
    return [f'target-version = "{versions[0]}"'] if versions and re.fullmatch(r"py3\d+", versions[0]) else []


def _names(value: object) -> list[str]:
    if isinstance(value, str):
        return [name for name in re.split(r"[\s,]+", value) if name]
    return [str(name) for name in value] if isinstance(value, (list, tuple)) else []


def _typed(value: object) -> object:
    """Return an ini file's text as the boolean, number or list it stands for."""
    if not isinstance(value, str):
        return value
    if value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    return int(value) if value.strip().lstrip("-").isdigit() else _names(value)


def _number(value: object) -> int | None:
    text = str(value).split("#")[0].strip() if value is not None else ""
    return int(text) if text.isdigit() and 20 <= int(text) <= 320 else None


def _value(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_value(str(key))} = {_value(item)}" for key, item in value.items()) + "}"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
