"""Which functions can be asked about: called with values, they give a value, and nothing else happens."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.errors import UsageError

_OUTSIDE = frozenset(
    [
        "random",
        "secrets",
        "time",
        "datetime",
        "uuid",
        "socket",
        "requests",
        "urllib",
        "http",
        "subprocess",
        "shutil",
        "os",
        "pathlib",
        "tempfile",
        "threading",
        "asyncio",
        "multiprocessing",
        "logging",
        "sys",
    ]
)
"""Modules whose functions give another result each time, or do something."""
_PURE_PARTS = frozenset(
    {"os.path", "datetime.timedelta", "sys.maxsize", "pathlib.PurePath", "pathlib.PurePosixPath"}
)
_DOING = frozenset({"open", "print", "input", "exec", "eval", "globals", "setattr", "delattr", "__import__"})


@dataclass(frozen=True, slots=True)
class Subject:
    """A function of a module that can be asked about.

    Attributes:
        source: The whole module.
        first, last: Its lines, decorators included.
        body: The line of its first statement after the docstring.
        parameters: Names of its parameters.
        documentation: Its docstring; empty if it has none.
    """

    name: str
    source: str
    first: int
    body: int
    last: int
    parameters: tuple[str, ...]
    documentation: str = ""

    @property
    def text(self) -> str:
        """The function itself."""
        return "".join(self.source.splitlines(keepends=True)[self.first - 1 : self.last])

    def with_function(self, text: str) -> str:
        """Return the module with other text in the function's place."""
        lines = self.source.splitlines(keepends=True)
        end = "" if text.endswith("\n") else "\n"
        return "".join([*lines[: self.first - 1], text + end, *lines[self.last :]])

    def without_body(self) -> str:
        """Return the module as far as the function, its body hidden behind `pass`."""
        lines = self.source.splitlines(keepends=True)
        indent = " " * (len(lines[self.body - 1]) - len(lines[self.body - 1].lstrip()))
        return "".join([*lines[: self.body - 1], f"{indent or '    '}pass\n"])


def find(source: str, name: str) -> Subject:
    """Return a module's function.

    Raises:
        UsageError: The module does not parse or has no such function at its top level; says which there are.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"The file does not parse: {error}.") from None
    functions = {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    if name not in functions:
        if "." in name:
            raise UsageError(
                f"{name!r} is a method; only functions at the top of a module can be asked about."
            )
        known = ", ".join(functions) or "none"
        raise UsageError(f"There is no function {name!r} at the top of the file. There are: {known}.")
    node = functions[name]
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    documentation = ast.get_docstring(node) or ""
    statements = node.body[1:] if documentation and len(node.body) > 1 else node.body
    arguments = node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return Subject(
        name, source, first, statements[0].lineno, node.end_lineno or node.lineno, tuple(names), documentation
    )


def unsuitable(subject: Subject) -> str:
    """Return why a function cannot be asked about; empty if it can."""
    module = ast.parse(subject.source)
    node = next(
        one
        for one in reversed(module.body)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == subject.name
    )
    if isinstance(node, ast.AsyncFunctionDef):
        return "is async"
    inside = [one for statement in node.body for one in ast.walk(statement)]
    own = list(_without_inner_functions(node))
    if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own):
        return "is a generator"
    if not (node.args.args or node.args.posonlyargs or node.args.vararg or node.args.kwonlyargs):
        return "takes no arguments, so that there is only one thing to ask"
    if not any(isinstance(one, ast.Return) and one.value is not None for one in own):
        return "returns nothing"
    if any(isinstance(one, ast.Global | ast.Nonlocal) for one in inside):
        return "changes global variables"
    imported = _imported(module)
    for parameter in ast.walk(node.args):
        if isinstance(parameter, ast.arg):
            imported.pop(parameter.arg, None)
    for one in inside:
        name = _dotted(one, imported)
        if name.partition(".")[0] in _OUTSIDE and not any(name.startswith(pure) for pure in _PURE_PARTS):
            return f"uses {name}, so that its results depend on more than its arguments, or it does more than return"
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in _DOING:
            return f"calls {one.func.id}, so that it does more than return a value"
    return ""


def _without_inner_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function that are its own, not those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from _without_inner_functions(child)


def _imported(module: ast.Module) -> dict[str, str]:
    """Return what the names stand for that a module imports anywhere, such as `random.choice` for `pick`."""
    found: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for one in node.names:
                top = one.name.partition(".")[0]
                found[one.asname or top] = one.name if one.asname else top
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return found


def _dotted(node: ast.AST, imported: Mapping[str, str]) -> str:
    """Return `a.b.c` for an imported name or an attribute of one; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in imported:
        return ""
    name = ".".join([imported[node.id], *reversed(parts)])
    return name if "." in name else ""  # the bare module in front of an attribute
