"""The repository's pytest configuration is obeyed, and what in it disturbs measuring is made harmless.

Plugins that testforge itself does not use are installed into an environment of these tests' own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import uv

from bot.domain import MutantOutcome, SuiteRun, Target
from bot.measure.hollow import hollow_tests
from bot.measure.mutants import generate
from bot.measure.mutation import judge
from bot.measure.outcomes import run_tests
from bot.sandbox import Interpreter, Sandbox
from bot.sandbox.process import ProcessSandboxes

PLUGINS = [
    "pytest",
    "coverage",
    "pytest-asyncio",
    "pytest-benchmark",
    "pytest-cov",
    "pytest-random-order",
    "pytest-randomly",
    "pytest-rerunfailures",
    "pytest-timeout",
    "pytest-xdist",
    "anyio",
]

MOD = "def sign(x):\n    if x < 0:\n        return -1\n    return 1\n\n\nasync def later(x):\n    return x + 1\n"
TESTS = """
import pytest
from pkg.mod import sign
def test_negative(): assert sign(-1) == -1
def test_positive(): assert sign(1) == 1
def test_wrong(): assert sign(0) == 0
@pytest.mark.skip
def test_skipped(): pass
"""
FILES = {"src/pkg/__init__.py": "", "src/pkg/mod.py": MOD, "tests/test_mod.py": TESTS}
OUTCOMES = {
    "test_negative": "passed",
    "test_positive": "passed",
    "test_wrong": "failed",
    "test_skipped": "skipped",
}
TARGET = Target(path="src/pkg/mod.py", module="pkg.mod", source=MOD, changed_lines=frozenset())


@pytest.fixture(scope="session")
def with_plugins(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    """An interpreter that has pytest with many plugins."""
    place = tmp_path_factory.mktemp("plugins") / "venv"
    tool = uv.find_uv_bin()
    subprocess.run([tool, "venv", "--quiet", "--python", sys.executable, str(place)], check=True)
    python = place / "bin" / "python"
    install = [tool, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python), *PLUGINS]
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"the plugins could not be installed: {installed.stderr.strip()[-300:]}")
    return Interpreter(command=str(python), version="3", mounts=(place, Path(sys.base_prefix)), key="plugins")


class Opener:
    """Opens sandboxes over trees in one directory."""

    def __init__(self, directory: Path, interpreter: Interpreter) -> None:
        self._directory = directory
        self._interpreter = interpreter
        self._boxes: list[Sandbox] = []

    def __call__(self, files: dict[str, str], roots: tuple[str, ...] = ("src",)) -> Sandbox:
        tree = self._directory / f"tree{len(self._boxes)}"
        for name, content in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(content)
        box = ProcessSandboxes().open(tree, replace(self._interpreter, import_roots=roots))
        self._boxes.append(box)
        return box

    def close(self) -> None:
        for box in self._boxes:
            box.close()


@pytest.fixture
def open_plugged(with_plugins: Interpreter, tmp_path: Path) -> Iterator[Opener]:
    """Opens sandboxes with the plugins."""
    opener = Opener(tmp_path, with_plugins)
    yield opener
    opener.close()


@pytest.fixture
def open_plain(interpreter: Interpreter, tmp_path: Path) -> Iterator[Opener]:
    """Opens sandboxes with testforge's own environment, which lacks most plugins."""
    opener = Opener(tmp_path, interpreter)
    yield opener
    opener.close()


def outcomes(run: SuiteRun) -> dict[str, str]:
    return {result.id.rpartition("::")[2]: result.outcome.value for result in run.results}


def check(run: SuiteRun) -> None:
    """The run is that of FILES: every outcome, every test's lines."""
    assert run.crash == "", run.output
    assert outcomes(run) == OUTCOMES
    lines = {
        test.rpartition("::")[2]: set(lines)
        for test, lines in run.coverage[TARGET.path].lines_by_test.items()
    }
    assert lines == {
        "test_negative": {2, 3},
        "test_positive": {2, 4},
        "test_wrong": {2, 4},
        "test_skipped": set(),
    }
    assert run.coverage[TARGET.path].import_lines == {1, 7}


DISTURBING = {
    "pytest-cov": "--cov=pkg --cov-report=term-missing --cov-branch --cov-fail-under=100",
    "xdist": "-n auto --dist loadfile",
    "xdist and pytest-cov": "-n 2 --cov --cov-append --no-cov-on-fail",
    "first failure": "-x",
    "stepwise": "--stepwise",
    "last failed": "--lf --ff --nf",
    "maxfail": "--maxfail=1",
    "randomly": "-p randomly --randomly-seed=3",
    "random-order": "--random-order --random-order-bucket=global --random-order-seed=9",
    "timeout": "--timeout=30 --timeout-method=thread",
    "reruns": "--reruns=2 --reruns-delay=0.1",
    "benchmark": "--benchmark-only",
    "strict": "--strict-markers --strict-config",
    "importlib": "--import-mode=importlib",
    "append": "--import-mode=append",
    "without plugins": "-p no:cacheprovider -p no:terminal -p no:randomly -p no:logging",
    "no capture": "-s -vv --tb=long --durations=5 -ra",
    "native traceback": "--tb=native --showlocals",
    "doctest": "--doctest-modules --doctest-continue-on-failure",
    "warnings": "-W error -o asyncio_default_fixture_loop_scope=function",
    "junit": "--junitxml=report.xml -o junit_family=xunit2",
}


