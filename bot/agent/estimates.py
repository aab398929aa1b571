"""What a run may cost, told before it begins, from the sizes of its files and the model's price."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain import Target
from bot.models.prices import Price

CHARACTERS_PER_TOKEN = 3.6
SYSTEM_TOKENS = 3_000
"""System prompt, tools and the facts about a target."""
EXAMPLE_TOKENS = 1_500
REPLY_TOKENS = 600
OBSERVATION_TOKENS = 700
FEW_TURNS = 3
"""A plain file needs no more; a hard one goes on to the limit."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The least and the most that is likely.

    Attributes:
        low_usd, high_usd: None where nobody knows the price.
        low_tokens, high_tokens: Of prompts and replies together.
    """

    low_tokens: int
    high_tokens: int
    low_usd: float | None
    high_usd: float | None


def estimate(targets: Iterable[Target], iterations: int, price: Price) -> Estimate:
    """Return what tests for these targets may cost.

    Args:
        iterations: Turns of the agent for each file, at most.
    """
    files = list(targets)
    low, high = (
        [_spent(len(file.source), turns, price) for file in files]
        for turns in (min(FEW_TURNS, iterations), iterations)
    )
    return Estimate(
        sum(tokens for tokens, _ in low),
        sum(tokens for tokens, _ in high),
        sum(usd for _, usd in low) if price.is_known else None,
        sum(usd for _, usd in high) if price.is_known else None,
    )


def _spent(characters: int, turns: int, price: Price) -> tuple[int, float]:
    """Return the tokens and USD of a seed and so many turns on a file; what was sent before is read from a cache."""
    source = round(characters / CHARACTERS_PER_TOKEN)
    suite = min(round(source * 0.8) + 400, price.max_tokens)
    prompt = SYSTEM_TOKENS // 2 + source + EXAMPLE_TOKENS
    tokens, usd = prompt + suite, price.cost(prompt, suite)
    sent, prompt = 0, SYSTEM_TOKENS + source + EXAMPLE_TOKENS + suite
    for _ in range(turns):
        tokens += prompt + REPLY_TOKENS
        usd += price.cost(prompt, REPLY_TOKENS, cached=sent)
        sent, prompt = prompt, prompt + REPLY_TOKENS + OBSERVATION_TOKENS
    return tokens, usd
