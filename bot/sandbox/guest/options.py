"""Which options of pytest and its plugins disturb measuring, and the values that make them harmless.

A repository's `addopts` may name options of a plugin that is not installed where testforge runs (pytest-cov in
an overlay that has only pytest and coverage). Such options are declared here, so that pytest accepts them.
"""

from __future__ import annotations

from typing import Any

HARMLESS: dict[str, object] = {
    # Stopping early would hide the results of the other tests.
    "maxfail": 0,
    "stepwise": False,
    "stepwise_skip": False,
    "lf": False,
    "failedfirst": False,
    "newfirst": False,
    "collectonly": False,
    "setuponly": False,
    "setupplan": False,
    "usepdb": False,
    "trace": False,
    "continue_on_collection_errors": True,
    # pytest-xdist and pytest-forked: tests would run where nothing is measured.
    "numprocesses": None,
    "maxprocesses": None,
    "dist": "no",
    "distload": False,
    "tx": [],
    "looponfail": False,
    "forked": False,
    # pytest-cov: two coverages cannot trace at once, and a threshold says nothing of a test.
    "cov_source": [],
    "cov_fail_under": None,
    "no_cov": True,
    # pytest-randomly and pytest-random-order: an order and a seed that are the same in each run.
    "randomly_seed": 0,
    "randomly_reorganize": False,
    "random_order_enabled": False,
    "random_order_bucket": "default:module",
    "random_order_seed": "default:0",
    # pytest-rerunfailures: a flaky test must be seen as one.
    "reruns": 0,
    # pytest-timeout: its thread method ends the whole interpreter.
    "timeout_method": "signal",
    # pytest-benchmark: the function still runs, once.
    "benchmark_disable": True,
    "benchmark_only": False,
    "benchmark_skip": False,
}
"""Values by the option's destination; set only where a plugin has declared it."""

# Options that are declared when no plugin did: names by destination of the plugin's first option.
_OPTIONAL: dict[str, tuple[str, ...]] = {
    "cov_source": ("--cov",),
    "cov_report": ("--cov-report",),
    "cov_config": ("--cov-config",),
    "cov_fail_under": ("--cov-fail-under",),
    "cov_context": ("--cov-context",),
    "cov_precision": ("--cov-precision",),
    "numprocesses": ("-n", "--numprocesses"),
    "maxprocesses": ("--maxprocesses",),
    "dist": ("--dist",),
    "randomly_seed": ("--randomly-seed",),
    "random_order_bucket": ("--random-order-bucket",),
    "random_order_seed": ("--random-order-seed",),
    "timeout": ("--timeout",),
    "timeout_method": ("--timeout-method",),
    "reruns": ("--reruns",),
    "reruns_delay": ("--reruns-delay",),
    "html": ("--html",),
    "benchmark_storage": ("--benchmark-storage",),
}
_FLAGS: dict[str, tuple[str, ...]] = {
    "cov_branch": ("--cov-branch",),
    "cov_append": ("--cov-append",),
    "no_cov": ("--no-cov",),
    "no_cov_on_fail": ("--no-cov-on-fail",),
    "randomly_reorganize": ("--randomly-dont-reorganize",),
    "randomly_reset_seed": ("--randomly-dont-reset-seed",),
    "random_order_enabled": ("--random-order",),
    "forked": ("--forked",),
    "self_contained_html": ("--self-contained-html",),
    "benchmark_disable": ("--benchmark-disable",),
    "benchmark_only": ("--benchmark-only",),
    "benchmark_skip": ("--benchmark-skip",),
    "benchmark_autosave": ("--benchmark-autosave",),
    "flake8": ("--flake8",),
    "mypy": ("--mypy",),
    "ruff": ("--ruff",),
    "black": ("--black",),
    "isort": ("--isort",),
    "pylint": ("--pylint",),
}


def declare_missing(parser: Any, known: object) -> None:
    """Declare the options of well-known plugins that are not installed, so that `addopts` may name them.

    Args:
        parser: pytest's option parser, before it parses for good.
        known: The namespace of options known so far; a destination it lacks belongs to no plugin.
    """
    group = parser.getgroup("testforge", "options of plugins that are not installed")
    for destination, names in _OPTIONAL.items():
        if not hasattr(known, destination):
            group._addoption(*names, dest=destination, nargs="?", action="append", default=[])
    for destination, names in _FLAGS.items():
        if not hasattr(known, destination):
            group._addoption(*names, dest=destination, action="store_true", default=False)


def make_harmless(options: object) -> None:
    """Give every option that disturbs measuring its harmless value, where it is declared at all."""
    for name, value in HARMLESS.items():
        if hasattr(options, name):
            setattr(options, name, list(value) if isinstance(value, list) else value)
