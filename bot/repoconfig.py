"""A repository's own configuration, `.github/testforge.yml`: data, read from the base branch, every key optional."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.errors import UsageError

PATH = ".github/testforge.yml"
"""Where the file lies, relative to the repository's root."""

_LARGEST = 64 * 1024  # bytes; more is no configuration
_DEEPEST = 10  # mappings and lists inside each other
_OPENING = (
    yaml.FlowSequenceStartToken,
    yaml.FlowMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.BlockMappingStartToken,
)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)

Text = Annotated[str, Field(min_length=1, max_length=4096)]
Trigger = Literal["opened", "synchronize", "ready_for_review", "command"]


def _within(path: str) -> str:
    """Return a path if it stays in the repository."""
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\\" in path:
        raise ValueError("must be a directory of the repository, relative to its root")
    return path


class _Section(BaseModel):
    """A mapping of the file; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_what_is_empty(cls, values: Any) -> Any:
        """Give a key that is written without a value its default."""
        if not isinstance(values, dict):
            return values
        return {
            key: value for key, value in values.items() if value is not None or key not in cls.model_fields
        }


class Paths(_Section):
    """Which source files are looked at: globs as in .gitignore (`src/**`, `*_gen.py`, `docs/`)."""

    include: tuple[Text, ...] = Field(
        default=(), description="Only files that match one of these; empty: all."
    )
    exclude: tuple[Text, ...] = Field(default=(), description="Never files that match one of these.")


class Tests(_Section):
    """How the repository tests."""

    directory: Annotated[Text, AfterValidator(_within)] | None = Field(
        default=None, description="Where new test files go; None: where the others are."
    )
    command: Text | None = Field(
        default=None, description="Arguments added to pytest, such as `-p no:randomly tests/unit`."
    )
    style: Literal["auto", "functions", "classes"] = Field(
        default="auto", description="Write test functions or test classes; auto: as the nearest tests do."
    )


class Environment(_Section):
    """How its dependencies are installed."""

    python: Annotated[str, Field(pattern=r"^3\.\d{1,2}$")] | None = Field(
        default=None, description="Version of Python, such as 3.11; None: what the project asks for."
    )
    image: Text | None = Field(default=None, description="Image for the Docker sandbox.")
    setup: tuple[Text, ...] = Field(
        default=(), description="Shell commands to run in the sandbox after installation."
    )


class Mutation(_Section):
    """Mutation testing of the changed lines."""

    enabled: bool = True
    max_mutants: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=2000, description="Mutants per target; more are sampled, spread over functions."
    )
    leave_out: tuple[Literal["repr", "logging"], ...] = Field(
        default=(),
        description="Code without mutants: bodies of `__repr__` and `__str__`, calls that only log.",
    )


class Intent(_Section):
    """Questions to the author about what the code should do."""

    questions: Annotated[int, Field(ge=0, le=20)] = Field(
        default=3,
        description="At most so many on a pull request, about changed functions whose purpose is in doubt; 0 asks none.",
    )


class Labels(_Section):
    """Labels of a pull request that testforge heeds."""

    skip: Text = Field(default="skip-testforge", description="Pull requests with this label are left alone.")


class RepoConfig(_Section):
    """The whole file, with its defaults."""

    model: Text | None = Field(
        default=None, description="The model's name for LiteLLM; None: the operator's choice."
    )
    max_iterations: Annotated[int, Field(ge=0, le=200)] = Field(
        default=25,
        description="Turns of the agent per target, on average: hard ones get more, easy ones fewer, but none less than half.",
    )
    budget_usd: Annotated[float, Field(ge=0, le=10_000)] | None = Field(
        default=None, description="What one run may cost, in USD; None: no limit but the operator's."
    )
    paths: Paths = Paths()
    tests: Tests = Tests()
    environment: Environment = Environment()
    deliver: Literal["suggestions", "commit", "stacked-pr"] = "suggestions"
    sign_off: bool = Field(
        default=False,
        description="Commits of tests end with a `Signed-off-by` line, for checks that ask for one.",
    )
    mutation: Mutation = Mutation()
    triggers: tuple[Trigger, ...] = ("opened", "synchronize", "ready_for_review", "command")
    intent: Intent = Intent()
    labels: Labels = Labels()


def load(text: str | None) -> RepoConfig:
    """Return the configuration in a file's text; the defaults if there is no file (None) or it is empty.

    Raises:
        UsageError: It is not YAML of the right form, or has an unknown key or a wrong value. Says which and on which line.
    """
    if text is None:
        return RepoConfig()
    if len(text.encode("utf-8", "surrogatepass")) > _LARGEST:
        raise UsageError(f"{PATH} is larger than 64 KB, so it is not read. Remove what is no configuration.")
    root = _compose(text)
    if root is None or root.tag == "tag:yaml.org,2002:null":
        return RepoConfig()
    if not isinstance(root, yaml.MappingNode):
        raise UsageError(
            f"{PATH}, line {root.start_mark.line + 1}: the file must be a mapping of keys to values, such as `max_iterations: 10`."
        )
    _refuse_duplicates(root, ())
    _take_version_as_written(root)
    try:
        return RepoConfig.model_validate(_values(root))
    except ValidationError as error:
        raise UsageError(_explain(error, root)) from None


def _compose(text: str) -> yaml.Node | None:
    """Parse YAML into nodes.

    Aliases are refused, since a few of them can stand for gigabytes, and so is nesting that takes the parser minutes.
    """
    depth = 0
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            where = f"{PATH}, line {token.start_mark.line + 1}"
            if isinstance(token, yaml.AliasToken):
                raise UsageError(
                    f"{where}: aliases (`*{token.value}`) are not read here. Write the value out."
                )
            depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
            if depth > _DEEPEST:
                raise UsageError(f"{where}: this is nested too deeply to be a configuration.")
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}" if mark else ""
        raise UsageError(f"{PATH}{place}: this is not YAML: {error.problem or error.context}.") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{PATH}: this is not YAML: {str(error).splitlines()[0]}.") from None


def _values(node: yaml.Node) -> Any:
    """Return the plain value of a node."""
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_document(node)
    except (yaml.MarkedYAMLError, ValueError) as error:  # a tag nobody knows, or a date such as 2026-99-99
        problem = error.problem if isinstance(error, yaml.MarkedYAMLError) else str(error)
        raise UsageError(f"{PATH}, line {node.start_mark.line + 1} or below: {problem}.") from None
    finally:
        loader.dispose()


def _refuse_duplicates(node: yaml.Node, keys: tuple[str, ...]) -> None:
    """Raise UsageError if a mapping has a key twice: YAML would silently take the last."""
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        name = str(key.value)
        if name in seen:
            path = ".".join((*keys, name))
            raise UsageError(f"{PATH}, line {line}: `{path}` stands here and on line {seen[name]}. Keep one.")
        seen[name] = line
        _refuse_duplicates(value, (*keys, name))


def _take_version_as_written(root: yaml.MappingNode) -> None:
    """Read `environment.python` as text, for everybody writes `3.10`, which YAML takes for the number 3.1."""
    for key, section in root.value:
        if key.value == "environment" and isinstance(section, yaml.MappingNode):
            for name, value in section.value:
                if (
                    name.value == "python"
                    and isinstance(value, yaml.ScalarNode)
                    and value.tag.endswith(":float")
                ):
                    value.tag = "tag:yaml.org,2002:str"


def _explain(error: ValidationError, root: yaml.MappingNode) -> str:
    """Return sentences for what is wrong with the values, in the order of the file, the first three at most."""
    problems = sorted((_line(root, problem["loc"]), _sentence(dict(problem))) for problem in error.errors())
    shown = [f"{PATH}, line {line}: {sentence}" for line, sentence in problems[:3]]
    if len(problems) > 3:
        shown.append(f"{len(problems) - 3} more problems follow.")
    return " ".join(shown)


def _sentence(problem: dict[str, Any]) -> str:
    """Return what pydantic found wrong, for a person."""
    location = [part for part in problem["loc"] if not str(part).startswith("function-")]
    name = ".".join(str(part) for part in location)
    if problem["type"] != "extra_forbidden":
        told = str(problem["msg"]).removeprefix("Value error, ")
        message = "must be a mapping of keys" if problem["type"] == "model_type" else told
        return f"`{name}`: {message[:1].lower()}{message[1:]}."
    known = list(_section(location[:-1]).model_fields)
    elsewhere = _elsewhere(str(location[-1]))
    if elsewhere:
        return f"there is no key `{name}`. Did you mean `{elsewhere}`?"
    near = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.5)
    if near:
        parent = [str(part) for part in location[:-1]]
        return f"there is no key `{name}`. Did you mean `{'.'.join([*parent, near[0]])}`?"
    return f"there is no key `{name}`. The keys here are {', '.join(known)}."


def _section(keys: Sequence[int | str]) -> type[BaseModel]:
    """Return the model of the mapping below these keys."""
    model: type[BaseModel] = RepoConfig
    for key in keys:
        inner = model.model_fields[str(key)].annotation
        assert isinstance(inner, type)
        assert issubclass(inner, BaseModel)
        model = inner
    return model


def _elsewhere(name: str) -> str | None:
    """Return the full name of a key that stands in another section, or at the top."""
    for key, model in _sections():
        if name in model.model_fields:
            return f"{key}{name}"
    return None


def _sections() -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the top level and every section, with the prefix of its keys."""
    yield "", RepoConfig
    for name, field in RepoConfig.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield f"{name}.", field.annotation


def _line(node: yaml.Node, location: Sequence[int | str]) -> int:
    """Return the line of the deepest node on the way to a location."""
    line = node.start_mark.line + 1
    for part in location:
        found: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if str(key.value) == str(part):
                    line, found = key.start_mark.line + 1, value
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            found = node.value[part]
            line = found.start_mark.line + 1
        if found is None:
            break
        node = found
    return line
