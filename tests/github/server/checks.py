"""Endpoints of check runs, with GitHub's limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.github.server.nouns import RefusalError
from tests.github.server.rest import Call, route

Json = Any
_MOST_ANNOTATIONS = 50


def _output(asked: Mapping[str, Json]) -> dict[str, Json]:
    output = dict(asked.get("output", {}))
    if len(output.get("annotations", ())) > _MOST_ANNOTATIONS:
        raise RefusalError(422, "Invalid request.", ["No more than 50 annotations in a request"])
    for name in ("summary", "text"):
        if len(output.get(name) or "") > 65_535:
            raise RefusalError(422, "Invalid request.", [f"{name} is too long"])
    return output


def _check_shape(check: Mapping[str, Json]) -> Json:
    shown = {k: v for k, v in check.items() if k != "annotations"}
    output = {**check["output"], "annotations_count": len(check["annotations"])}
    return {**shown, "output": {k: output.get(k) for k in ("title", "summary", "text", "annotations_count")}}


@route("POST", "/repos/{owner}/{repo}/check-runs", "checks:write")
def _make_check(call: Call) -> tuple[int, Json]:
    body = call.body
    if not call.repository.store.has(body["head_sha"]):
        raise RefusalError(422, "Validation Failed", ["No commit found for SHA"])
    output = _output(body)
    number = call.world.new_id()
    check = {
        "id": number,
        "node_id": f"CR_{number}",
        "name": body["name"],
        "head_sha": body["head_sha"],
        "external_id": body.get("external_id"),
        "status": body.get("status", "queued"),
        "conclusion": body.get("conclusion"),
        "annotations": output.pop("annotations", []),
        "output": output,
    }
    call.repository.checks.append(check)
    return 201, _check_shape(check)


@route("PATCH", "/repos/{owner}/{repo}/check-runs/{check}", "checks:write")
def _change_check(call: Call) -> tuple[int, Json]:
    check = next((c for c in call.repository.checks if c["id"] == int(call.parts["check"])), None)
    if check is None:
        raise RefusalError(404, "Not Found")
    if call.body.get("status") == "completed" and not call.body.get("conclusion"):
        raise RefusalError(422, "Invalid request.", ["conclusion is missing"])
    output = _output(call.body)
    check["annotations"] += output.pop("annotations", [])
    check["output"].update(output)
    for name in ("status", "conclusion"):
        check[name] = call.body.get(name, check[name])
    return 200, _check_shape(check)


@route("GET", "/repos/{owner}/{repo}/commits/{ref}/check-runs", "checks:read")
def _checks(call: Call) -> tuple[int, Json]:
    name = call.query.get("check_name")
    own = [
        _check_shape(c)
        for c in call.repository.checks
        if c["head_sha"] == call.parts["ref"] and name in (None, c["name"])
    ]
    return 200, {"total_count": len(own), "check_runs": call.page(own)}
