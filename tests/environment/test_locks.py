"""Lock files read: what of them an environment gets, markers, extras and odd sources obeyed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.environment import locks, pythons
from bot.environment.locks import Locked
from bot.environment.locks.pins import Pin, closure

POETRY = """
[[package]]
name = "Web_Client"
version = "2.1"
python-versions = ">=3.9"
groups = ["main"]
files = [{file = "a.whl", hash = "sha256:aa"}, {file = "a.tar.gz", hash = "sha256:bb"}]
[package.dependencies]
dots = ">=1"
backport = {version = "*", markers = "python_version < \\"3.11\\""}
PySocks = {version = ">=1.5", optional = true, markers = "extra == \\"socks\\""}
[package.extras]
socks = ["PySocks (>=1.5)"]

[[package]]
name = "dots"
version = "1.5"
python-versions = "*"
groups = ["main"]
files = []

[[package]]
name = "backport"
version = "0.1"
python-versions = "*"
files = []

[[package]]
name = "pysocks"
version = "1.7"
python-versions = "*"
files = []

[[package]]
name = "docs"
version = "9"
python-versions = "*"
groups = ["docs"]
files = []

[metadata]
lock-version = "2.1"
"""


def read(tree: Path, lock: str, text: str, wanted: Sequence[str] = (), version: str = "3.11.7") -> Locked:
    (tree / lock).write_text(text)
    return locks.read(tree, lock, wanted, pythons.markers(version, linux=True))


def test_what_is_wanted_and_what_that_needs_is_taken_with_hashes(tmp_path: Path) -> None:
    found = read(tmp_path, "poetry.lock", POETRY, ["web-client>=2"])

    assert found == Locked(lines=("dots==1.5", "web-client==2.1 --hash=sha256:aa --hash=sha256:bb"))


def test_an_extra_and_a_marker_bring_what_they_name(tmp_path: Path) -> None:
    found = read(tmp_path, "poetry.lock", POETRY, ["web-client[socks]"], version="3.10.1")

    assert [line.split()[0] for line in found.lines] == [
        "backport==0.1",
        "dots==1.5",
        "pysocks==1.7",
        "web-client==2.1",
    ]


def test_what_the_lock_lacks_is_told(tmp_path: Path) -> None:
    found = read(tmp_path, "poetry.lock", POETRY, ["dots", "brand-new>=3", "never; python_version < '3'"])

    assert (found.lines, found.unlocked) == (("dots==1.5",), ("brand-new>=3",))


def test_of_two_versions_for_two_pythons_the_fitting_one_is_taken(tmp_path: Path) -> None:
    text = (
        '[[package]]\nname="num"\nversion="1.24"\npython-versions=">=3.8"\nmarkers="python_version < \\"3.11\\""\n'
        '[[package]]\nname="num"\nversion="2.0"\npython-versions=">=3.9"\nmarkers="python_version >= \\"3.11\\""\n'
    )

    assert read(tmp_path, "poetry.lock", text, ["num"]).lines == ("num==2.0",)
    assert read(tmp_path, "poetry.lock", text, ["num"], version="3.9.1").lines == ("num==1.24",)


def test_a_marker_for_each_group_holds_if_one_does(tmp_path: Path) -> None:
    text = (
        '[[package]]\nname="colours"\nversion="1"\n'
        "markers = {docs = \"platform_system == 'Windows'\", test = \"sys_platform == 'linux'\"}\n"
        '[[package]]\nname="other"\nversion="1"\n'
        "markers = {docs = \"platform_system == 'Windows'\", test = \"sys_platform == 'win32'\"}\n"
    )

    assert read(tmp_path, "poetry.lock", text, ["colours", "other"]).lines == ("colours==1",)


def test_an_older_poetry_kept_hashes_at_the_end(tmp_path: Path) -> None:
    text = (
        '[[package]]\nname="a"\nversion="1"\ncategory="main"\noptional=false\n'
        '[metadata]\nlock-version="1.1"\n[metadata.files]\na=[{file="a.whl", hash="sha256:cc"}]\n'
    )

    assert read(tmp_path, "poetry.lock", text, ["a"]).lines == ("a==1 --hash=sha256:cc",)


def test_sources_other_than_an_index_are_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "libs" / "near").mkdir(parents=True)
    text = "".join(
        f'[[package]]\nname="{name}"\nversion="1"\n[package.source]\n{source}\n'
        for name, source in (
            ("own", 'type="directory"\nurl="."'),
            ("near", 'type="directory"\nurl="libs/near"'),
            ("far", 'type="directory"\nurl="../elsewhere"'),
            ("forked", 'type="git"\nurl="https://example.com/f.git"\nresolved_reference="abc123"'),
            ("zipped", 'type="url"\nurl="https://example.com/z.zip"'),
        )
    )

    found = read(tmp_path, "poetry.lock", text, ["forked", "zipped"])

    assert found.lines == ()
    assert found.elsewhere == (
        "forked @ git+https://example.com/f.git@abc123",
        "./libs/near",
        "zipped @ https://example.com/z.zip",
    )
    assert found.left_out == (
        "poetry.lock takes far from ../elsewhere, which is no part of the repository, so it is not installed.",
    )


def test_pdm_has_an_entry_for_a_package_with_its_extra(tmp_path: Path) -> None:
    text = """
        [[package]]
        name = "web"
        version = "2"
        dependencies = ["dots>=1", "old; python_version < '3'"]
        files = [{file = "w.whl", hash = "sha256:aa"}]
        [[package]]
        name = "web"
        version = "2"
        extras = ["socks"]
        dependencies = ["PySocks>=1", "web==2"]
        files = [{file = "w.whl", hash = "sha256:aa"}]
        [[package]]
        name = "dots"
        version = "1"
        [[package]]
        name = "pysocks"
        version = "1.7"
        [[package]]
        name = "forked"
        version = "0"
        git = "https://example.com/f.git"
        ref = "main"
        revision = "abc123"
    """

    plain = read(tmp_path, "pdm.lock", text, ["web", "forked"])
    extra = read(tmp_path, "pdm.lock", text, ["web[socks]>=1"])

    assert plain.lines == ("dots==1", "web==2 --hash=sha256:aa")
    assert plain.elsewhere == ("forked @ git+https://example.com/f.git@abc123",)
    assert extra.lines == ("dots==1", "pysocks==1.7", "web==2 --hash=sha256:aa")


def test_pipfile_lock_is_taken_whole_but_for_markers(tmp_path: Path) -> None:
    text = json.dumps(
        {
            "_meta": {"requires": {"python_version": "3.10"}},
            "default": {
                "web": {"version": "==2", "hashes": ["sha256:aa", "sha256:bb"], "extras": ["socks"]},
                "win": {"version": "==1", "markers": "sys_platform == 'win32'"},
                "own": {"editable": True, "path": "."},
                "forked": {"git": "https://example.com/f.git", "ref": "abc"},
            },
            "develop": {"pytest": {"version": "==8.0"}, "web": {"version": "==2"}},
        }
    )

    found = read(tmp_path, "Pipfile.lock", text)

    assert found.lines == ("web==2 --hash=sha256:aa --hash=sha256:bb", "pytest==8.0")
    assert found.elsewhere == ("forked @ git+https://example.com/f.git@abc",)


def test_what_uv_exports_is_told_apart() -> None:
    found = locks.from_export(
        "-e ./packages/member\n# comment\nattrs==26.1 ; sys_platform == 'linux' \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"
        "fork @ git+https://example.com/f.git@abc\n./libs/near\nplain==1\n"
    )

    assert found.lines == (
        "attrs==26.1 ; sys_platform == 'linux' --hash=sha256:aa --hash=sha256:bb",
        "plain==1",
    )
    assert found.elsewhere == (
        "-e ./packages/member",
        "fork @ git+https://example.com/f.git@abc",
        "./libs/near",
    )


@pytest.mark.parametrize("lock", ["poetry.lock", "pdm.lock", "Pipfile.lock"])
@pytest.mark.parametrize("text", ["", "[[package", "[[package]]\nname = 3", '{"default": []}', "package = 1"])
def test_a_lock_that_cannot_be_read_pins_nothing(tmp_path: Path, lock: str, text: str) -> None:
    assert read(tmp_path, lock, text, ["a"]).lines == ()


NAMES = st.sampled_from("abcdef")


@given(
    st.dictionaries(NAMES, st.lists(NAMES, max_size=4), max_size=6),
    st.lists(NAMES, max_size=3),
)
def test_the_walk_ends_and_finds_exactly_what_is_reachable(
    needs: dict[str, list[str]], wanted: list[str]
) -> None:
    pins = [Pin(name, "1", needs=tuple(below)) for name, below in needs.items()]

    found, unlocked = closure(pins, wanted, {})

    reached: set[str] = set()
    waiting = [name for name in wanted if name in needs]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [below for below in needs[name] if below in needs]
    assert [pin.name for pin in found] == sorted(reached)
    assert set(unlocked) == set(wanted) - set(needs)
