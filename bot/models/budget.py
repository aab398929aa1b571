"""What a run may spend on model calls: set aside before a call, settled after it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.errors import ModelError


class BudgetError(ModelError):
    """The next call does not fit into the budget."""


@dataclass(slots=True)
class Budget:
    """USD for one run; `limit_usd` None is no limit.

    Attributes:
        spent_usd: What settled calls have cost.
        reserved_usd: What is set aside for calls under way.
    """

    limit_usd: float | None
    spent_usd: float = 0.0
    reserved_usd: float = 0.0

    def reserve(self, cost_usd: float) -> None:
        """Set aside what a call may cost at most. Raises BudgetError when that no longer fits."""
        total = self.spent_usd + self.reserved_usd + cost_usd
        if self.limit_usd is not None and total > self.limit_usd:
            raise BudgetError(
                f"The next call may cost ${cost_usd:.4f}, and of the budget of ${self.limit_usd:.2f} "
                f"${self.spent_usd:.4f} are spent; raise --budget to go on."
            )
        self.reserved_usd += cost_usd

    def settle(self, reserved_usd: float, cost_usd: float) -> None:
        """Charge what a call did cost in place of what was set aside for it."""
        self.reserved_usd -= reserved_usd
        self.spent_usd += cost_usd
