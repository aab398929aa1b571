"""Tests that must not be proposed for what they do: files outside tmp_path, network, processes, the source itself.

The check reads the code alone and errs on the side of refusing; what a test replaces by `monkeypatch` or a mock
is only named, never called, and so is not refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from bot.domain import Reason
from bot.select.statements import DEFINITIONS, FUNCTIONS

_MODULES = {
    "subprocess": "starts a process",
    "socket": "uses the network",
    "requests": "uses the network",
    "httpx": "uses the network",
    "aiohttp": "uses the network",
    "urllib.request": "uses the network",
    "urllib3": "uses the network",
    "http.client": "uses the network",
    "ftplib": "uses the network",
    "smtplib": "uses the network",
    "multiprocessing": "starts a process",
}
_HARMLESS = {"subprocess.CompletedProcess", "subprocess.CalledProcessError", "subprocess.TimeoutExpired"}
_HARMLESS |= {
    "requests.Response",
    "requests.Request",
    "requests.Session",
    "httpx.Response",
    "httpx.Request",
    "httpx.URL",
}
_HARMLESS |= {"httpx.MockTransport", "urllib.request.Request"}
_CALLS = {
    **dict.fromkeys(
        ("os.system", "os.popen", "os.fork", "pty.spawn", "asyncio.create_subprocess_exec"),
        "starts a process",
    ),
    **dict.fromkeys(("os.kill", "os.killpg", "os.abort", "os._exit"), "ends processes"),
    **dict.fromkeys(("sys.exit", "exit", "quit"), "ends the interpreter"),
}
_FILES = {
    **dict.fromkeys(
        ("os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.rmtree"), "deletes files"
    ),
    **dict.fromkeys(("os.rename", "os.replace", "shutil.move"), "moves files"),
    **dict.fromkeys(
        ("os.mkdir", "os.makedirs", "os.truncate", "os.symlink", "os.link", "os.chmod"), "changes files"
    ),
    **dict.fromkeys(("shutil.copy", "shutil.copyfile", "shutil.copy2", "shutil.copytree"), "writes files"),
    "os.chdir": "changes the working directory",
}
_METHODS = {
    **dict.fromkeys(("write_text", "write_bytes", "touch"), "writes files"),
    **dict.fromkeys(("unlink", "rmdir"), "deletes files"),
}
_PRIVATE = ("tmp_path", "tmpdir", "tmp_path_factory", "tmpdir_factory", "TemporaryDirectory", "mkdtemp", "StringIO",
            "BytesIO", "NamedTemporaryFile", "mkstemp", "isolated_filesystem")  # fmt: skip
"""What makes a place of one's own: a path that comes from one of these may be written to."""


def unsafe_tests(source: str) -> Mapping[str, tuple[Reason, str]]:
    """Return the test functions that must not run or be proposed, as `TestA::test_b`, with the reason and a sentence.

    A test also answers for the helpers and fixtures it uses and for the code that runs at its module's import.
    """
    tree = ast.parse(source)
    names = _imports(tree)
    faults = {name: fault for name, node in _functions(tree) if (fault := _fault(node, names)) is not None}
    whole = next(
        (fault for node in tree.body if not isinstance(node, DEFINITIONS) and (fault := _fault(node, names))),
        None,
    )
    uses = {name: _used(node) for name, node in _functions(tree)}
    above = _bases(tree)
    found: dict[str, tuple[Reason, str]] = {}
    for name in uses:
        if not name.rpartition("::")[2].startswith("test"):
            continue
        fault = whole or next(
            (faults[other] for other in _reached(name, uses, above) if other in faults), None
        )
        if fault is not None:
            found[name] = fault
    return found


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, FUNCTIONS):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}::")
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _functions(node, prefix)


