"""How a whole run ends when its model does not behave: the status, the reason, the cost and the exit are right."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from model_server import KEY, MODELS, Raw, Turn, serving

from bot.domain import Request, RunReport
from bot.pipeline import review
from bot.sandbox import Interpreter

pytestmark = pytest.mark.slow

READY = Turn("ready")
SUITE = Turn("```python\nfrom halves import half\n\n\ndef test_half_of_ten():\n    assert half(10) == 5\n```")
PROSE = Turn("I am sure that the code is fine.")
REFUSED = Turn(None, ended="refused")
OVERLOADED = Raw({"error": {"message": "overloaded", "type": "x", "code": None}}, 500)
WRONG_KEY = Raw({"error": {"message": f"bad key {KEY}", "type": "x", "code": None}}, 401)
FINISH = Turn(None, [("finish", {"reflection": "r", "summary": "done"})])


@dataclass(frozen=True)
class Case:
    """What a model answers after the greeting, and how the run ends.

    Attributes:
        paid: Replies that are paid for, the greeting included.
        reason: Words of the target's reason.
    """

    name: str
    answers: tuple[Turn | Raw, ...]
    afterwards: Turn | Raw
    form: str
    status: str
    paid: int
    reason: str = ""


CASES = [
    Case("prose for ever after a seed", (SUITE,), PROSE, "anthropic", "proposed", 6),
    Case("a key refused after a seed", (SUITE,), WRONG_KEY, "gemini", "proposed", 2),
    Case("prose for ever", (), PROSE, "gemini", "no-useful-tests", 6, "No test was written."),
    Case("refusals for ever", (), REFUSED, "openai", "no-useful-tests", 6, "No test was written."),
    Case(
        "a finish without a test", (PROSE,), FINISH, "anthropic", "no-useful-tests", 3, "No test was written."
    ),
    Case("a server that is out of order", (), OVERLOADED, "openai", "failed", 1, "gave no reply"),
    Case("a key refused at the seed", (), WRONG_KEY, "anthropic", "failed", 1, "refused the key"),
]


@pytest.fixture(name="ended", params=CASES, ids=lambda case: case.name)
def _ended(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> tuple[Case, RunReport, list[dict[str, Any]]]:
    case = request.param
    root, trace = tmp_path / "project", tmp_path / "trace.jsonl"
    (root / ".github").mkdir(parents=True)
    (root / "halves.py").write_text("def half(number):\n    return number / 2\n", "utf-8")
    (root / ".github/testforge.yml").write_text("mutation:\n  enabled: false\n", "utf-8")
    monkeypatch.setenv("VIRTUAL_ENV", str(Path(interpreter.command).parents[1]))
    wish = Request(
        root, whole_file="halves.py", model=MODELS[case.form], sandbox="process", trace=trace, budget_usd=5.0
    )
    with serving() as server:
        server.say(READY, *case.answers)
        server.afterwards = case.afterwards
        report = review(wish, lambda _: None)
    return case, report, [json.loads(line) for line in trace.read_text("utf-8").splitlines()]


def test_a_run_ends_with_its_status_its_reason_its_cost_and_its_trace(
    ended: tuple[Case, RunReport, list[dict[str, Any]]],
) -> None:
    case, report, trace = ended
    (target,) = report.targets
    assert (report.status, target.status) == (case.status, case.status), target.reason
    assert case.reason in target.reason
    assert (target.suite is not None) is (case.status == "proposed")
    each = {"openai": 0.003, "anthropic": 0.00342, "gemini": 0.0018}[case.form]
    assert report.usage.cost_usd == pytest.approx(case.paid * each)
    assert [line["cost_usd"] for line in trace if "reply" in line] == pytest.approx([each] * case.paid)
    assert all(("reply" in line) is not ("error" in line) for line in trace)
    assert KEY not in json.dumps(trace) + repr(report)
