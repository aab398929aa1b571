"""From where modules are imported, and under which names."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bot.changes import import_roots, module_name

LAYOUTS = {
    "src layout": (["pyproject.toml", "src/pkg/__init__.py", "src/pkg/mod.py", "tests/test_mod.py"], "src/pkg/mod.py", ("src", "."), "pkg.mod"),
    "flat layout": (["pyproject.toml", "pkg/__init__.py", "pkg/mod.py"], "pkg/mod.py", (".",), "pkg.mod"),
    "single module": (["setup.py", "mod.py"], "mod.py", (".",), "mod"),
    "single module in src": (["setup.py", "src/mod.py"], "src/mod.py", ("src", "."), "mod"),
    "namespace package": (["pyproject.toml", "space/pkg/__init__.py", "space/pkg/mod.py"], "space/pkg/mod.py", (".",), "space.pkg.mod"),
    "namespace package in src": (["pyproject.toml", "src/space/pkg/mod.py"], "src/space/pkg/mod.py", ("src", "."), "space.pkg.mod"),
    "package named src": (["src/__init__.py", "src/mod.py"], "src/mod.py", (".",), "src.mod"),
    "no project file": (["lib/pkg/__init__.py", "lib/pkg/mod.py"], "lib/pkg/mod.py", ("lib", "."), "pkg.mod"),
    "several projects": (
        ["core/pyproject.toml", "core/src/core/__init__.py", "web/pyproject.toml", "web/web/__init__.py", "web/web/mod.py"],
        "web/web/mod.py",
        ("core/src", "core", "web", "."),
        "web.mod",
    ),
    "lib as a package": (["lib/__init__.py", "lib/mod.py"], "lib/mod.py", (".",), "lib.mod"),
    "src without Python": (["pyproject.toml", "src/main.c", "pkg/__init__.py", "pkg/mod.py"], "pkg/mod.py", (".",), "pkg.mod"),
    "project file among tests": (["pkg/__init__.py", "pkg/mod.py", "tests/data/pyproject.toml"], "pkg/mod.py", (".",), "pkg.mod"),
    "directory that cannot be a package": (["pkg/__init__.py", "my service/app/__init__.py", "my service/app/mod.py"], "my service/app/mod.py", (".", "my service"), "app.mod"),
    "src in such a directory": (["services/user-api/src/app/mod.py"], "services/user-api/src/app/mod.py", ("services/user-api/src", ".", "services/user-api"), "app.mod"),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_gives_its_roots_and_names(layout):
    files, path, roots, name = LAYOUTS[layout]
    assert import_roots(files) == roots
    assert module_name(path, roots) == name


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_module_is_found_under_that_name(layout, bare_directory):
    files, path, roots, name = LAYOUTS[layout]
    bare_directory.write(dict.fromkeys(files, ""))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(bare_directory.root / root) for root in roots)}
    code = f"import {name} as found; print(found.__file__)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, env=env, cwd="/", check=True
    )
    assert os.path.realpath(done.stdout.strip()) == os.path.realpath(bare_directory.root / path)


def test_the_init_file_is_its_package():
    assert module_name("src/pkg/__init__.py", ("src", ".")) == "pkg"


def test_roots_do_not_depend_on_the_order_of_files():
    files = LAYOUTS["several projects"][0]
    assert import_roots(reversed(files)) == import_roots(files)


def test_no_files_have_the_root_alone():
    assert import_roots([]) == (".",)


def test_a_directory_that_would_shadow_the_standard_library_is_no_root():
    assert import_roots(["bench-marks/random.py", "bench-marks/other.py"]) == (".",)


def test_directories_of_tests_are_no_roots():
    assert import_roots(["tests/some-data/mod.py", "tests/src/mod.py", "pkg/mod.py"]) == (".",)