def _used(node: ast.AST) -> frozenset[str]:
    """Return the names of helpers and fixtures a function may use, methods of `self` included."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    found |= {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    found |= {
        part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and _text(part.value) == "self"
    }
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
            found.add(part.value)
    return frozenset(found | {"setUp", "setup_method", "setup_class", "setUpClass", "setup_module"})


def _bases(tree: ast.AST) -> dict[str, frozenset[str]]:
    """Return the names of each class's bases, by its own."""
    return {
        node.name: frozenset(_text(base) for base in node.bases)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


def _reached(name: str, uses: Mapping[str, frozenset[str]], above: Mapping[str, frozenset[str]]) -> list[str]:
    """Return a function and all those that it uses, directly or through others: its own class's methods only."""
    seen, queue = [name], [name]
    owner = name.rpartition("::")[0]
    owners = {"", owner, *above.get(owner.rpartition("::")[2], ())}
    while queue:
        for other in sorted(uses):
            short = other.rpartition("::")[2]
            if (
                other not in seen
                and other.rpartition("::")[0] in owners
                and short in uses[queue[0]]
                and not short.startswith("test")
            ):
                seen.append(other)
                queue.append(other)
        queue.pop(0)
    return seen


def _imports(tree: ast.AST) -> dict[str, str]:
    """Return what each imported name stands for, dotted."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _fault(node: ast.AST, names: Mapping[str, str]) -> tuple[Reason, str] | None:
    """Return what is wrong with a piece of code, or None."""
    private = _private(node)
    for call in (part for part in ast.walk(node) if isinstance(part, ast.Call)):
        text = _text(call.func)
        head, _, tail = text.partition(".")
        called = f"{names.get(head, head)}.{tail}" if tail else names.get(head, head)
        what = _CALLS.get(called) or _network(called)
        if what:
            return Reason.UNSAFE, f"it {what} ({called})"
        what = _writing(call, called, private)
        if what:
            return _judged(call, what, called)
    return None


def _network(called: str) -> str | None:
    if called in _HARMLESS:
        return None
    return next((what for module, what in _MODULES.items() if called.startswith(f"{module}.")), None)


def _writing(call: ast.Call, called: str, private: frozenset[str]) -> str | None:
    """Return what a call does to files outside the test's own directory, or None."""
    mentioned = {part.id for part in ast.walk(call) if isinstance(part, ast.Name)}
    mentioned |= {part.attr for part in ast.walk(call) if isinstance(part, ast.Attribute)}
    if mentioned & private or mentioned & set(_PRIVATE):
        return None
    if called in _FILES:
        return _FILES[called]
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method in _METHODS and (_is_path(call.func) or method != "touch"):
        return _METHODS[method]
    if called in ("open", "io.open") or method == "open":
        at = 1 if called in ("open", "io.open") else 0
        mode = (
            call.args[at]
            if len(call.args) > at
            else next((k.value for k in call.keywords if k.arg == "mode"), None)
        )
        if isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) & set("wax+"):
            return "writes files"
    return None


def _is_path(func: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id in ("Path", "pathlib") for part in ast.walk(func))


def _private(node: ast.AST) -> frozenset[str]:
    """Return the local names whose value comes from a private place, such as `path = tmp_path / "a"`."""
    found: set[str] = set()
    for _ in range(3):  # through so many assignments
        for part in ast.walk(node):
            pairs: list[tuple[ast.expr, ast.expr]] = []
            if isinstance(part, ast.Assign):
                pairs = [(target, part.value) for target in part.targets]
            elif isinstance(part, (ast.With, ast.AsyncWith)):
                pairs = [(item.optional_vars, item.context_expr) for item in part.items if item.optional_vars]
            elif isinstance(part, (ast.For, ast.comprehension)):
                pairs = [(part.target, part.iter)]
            for target, value in pairs:
                said = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
                said |= {n.attr for n in ast.walk(value) if isinstance(n, ast.Attribute)}
                if said & found or said & set(_PRIVATE):
                    found.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
    return frozenset(found)


def _judged(call: ast.Call, what: str, called: str) -> tuple[Reason, str]:
    """Tell an edit of the source apart from other writing."""
    texts = [
        part.value
        for part in ast.walk(call)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    source = "__file__" in {_text(part).rpartition(".")[2] for part in ast.walk(call)}
    if source or any(text.endswith((".py", ".pyi", ".toml", ".cfg")) for text in texts):
        return Reason.TOUCHES_SOURCE, f"it {what} of the repository ({called})"
    return Reason.UNSAFE, f"it {what} outside tmp_path ({called})"


def _text(node: ast.AST) -> str:
    """Return a dotted name, or nothing for another expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = _text(node.value)
        return f"{inner}.{node.attr}" if inner else node.attr
    return ""
