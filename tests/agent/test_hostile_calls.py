"""Calls that no careful model makes: whatever the arguments, a tool answers or says in one sentence why not."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prices import GOOD, SOURCE, SUITE_PATH

from bot.agent.tools import toolbox
from bot.agent.tools.schema import ToolError
from bot.agent.workbench import Workbench

_paths = st.text(max_size=12) | st.sampled_from(
    [
        SUITE_PATH,
        "tests",
        "tests/",
        "tests/../tests/x.py",
        "tests/\0.py",
        "tests/" + "x" * 300 + ".py",
        "tests/a/b/c/d.py",
        "tests/test_prices.py/inner.py",
        "/",
        "~",
        "",
        ".",
        "..",
        "\ud800",
        "-c",
    ]
)
_texts = st.text(max_size=20) | st.sampled_from(["", "\n", "\r\n", "discount", "\0", "assert"])
_numbers = st.integers(-3, 20) | st.sampled_from([10**30, -(10**30)])
_calls = st.one_of(
    st.tuples(st.just("search_files"), st.fixed_dictionaries({"query": _texts, "directory": _paths})),
    st.tuples(
        st.just("search_files"),
        st.fixed_dictionaries({"query": _texts, "directory": _paths, "mode": st.just("text")}),
    ),
    st.tuples(
        st.just("view_file"), st.fixed_dictionaries({"path": _paths, "first": _numbers, "last": _numbers})
    ),
    st.tuples(st.just("write_file"), st.fixed_dictionaries({"path": _paths, "content": _texts})),
    st.tuples(st.just("edit_file"), st.fixed_dictionaries({"path": _paths, "old": _texts, "new": _texts})),
    st.tuples(
        st.just("insert_lines"), st.fixed_dictionaries({"path": _paths, "after": _numbers, "text": _texts})
    ),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(call=_calls)
def test_a_call_prints_something_or_is_refused_and_the_source_stays(
    bench: Workbench, call: tuple[str, dict[str, Any]]
) -> None:
    name, arguments = call
    bench.write(SUITE_PATH, GOOD)
    with contextlib.suppress(ToolError):
        assert toolbox()[name].call(bench, json.dumps({"reflection": "", **arguments}))
    assert bench.box.read("shop/prices.py").decode() == SOURCE
    assert all(
        path.startswith(("shop/", "tests/")) or path.endswith("conftest.py") for path in bench.box.files()
    )
