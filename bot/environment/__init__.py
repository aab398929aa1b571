"""Where a repository's dependencies are installed: found, or made and kept."""

from bot.environment.preparation import prepare

__all__ = ["prepare"]
