"""The JSON report, checked against its schema."""

from __future__ import annotations

import json

import jsonschema
import pytest
from sample_report import TESTS, mutation, run_report, target_report

from bot.deliver import record
from bot.domain import CoverageDeltas, Delta, MutantOutcome, MutationDelta, Reason, RunReport


def exactly(**properties: object) -> dict[str, object]:
    """An object with these keys, all of them and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def nullable(schema: dict[str, object]) -> dict[str, object]:
    return {"anyOf": [schema, {"type": "null"}]}


TEXT: dict[str, object] = {"type": "string"}
COUNT: dict[str, object] = {"type": "integer", "minimum": 0}
AMOUNT: dict[str, object] = {"type": "number", "minimum": 0}
FRACTION = nullable({"type": "number", "minimum": 0, "maximum": 1})
DELTA = exactly(before=FRACTION, after=FRACTION)
MUTANTS = exactly(
    score=FRACTION,
    killed=COUNT,
    survived=COUNT,
    timeout=COUNT,
    incompetent=COUNT,
    equivalent=COUNT,
    not_run=COUNT,
)
MUTATION = nullable(exactly(before=MUTANTS, after=MUTANTS))
STATUS = {
    "enum": ["proposed", "nothing-to-test", "no-useful-tests", "inconclusive", "failed", "cancelled"],
}


def many(items: dict[str, object]) -> dict[str, object]:
    return {"type": "array", "items": items}


SCHEMA = exactly(
    schema={"const": 1},
    base=nullable({"type": "string", "pattern": "^[0-9a-f]{40}$"}),
    head=nullable({"type": "string", "pattern": "^[0-9a-f]{40}$"}),
    status=STATUS,
    reason=TEXT,
    model=TEXT,
    sandbox=TEXT,
    wall_s=AMOUNT,
    cost_usd=AMOUNT,
    tokens=exactly(prompt=COUNT, completion=COUNT, cached=COUNT),
    targets=many(
        exactly(
            path=TEXT,
            status=STATUS,
            reason=TEXT,
            changed_lines=many({"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2}),
            suite=nullable(exactly(path=TEXT, is_new={"type": "boolean"}, content=TEXT)),
            tests=many(
                exactly(
                    id=TEXT,
                    verdict={"enum": ["kept", "rejected"]},
                    reason=nullable({"enum": [reason.value for reason in Reason]}),
                    lines_gained=many(COUNT),
                    mutants_killed=many(TEXT),
                    on_base={"enum": ["passed", "failed", "error", None]},
                    runs=COUNT,
                    duration_s=AMOUNT,
                )
            ),
            coverage=exactly(file=DELTA, changed=DELTA, branch=DELTA),
            mutation=exactly(changed=MUTATION, file=MUTATION),
            suspected_bugs=many(exactly(test=TEXT, function=TEXT, expected=TEXT, observed=TEXT)),
            iterations=COUNT,
            cost_usd=AMOUNT,
        )
    ),
)


def written(report: RunReport) -> dict:
    """What a reader gets who parses what is written."""
    data = json.loads(record.dump(record.as_json(report)))
    jsonschema.validate(data, SCHEMA)
    return data


REPORTS = {
    "proposed": run_report(),
    "nothing to test": run_report(
        status="nothing-to-test", reason="only documentation", targets=(), base=None
    ),
    "head": run_report(head="b" * 40),
    "no suite": run_report(
        status="no-useful-tests",
        targets=(target_report(status="no-useful-tests", suite=None, ledger=(), mutation_changed=None),),
    ),
    "inconclusive": run_report(status="inconclusive", reason="pip failed\nline", targets=(), skipped=()),
    "no mutants": run_report(
        targets=(target_report(mutation_file=MutationDelta(mutation(), mutation(MutantOutcome.EQUIVALENT))),)
    ),
}


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_keeps_to_the_schema(name):
    written(REPORTS[name])


def test_a_kept_test_has_its_evidence_and_no_reason():
    row = written(run_report())["targets"][0]["tests"][0]
    assert row == {
        "id": f"{TESTS}::test_heavy",
        "verdict": "kept",
        "reason": None,
        "lines_gained": [3],
        "mutants_killed": ["M1", "M2"],
        "on_base": "failed",
        "runs": 3,
        "duration_s": 0.01,
    }


def test_a_rejected_test_has_its_reason():
    row = written(run_report())["targets"][0]["tests"][3]
    assert (row["verdict"], row["reason"]) == ("rejected", "adds-nothing")


def test_changed_lines_are_ranges():
    target = target_report().target
    from dataclasses import replace

    report = run_report(
        targets=(target_report(target=replace(target, changed_lines=frozenset({1, 2, 3, 7}))),)
    )
    assert written(report)["targets"][0]["changed_lines"] == [[1, 3], [7, 7]]


def test_what_could_not_be_measured_is_null_and_nothing_is_zero():
    deltas = CoverageDeltas(Delta(0.0, None), Delta(None, 0.0), Delta())
    coverage = written(run_report(targets=(target_report(coverage=deltas),)))["targets"][0]["coverage"]
    assert coverage == {
        "file": {"before": 0.0, "after": None},
        "changed": {"before": None, "after": 0.0},
        "branch": {"before": None, "after": None},
    }


def test_a_score_without_mutants_is_null():
    target = written(REPORTS["no mutants"])["targets"][0]
    assert target["mutation"]["file"]["before"] == {
        "score": None,
        "killed": 0,
        "survived": 0,
        "timeout": 0,
        "incompetent": 0,
        "equivalent": 0,
        "not_run": 0,
    }
    assert target["mutation"]["file"]["after"]["equivalent"] == 1


def test_mutation_that_was_not_measured_is_null():
    target = written(REPORTS["no suite"])["targets"][0]
    assert target["mutation"] == {"changed": None, "file": None}


def test_outcomes_of_mutants_are_told_apart():
    outcomes = list(MutantOutcome)
    delta = MutationDelta(mutation(*outcomes), mutation(*outcomes))
    after = written(run_report(targets=(target_report(mutation_changed=delta),)))["targets"][0]["mutation"][
        "changed"
    ]["after"]
    assert {key: value for key, value in after.items() if key != "score"} == dict.fromkeys(
        map(str, outcomes), 1
    )
    assert after["score"] == pytest.approx(2 / 3, abs=1e-6)


def test_a_changed_file_without_need_of_tests_is_listed_with_the_reason():
    last = written(run_report())["targets"][-1]
    assert (last["path"], last["status"], last["reason"]) == (
        "docs/conf.py",
        "nothing-to-test",
        "configures the documentation",
    )


def test_a_path_that_is_not_utf8_survives():
    from bot.domain import Skipped

    name = b"caf\xe9.py".decode("utf-8", "surrogateescape")
    assert written(run_report(skipped=(Skipped(name, "x"),)))["targets"][-1]["path"] == name


def test_other_alphabets_are_written_as_they_are():
    assert "größe" in record.dump(record.as_json(run_report(reason="größe"))).decode()
