"""Commands count where they are said, and nowhere else."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from bot.github.commands import Command, parse

_OTHER_LINES = st.lists(
    st.text(alphabet=st.characters(exclude_characters="\r\n`~<>/", exclude_categories=["Cs"]), max_size=20),
    max_size=4,
)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("/testforge", "", ()),
        ("/testforge   ", "", ()),
        ("/TestForge APPLY all", "apply", ("all",)),
        ("Thanks!\r\n/testforge dismiss T3 it is  odd\r\n", "dismiss", ("T3", "it", "is", "odd")),
        ("> earlier\n\n/testforge stop", "stop", ()),
        ("```\ncode\n```\n/testforge pr", "pr", ()),
        ("~~~\n```\n~~~\n/testforge pr", "pr", ()),
        ("<!-- a remark -->\n/testforge help", "help", ()),
        ("`inline` ``` code ```\n/testforge help", "help", ()),
    ],
)
def test_a_command_at_the_start_of_a_line_counts(text: str, name: str, arguments: tuple[str, ...]) -> None:
    assert parse(text) == (Command(name, arguments),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "please /testforge apply",
        "> /testforge apply",
        ">/testforge apply",
        "    /testforge apply",
        "\t/testforge apply",
        " /testforge apply",
        "`/testforge apply`",
        "```\n/testforge apply\n```",
        "```sh\n/testforge apply",
        "~~~\n/testforge apply\n~~~",
        "````\n```\n/testforge apply\n````",
        "```\n    ```\n/testforge apply",
        "<!--\n/testforge apply\n-->",
        "a <!-- b\n/testforge apply\nc --> /testforge apply",
        "<pre>\n/testforge apply\n</pre>",
        "<!-- a --> <!--\n/testforge apply",
        "/testforged apply",
        "/testforge-apply",
        "/testforge:apply",
        "- /testforge apply",
    ],
)
def test_what_is_quoted_fenced_hidden_or_meant_otherwise_does_not(text: str) -> None:
    assert parse(text) == ()


def test_a_hundred_commands_are_a_few() -> None:
    assert len(parse("/testforge apply\n" * 100)) == 5


def test_endless_arguments_are_cut() -> None:
    (command,) = parse(f"/testforge dismiss {'x' * 10_000} {'y ' * 10_000}")
    assert len(command.arguments) < 50
    assert all(len(word) <= 200 for word in command.arguments)


@given(_OTHER_LINES, _OTHER_LINES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_command_is_found_among_other_lines(before: list[str], after: list[str], end: str) -> None:
    text = end.join([*before, "/testforge explain T7", *after])
    assert parse(text) == (Command("explain", ("T7",)),)


@given(
    st.lists(
        st.text(alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20),
        max_size=4,
    ),
    st.sampled_from([("```", "```"), ("~~~~", "~~~~"), ("<!--", "-->"), ("<pre>", "</pre>")]),
)
def test_a_command_in_a_block_is_not_found_whatever_stands_before_it(
    lines: list[str], block: tuple[str, str]
) -> None:
    inside = [line for line in lines if not any(mark in line for mark in ("```", "~~~", "-->", "</pre>"))]
    text = "\n".join([block[0], *inside, "/testforge apply", block[1]])
    assert parse(text) == ()


@given(st.text(max_size=300))
def test_any_text_is_survived(text: str) -> None:
    assert len(parse(text)) <= 5
