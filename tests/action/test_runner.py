"""Outputs, summaries and annotations as a runner reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.action.inputs import Inputs
from bot.action.runner import Runner, annotate, commands_stopped
from bot.action.versions import versions

ROOT = Path(__file__).parents[2]


def test_an_output_holds_line_breaks_and_what_looks_like_another(tmp_path: Path) -> None:
    Runner(tmp_path / "out", None).set("a", "1\nEOF\nb=2")
    first, *value, last = (tmp_path / "out").read_text().splitlines()
    assert first == f"a<<{last}"
    assert value == ["1", "EOF", "b=2"]


def test_a_summary_is_cut_where_the_runner_would_refuse_it(tmp_path: Path) -> None:
    Runner(None, tmp_path / "summary").summarise("ü" * 1_000_000)
    assert (tmp_path / "summary").stat().st_size < 1024 * 1024
    assert (tmp_path / "summary").read_text().endswith("(cut here)\n\n")


@given(st.text(max_size=50))
def test_an_annotation_is_one_line_whatever_it_says(text: str) -> None:
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as out:
        annotate("error", text, file=text or "a", line=3)
    lines = out.getvalue().split("\n")
    assert len(lines) == 2
    assert lines[0].startswith("::error file=")
    assert "\r" not in out.getvalue()


def test_commands_are_obeyed_again_after_an_error(capsys) -> None:
    with pytest.raises(ValueError, match="x"), commands_stopped():
        raise ValueError("x")
    begin, end = capsys.readouterr().out.splitlines()
    assert end == f"::{begin.removeprefix('::stop-commands::')}::"


def test_every_input_of_the_action_reaches_it() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [step for step in action["runs"]["steps"] if step.get("id") == "run"]
    handed = {name for name in step["env"] if name.startswith("TESTFORGE_INPUT_")}
    assert handed == {f"TESTFORGE_INPUT_{name.upper().replace('-', '_')}" for name in action["inputs"]}
    for name in action["inputs"]:
        variable = f"TESTFORGE_INPUT_{name.upper().replace('-', '_')}"
        assert step["env"][variable] == f"${{{{ inputs.{name} }}}}"


def test_no_input_is_pasted_into_a_script() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert not [step for step in action["runs"]["steps"] if "${{" in step.get("run", "")]


def test_inputs_that_were_not_given_are_left_to_the_repository() -> None:
    assert Inputs.of({"TESTFORGE_INPUT_MODEL": " ", "TESTFORGE_INPUT_PATHS": "a\n\n b "}) == Inputs(
        paths=("a", "b")
    )


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, ("3.12",)),
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.10"\n'}, ("3.10", "3.12")),
        ({".python-version": "3.13.1\n"}, ("3.13", "3.12")),
        (
            {".github/testforge.yml": 'environment:\n  python: "3.11"\n', ".python-version": "3.13"},
            ("3.11", "3.12"),
        ),
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.7"\n'}, ("3.12",)),
    ],
)
def test_the_images_that_a_step_needs(tmp_path: Path, files: dict[str, str], found: tuple[str, ...]) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert versions(tmp_path) == found