@pytest.mark.slow
@pytest.mark.parametrize("addopts", DISTURBING.values(), ids=DISTURBING)
def test_options_of_the_repository_do_not_disturb_measuring(open_plugged: Opener, addopts: str) -> None:
    box = open_plugged({**FILES, "pytest.ini": f"[pytest]\naddopts = {addopts}\ntestpaths = tests\n"})

    check(run_tests(box, cover=[TARGET.path]))


@pytest.mark.slow
def test_a_configuration_of_many_plugins_at_once_is_obeyed_in_pyproject(open_plugged: Opener) -> None:
    options = "-n auto --cov=pkg --cov-fail-under=99 --random-order -x --strict-markers --timeout=60"
    config = f"""
[tool.pytest.ini_options]
addopts = "{options}"
testpaths = ["tests"]
filterwarnings = ["error"]
xfail_strict = true
asyncio_mode = "auto"
asyncio_default_fixture_loop_scope = "function"
"""
    tests = TESTS + (
        "from pkg.mod import later\n"
        "async def test_later(): assert await later(1) == 2\n"
        "@pytest.mark.xfail\ndef test_xpass(): pass\n"
        "def test_warns():\n    import warnings\n    warnings.warn('old', DeprecationWarning)\n"
    )
    box = open_plugged({**FILES, "tests/test_mod.py": tests, "pyproject.toml": config})

    run = run_tests(box, cover=[TARGET.path])

    more = {"test_later": "passed", "test_xpass": "failed", "test_warns": "failed"}
    assert outcomes(run) == OUTCOMES | more
    assert run.coverage[TARGET.path].lines_by_test["tests/test_mod.py::test_later"] == {8}
    hollow = hollow_tests(box, TARGET, run, run.passed)
    assert hollow == frozenset()


@pytest.mark.slow
def test_the_order_is_the_same_in_each_run_whatever_shuffles_it(open_plugged: Opener) -> None:
    tests = "".join(f"def test_{name}(): pass\n" for name in "abcdefgh")
    box = open_plugged({"tests/test_it.py": tests, "pytest.ini": "[pytest]\naddopts = --random-order\n"})

    first, second = run_tests(box), run_tests(box)

    assert (
        [r.id for r in first.results] == [r.id for r in second.results] == sorted(r.id for r in first.results)
    )


@pytest.mark.slow
def test_random_numbers_of_a_plugin_are_the_same_in_each_run(open_plugged: Opener) -> None:
    source = "import random\ndef test_it(): assert random.random() == {}\n"
    box = open_plugged({"test_it.py": source.format("0")})
    (result,) = run_tests(box).results
    value = result.message.split()[2]

    box.write("test_it.py", source.format(value).encode())

    assert run_tests(box).passed == ("test_it.py::test_it",)


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["asyncio", "anyio"])
def test_async_tests_and_fixtures_run(open_plugged: Opener, runner: str) -> None:
    fixture = "pytest_asyncio.fixture" if runner == "asyncio" else "pytest.fixture"
    tests = f"""
import pytest, pytest_asyncio
from pkg.mod import later
@{fixture}
async def two(): return await later(1)
@pytest.mark.{runner}
async def test_it(two): assert await later(two) == 3
"""
    backend = "import pytest\n@pytest.fixture\ndef anyio_backend(): return 'asyncio'\n"
    box = open_plugged({**FILES, "tests/test_mod.py": tests, "tests/conftest.py": backend})

    run = run_tests(box, cover=[TARGET.path])

    assert outcomes(run) == {"test_it": "passed"}, run.output
    assert run.coverage[TARGET.path].lines_by_test["tests/test_mod.py::test_it"] == {8}


@pytest.mark.slow
def test_mutants_get_the_same_verdicts_under_plugins_that_shuffle_or_distribute(open_plugged: Opener) -> None:
    tests = "".join(f"def test_{n}(): assert sign({n - 3}) == {-1 if n < 3 else 1}\n" for n in range(6))
    files = {**FILES, "tests/test_mod.py": "from pkg.mod import sign\n" + tests}
    mutants = generate(TARGET.path, MOD, lines=frozenset({2, 8}), limit=4)
    found = {}
    for plugin in ("without plugins", "randomly", "random-order", "xdist"):
        box = open_plugged({**files, "pytest.ini": f"[pytest]\naddopts = {DISTURBING[plugin]}\n"})
        result = judge(box, TARGET, mutants, run_tests(box, cover=[TARGET.path]))
        found[plugin] = [verdict.outcome for verdict in result.verdicts]
    calm = found.pop("without plugins")
    assert 0 < calm.count(MutantOutcome.KILLED) < len(calm)
    assert [*found.values()] == [calm] * 3


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["asyncio", "anyio"])
def test_mutants_of_a_coroutine_are_killed_by_tests_of_an_async_plugin(
    open_plugged: Opener, runner: str
) -> None:
    tests = f"import pytest\nfrom pkg.mod import later\n@pytest.mark.{runner}\n"
    tests += "async def test_later(): assert await later(1) == 2\n"
    backend = "import pytest\n@pytest.fixture\ndef anyio_backend(): return 'asyncio'\n"
    box = open_plugged({**FILES, "tests/test_mod.py": tests, "tests/conftest.py": backend})
    run = run_tests(box, cover=[TARGET.path])

    found = judge(box, TARGET, generate(TARGET.path, MOD, limit=12), run)

    later = [verdict for verdict in found.verdicts if verdict.mutant.function == "later"]
    sign = {verdict.killed_by for verdict in found.verdicts if verdict.mutant.function == "sign"}
    assert "tests/test_mod.py::test_later" in {verdict.killed_by for verdict in later}
    assert sign == {None}


