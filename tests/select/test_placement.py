"""New tests go where the repository keeps its tests, and an existing file about the target is extended."""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain import Target
from bot.repoconfig import RepoConfig, load
from bot.select.placement import Placement, place

SOURCE = "def parse(text):\n    return text\n\n\nclass Node:\n    pass\n"


def put(
    files: Mapping[str, str], path: str, module: str, config: RepoConfig | None = None, source: str = SOURCE
) -> Placement:
    """Place the target's tests in a repository given as texts by path."""
    target = Target(path, module, source, frozenset({1, 2}))
    return place([*files, path], {path: source, **files}.__getitem__, target, config or load(None))


def test_a_repository_without_tests_gets_a_tests_directory() -> None:
    assert put({"pkg/__init__.py": ""}, "pkg/mod.py", "pkg.mod") == Placement(
        "tests/test_mod.py", "tests/test_mod.py", extends=False
    )


def test_a_flat_tests_directory_is_kept_to() -> None:
    files = {
        "pkg/a.py": "",
        "pkg/sub/b.py": "",
        "tests/test_a.py": "import pkg.a",
        "tests/test_b.py": "import pkg.sub.b",
    }
    assert put(files, "pkg/sub/mod.py", "pkg.sub.mod").final_path == "tests/test_mod.py"


def test_a_mirrored_tree_is_followed() -> None:
    files = {"src/pkg/sub/a.py": "", "tests/sub/test_a.py": "import pkg.sub.a", "tests/test_top.py": ""}
    assert put(files, "src/pkg/sub/mod.py", "pkg.sub.mod").final_path == "tests/sub/test_mod.py"


def test_a_mirrored_tree_with_the_package_in_it_is_followed() -> None:
    files = {"pkg/a.py": "", "tests/pkg/test_a.py": "import pkg.a"}
    assert put(files, "pkg/mod.py", "pkg.mod").final_path == "tests/pkg/test_mod.py"


def test_tests_beside_the_source_stay_beside_it_with_the_same_naming() -> None:
    files = {"pkg/a.py": "", "pkg/a_test.py": "import pkg.a", "pkg/b.py": "", "pkg/b_test.py": "import pkg.b"}
    assert put(files, "pkg/mod.py", "pkg.mod").final_path == "pkg/mod_test.py"


def test_a_tests_package_inside_the_package_is_used() -> None:
    files = {"pkg/a.py": "", "pkg/tests/__init__.py": "", "pkg/tests/test_a.py": "from pkg import a"}
    assert put(files, "pkg/mod.py", "pkg.mod").final_path == "pkg/tests/test_mod.py"


def test_the_configured_directory_wins() -> None:
    files = {"pkg/a.py": "", "pkg/a_test.py": "import pkg.a", "checks/test_b.py": ""}
    config = load("tests:\n  directory: checks\n")
    assert put(files, "pkg/mod.py", "pkg.mod", config).final_path == "checks/test_mod.py"


def test_the_file_named_after_the_target_is_extended_and_the_candidate_is_a_file_of_its_own_beside_it() -> (
    None
):
    files = {"tests/test_mod.py": "from pkg.mod import parse\n", "tests/test_other.py": "import pkg.other"}
    placed = put(files, "pkg/mod.py", "pkg.mod")
    assert (placed.final_path, placed.extends) == ("tests/test_mod.py", True)
    assert placed.suite_path == "tests/test_mod_added.py"


def test_a_file_of_the_same_name_about_another_module_is_not_extended() -> None:
    files = {"tests/test_mod.py": "from other.mod import parse\n", "other/mod.py": ""}
    placed = put(files, "pkg/mod.py", "pkg.mod")
    assert not placed.extends
    assert placed.final_path not in files


def test_the_only_test_file_of_a_single_module_is_extended_whatever_its_name() -> None:
    files = {"test.py": "from slugify import parse\n", "slugify/__init__.py": ""}
    placed = put(files, "slugify/slugify.py", "slugify.slugify")
    assert (placed.final_path, placed.extends) == ("test.py", True)


