"""Secrets taken out of what leaves this process or is kept: prompts, traces, cassettes, comments, logs, errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

STRUCK = "***"
SHORTEST = 8
"""Characters; what is shorter would be struck out of words that have nothing to do with it."""

_KNOWN = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\bsk-[A-Za-z0-9_\-]{20,}"
    r"|\bgh[pousr]_[A-Za-z0-9_.\-]{10,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{10,}"
    r"|\bglpat-[A-Za-z0-9_\-]{16,}"
    r"|\bxox[abeoprs]-[A-Za-z0-9\-]{10,}"
    r"|\bhf_[A-Za-z0-9]{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bAIza[A-Za-z0-9_\-]{30,}"
    r"|\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]+"
    r"|(?<=://)[^/\s:@\"']+:[^/\s@\"']+(?=@)"
    r"|(?<=[Bb]earer )[A-Za-z0-9+/=._~\-]{16,}"
    r"|(?<=[Bb]asic )[A-Za-z0-9+/=]{16,}",
    re.DOTALL,
)
"""Forms of keys and tokens that are known by their looks."""

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|ACCESS_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?"
    r"|PWD|PAT|AUTH|AUTHORIZATION|BEARER|SAS)(?:_|$)",
    re.IGNORECASE,
)


_USER = re.compile(r"://([^/\s@]+)@")


def redact(text: str) -> str:
    """Return a text with everything that looks like a key, a token or a password in an address struck out."""
    return _KNOWN.sub(STRUCK, text)


class Redactor:
    """Strikes secrets out of text: those it is given, and whatever looks like a key.

    Args:
        secrets: Values to strike out wherever they stand; those under SHORTEST characters are left alone.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # The longest first: one may be the beginning of another.
        chosen = sorted(
            {each for each in secrets if len(each) >= SHORTEST}, key=lambda each: (-len(each), each)
        )
        self._own = re.compile("|".join(map(re.escape, chosen))) if chosen else None

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        if self._own is not None:
            text = self._own.sub(STRUCK, text)
        return redact(text)

    def data(self, value: Any) -> Any:
        """Return plain data with every text in it, keys included, without secrets."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.data(key): self.data(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.data(each) for each in value]
        return value


def configured(environment: Mapping[str, str] = os.environ) -> Redactor:
    """Return a redactor of what an environment calls a key, a token, a secret or a password.

    Names of files are no secrets, nor are plain words: `PASSWORD=password` must not strike out every such word.
    """
    named = (
        value.strip()
        for name, value in environment.items()
        if _SECRET_NAME.search(name) and not value.startswith(("/", "~")) and not _is_word(value.strip())
    )
    in_addresses = (part for value in environment.values() for part in _in_addresses(value))
    return Redactor((*named, *in_addresses))


def _in_addresses(value: str) -> Iterator[str]:
    """Yield what stands for a user and a password, or for a token alone, in the addresses of a variable's value."""
    for found in _USER.findall(value):
        yield found
        password = found.partition(":")[2]
        if password:
            yield password


def _is_word(value: str) -> bool:
    return value.isalpha() and (value.islower() or value.isupper() or value.istitle()) and len(value) < 16
