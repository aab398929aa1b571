"""Where packages come from, as the person has set it for pip or uv: all that an installation gets of their environment."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
NOT_PASSED = (
    "UV_CACHE_DIR",
    "UV_PYTHON",
    "UV_PROJECT",
    "UV_TOOL",
    "UV_SYSTEM_PYTHON",
    "UV_CONFIG_FILE",
    "UV_WORKING",
)
"""What uv is told to do elsewhere on this machine says nothing about packages; names that begin so."""

PUBLIC = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_INDEX_STRATEGY",
    "UV_INSECURE_HOST",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_TRUSTED_HOST",
)
"""What a container is told; an address among it that holds a password is left out."""

PIP_KEYS = ("index-url", "extra-index-url", "find-links", "trusted-host", "cert", "no-index", "constraint")


@dataclass(frozen=True, slots=True)
class Indexes:
    """Variables for an installation, and the host's files and directories that they name."""

    variables: Mapping[str, str]
    paths: tuple[Path, ...]


def configured(environ: Mapping[str, str] = os.environ) -> Indexes:
    """Return what an environment and the configuration files of pip say about package indexes."""
    variables = {
        name: value
        for name, value in environ.items()
        if (name.startswith(("PIP_", "UV_")) and not name.startswith(NOT_PASSED))
        or name in CERTIFICATES
        or name.upper() in PROXIES
    }
    for key, value in _pip_configuration(environ).items():
        variables.setdefault(f"PIP_{key.upper().replace('-', '_')}", value)
    return Indexes({**_for_uv(variables), **variables}, _named(variables))


def reachable(environ: Mapping[str, str] = os.environ) -> tuple[dict[str, str], Path | None]:
    """Return what a container may know of it: addresses without passwords, nothing that lies on this host.

    Returns:
        Variables for uv and pip, and the file with the certificates to trust, if one is named.
    """
    found = configured(environ).variables
    variables: dict[str, str] = {}
    for name in sorted(found):
        if name in PUBLIC or name.upper() in PROXIES:
            words = [word for word in re.split(r"[\s,]+", found[name]) if not word.startswith(("/", "file:"))]
            kept = [word for word in words if word and not urlsplit(word).username]
            if kept:
                variables[name] = " ".join(kept)
    named = (
        found.get(name, "") for name in ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
    )
    return variables, next((Path(path) for path in named if path and Path(path).is_file()), None)


def _pip_configuration(environ: Mapping[str, str]) -> dict[str, str]:
    home = Path(environ.get("HOME", "/nonexistent"))
    config_home = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    places = [Path("/etc/pip.conf"), home / ".pip" / "pip.conf", config_home / "pip" / "pip.conf"]
    if environ.get("PIP_CONFIG_FILE"):
        places.append(Path(environ["PIP_CONFIG_FILE"]))
    found: dict[str, str] = {}
    for place in places:
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(place.read_text(encoding="utf-8"))
        except (OSError, ValueError, configparser.Error):
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                found.update({key: value for key, value in parser.items(section) if key in PIP_KEYS})
    return found


def _for_uv(variables: Mapping[str, str]) -> dict[str, str]:
    """Say to uv what is said to pip."""
    found: dict[str, str] = {}
    if "PIP_INDEX_URL" in variables:
        found["UV_DEFAULT_INDEX"] = variables["PIP_INDEX_URL"]
    if "PIP_EXTRA_INDEX_URL" in variables:
        found["UV_INDEX"] = " ".join(variables["PIP_EXTRA_INDEX_URL"].split())
        # pip takes the best version of all indexes; by default uv stops at the first one that has the name.
        found["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    if "PIP_FIND_LINKS" in variables:
        found["UV_FIND_LINKS"] = ",".join(variables["PIP_FIND_LINKS"].split())
    if "PIP_TRUSTED_HOST" in variables:
        found["UV_INSECURE_HOST"] = " ".join(variables["PIP_TRUSTED_HOST"].split())
    if "PIP_CONSTRAINT" in variables:
        found["UV_CONSTRAINT"] = variables["PIP_CONSTRAINT"]
    if "PIP_CERT" in variables:
        found["SSL_CERT_FILE"] = variables["PIP_CERT"]
    return found


def _named(variables: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the files and directories of this host that the values name."""
    found: set[Path] = set()
    for name in sorted(variables):
        for word in variables[name].replace(",", " ").split():
            parts = urlsplit(word)
            text = url2pathname(parts.path) if parts.scheme == "file" else word
            # A home or a root would show far more than packages.
            if (
                text.startswith("/")
                and len(Path(text).parts) > 2
                and Path(text) != Path.home()
                and Path(text).exists()
            ):
                found.add(Path(text))
    return tuple(sorted(found))
