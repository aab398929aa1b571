"""The repository's configuration: defaults, values, and what is said about wrong ones."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.errors import UsageError
from bot.repoconfig import RepoConfig, load

WHOLE = """\
model: openai/gpt-4o
max_iterations: 10
budget_usd: 0.5
paths:
  include: [src/**]
  exclude:
    - "*_gen.py"
tests: {directory: tests/unit, command: -p no:randomly, style: classes}
environment:
  python: 3.10
  image: python:3.10-slim
  setup: [make build]
deliver: stacked-pr
mutation: {enabled: false, max_mutants: 50}
triggers: [opened, command]
intent: {questions: 0}
labels: {skip: no-bots}
"""


@pytest.mark.parametrize("text", [None, "", "# nothing but a comment\n", "---\n", "{}\n"])
def test_without_content_every_key_has_its_default(text):
    config = load(text)
    assert config == RepoConfig()
    assert (config.max_iterations, config.deliver, config.mutation.enabled) == (25, "suggestions", True)
    assert config.triggers == ("opened", "synchronize", "ready_for_review", "command")


def test_every_key_is_read():
    config = load(WHOLE)
    assert (config.model, config.max_iterations, config.budget_usd) == ("openai/gpt-4o", 10, 0.5)
    assert (config.paths.include, config.paths.exclude) == (("src/**",), ("*_gen.py",))
    assert (config.tests.directory, config.tests.command) == ("tests/unit", "-p no:randomly")
    assert (config.tests.style, config.deliver) == ("classes", "stacked-pr")
    assert (config.environment.image, config.environment.setup) == ("python:3.10-slim", ("make build",))
    assert (config.mutation.enabled, config.mutation.max_mutants) == (False, 50)
    assert (config.triggers, config.intent.questions, config.labels.skip) == (
        ("opened", "command"),
        0,
        "no-bots",
    )


@pytest.mark.parametrize("written", ["3.10", "'3.10'"])
def test_a_version_of_python_is_read_as_it_is_written(written):
    assert load(f"environment:\n  python: {written}\n").environment.python == "3.10"


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValidationError):
        load(None).max_iterations = 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\nmax_iteration: 3\n", "line 2: there is no key `max_iteration`. Did you mean `max_iterations`?"),
        ("paths:\n  inlcude: [a]\n", "line 2: there is no key `paths.inlcude`. Did you mean `paths.include`?"),
        ("max_mutants: 3\n", "line 1: there is no key `max_mutants`. Did you mean `mutation.max_mutants`?"),
        ("labels:\n  zzz: 3\n", "line 2: there is no key `labels.zzz`. The keys here are skip."),
        ("mutation:\n  max_mutants: 0\n", "line 2: `mutation.max_mutants`: input should be greater than or equal to 1."),
        ("deliver: email\n", "line 1: `deliver`: input should be 'suggestions', 'commit' or 'stacked-pr'."),
        ("model: x\ntriggers:\n- opened\n- never\n", "line 4: `triggers.1`: input should be 'opened'"),
        ("tests:\n  directory: ../../up\n", "line 2: `tests.directory`: must be a directory of the repository"),
        ("tests:\n  directory: /etc\n", "line 2: `tests.directory`: must be a directory of the repository"),
        ("labels: []\n", "line 1: `labels`: must be a mapping of keys."),
        ("paths:\n  exclude: '*.py'\n", "line 2: `paths.exclude`: input should be a valid tuple."),
        ("environment: {python: latest}\n", "line 1: `environment.python`"),
        ("- model\n", "line 1: the file must be a mapping of keys to values"),
        ("model: a\n\nmodel: b\n", "line 3: `model` stands here and on line 1. Keep one."),
        ("paths:\n  include: [a]\n  include: [b]\n", "line 3: `paths.include` stands here and on line 2."),
        ("model: [1\n", "line 2: this is not YAML"),
        ("model: 'x\n", "this is not YAML"),
        ("model: !!python/object/apply:os.system [ls]\n", "could not determine a constructor for the tag"),
        ("? [a, b]\n: 1\n", "line 1"),
        ("1: 2\n", "line 1: `1`"),
        ("model: \0\n", "this is not YAML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(text, sentence):
    with pytest.raises(UsageError) as caught:
        load(text)
    assert sentence in caught.value.message
    assert caught.value.message.startswith(".github/testforge.yml")
    assert caught.value.exit_code == 2


def test_several_mistakes_are_told_in_the_order_of_the_file():
    with pytest.raises(UsageError) as caught:
        load("zeta: 1\nalpha: 2\ndeliver: x\nmodel: 3\nlabels: 4\n")
    message = caught.value.message
    assert message.index("line 1") < message.index("line 2") < message.index("line 3")
    assert message.endswith("2 more problems follow.")


def test_aliases_are_refused_before_they_are_followed():
    bomb = "a: &a [x, x]\n" + "".join(
        f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(UsageError, match=r"line 2: aliases \(`\*a`\)"):
        load(bomb)


def test_a_large_file_is_not_read():
    with pytest.raises(UsageError, match="larger than 64 KB"):
        load("# " + "x" * 70_000)


def test_deep_nesting_is_refused():
    with pytest.raises(UsageError, match="nested too deeply"):
        load("[" * 30_000)


def test_a_key_without_a_value_has_its_default():
    assert load("paths:\nmodel:\nmutation:\n  max_mutants:\n") == RepoConfig()


def is_configuration_or_sentence(text: str) -> bool:
    """Whether a text is either read or refused with a sentence; any other exception is a fault."""
    try:
        return isinstance(load(text), RepoConfig)
    except UsageError as error:
        return error.message.endswith((".", "?"))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_a_configuration_or_a_sentence(text):
    assert is_configuration_or_sentence(text)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*RepoConfig.model_fields, "include", "python", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_any_yaml_gives_a_configuration_or_a_sentence(value):
    assert is_configuration_or_sentence(yaml.safe_dump(value))
