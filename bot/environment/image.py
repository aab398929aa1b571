"""The environment of a repository as an image: its dependencies installed in a container, once for each set of them."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from bot import settings
from bot.environment import (
    decision,
    digest,
    images,
    installed,
    packages_layer,
    python_choice,
    pythons,
    room,
    steps,
)
from bot.environment.decision import Decision
from bot.environment.declared import Declared
from bot.environment.indexes import reachable
from bot.environment.installer import LIMITS, Installer, versions_without_git
from bot.environment.pythons import Python
from bot.environment.system_packages import Setup
from bot.errors import InstallationError
from bot.repoconfig import RepoConfig
from bot.sandbox import Interpreter
from bot.sandbox.docker import DockerSandbox, DockerSandboxes

FORMAT = "image-3"
"""Part of every key: changed whenever images are made differently."""

PLACE = Path("/environment")
ADDITIONS = f"{PLACE}/additions"
CACHE = f"{PLACE}/uv-cache"
"""On the same file system as what is installed, which then is linked, not copied; it goes before the image is kept."""

UV = "/usr/local/bin/uv"
HARVEST = Path(__file__).with_name("harvest.py")
HARVEST_S = 120.0
_KEEP = """
import json, pathlib, shutil, sys
for name in json.load(sys.stdin):
    target = pathlib.Path(sys.argv[1], name)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(name, target)
