"""Payloads as GitHub sends them, no larger than the server reads."""

from __future__ import annotations

from typing import Any


def pull_request(action: str = "opened", number: int = 1, **changes: Any) -> dict[str, Any]:
    """Return the payload of an event of a pull request."""
    return {
        "action": action,
        "number": number,
        "pull_request": {
            "number": number,
            "draft": False,
            "user": {"login": "alice", "type": "User"},
            "head": {"sha": "a" * 40, "repo": {"id": 1}},
        },
        "repository": {"id": 1, "full_name": "octo/parcels"},
        "installation": {"id": 5},
        "sender": {"login": "alice", "type": "User"},
        **changes,
    }


def comment(text: str, action: str = "created", **changes: Any) -> dict[str, Any]:
    """Return the payload of a comment on pull request 1."""
    return {
        "action": action,
        "issue": {"number": 1, "pull_request": {"url": "x"}},
        "comment": {"id": 9, "body": text, "user": {"login": "alice", "type": "User"}},
        "repository": {"id": 1, "full_name": "octo/parcels"},
        "installation": {"id": 5},
        "sender": {"login": "alice", "type": "User"},
        **changes,
    }
