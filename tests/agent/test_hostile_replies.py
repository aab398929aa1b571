"""Replies that no careful model or server gives, over HTTP in three forms: each ends in a finished run.

A run is a seed and the refine loop, with the real client and tools, over a desk that runs no code. Whatever comes in the
middle of it, the loop ends with a status that fits, the suite it had, every call in the trace and every cent counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from model_server import KEY, ModelServer, Turn, serving
from odd_replies import CASES, DONE, FORMS, SEED, Case
from prices import SOURCE, SUITE_PATH, TARGET
from provider_forms import check_request

from bot.agent.brief import Brief
from bot.agent.limits import AgentLimits
from bot.agent.loop import Refinement, refine
from bot.agent.seed import Seed, write_seed
from bot.errors import ModelError
from bot.models.client import Tapes, load
from bot.models.remote import Remote
from bot.models.retry import Retry
from bot.models.trace import Traced

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Ran:
    seed: Seed
    refinement: Refinement
    desk: Desk
    trace: list[dict[str, Any]]
    budget_usd: float
    waits: list[float]


@pytest.fixture(name="server", scope="module")
def _server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


def opened(case: Case, form: str, trace: Path, waits: list[float]) -> tuple[Traced, Remote]:
    model = load(case.model[form], seed=1, budget_usd=50.0, tapes=Tapes(trace=trace))
    assert isinstance(model, Traced)
    assert isinstance(model.model, Remote)
    model.model.retry = Retry(sleep=waits.append)
    model.model.call_s = case.call_s
    return model, model.model


def queue(server: ModelServer, case: Case, form: str, *before: Turn) -> None:
    odd = [each(form) if callable(each) else each for each in case.answers]
    server.requests.clear()
    server.answers.clear()
    server.say(*before, *odd)
    server.afterwards = odd[-1] if case.forever else DONE


def run(server: ModelServer, case: Case, form: str, trace: Path) -> Ran:
    waits: list[float] = []
    model, remote = opened(case, form, trace, waits)
    queue(server, case, form, SEED)
    brief, desk = Brief(TARGET, SUITE_PATH, "3.11"), Desk()
    seed = write_seed(model, brief)
    refinement = refine(model, brief, seed, desk, AgentLimits())
    lines = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    return Ran(seed, refinement, desk, lines, remote.budget.spent_usd, waits)


IN_ALL_FORMS = [
    pytest.param(case, form, id=f"{case.name}-{form}")
    for case in CASES
    for form in FORMS
    if form in case.forms
]


@pytest.mark.parametrize(("case", "form"), IN_ALL_FORMS)
def test_in_the_loop_it_ends_with_the_suite_the_cost_and_the_trace(
    server: ModelServer, tmp_path: Path, case: Case, form: str
) -> None:
    ran = run(server, case, form, tmp_path / "trace.jsonl")
    assert ran.refinement.ended == case.ended, ran.refinement.note
    assert case.note in ran.refinement.note
    assert ran.refinement.best is not None
    assert "def test_discount" in ran.refinement.best.content
    assert ran.desk.box.read("shop/prices.py").decode() == SOURCE
    assert all(path.startswith(("shop/", "tests/", "/scratch/")) for path in ran.desk.box.files())
    # Every reply is a line, and so is the failure that ended the run.
    failed = case.ended == "model"
    assert len(ran.trace) == 1 + ran.refinement.iterations + failed
    assert [line["call"] for line in ran.trace if "error" in line] == [len(ran.trace)] * failed
    usage = ran.seed.usage + ran.refinement.usage
    counted = sum(line.get("cost_usd", 0.0) for line in ran.trace)
    assert usage.cost_usd == pytest.approx(counted)
    assert ran.budget_usd == pytest.approx(counted)
    assert KEY not in json.dumps(ran.trace)
    assert KEY not in ran.refinement.note
    if case.cost_source != "provider":
        assert ran.trace[1]["cost_source"] == case.cost_source
    assert all(wait <= 60 for wait in ran.waits)
    for request in server.requests:
        check_request(form, request)


@pytest.mark.parametrize(("case", "form"), IN_ALL_FORMS)
def test_as_a_seed_it_is_a_seed_without_code_or_one_sentence(
    server: ModelServer, tmp_path: Path, case: Case, form: str
) -> None:
    model, _ = opened(case, form, tmp_path / "trace.jsonl", [])
    queue(server, case, form)
    told = ""
    seed = Seed("")
    try:
        seed = write_seed(model, Brief(TARGET, SUITE_PATH, "3.11"))
    except ModelError as failure:
        told = failure.message
    assert seed.code == ""
    assert (seed.note == "the reply holds no test") is not bool(told)
    assert len(told) < 500
    assert "Traceback" not in told
    assert KEY not in told
