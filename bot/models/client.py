"""Loading a model by name: the built-in one, or any that LiteLLM reaches."""

from __future__ import annotations

from bot.models import Model
from bot.models.budget import Budget
from bot.models.builtin import NAME, BuiltIn
from bot.models.remote import Remote


def load(name: str, *, seed: int, budget_usd: float | None) -> Model:
    """Return the model of a name; nothing is imported or called until its first reply.

    Args:
        name: `testforge/offline`, or a name as LiteLLM spells it, such as `openai/gpt-4o`.
        seed: Passed to models that take one.
        budget_usd: What all replies of this model together may cost; None is no limit. Where the price of a model
            is not known, only its tokens are counted.
    """
    if name == NAME:
        return BuiltIn(seed)
    return Remote(name, seed, Budget(budget_usd))
