"""Every tool over a real sandbox: what it prints, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from prices import GOOD, SOURCE, SUITE_PATH

from bot.agent.tools import toolbox
from bot.agent.tools.schema import Finished, ToolError
from bot.agent.workbench import Workbench


def use(bench: Workbench, name: str, **arguments: Any) -> str:
    return toolbox()[name].call(bench, json.dumps({"reflection": "so", **arguments}))


def refused(bench: Workbench, name: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        use(bench, name, **arguments)
    return str(caught.value)


@pytest.fixture(name="full")
def _full(open_bench: Any) -> Workbench:
    """A workbench over a tree with more files in it."""
    bench: Workbench = open_bench(
        {
            "docs/prices.md": "All about discount.\n",
            "shop/price_list.py": "from shop.prices import discount\n\n\nLIST = [discount(3, 1)]\n",
            "shop/data.bin": b"\0\1discount",
            "shop/latin.py": "# caf\xe9 discount\n".encode("latin-1"),
            "shop/empty.py": "",
            "tests/test_windows.py": b"def test_a():\r\n    assert 1\r\n",
        }
    )
    return bench


class TestSearchFiles:
    def test_names_are_found_by_their_beginning(self, full: Workbench) -> None:
        assert use(full, "search_files", query="price") == (
            "docs/prices.md\nshop/price_list.py\nshop/prices.py\n3 found"
        )

    def test_names_are_found_by_their_end(self, full: Workbench) -> None:
        assert use(full, "search_files", query="list.py") == "shop/price_list.py\n1 found"

    def test_a_directory_limits_the_search(self, full: Workbench) -> None:
        assert use(full, "search_files", query="prices", directory="docs/") == "docs/prices.md\n1 found"

    def test_text_is_found_in_every_readable_file_with_its_line(self, full: Workbench) -> None:
        assert use(full, "search_files", query="discount(3", mode="text") == (
            "shop/price_list.py:4: LIST = [discount(3, 1)]\n1 found"
        )
        assert "shop/latin.py:1: # caf\ufffd discount" in use(
            full, "search_files", query="discount", mode="text"
        )
        assert "data.bin" not in use(full, "search_files", query="discount", mode="text")

    def test_nothing_found_is_no_error(self, full: Workbench) -> None:
        assert use(full, "search_files", query="zebra", mode="text") == "0 found"

    def test_a_directory_that_is_not_there_is_told(self, full: Workbench) -> None:
        assert refused(full, "search_files", query="x", directory="nowhere") == (
            "there are no files in the directory nowhere"
        )

    def test_an_empty_query_is_refused(self, full: Workbench) -> None:
        assert "`query` is empty" in refused(full, "search_files", query="")


class TestViewFile:
    def test_a_range_of_lines_is_shown_with_numbers(self, bench: Workbench) -> None:
        assert use(bench, "view_file", path="shop/prices.py", first=6, last=7) == (
            '      6\t    if rate < 0:\n      7\t        raise ValueError("rate is negative")'
        )

    def test_a_missing_file_is_told_with_those_of_its_name(self, full: Workbench) -> None:
        assert refused(full, "view_file", path="src/prices.py") == (
            "there is no file src/prices.py; files of that name: shop/prices.py"
        )

    def test_a_first_line_past_the_end_is_told_with_the_length(self, bench: Workbench) -> None:
        assert refused(bench, "view_file", path="shop/prices.py", first=99) == (
            "`first` is 99, but shop/prices.py has lines 1 to 14"
        )

    def test_a_range_that_is_turned_around_is_refused(self, bench: Workbench) -> None:
        assert refused(bench, "view_file", path="shop/prices.py", first=5, last=2) == (
            "`last` is 2, which comes before `first`, 5"
        )

    @pytest.mark.parametrize("path", ["/etc/passwd", "../outside.py", "shop/../../x"])
    def test_nothing_outside_of_the_tree_is_shown(self, bench: Workbench, path: str) -> None:
        assert "root:" not in refused(bench, "view_file", path=path)

    def test_a_directory_and_a_binary_and_an_empty_file_are_told(self, full: Workbench) -> None:
        assert refused(full, "view_file", path="shop") == "shop is a directory; search_files lists its files"
        assert refused(full, "view_file", path="shop/data.bin") == "shop/data.bin is not a text file"
        assert use(full, "view_file", path="shop/empty.py") == "shop/empty.py is empty"


class TestWriting:
    def test_the_suite_is_written_whole(self, bench: Workbench) -> None:
        assert use(bench, "write_file", path=SUITE_PATH, content=GOOD) == (
            "wrote tests/test_prices.py (12 lines)"
        )
        assert bench.suite() == GOOD

    @pytest.mark.parametrize("path", ["tests/unit/test_more.py", "tests/helper.py", "conftest.py"])
    def test_other_test_files_can_be_written(self, bench: Workbench, path: str) -> None:
        assert use(bench, "write_file", path=path, content="x = 1") == f"wrote {path} (1 lines)"

    @pytest.mark.parametrize(
        ("path", "why"),
        [
            ("shop/prices.py", "is the file under test; only tests can be changed"),
            ("tests/../shop/prices.py", "is the file under test; only tests can be changed"),
            ("shop/other.py", "is not a test file; the suite is tests/test_prices.py"),
            ("setup.cfg", "is not a test file; the suite is tests/test_prices.py"),
            ("../tests/test_x.py", "lies outside the repository"),
            ("/etc/tests/x.py", "lies outside the repository"),
            ("tests", "is not a test file; the suite is tests/test_prices.py"),
            ("tests/\ud800.py", "lies outside the repository"),
            ("tests/\0.py", "lies outside the repository"),
        ],
    )
    def test_nothing_but_tests_is_written(self, bench: Workbench, path: str, why: str) -> None:
        assert refused(bench, "write_file", path=path, content="x") == f"{path} {why}"
        assert bench.box.read("shop/prices.py").decode() == SOURCE

    def test_a_link_in_the_tests_does_not_lead_out_of_them(self, bench: Workbench) -> None:
        use(bench, "execute_bash", command="ln -s ../shop tests/linked")
        assert refused(bench, "write_file", path="tests/linked/prices.py", content="x") == (
            "tests/linked/prices.py is the file under test; only tests can be changed"
        )
        assert "is not a test file" in refused(
            bench, "write_file", path="tests/linked/__init__.py", content="x"
        )

    def test_a_suite_beside_the_source_does_not_open_the_source(self, open_bench: Any) -> None:
        bench = open_bench(suite_path="shop/test_prices.py")
        assert use(bench, "write_file", path="shop/test_prices.py", content="x = 1\n")
        assert "is not a test file" in refused(bench, "write_file", path="shop/__init__.py", content="x")

    def test_half_a_surrogate_pair_is_refused(self, bench: Workbench) -> None:
        assert "surrogate" in refused(bench, "write_file", path=SUITE_PATH, content="x = '\ud800'")


class TestEditing:
    @pytest.fixture(autouse=True)
    def _suite(self, bench: Workbench) -> None:
        bench.write(SUITE_PATH, GOOD)

    def test_a_text_that_occurs_once_is_replaced_and_shown_with_its_surroundings(
        self, bench: Workbench
    ) -> None:
        printed = use(bench, "edit_file", path=SUITE_PATH, old="(10, 3) == 4", new="(10, 4) == 2")
        assert printed == (
            "      5\t\n"
            "      6\tdef test_discount_takes_twice_the_rate_off():\n"
            "      7\t    assert discount(10, 4) == 2\n"
            "      8\t\n"
            "      9\t"
        )
        assert bench.suite() == GOOD.replace("(10, 3) == 4", "(10, 4) == 2")

    def test_a_text_that_occurs_twice_is_refused_with_its_places(self, bench: Workbench) -> None:
        assert refused(bench, "edit_file", path=SUITE_PATH, old="discount(10", new="x") == (
            "the text occurs 2 times in tests/test_prices.py, at lines 7, 12; give more of the lines around it"
        )
        assert bench.suite() == GOOD

    def test_a_text_that_does_not_occur_is_refused(self, bench: Workbench) -> None:
        assert refused(bench, "edit_file", path=SUITE_PATH, old="zebra", new="x") == (
            "the text does not occur in tests/test_prices.py"
        )

    def test_a_text_that_differs_in_white_space_is_refused_with_its_place(self, bench: Workbench) -> None:
        old = "def test_a_negative_rate_is_refused():\n  with pytest.raises(ValueError, match='rate"
        assert refused(bench, "edit_file", path=SUITE_PATH, old=old, new="x") == (
            "the text does not occur in tests/test_prices.py; "
            "its first line stands at line 10, but what follows differs"
        )
        old = "  assert  discount(10, 3) == 4"
        assert refused(bench, "edit_file", path=SUITE_PATH, old=old, new="x") == (
            "the text does not occur in tests/test_prices.py; line 7 differs from it only in white space"
        )

    def test_a_text_that_differs_in_white_space_within_its_lines_is_refused_with_its_place(
        self, bench: Workbench
    ) -> None:
        old = "discount(10,3)==4\n\ndef test_a_negative_rate"
        assert refused(bench, "edit_file", path=SUITE_PATH, old=old, new="x") == (
            "the text does not occur in tests/test_prices.py; lines 7-10 differ from it only in white space"
        )

    def test_an_empty_text_cannot_be_replaced(self, bench: Workbench) -> None:
        assert "use insert_lines" in refused(bench, "edit_file", path=SUITE_PATH, old="", new="x")

    def test_a_file_that_is_no_test_is_not_edited(self, bench: Workbench) -> None:
        assert "only tests can be changed" in refused(
            bench, "edit_file", path="shop/prices.py", old="rate < 0", new="rate < 1"
        )

    def test_lines_are_inserted_after_a_line(self, bench: Workbench) -> None:
        printed = use(bench, "insert_lines", path=SUITE_PATH, after=7, text="    assert discount(2, 1) == 0")
        assert "      8\t    assert discount(2, 1) == 0" in printed
        assert bench.suite().split("\n")[6:8] == [
            "    assert discount(10, 3) == 4",
            "    assert discount(2, 1) == 0",
        ]

    def test_lines_are_inserted_at_the_beginning_and_at_the_end(self, bench: Workbench) -> None:
        use(bench, "insert_lines", path=SUITE_PATH, after=0, text="# first\n")
        use(bench, "insert_lines", path=SUITE_PATH, after=13, text="# last")
        assert bench.suite() == f"# first\n{GOOD}# last\n"

    def test_lines_after_the_end_are_refused_with_the_length(self, bench: Workbench) -> None:
        assert refused(bench, "insert_lines", path=SUITE_PATH, after=13, text="x") == (
            "`after` is 13, but tests/test_prices.py has 12 lines; -1 is its end"
        )

    def test_lines_are_inserted_at_the_end_without_its_number(self, bench: Workbench) -> None:
        printed = use(bench, "insert_lines", path=SUITE_PATH, after=-1, text="# last\n")
        assert printed.endswith("     13\t# last")
        assert bench.suite() == f"{GOOD}# last\n"

    def test_lines_are_counted_as_view_file_counts_them(self, bench: Workbench) -> None:
        bench.write(SUITE_PATH, "A = 'a\x0cb\u2028c'\nB = 2\n")
        use(bench, "insert_lines", path=SUITE_PATH, after=1, text="C = 3")
        assert bench.suite() == "A = 'a\x0cb\u2028c'\nC = 3\nB = 2\n"

    def test_of_a_long_insertion_both_ends_are_shown(self, bench: Workbench) -> None:
        text = "".join(f"ROW_{number} = {number}\n" for number in range(1, 41))
        assert use(bench, "insert_lines", path=SUITE_PATH, after=0, text=text) == (
            "      1\tROW_1 = 1\n"
            "      2\tROW_2 = 2\n"
            "      3\tROW_3 = 3\n"
            "... 34 more lines as they were given\n"
            "     38\tROW_38 = 38\n"
            "     39\tROW_39 = 39\n"
            "     40\tROW_40 = 40\n"
            "     41\timport pytest\n"
            "     42\t"
        )


def test_a_file_with_windows_line_ends_is_edited_by_its_text_and_keeps_them(full: Workbench) -> None:
    path = "tests/test_windows.py"
    use(full, "edit_file", path=path, old="a():\n    assert 1", new="b():\n    assert 2")
    assert full.box.read(path) == b"def test_b():\r\n    assert 2\r\n"


class TestExecuteBash:
    def test_a_command_runs_in_the_tree_with_its_python(self, bench: Workbench) -> None:
        command = 'python -c "from shop.prices import discount; print(discount(10, 1))"; ls tests >&2; exit 3'
        assert use(bench, "execute_bash", command=command) == (
            "exit code 3\n--- stdout\n8\n--- stderr\nconftest.py"
        )

    def test_a_long_command_of_several_lines_runs(self, bench: Workbench) -> None:
        text = "z" * 400_000
        command = f"python - <<'EOF' | wc -c\nprint('''{text}''')\nEOF"
        assert use(bench, "execute_bash", command=command) == "exit code 0\n--- stdout\n400001"

    def test_a_command_past_its_limit_is_killed(self, bench: Workbench) -> None:
        printed = use(bench, "execute_bash", command="echo begun; sleep 30", timeout_s=3)
        assert printed == "killed after 3 s\n--- stdout\nbegun"

    @pytest.mark.parametrize("command", ["exit", " exit 0 ", "exit;"])
    def test_exit_ends_the_work(self, bench: Workbench, command: str) -> None:
        with pytest.raises(Finished):
            use(bench, "execute_bash", command=command)

    def test_a_command_that_only_contains_exit_is_run(self, bench: Workbench) -> None:
        assert use(bench, "execute_bash", command="(exit 4)") == "exit code 4"

    @pytest.mark.parametrize("seconds", [0, 601])
    def test_a_limit_out_of_bounds_is_refused(self, bench: Workbench, seconds: int) -> None:
        assert "it can be 1 to 600 seconds" in refused(
            bench, "execute_bash", command="true", timeout_s=seconds
        )

    def test_a_command_that_changes_the_source_has_it_put_back_and_is_told(self, bench: Workbench) -> None:
        printed = use(bench, "execute_bash", command="echo 'x = 1' > shop/prices.py")
        assert printed == (
            "exit code 0\nnote: the command changed shop/prices.py; it has been put back, as only tests can change"
        )
        assert bench.box.read("shop/prices.py").decode() == SOURCE

    def test_a_source_that_was_deleted_is_there_again(self, bench: Workbench) -> None:
        use(bench, "execute_bash", command="rm -r shop")

        assert bench.box.read("shop/prices.py").decode() == SOURCE


def test_finish_ends_the_work_with_its_summary(bench: Workbench) -> None:
    with pytest.raises(Finished, match="all is tested"):
        use(bench, "finish", summary="all is tested")


class TestMeasures:
    @pytest.mark.parametrize("name", ["run_tests", "coverage_report"])
    def test_without_a_suite_there_is_nothing_to_measure(self, bench: Workbench, name: str) -> None:
        assert refused(bench, name) == "there is no tests/test_prices.py yet; write it with write_file"

    def test_run_tests_shows_the_asserted_values_and_the_place(self, bench: Workbench) -> None:
        bench.write(SUITE_PATH, GOOD.replace("== 4", "== 5"))
        first, *rest = use(bench, "run_tests").split("\n")
        assert first.startswith("1 passed, 1 failed, 0 errors, 0 skipped in ")
        assert rest[:2] == [
            "FAILED tests/test_prices.py::test_discount_takes_twice_the_rate_off",
            "    at tests/test_prices.py:7",
        ]
        assert "    E   assert 4 == 5" in "\n".join(rest)

    def test_a_suite_that_cannot_be_imported_is_one_error(self, bench: Workbench) -> None:
        bench.write(SUITE_PATH, "from shop.prices import nothing\n\n\ndef test_a():\n    assert nothing\n")
        printed = use(bench, "run_tests")
        assert printed.startswith("0 passed, 0 failed, 1 errors, 0 skipped in ")
        expected = (
            "\nERROR tests/test_prices.py\n    at tests/test_prices.py:1\n    E   ImportError: cannot import"
        )
        assert expected in printed

    def test_coverage_report_lists_all_that_is_missing(self, bench: Workbench) -> None:
        bench.write(SUITE_PATH, GOOD)
        assert use(bench, "coverage_report") == (
            "shop/prices.py: 6 of 8 lines (75.0%), 3 of 4 branches (75.0%)\n"
            "missing lines: 9*, 14*\n"
            "missing branches: 8->9"
        )

    def test_failing_tests_cover_nothing(self, bench: Workbench) -> None:
        bench.write(SUITE_PATH, GOOD.replace("== 4", "== 5"))
        assert "missing lines: 8-10*, 14*\n" in use(bench, "coverage_report").replace("8*, 9*, 10*", "8-10*")

    def test_without_a_suite_the_mutants_that_existing_tests_leave_alive_are_shown(
        self, bench: Workbench
    ) -> None:
        of, alive = (len(bench.mutants.mutants),) * 2
        assert use(bench, "surviving_mutants").startswith(
            f"0 of {of} mutants killed or timed out (score 0.000); {alive} survive"
        )

    def test_surviving_mutants_are_those_that_no_passing_test_notices(self, bench: Workbench) -> None:
        bench.write(SUITE_PATH, GOOD)
        printed = use(bench, "surviving_mutants")
        assert "mutants killed or timed out (score 0." in printed
        assert " in shout, line 14\n" in printed
        assert "price - rate * 2\n+    return price + rate * 2" not in printed

    def test_the_measures_of_one_text_cost_one_run(self, bench: Workbench) -> None:
        bench.write(SUITE_PATH, GOOD)
        first = use(bench, "run_tests")
        use(bench, "coverage_report")
        use(bench, "execute_bash", command="true")
        assert use(bench, "run_tests") == first
        assert bench.fresh_runs == 1
