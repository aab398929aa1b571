"""The licence of a repository, as its own files name it: what goes on with the data that is made of it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_TEXTS = (
    ("Apache-2.0", re.compile(r"Apache License,?\s+Version 2\.0", re.IGNORECASE)),
    ("MPL-2.0", re.compile(r"Mozilla Public License,?\s+(?:Version|v\.)\s*2\.0", re.IGNORECASE)),
    ("AGPL-3.0", re.compile(r"GNU AFFERO GENERAL PUBLIC LICENSE\s+Version 3", re.IGNORECASE)),
    ("LGPL-3.0", re.compile(r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3", re.IGNORECASE)),
    ("LGPL-2.1", re.compile(r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 2\.1", re.IGNORECASE)),
    ("GPL-3.0", re.compile(r"GNU GENERAL PUBLIC LICENSE\s+Version 3", re.IGNORECASE)),
    ("GPL-2.0", re.compile(r"GNU GENERAL PUBLIC LICENSE\s+Version 2", re.IGNORECASE)),
    ("PSF-2.0", re.compile(r"PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2", re.IGNORECASE)),
    (
        "BSD-3-Clause",
        re.compile(r"Neither the names? of .{0,200}?may be used to endorse", re.IGNORECASE | re.DOTALL),
    ),
    ("BSD-2-Clause", re.compile(r"Redistribution and use in source and binary forms", re.IGNORECASE)),
    (
        "ISC",
        re.compile(r"Permission to use, copy, modify, and(?:/or)? distribute this software", re.IGNORECASE),
    ),
    (
        "MIT",
        re.compile(r"Permission is hereby granted, free of charge, to any person obtaining", re.IGNORECASE),
    ),
    ("Unlicense", re.compile(r"This is free and unencumbered software released into the public domain")),
)
_NAMES = ("license", "licence", "copying", "unlicense")
_LONGEST = 200_000


def licence_of(root: Path) -> str | None:
    """Return a repository's licence as an SPDX expression; None if its files do not say.

    What `pyproject.toml` declares counts first, then the text of its licence file.
    """
    return _declared(root) or _by_text(root)


def _declared(root: Path) -> str | None:
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text("utf-8")).get("project", {})
    except (OSError, ValueError):
        return None
    declared = project.get("license") if isinstance(project, dict) else None
    if isinstance(declared, dict):
        declared = declared.get("text")
    if isinstance(declared, str) and re.fullmatch(r"[A-Za-z0-9.+() -]{2,80}", declared.strip()):
        return declared.strip()
    return None


def _by_text(root: Path) -> str | None:
    files = sorted(
        path
        for path in root.iterdir()
        if path.is_file() and path.name.lower().partition(".")[0].partition("-")[0] in _NAMES
    )
    for file in files:
        try:
            text = file.read_text("utf-8", errors="replace")[:_LONGEST]
        except OSError:
            continue
        for name, pattern in _TEXTS:
            if pattern.search(text):
                return name
    return None
