"""`testforge rank` and `testforge intent` through the public command."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from bot.entry import main; main()"]
RIGHT = "def f(x):\n    return x + 1\n"
WRONG = "def f(x):\n    return x + 2\n"


def run(*arguments: str, cwd: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, input=given, capture_output=True, text=True, timeout=200
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "t1.py").write_text("assert f(1) == 2\nassert f(2) == 3\n")
    (tmp_path / "t2.py").write_text("assert f(1) == 3\n")
    (tmp_path / "t3.py").write_text("assert f(5) == 6\nassert g(1) == 1\n")
    return tmp_path


def lines(path: Path, *rows: dict[str, object]) -> str:
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path.name


TESTS = ("--tests", "t1.py", "--tests", "t2.py", "--tests", "t3.py")


def test_python_files_are_ranked_with_evidence(files: Path) -> None:
    done = run("rank", "wrong.py", "right.py", *TESTS, "--function", "f", "--sandbox", "process", cwd=files)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "f: 2 candidates\n"
        "   1. right.py  score 2; assertions: 3 passed, 1 failed\n"
        "      fails: assert f(1) == 3\n"
        "   2. wrong.py  score 1; assertions: 1 passed, 3 failed\n"
        "      fails: assert f(1) == 2\n"
    )


@pytest.mark.parametrize("method", ["vote", "codet", "ticoder"])
def test_json_lines_are_ranked_by_each_method(files: Path, method: str) -> None:
    prompt = "def f(x):\n"
    problems = lines(
        files / "problems.jsonl.gz",
        {"task_id": "a/1", "entry_point": "f", "prompt": prompt, "reference": RIGHT},
    )
    candidates = lines(
        files / "candidates.jsonl.gz",
        {
            "task_id": "a/1",
            "kind": "completion",
            "codes": ["    return x + 2\n", "    return x + 1\n"],
            "order": [1, 0, 1],
        },
    )
    tests = lines(
        files / "tests.jsonl.gz",
        {"task_id": "a/1", "asserts": ["assert f(1) == 2", "assert f(3) == 4"], "samples": [[0], [0, 1], []]},
    )
    done = run(
        "rank", candidates, "--tests", tests, "--problems", problems, "--method", method, "--sandbox", "process",
        "--json", "out.json", cwd=files,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (task,) = json.loads((files / "out.json").read_text())["tasks"]
    assert task["ranking"][0]["candidate"] == 1
    assert bool(task["questions"]) == (method == "ticoder")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("right.py", "--tests", "t1.py"), "Name the function that the candidates define: --function NAME."),
        (("absent.py", "--tests", "t1.py", "--function", "f"), "There is no file 'absent.py'."),
        (
            ("right.py", "--tests", "t1.py", "--function", "f", "--method", "ticoder"),
            "--method ticoder asks a reference",
        ),
    ],
)
def test_what_cannot_be_ranked_is_told(files: Path, arguments: tuple[str, ...], sentence: str) -> None:
    done = run("rank", *arguments, "--sandbox", "process", cwd=files)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_a_broken_line_is_told_with_its_number(files: Path) -> None:
    (files / "problems.jsonl").write_text('{"task_id": "a", "entry_point": "f"}\n{"task_id": \n')
    (files / "c.jsonl").write_text("")
    (files / "t.jsonl").write_text("")
    done = run("rank", "c.jsonl", "--tests", "t.jsonl", "--problems", "problems.jsonl", cwd=files)
    assert (done.returncode, "problems.jsonl, line 2: this is not JSON" in done.stderr) == (2, True)


# ---------------------------------------------------------------- intent

CLIP = '''def clip(value: int, most: int = 10) -> int:
    """Return the value, or `most` where it is larger."""
    if value >= most:
        return most - 1
    return value
'''


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "clips.py").write_text(CLIP)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.slow
def test_answers_become_tests_where_the_repository_keeps_them(repo: Path) -> None:
    done = run(
        "intent", "clips.py::clip", "--sandbox", "process", "--apply", "--json", "out.json", cwd=repo,
        given="what?\nyes\nno\nstop\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Answer yes, no, undefined" in done.stdout
    found = json.loads((repo / "out.json").read_text())
    assert [row["answer"] for row in found["answers"]] == ["yes", "no"]
    assert found["agree"] < found["candidates"]
    written = (repo / found["tests"]).read_text()
    assert found["answers"][0]["assertion"] in written


NORMALISE = '''def normalise(text: str) -> str:
    """Return text in lower case, without spaces around it.

    >>> normalise("  A ")
    'a'
    """
    return text.strip()
'''


@pytest.mark.slow
def test_what_the_documentation_says_and_the_code_does_not_is_asked_first(repo: Path) -> None:
    (repo / "texts.py").write_text(NORMALISE)
    done = run("intent", "texts.py::normalise", "--sandbox", "process", cwd=repo, given="yes\n")
    assert done.returncode == 0, done.stderr
    assert "1 of at most 3: should normalise('  A ') return 'a'?" in done.stdout
    assert "The code does not do what you approved: normalise('  A ') == 'a'" in done.stdout


@pytest.mark.slow
def test_a_no_to_what_the_code_does_is_said_to_be_a_bug(repo: Path) -> None:
    (repo / "clips.py").write_text("def clip(value: int) -> int:\n    return value if value > 1 else 1\n")
    done = run("intent", "clips.py::clip", "--sandbox", "process", cwd=repo, given="no\nno\nno\n")
    assert done.returncode == 0, done.stderr
    assert "The code does what you said it should not: clip(" in done.stdout


@pytest.mark.slow
def test_no_answer_leaves_everything_as_it_was(repo: Path) -> None:
    done = run("intent", "clips.py::clip", "--sandbox", "process", "--apply", cwd=repo)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in repo.iterdir()) == [".git", "clips.py"]


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ("clips.py", "Name the function too, such as `testforge intent src/text.py::normalise`."),
        ("clips.py::cut", "There is no function 'cut' at the top of the file. There are: clip."),
        ("absent.py::cut", "absent.py"),
    ],
)
def test_what_cannot_be_asked_about_is_told(repo: Path, named: str, sentence: str) -> None:
    done = run("intent", named, "--sandbox", "process", cwd=repo)
    assert done.returncode == 2
    assert sentence in done.stderr


# ---------------------------------------------------------------- distil


@pytest.mark.slow
def test_a_repository_becomes_examples_with_provenance_and_reasons_for_the_rest(repo: Path) -> None:
    (repo / "clips.py").write_text(
        CLIP + "\n\ndef _own(x):\n    return x\n\n\nasync def later(x):\n    return x\n"
    )
    (repo / "LICENSE").write_text(
        "Permission is hereby granted, free of charge, to any person obtaining a copy"
    )
    done = run("distil", ".", "--out", "a.jsonl", "--refused", "b.jsonl", "--sandbox", "process", cwd=repo)
    assert done.returncode == 0, done.stderr
    (example,) = (json.loads(line) for line in (repo / "a.jsonl").read_text().splitlines())
    assert example["input"] == CLIP
    assert "from clips import clip" in example["output"]
    assert example["provenance"]["licence"] == "MIT"
    assert example["evidence"]["caught"] > 0
    refused = [json.loads(line) for line in (repo / "b.jsonl").read_text().splitlines()]
    assert {row["function"]: row["reason"] for row in refused} == {"_own": "is private", "later": "is async"}


def test_a_place_without_python_is_told(tmp_path: Path) -> None:
    done = run("distil", ".", "--out", "a.jsonl", cwd=tmp_path)
    assert (done.returncode, "There is no Python source file" in done.stderr) == (2, True)


def test_a_dialogue_that_is_stopped_at_once_still_writes_its_json(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(RIGHT)
    done = run("intent", "one.py::f", "--sandbox", "process", "--json", "-", cwd=tmp_path, given="stop\n")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["answers"], report["tests"]) == ([], None)
