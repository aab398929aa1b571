"""What a run may cost, told before it begins."""

from __future__ import annotations

from dataclasses import replace

import pytest
from prices import TARGET

from bot.agent.estimates import estimate
from bot.models.prices import Price

GPT_4O = Price(2.5e-6, 1e-5, 1.25e-6, 16_384, 128_000, "list", True)


def test_the_least_and_the_most_are_a_few_turns_and_all_of_them() -> None:
    found = estimate([TARGET], 25, GPT_4O)
    assert found.low_usd is not None
    assert found.high_usd is not None
    assert 0.01 < found.low_usd < 0.10 < found.high_usd < 1.0
    assert found.low_tokens < found.high_tokens


def test_files_add_up_and_longer_files_cost_more() -> None:
    one = estimate([TARGET], 10, GPT_4O)
    two = estimate([TARGET, TARGET], 10, GPT_4O)
    long = estimate([replace(TARGET, source=TARGET.source * 100)], 10, GPT_4O)
    assert (one.low_usd, two.low_tokens) == (pytest.approx((two.low_usd or 0) / 2), 2 * one.low_tokens)
    assert (long.low_usd or 0) > 2 * (one.low_usd or 0)


def test_without_a_price_only_tokens_are_told() -> None:
    found = estimate([TARGET], 25, Price())
    assert (found.low_usd, found.high_usd) == (None, None)
    assert found.high_tokens > 0


def test_without_turns_it_is_the_seed_alone() -> None:
    found = estimate([TARGET], 0, GPT_4O)
    assert found.low_usd == found.high_usd
