"""Secrets taken out of text before it reaches a log, a comment or an error."""

from __future__ import annotations

import re

_SECRETS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    # Installation tokens were 40 characters once, and are `ghs_<app>_<jwt>` now.
    r"|\bgh[pousr]_[A-Za-z0-9_.\-]{10,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{10,}"
    r"|\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]+"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|(?<=Basic )[A-Za-z0-9+/=]{16,}"
    r"|(?<=basic )[A-Za-z0-9+/=]{16,}",
    re.DOTALL,
)


def redact(text: str) -> str:
    """Return a text with each token, signed claim, private key and password in an address replaced by `***`."""
    return _SECRETS.sub("***", text)
