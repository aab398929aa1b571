"""The App's own endpoints: who it is, its tokens, and the exchange of a manifest's code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jwt

from tests.github.server.nouns import RefusalError
from tests.github.server.shapes import Shapes
from tests.github.server.world import World

_LEVELS = {"read": 1, "write": 2}


def authenticate(world: World, authorization: str) -> None:
    """Raise a refusal unless this is a claim signed by the App, good at this moment of GitHub's clock."""
    value = authorization.removeprefix("Bearer ")
    try:
        claims = jwt.decode(
            value,
            world.public_key,
            algorithms=["RS256"],
            options={"verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )
    except jwt.PyJWTError:
        raise RefusalError(401, "A JSON web token could not be decoded") from None
    now = world.clock.now()
    if str(claims.get("iss")) != str(world.app_id):
        raise RefusalError(401, "'Issuer' claim ('iss') must be an Integer")
    if claims["iat"] > now:
        raise RefusalError(
            401,
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
        )
    if claims["exp"] > now + 600:
        raise RefusalError(401, "'Expiration time' claim ('exp') is too far in the future")
    if claims["exp"] <= now:
        raise RefusalError(
            401, "'Expiration time' claim ('exp') must be a numeric value representing the future time"
        )


def mint(world: World, shapes: Shapes, installation: int, body: Mapping[str, Any]) -> tuple[int, Any]:
    """Give out a token."""
    granted = world.installations.get(installation)
    if granted is None:
        raise RefusalError(404, "Not Found")
    if installation in world.suspended:
        raise RefusalError(403, "This installation has been suspended")
    own = {r.name: name for name, r in world.repositories.items() if r.installation == installation}
    asked = body.get("repositories")
    if asked is not None and not set(asked) <= set(own):
        raise RefusalError(
            422,
            "There is at least one repository that does not exist or is not accessible to the parent installation.",
        )
    permissions = dict(body.get("permissions") or granted)
    if any(_LEVELS[level] > _LEVELS.get(granted.get(name, ""), 0) for name, level in permissions.items()):
        raise RefusalError(422, "The permissions requested are not granted to this installation.")
    permissions.setdefault("metadata", "read")
    names = sorted(own.values()) if asked is None else sorted(own[name] for name in asked)
    token = world.make_token(installation, names, permissions)
    return 201, {
        "token": token.value,
        "expires_at": world.clock.text(token.until),
        "permissions": permissions,
        "repository_selection": "all" if asked is None else "selected",
    }


def convert(world: World, shapes: Shapes, code: str) -> tuple[int, Any]:
    """Exchange the code of a manifest for an App, once."""
    manifest = world.manifests.pop(code, None)
    if manifest is None:
        raise RefusalError(404, "Not Found")
    return 201, {
        **shapes.app(),
        "name": manifest.get("name", "testforge"),
        "client_id": "Iv1.0123456789abcdef",
        "client_secret": "0123456789abcdef0123456789abcdef01234567",
        "webhook_secret": world.webhook_secret,
        "pem": world.pem,
    }
