"""What a run may spend on model calls: set aside before a call, settled after it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from bot.errors import ModelError


class BudgetError(ModelError):
    """The next call does not fit into the budget."""


@dataclass(slots=True)
class Budget:
    """USD for one run, shared by all threads that call its model; `limit_usd` None is no limit.

    Attributes:
        spent_usd: What settled calls have cost; a run that goes on after a restart begins with what it had spent.
        reserved_usd: What is set aside for calls under way.
    """

    limit_usd: float | None
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    _settled: threading.Condition = field(default_factory=threading.Condition, repr=False, compare=False)

    @property
    def left_usd(self) -> float | None:
        """What settled calls have left; None without a limit."""
        return None if self.limit_usd is None else max(0.0, self.limit_usd - self.spent_usd)

    def reserve(self, cost_usd: float) -> None:
        """Set aside what a call may cost at most.

        A call that fits but for what others have set aside waits until these are settled: they mostly cost less.

        Raises:
            BudgetError: It does not fit beside what is spent already.
        """
        with self._settled:
            while (
                self.limit_usd is not None and self.spent_usd + self.reserved_usd + cost_usd > self.limit_usd
            ):
                if self.spent_usd + cost_usd > self.limit_usd or not self.reserved_usd:
                    raise BudgetError(
                        f"The next call may cost ${cost_usd:.4f}, and of the budget of ${self.limit_usd:.2f} "
                        f"${self.spent_usd:.4f} are spent; raise --budget to go on."
                    )
                self._settled.wait(1.0)
            self.reserved_usd += cost_usd

    def settle(self, reserved_usd: float, cost_usd: float) -> None:
        """Charge what a call did cost in place of what was set aside for it."""
        with self._settled:
            left = self.reserved_usd - reserved_usd
            self.reserved_usd = left if left > 1e-12 else 0.0  # sums of floats leave a rest
            self.spent_usd += cost_usd
            self._settled.notify_all()


def charge(model: Any, cost_usd: float) -> None:
    """Charge a model's budget with what an earlier run of the same job spent, so that a restart gives nothing back.

    Args:
        model: Any model; one without a budget, such as the built-in one, is left alone.
    """
    while model is not None:
        budget = getattr(model, "budget", None)
        if isinstance(budget, Budget):
            budget.settle(0.0, cost_usd)
            return
        model = getattr(model, "model", None)  # what traces or records stands around what calls
