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
from bot.environment import declared, images, installed, steps
from bot.environment.declared import Declared
from bot.environment.indexes import reachable
from bot.environment.installer import LIMITS, Installer, versions_without_git
from bot.environment.pythons import Python
from bot.errors import InstallationError
from bot.repoconfig import RepoConfig
from bot.sandbox import Interpreter
from bot.sandbox.docker import DockerSandbox, DockerSandboxes

FORMAT = "image-1"
"""Part of every key: changed whenever images are made differently."""

PLACE = Path("/environment")
ADDITIONS = f"{PLACE}/additions"
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
    *,
    roots: Sequence[str],
    note: Note,
) -> Interpreter:
    """Return the Python of an image that has what a repository's code and tests need, made now or by an earlier run.

    Args:
        tree: A copy of the code; only read.
        wanted: What it declares.
        roots: Import roots of the tree.
        note: Told what a person should know.

    Raises:
        InstallationError: The dependencies cannot be installed, or there is no image with the right Python.
    """
    with contextlib.closing(sandboxes.engine.client()) as client:
        base = images.base(
            client, wanted.requires_python, config.environment.python, config.environment.image
        )
        setup = config.environment.setup
        key = declared.digest(tree, wanted, FORMAT, base.id, *roots, *setup)
        with images.locked(key, note):
            facts = images.facts(client, key)
            if facts is None:
                note(f"Installing dependencies for Python {base.version} in a container.")
                facts = _make(sandboxes, base, key, tree, wanted, setup, roots)
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
    setup: Sequence[str],
    roots: Sequence[str],
) -> dict[str, Any]:
    """Install into a container and keep it as an image; returns what later runs must know of it."""
    notes: list[str] = []
    network = settings.load().sandbox_network
    with sandboxes.open_installation(tree, base.image, base.python, LIMITS, network) as box:
        installer = Installer(box, PLACE, UV, _variables(box, tree))
        installer.create(Python(base.python, base.version), with_pip=any("pip" in line for line in setup))
        try:
            steps.install_code(installer, wanted, notes)
        except InstallationError as problem:
            if not setup:  # whose commands may be there for what cannot be installed as declared
                raise
            notes.append(problem.message)
        found = _harvest(box, roots)
        steps.install_for_tests(installer, wanted, _extras(found, wanted), notes)
        _run_setup(installer, box, setup)
        found = _harvest(box, roots)
        steps.install_tools(installer, frozenset(map(canonicalize_name, found["packages"])))
        installer.compile()
        has_additions = box.run(["test", "-d", ADDITIONS], timeout_s=HARVEST_S).exit_code == 0
        facts = {"version": found["version"], "notes": notes, "additions": has_additions}
        box.keep(images.name(key), images.marks(facts, base))
    return facts


def _variables(box: DockerSandbox, tree: Path) -> Mapping[str, str]:
    """Return the environment of an installation: where packages come from, and no secret."""
    variables, certificates = reachable()
    variables = {
        **variables,
        "UV_CACHE_DIR": f"{box.scratch}/uv",
        "UV_LINK_MODE": "copy",
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
    with contextlib.suppress(ValueError, IndexError, KeyError, TypeError):
        told = json.loads(done.stdout.splitlines()[-1])
        return {
            "version": str(told["version"]),
            "packages": [str(name) for name in told["packages"]],
            "metadata": None if told["metadata"] is None else str(told["metadata"]),
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
