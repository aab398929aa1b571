"""Tests that would leave their own directory, the machine or the interpreter are not even run."""

from __future__ import annotations

import pytest

from bot.domain import Reason
from bot.select.safety import unsafe_tests


def reason(body: str, head: str = "") -> Reason | None:
    """Return why a test with this body is refused."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    found = unsafe_tests(f"{head}\n\ndef test_a(tmp_path, monkeypatch):\n{lines}\n")
    return found["test_a"][0] if "test_a" in found else None


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("subprocess.run(['ls'])", "import subprocess"),
        ("run(['ls'])", "from subprocess import run"),
        ("sp.check_output('ls')", "import subprocess as sp"),
        ("os.system('ls')", "import os"),
        ("socket.create_connection(('a', 1))", "import socket"),
        ("requests.get('https://example.org')", "import requests"),
        ("urllib.request.urlopen('https://example.org')", "import urllib.request"),
        ("os.remove('data.txt')", "import os"),
        ("shutil.rmtree(path)", "import shutil\npath = 'build'"),
        ("open('out.txt', 'w').write('x')", ""),
        ("open('out.txt', mode='a')", ""),
        ("Path('out.txt').write_text('x')", "from pathlib import Path"),
        ("Path('out.txt').unlink()", "from pathlib import Path"),
        ("os.kill(1, 9)", "import os"),
        ("helper()", "import os\n\ndef helper():\n    os.remove('a')"),
        ("assert True", "import os\nos.makedirs('build')"),
    ],
)
def test_it_is_unsafe(body: str, head: str) -> None:
    assert reason(body, head) is Reason.UNSAFE


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("(tmp_path / 'a').write_text('x')", ""),
        ("path = tmp_path / 'a'\npath.write_text('x')\npath.unlink()", ""),
        ("path = tmp_path / 'a'\nwith open(path, 'w') as file:\n    file.write('x')", ""),
        ("open('data.txt')", ""),
        ("open('data.txt', 'rb')", ""),
        ("monkeypatch.setattr(subprocess, 'run', lambda *a: None)", "import subprocess"),
        ("subprocess.CompletedProcess(['a'], 0)", "import subprocess"),
        ("os.path.join('a', 'b')", "import os"),
        ("assert 'a'.replace('a', 'b') == 'b'", ""),
        ("items = [1]\nitems.remove(1)", ""),
        ("assert cache.touch('a')", "cache = None"),
        (
            "with TemporaryDirectory() as d:\n    open(d + '/a', 'w')",
            "from tempfile import TemporaryDirectory",
        ),
    ],
)
def test_it_is_safe(body: str, head: str) -> None:
    assert reason(body, head) is None


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("open(mod.__file__, 'w')", "from pkg import mod"),
        ("Path('pkg/mod.py').write_text('')", "from pathlib import Path"),
        ("os.remove('pkg/mod.py')", "import os"),
    ],
)
def test_an_edit_of_the_source_is_told_apart(body: str, head: str) -> None:
    assert reason(body, head) is Reason.TOUCHES_SOURCE


def test_only_the_tests_that_use_an_unsafe_fixture_are_refused() -> None:
    source = (
        "import os\nimport pytest\n\n\n@pytest.fixture\ndef gone():\n    os.remove('a')\n\n\n"
        "def test_a(gone):\n    pass\n\n\ndef test_b():\n    pass\n\n\nclass TestC:\n    def test_d(self, gone):\n        pass\n"
    )
    assert set(unsafe_tests(source)) == {"test_a", "TestC::test_d"}


def test_set_up_of_a_class_counts_for_its_tests_alone() -> None:
    source = "import os\n\n\nclass TestC:\n    def setup_method(self):\n        os.mkdir('a')\n\n    def test_d(self):\n        pass\n"
    assert set(unsafe_tests(source + "\n\ndef test_a():\n    pass\n")) == {"TestC::test_d"}
