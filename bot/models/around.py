"""What stands around a model and changes nothing of it, such as a trace: it has the model's name and traits."""

from __future__ import annotations

from dataclasses import dataclass

from bot.models import Model, Traits, traits_of


@dataclass(slots=True)
class Around:
    """Stands around a model.

    Attributes:
        model: What answers in the end, or the next that stands around it.
    """

    model: Model

    @property
    def name(self) -> str:
        """The model's own."""
        return self.model.name

    @property
    def traits(self) -> Traits:
        """The model's own."""
        return traits_of(self.model)
