"""Logs: JSON off a terminal, bound to what they are about, without secrets."""

from __future__ import annotations

import io
import json
import logging

import pytest
import structlog

from bot.web import logging as logs

TOKEN = "ghs_4711_eyJhbGciOiJIUzI1NiJ9abcdef.eyJpc3MiOiIxMjM0NTY3ODkwIn0abc.sflKxwRJSMeKKF2QT4fwpMeJ"


@pytest.fixture
def stream():
    """Where logs go for the time of a test."""
    root = logging.getLogger()
    before = structlog.get_config()
    handlers, level = root.handlers[:], root.level
    text = io.StringIO()
    logs.configure(["hunter2hunter2"], text)
    yield text
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**before)


def lines(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_json_with_what_is_bound(stream):
    with structlog.contextvars.bound_contextvars(run="r1", repository="o/r"):
        structlog.get_logger("testforge.run").info("run begins", pull=3)
    line = lines(stream)[0]
    assert (line["event"], line["run"], line["repository"], line["pull"]) == ("run begins", "r1", "o/r", 3)
    assert (line["level"], line["logger"]) == ("info", "testforge.run")


def test_no_secret_is_written_wherever_it_stands(stream):
    log = structlog.get_logger("testforge")
    log.info(f"token {TOKEN}", nested={"list": [f"x {TOKEN}"], "hunter2hunter2": b"hunter2hunter2"})
    log.warning("address", url="https://user:password@example.org/x", error=ValueError(f"bad {TOKEN}"))
    logging.getLogger("some.library").warning("it says %s and hunter2hunter2", TOKEN)
    try:
        raise RuntimeError(f"broke with {TOKEN} and hunter2hunter2")
    except RuntimeError:
        log.exception("it broke")
    text = stream.getvalue()
    for secret in (TOKEN, "hunter2", "password", "sflKxwRJ"):
        assert secret not in text
    assert "RuntimeError" in text


def test_other_libraries_write_in_the_same_form(stream):
    logging.getLogger("dbos").warning("a remark")
    assert lines(stream)[0]["event"] == "a remark"