@pytest.mark.slow
def test_a_flaky_test_is_seen_as_one_although_a_plugin_would_repeat_it(open_plugged: Opener) -> None:
    tests = "import pathlib\ndef test_it():\n    seen = pathlib.Path('seen')\n    first = not seen.exists()\n"
    tests += "    seen.touch()\n    assert not first\n"
    box = open_plugged({"test_it.py": tests, "pytest.ini": "[pytest]\naddopts = --reruns=3\n"})

    assert outcomes(run_tests(box)) == {"test_it": "failed"}


@pytest.mark.slow
def test_a_test_that_a_plugin_ends_for_its_time_is_timed_out(open_plugged: Opener) -> None:
    tests = "import time\ndef test_slow(): time.sleep(20)\ndef test_fast(): pass\n"
    box = open_plugged(
        {"test_it.py": tests, "pytest.ini": "[pytest]\ntimeout = 1\ntimeout_method = thread\n"}
    )

    assert outcomes(run_tests(box)) == {"test_slow": "timed out", "test_fast": "passed"}


@pytest.mark.parametrize("name", ["pytest-cov", "random-order", "reruns", "benchmark"])
def test_options_of_plugins_that_are_not_installed_are_accepted(open_plain: Opener, name: str) -> None:
    box = open_plain({**FILES, "pytest.ini": f"[pytest]\naddopts = {DISTURBING[name]}\n"})

    check(run_tests(box, cover=[TARGET.path]))


def test_namespace_packages_and_conftest_fixtures(open_plain: Opener) -> None:
    files = {
        "src/space/part/mod.py": MOD,
        "conftest.py": "import pytest\n@pytest.fixture\ndef one(): return 1\n",
        "tests/deep/conftest.py": "import pytest\n@pytest.fixture\ndef one(one): return one + 1\n",
        "tests/deep/test_mod.py": (
            "from space.part.mod import sign\ndef test_it(one): assert sign(one) == 1 and one == 2\n"
        ),
        "tests/test_mod.py": "from space.part.mod import sign\ndef test_it(one): assert one == 1\n",
    }
    box = open_plain({**files, "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n"})

    run = run_tests(box, cover=["src/space/part/mod.py"])

    assert set(run.passed) == {"tests/test_mod.py::test_it", "tests/deep/test_mod.py::test_it"}
    assert run.coverage["src/space/part/mod.py"].lines_by_test["tests/deep/test_mod.py::test_it"] == {2, 4}


def test_doctests_are_tests_of_their_modules(open_plain: Opener) -> None:
    source = 'def double(x):\n    """Twice.\n\n    >>> double(2)\n    4\n    >>> double(3)\n    7\n    """\n    return x + x\n'
    box = open_plain({"src/mod.py": source, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"})

    run = run_tests(box, cover=["src/mod.py"])

    (result,) = run.results
    assert (result.id, result.outcome.value, result.assertion) == ("src/mod.py::mod.double", "failed", True)
    assert run.coverage["src/mod.py"].lines_by_test[result.id] == {9}


def test_warnings_turned_into_errors_by_the_repository_fail_tests_and_nothing_else(
    open_plain: Opener,
) -> None:
    tests = "import warnings\ndef test_warns(): warnings.warn('old', DeprecationWarning)\n"
    box = open_plain(
        {**FILES, "tests/test_warn.py": tests, "pytest.ini": "[pytest]\nfilterwarnings = error\n"}
    )

    run = run_tests(box, cover=[TARGET.path])

    assert outcomes(run) == OUTCOMES | {"test_warns": "failed"}


def test_pytest_and_coverage_may_lie_outside_the_repositorys_environment(
    tmp_path: Path, interpreter: Interpreter
) -> None:
    site = Path(pytest.__file__).parent.parent
    bare = Interpreter(
        command=str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"),
        version="3",
        extra_path=(str(site),),
        mounts=(Path(sys.base_prefix), site),
        key="bare",
    )
    opener = Opener(tmp_path, bare)
    try:
        check(run_tests(opener(FILES), ["tests/test_mod.py"], cover=[TARGET.path]))
    finally:
        opener.close()
