"""What a person could call in a module: its functions, classes, methods, properties and operators."""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import keyword
import re
from collections.abc import Collection
from types import ModuleType
from typing import Any

from . import contexts, operators
from .programs import Op, Param
from .signatures import params_of

_DANGEROUS = re.compile(
    r"remove|delete_file|rmtree|unlink|kill|shutdown|exit|abort|terminate|system|spawn|fork|exec|download|upload|"
    r"send_mail|urlopen|request|connect|listen|serve|input|prompt|sleep|main$|run_forever"
)

_BUILTIN = (dict, list, tuple, str, int, float, set, BaseException, Exception)


class Owner:
    """A class of the module: how it is made and what can be done with it."""

    __slots__ = (
        "cls",
        "expression",
        "factories",
        "makers",
        "name",
        "node",
        "ops",
        "public",
        "variable",
        "views",
    )

    def __init__(self, name: str, cls: type, node: ast.ClassDef | None, variable: str) -> None:
        self.name = name
        self.cls = cls
        self.node = node
        self.variable = variable
        self.public = not name.startswith("_")
        self.makers: list[Op] = []
        self.ops: list[Op] = []
        self.views: list[str] = []


class Surface:
    """A module's functions and classes, in the order of its text, the public ones first."""

    def __init__(self, module: ModuleType, source: str, tree: ast.Module) -> None:
        self.module = module
        self.source = source
        self.tree = tree
        self.nodes: dict[str, Any] = {}
        self._index(tree, "")
        self.functions: list[Op] = []
        self.owners: list[Owner] = []
        self._collect()

    def _index(self, node: Any, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.nodes.setdefault(prefix + child.name, child)
            elif isinstance(child, ast.ClassDef):
                self.nodes.setdefault(prefix + child.name, child)
                self._index(child, prefix + child.name + ".")
            elif isinstance(child, (ast.If, ast.Try, ast.With)):
                self._index(child, prefix)

    def owner_of(self, cls: type) -> Owner | None:
        """Return the owner for a class."""
        for owner in self.owners:
            if owner.cls is cls:
                return owner
        return None

    def attributes(self, owner: Owner, names: Collection[str]) -> list[str]:
        """Return views of those of the names that the class or a base of it in this module sets on its objects."""
        homes = [base.__name__ for base in owner.cls.__mro__ if base.__module__ == owner.cls.__module__]
        assigned = {
            n.attr
            for home in homes
            for n in ast.walk(self.nodes.get(home, ast.Pass()))
            if isinstance(n, ast.Attribute)
            and isinstance(n.ctx, ast.Store)
            and ast.unparse(n.value) == "self"
        }
        views = ["{self}." + name for name in sorted(assigned & set(names))]
        return [view for view in views if view not in owner.views]

    def _collect(self) -> None:
        name_of_module = self.module.__name__
        names = [n for n in vars(self.module) if not n.startswith("__")]
        for name in names:
            with contextlib.suppress(Exception):  # lazy objects may fail at any touch
                self._named(name, vars(self.module)[name], name_of_module)
        self.functions.sort(key=lambda op: (not op.public, op.first))
        self.owners.sort(key=lambda owner: (not owner.public, owner.node.lineno if owner.node else 0))

    def _named(self, name: str, value: Any, name_of_module: str) -> None:
        """Take up one name of the module: a class or function that it defines itself."""
        home = getattr(value, "__module__", None)
        node = self.nodes.get(name)
        if inspect.isclass(value):
            if home == name_of_module and value.__name__ == name:
                self._class(name, value, node)
            return
        if not callable(value) or inspect.isasyncgenfunction(value):
            return
        if node is None and not (home == name_of_module and inspect.isfunction(value)):
            return
        op = self._function(name, _awaited(name + "({*})", value), value, node, bound=False)
        if op is not None:
            op.public = not name.startswith("_")
            self.functions.append(op)

    def _function(
        self, subject: str, form: str, value: Any, node: Any, bound: bool, receiver: str = ""
    ) -> Op | None:
        if _DANGEROUS.search(subject.rsplit(".", 1)[-1].lower()) and self._leaves(node):
            return None
        params = params_of(value, node, bound)
        if params is None:
            return None
        return Op(subject, form, params, node, receiver)

    def _leaves(self, node: Any) -> bool:
        """Whether a function's text calls what leaves the process: it is then never called."""
        if node is None:
            return False
        told = ast.unparse(node)
        return bool(re.search(r"\b(os|shutil|subprocess|socket|sys|urllib|requests|signal)\.", told))

    def _class(self, name: str, cls: type, node: Any) -> None:
        owner = Owner(name, cls, node, variable_for(name, vars(self.module)))
        self.owners.append(owner)
        if issubclass(cls, BaseException):
            maker = self._maker(name, cls)
            owner.makers = [maker] if maker else []
            owner.ops.append(Op(name + ".__str__", "str({self})", [], None, name))
            return
        if not inspect.isabstract(cls):
            maker = self._maker(name, cls)
            if maker is not None:
                owner.makers.append(maker)
        seen: set[str] = set()
        for attribute in dir(cls):
            if (
                attribute in operators.NEVER
                or attribute in seen
                or attribute.startswith("_" + name.lstrip("_") + "__")
            ):
                continue
            self._member(owner, attribute)
        if contexts.is_manager(cls):
            owner.ops += contexts.operations(name, self.nodes.get(f"{name}.__exit__"), owner.ops)
        owner.ops.sort(key=lambda op: (not op.public, op.first or 10**6, op.subject))
        owner.views = self._views(owner)

    def _maker(self, name: str, cls: type) -> Op | None:
        node = self.nodes.get(name + ".__init__") or self.nodes.get(name + ".__new__")
        if node is None:
            for base in cls.__mro__[1:]:
                node = (
                    self.nodes.get(base.__name__ + ".__init__") if base.__module__ == cls.__module__ else None
                )
                if node is not None:
                    break
        return self._function(name, name + "({*})", cls, node, bound=True)

    def _member(self, owner: Owner, attribute: str) -> None:
        """Take up one attribute of a class: a property, or a method of its own or of a standard mixin."""
        cls = owner.cls
        raw = inspect.getattr_static(cls, attribute, None)
        home = next((base for base in cls.__mro__ if attribute in vars(base)), object)
        if home is object or home in _BUILTIN:
            return
        ours = home.__module__ == cls.__module__
        if not ours and (attribute.startswith("_") or not _mixin(home)):
            return
        node = self.nodes.get(f"{home.__name__}.{attribute}")
        if isinstance(raw, (property,)) or type(raw).__name__ in ("cached_property", "member_descriptor"):
            if not attribute.startswith("__"):
                self._property(owner, attribute, raw, node)
            return
        if inspect.isclass(raw) or not (callable(raw) or isinstance(raw, (classmethod, staticmethod))):
            return
        try:
            value = getattr(cls, attribute)
        except Exception:
            return
        if inspect.isasyncgenfunction(value):
            return
        if isinstance(raw, (classmethod, staticmethod)):
            self._static(owner, attribute, value, node, makes=isinstance(raw, classmethod))
        else:
            self._method(owner, attribute, raw, value, node)

    @staticmethod
    def _property(owner: Owner, attribute: str, raw: Any, node: Any) -> None:
        subject = f"{owner.name}.{attribute}"
        shown = Op(subject, "{self}." + attribute, [], node, owner.name)
        shown.public = not attribute.startswith("_")
        owner.ops.append(shown)
        if isinstance(raw, property) and raw.fset is not None and shown.public:
            param = Param("value", None, False)
            owner.ops.append(Op(subject, "{self}." + attribute + " = {0}", [param], node, owner.name, True))

    def _static(self, owner: Owner, attribute: str, value: Any, node: Any, *, makes: bool) -> None:
        """Take up a method that needs no object; a class method may make one."""
        form = _awaited(f"{owner.name}.{attribute}({{*}})", value)
        op = self._function(f"{owner.name}.{attribute}", form, value, node, bound=False)
        if op is None:
            return
        op.public = not attribute.startswith("_")
        owner.ops.append(op)
        if makes and op.public:
            owner.makers.append(op)

    def _method(self, owner: Owner, attribute: str, raw: Any, value: Any, node: Any) -> None:
        dunder = attribute.startswith("__") and attribute.endswith("__")
        if dunder:
            form, statement = operators.FORMS.get(attribute, ("{self}." + attribute + "({*})", False))
        else:
            form, statement = _awaited("{self}." + attribute + "({*})", value), False
        op = self._function(f"{owner.name}.{attribute}", form, raw, node, bound=True, receiver=owner.name)
        if op is None:
            return
        if "{*}" not in form:
            needed = len(set(re.findall(r"\{(\d)\}", form)))
            while len(op.params) < needed:
                op.params.append(Param("other", None, False))
            del op.params[needed:]
            for param in op.params:
                param.keyword, param.default = False, None
        op.statement = statement
        op.public = dunder or not attribute.startswith("_")
        owner.ops.append(op)

    def _views(self, owner: Owner) -> list[str]:
        """Return expressions, `{self}` for the object, that show its state."""
        views: list[str] = []
        cls = owner.cls
        for method, view in (("__str__", "str({self})"), ("__repr__", "repr({self})")):
            home = next((base for base in cls.__mro__ if method in vars(base)), object)
            if home.__module__ == cls.__module__:
                views.append(view)
                break
        if hasattr(cls, "keys") and hasattr(cls, "__getitem__"):
            views.insert(0, "dict({self})")
        elif hasattr(cls, "__iter__"):
            views.append("list({self})")
        elif hasattr(cls, "__len__"):
            views.append("len({self})")
        for op in owner.ops:
            if op.form.startswith("{self}.") and not op.params and "(" not in op.form and op.public:
                views.append(op.form)
        return views


def _awaited(form: str, value: Any) -> str:
    """Return the form of a call, run to its end where it gives a coroutine."""
    return f"asyncio.run({form})" if inspect.iscoroutinefunction(value) else form


def _mixin(home: type) -> bool:
    return home.__module__ in ("collections.abc", "_collections_abc", "collections", "typing")


def variable_for(name: str, taken: Any) -> str:
    """Return the variable a person would choose for an object of a class: `LRUCache` gives `cache`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", name) or ["thing"]
    last = str(words[-1]).lower()
    for choice in (last, "_".join(words).lower(), "my_" + last):
        if (
            choice.isidentifier()
            and not keyword.iskeyword(choice)
            and not hasattr(builtins, choice)
            and choice not in taken
        ):
            return choice
    return "subject_" + last
