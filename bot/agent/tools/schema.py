"""A tool made from a typed Python function: its JSON schema from signature and docstring, its calls checked by them."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_type_hints

from bot.models import ToolSchema, read_arguments

if TYPE_CHECKING:
    from pydantic import BaseModel

    from bot.agent.workbench import Workbench

REFLECTION = "What the last output showed, and what this call is to bring. Two or three sentences."

QUOTED = 30
"""Characters shown on either side of a fault in a call's arguments."""


class ToolError(Exception):
    """A call that cannot be done; the text is one exact sentence for the model."""


class Finished(Exception):  # noqa: N818 - an end that was asked for is no error
    """The model ended its work; the text is its summary."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something a model can call.

    Attributes:
        description: What it does, for the model.
        arguments: The arguments with their types, `reflection` first.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    function: Callable[..., str]

    @property
    def schema(self) -> ToolSchema:
        """The tool in OpenAI's form."""
        parameters = _without_titles(self.arguments.model_json_schema())
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}

    def call(self, bench: Workbench, arguments: str) -> str:
        """Run the tool on arguments as the model wrote them, and return what it prints.

        Raises:
            ToolError: The arguments are not what the schema asks for, or the tool could not do its work.
        """
        checked = self.check(arguments)
        return self.function(bench, **checked)

    def check(self, arguments: str) -> dict[str, Any]:
        """Return the arguments, checked and without `reflection`. Raises ToolError."""
        from pydantic import ValidationError

        try:
            given = read_arguments(arguments)
        except (ValueError, RecursionError) as problem:
            raise ToolError(
                f"the arguments of {self.name} are not valid JSON: {problem}{_near(problem)}"
            ) from None
        if not isinstance(given, dict):
            kind = _JSON_NAMES[type(given)]
            raise ToolError(f"the arguments of {self.name} must be a JSON object, not {kind}")
        try:
            model = self.arguments.model_validate(given)
        except ValidationError as problem:
            faults = "; ".join(_fault(error) for error in problem.errors())
            names = ", ".join(f"`{name}`" for name in self.arguments.model_fields)
            raise ToolError(f"wrong arguments for {self.name}: {faults}; it takes {names}") from None
        return {name: getattr(model, name) for name in self.arguments.model_fields if name != "reflection"}


def tool(function: Callable[..., str]) -> Tool:
    """Make a tool of a function whose first parameter is the workbench and whose others the model gives.

    The docstring's text becomes the description, the entries of its `Args:` those of the arguments. Every tool
    gets a required first argument `reflection`, as the paper demands one on every observation (METHODS 1.3).
    """
    from pydantic import ConfigDict, Field, create_model

    text, described = _docstring(function)
    hints = get_type_hints(function, localns={"Workbench": object})
    _, *parameters = inspect.signature(function).parameters.values()
    fields: dict[str, Any] = {"reflection": (str, Field(description=REFLECTION))}
    for parameter in parameters:
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (
            hints[parameter.name],
            Field(default, description=described.get(parameter.name)),
        )
    name = function.__name__
    arguments = create_model(name, __config__=ConfigDict(extra="forbid", strict=True), **fields)
    return Tool(name, text, arguments, function)


_JSON_NAMES: dict[type, str] = {
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a truth value",
    type(None): "null",
}


def _docstring(function: Callable[..., str]) -> tuple[str, dict[str, str]]:
    """Split a docstring into its text and the entries of its `Args:` section."""
    documentation = inspect.getdoc(function) or ""
    text, _, section = documentation.partition("\nArgs:\n")
    entries: dict[str, str] = {}
    for entry in re.split(r"\n(?=    \w)", section):
        name, _, description = entry.strip().partition(": ")
        entries[name] = " ".join(description.split())
    return " ".join(text.split()), entries


def _fault(error: Any) -> str:
    """Say in a few words what is wrong with one argument."""
    name = ".".join(str(part) for part in error["loc"][:1])
    if error["type"] == "missing":
        return f"`{name}` is missing"
    if error["type"] == "extra_forbidden":
        return f"there is no argument `{name}`"
    expected = error["msg"].removeprefix("Input should be ").removeprefix("a valid ")
    return f"`{name}` should be {expected}, not {json.dumps(error['input'], default=str)[:80]}"


def _near(problem: Exception) -> str:
    """Quote the place of a fault in JSON: history holds an empty object instead of what the model wrote."""
    if not isinstance(problem, json.JSONDecodeError):
        return ""
    text = problem.doc[max(0, problem.pos - QUOTED) : problem.pos + QUOTED]
    return f", near `{' '.join(text.split())}`"


def _without_titles(schema: Any) -> Any:
    """Drop the titles that pydantic adds: they repeat the names, and every call pays for them."""
    if isinstance(schema, dict):
        return {
            key: _without_titles(value)
            for key, value in schema.items()
            if key != "title" or not isinstance(value, str)
        }
    if isinstance(schema, list):
        return [_without_titles(value) for value in schema]
    return schema