def test_a_file_named_after_another_module_is_not_extended_whatever_it_imports() -> None:
    files = {"tests/test_other.py": "from pkg.mod import parse\n", "pkg/other.py": ""}
    assert put(files, "pkg/mod.py", "pkg.mod").final_path == "tests/test_mod.py"


def test_of_two_files_with_the_name_the_one_nearer_to_the_target_is_extended() -> None:
    files = {
        "tests/a/test_mod.py": "from pkg.a.mod import parse",
        "tests/b/test_mod.py": "from pkg.b.mod import parse",
    }
    assert put(files, "pkg/b/mod.py", "pkg.b.mod").final_path == "tests/b/test_mod.py"


def test_two_test_files_without_packages_never_get_the_same_name() -> None:
    files = {
        "tests/a/test_mod.py": "import pkg.a.mod",
        "tests/b/test_x.py": "import pkg.b.x",
        "pkg/b/x.py": "",
    }
    placed = put(files, "pkg/b/mod.py", "pkg.b.mod")
    assert placed.final_path == "tests/b/test_b_mod.py"


def test_two_test_files_in_packages_may_have_the_same_name() -> None:
    files = {
        "tests/a/__init__.py": "",
        "tests/b/__init__.py": "",
        "tests/a/test_mod.py": "import pkg.a.mod",
        "tests/b/test_x.py": "import pkg.b.x",
        "pkg/b/x.py": "",
    }
    assert put(files, "pkg/b/mod.py", "pkg.b.mod").final_path == "tests/b/test_mod.py"


def test_importlib_mode_allows_the_same_name() -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n",
        "tests/a/test_mod.py": "import pkg.a.mod",
        "tests/b/test_x.py": "import pkg.b.x",
        "pkg/b/x.py": "",
    }
    assert put(files, "pkg/b/mod.py", "pkg.b.mod").final_path == "tests/b/test_mod.py"


def test_a_package_is_tested_under_its_own_name() -> None:
    assert put({"pkg/a.py": ""}, "pkg/__init__.py", "pkg").final_path == "tests/test_pkg.py"


def test_a_private_module_is_tested_without_its_underscore_where_the_repository_does_so() -> None:
    files = {"tests/test_core.py": "from pkg._core import parse\n"}
    assert put(files, "pkg/_core.py", "pkg._core").final_path == "tests/test_core.py"


def test_python_files_decides_on_the_name() -> None:
    files = {
        "pytest.ini": "[pytest]\npython_files = check_*.py\n",
        "checks/check_a.py": "import pkg.a",
        "pkg/a.py": "",
    }
    assert put(files, "pkg/mod.py", "pkg.mod").final_path == "checks/check_mod.py"


def test_examples_begin_with_the_file_to_extend() -> None:
    files = {
        "tests/test_mod.py": "from pkg.mod import parse\ndef test_a(): pass\n",
        "tests/test_other.py": "import pkg.other\ndef test_b(): pass\n",
    }
    assert put(files, "pkg/mod.py", "pkg.mod").examples == ("tests/test_mod.py", "tests/test_other.py")


def test_a_test_file_that_cannot_be_read_is_passed_over() -> None:
    def read(path: str) -> str:
        raise UnicodeDecodeError("utf-8", b"", 0, 1, path)

    target = Target("pkg/mod.py", "pkg.mod", SOURCE, frozenset())
    assert place(["pkg/mod.py", "tests/test_mod.py"], read, target, load(None)).extends is False


def test_a_file_in_which_added_tests_would_not_run_is_not_extended() -> None:
    files = {"pkg/mod.py": SOURCE, "tests/test_mod.py": "from pkg.mod import parse\n"}
    target = Target("pkg/mod.py", "pkg.mod", SOURCE, frozenset({1}))
    placed = place(list(files), files.__getitem__, target, load(None), unusable=["tests/test_mod.py"])
    assert not placed.extends
    assert placed.final_path == "tests/test_pkg_mod.py"
