"""The built-in model, `testforge/offline`: no weights, no network, deterministic for a seed."""

from bot.models.offline.conversation import complete

__all__ = ["complete"]