"""

Note = Callable[[str], None]


def prepare(
    sandboxes: DockerSandboxes,
    tree: Path,
    wanted: Declared,
    config: RepoConfig,
    setup: Setup,
    *,
    roots: Sequence[str],
    note: Note,
    scope: str = "",
) -> Interpreter:
    """Return the Python of an image that has what a repository's code and tests need, made now or by an earlier run.

    Args:
        tree: A copy of the code; only read.
        wanted: What it declares.
        setup: What `environment.setup` of the configuration asks for.
        roots: Import roots of the tree.
        note: Told what a person should know.
        scope: Who may use what is made.

    Raises:
        InstallationError: The dependencies cannot be installed, or there is no image with the right Python.
    """
    decided = decision.decide(tree, wanted)
    wish = python_choice.read(tree, wanted, config.environment.python)
    with contextlib.closing(sandboxes.engine.client()) as client:
        base, because = images.base(client, wish, config.environment.image)
        note(because)
        note(decided.because)
        asked = (*setup.packages, "", *setup.commands)
        key = digest.key(
            tree, decided.files, FORMAT, scope, base.id, *roots, *asked, native=wanted.is_project
        )
        with images.locked(key, note):
            facts = images.facts(client, key)
            if facts is None:
                start = packages_layer.obtain(client, base, setup.packages, note)
                note(f"Installing dependencies for Python {base.version} in a container.")
                facts = _make(sandboxes, start, key, tree, wanted, decided, setup.commands, roots)
                images.remove_unused(client, settings.load().sandbox_images_gb, keep=key)
    for text in facts["notes"]:
        note(text)
    return Interpreter(
        command=f"{PLACE}/venv/bin/python",
        version=".".join(facts["version"].split(".")[:2]),
        import_roots=tuple(roots),
        image=images.name(key),
        key=key,
        additions=ADDITIONS if facts["additions"] else "",
    )


def _make(
    sandboxes: DockerSandboxes,
    base: images.Base,
    key: str,
    tree: Path,
    wanted: Declared,
    decided: Decision,
    setup: Sequence[str],
    roots: Sequence[str],
) -> dict[str, Any]:
    """Install into a container and keep it as an image; returns what later runs must know of it."""
    network = settings.load().sandbox_network
    most = room.most_bytes()
    with sandboxes.open_installation(tree, base.image, base.python, LIMITS, network) as box:
        with room.watched(sandboxes.engine, box.container, most):
            facts = _install(box, base, tree, wanted, decided, setup, roots)
        with contextlib.closing(sandboxes.engine.client()) as client:
            room.written(client, box.container, most, "uv pip install")
        box.keep(images.name(key), images.marks(facts, base))
    return facts


def _install(
    box: DockerSandbox,
    base: images.Base,
    tree: Path,
    wanted: Declared,
    decided: Decision,
    setup: Sequence[str],
    roots: Sequence[str],
) -> dict[str, Any]:
    """Fill the environment in a container; returns what is to be known of it."""
    notes: list[str] = []
    installer = Installer(box, PLACE, UV, _variables(box, tree))
    installer.create(Python(base.python, base.version), with_pip=any("pip" in line for line in setup))
    markers = pythons.markers(_harvest(box, roots)["version"], linux=True)
    locked = False
    try:
        locked = steps.install_code(installer, tree, wanted, decided, markers, notes)
    except InstallationError as problem:
        if not setup:  # whose commands may be there for what cannot be installed as declared
            raise
        notes.append(problem.message)
    found = _harvest(box, roots)
    notes += steps.copies(found["copies"])
    if locked:
        steps.install_test_files(installer, decided, notes)
    else:
        steps.install_for_tests(installer, wanted, decided, _extras(found, wanted), notes)
    _run_setup(installer, box, setup)
    steps.install_tools(installer, frozenset(_harvest(box, roots)["packages"]))
    found = _harvest(box, roots)
    steps.check_tools(found["packages"])
    box.run(["rm", "-rf", CACHE], timeout_s=HARVEST_S)
    installer.compile()
    steps.check_interpreter(installer, Python(base.python, base.version))
    has_additions = box.run(["test", "-d", ADDITIONS], timeout_s=HARVEST_S).exit_code == 0
    return {"version": found["version"], "notes": notes, "additions": has_additions}


def _variables(box: DockerSandbox, tree: Path) -> Mapping[str, str]:
    """Return the environment of an installation: where packages come from, and no secret."""
    variables, certificates = reachable()
    variables = {
        **variables,
        "UV_CACHE_DIR": CACHE,
        "UV_PYTHON_DOWNLOADS": "never",
        **versions_without_git(tree),
    }
    if certificates is not None:
        path = f"{box.scratch}/certificates.pem"
        box.write(path, certificates.read_bytes())
        variables |= dict.fromkeys(("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"), path)
    return variables


def _harvest(box: DockerSandbox, roots: Sequence[str]) -> dict[str, Any]:
    """Return what is installed now, as the environment itself tells; the code there has run already, so it is not trusted."""
    script = f"{box.scratch}/harvest.py"
    box.write(script, HARVEST.read_bytes())
    done = box.run(
        [f"{PLACE}/venv/bin/python", "-I", script, box.tree, ADDITIONS, *roots], timeout_s=HARVEST_S
    )
    with contextlib.suppress(ValueError, IndexError, KeyError, TypeError, AttributeError):
        told = json.loads(done.stdout.splitlines()[-1])
        return {
            "version": str(told["version"]),
            "packages": {canonicalize_name(str(name)): str(each) for name, each in told["packages"].items()},
            "metadata": None if told["metadata"] is None else str(told["metadata"]),
            "copies": [str(name) for name in told["copies"]],
        }
    raise InstallationError(
        "What was installed could not be looked at: the environment's Python gave no answer.",
        (done.stdout + done.stderr)[-2000:],
    )


def _extras(found: Mapping[str, Any], wanted: Declared) -> Sequence[str]:
    """Return the requirements of the extras for tests, from the project's own metadata where it could be built."""
    if found["metadata"] is None:
        return wanted.extra_lines
    version = found["version"]
    with tempfile.TemporaryDirectory(prefix="testforge-") as directory:
        (Path(directory) / "METADATA").write_text(found["metadata"], encoding="utf-8")
        own = importlib.metadata.Distribution.at(directory)
        markers = {"python_version": ".".join(version.split(".")[:2]), "python_full_version": version}
        return installed.test_extras(own, markers)


def _run_setup(installer: Installer, box: DockerSandbox, setup: Sequence[str]) -> None:
    """Run the configuration's own commands; the files that they make in the tree are kept."""
    before = box.files()
    for command in setup:
        failure = installer.shell(command)
        if failure is not None:
            raise InstallationError(
                f"A command of `environment.setup` in .github/testforge.yml failed: `{command}`: {failure.reason}",
                failure.detail,
            )
    new = sorted(set(box.files()) - set(before)) if setup else []
    if new:
        words = [f"{PLACE}/venv/bin/python", "-I", "-c", _KEEP, ADDITIONS]
        box.run(words, timeout_s=HARVEST_S, stdin=json.dumps(new).encode())
