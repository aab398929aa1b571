"""Environments as images: made once for each set of dependency files, told where they fail, removed when too many."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from bot import environment, repoconfig
from bot.environment import image, images, installer, room
from bot.environment.indexes import reachable
from bot.errors import InstallationError, SandboxError
from bot.sandbox import Interpreter, engine
from bot.sandbox.docker import DockerSandboxes

sys.path.insert(0, str(Path(__file__).parents[1] / "sandbox"))
import dockers

from tests.environment.replacing import REPLACING

Prepare = Callable[..., Interpreter]

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "shop"
version = "1.0"
requires-python = ">=3.9"
dependencies = ["iniconfig"]
[project.optional-dependencies]
test = ["attrs"]
[tool.setuptools]
packages = ["shop"]
"""


@pytest.fixture
def sandboxes() -> DockerSandboxes:
    return dockers.opened("runc")


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def prepare_image(
    sandboxes: DockerSandboxes, tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> Prepare:
    """Prepare the image of a repository with these files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def preparer(files: Mapping[str, str], config: str | None = None) -> Interpreter:
        tree = tmp_path / "tree"
        tree.mkdir(exist_ok=True)
        for name, content in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(content)
        return environment.prepare(
            tree, tree, repoconfig.load(config), roots=(".",), note=notes.append, sandboxes=sandboxes
        )

    return preparer


@pytest.mark.slow
def test_a_project_with_its_dependencies_and_test_extra_is_installed(
    prepare_image: Prepare, sandboxes: DockerSandboxes, tmp_path: Path
) -> None:
    found = prepare_image({"pyproject.toml": PROJECT, "shop/__init__.py": "X = 1\n"})

    with sandboxes.open(tmp_path / "tree", found) as box:
        done = box.run(
            ["python", "-c", "import iniconfig, attr, pytest, coverage, shop; print(shop.__file__)"],
            timeout_s=30,
        )

    assert (done.stdout, done.stderr) == (f"{box.tree}/shop/__init__.py\n", "")


@pytest.mark.slow
def test_a_change_of_source_code_installs_nothing_and_a_dependency_does(
    prepare_image: Prepare, notes: list[str], tmp_path: Path
) -> None:
    own = f"# {tmp_path.name} {os.urandom(8).hex()}\n"  # an engine keeps what an earlier run of the tests has made
    first = prepare_image({"requirements.txt": "iniconfig\n", "mod.py": "X = 1\n"})
    notes.clear()

    again = prepare_image({"mod.py": "X = 2\n"})

    assert again == first
    assert not any("Installing" in note for note in notes)
    assert prepare_image({"requirements.txt": f"iniconfig\nattrs\n{own}"}).image != first.image
    assert any("Installing" in note for note in notes)


def test_a_failed_installation_names_the_command_its_last_lines_and_the_key(prepare_image: Prepare) -> None:
    with pytest.raises(InstallationError) as caught:
        prepare_image({"requirements.txt": "iniconfig==0.0.0.0.1\n"})

    assert "`uv pip install -r requirements.txt` failed" in caught.value.message
    assert "environment.setup" in caught.value.message
    assert "iniconfig" in caught.value.detail


def test_no_container_is_left_of_an_installation_that_fails(
    prepare_image: Prepare, sandboxes: DockerSandboxes
) -> None:
    with contextlib.closing(sandboxes.engine.client()) as client:
        before = {row["Id"] for row in client.containers(all=True)}
        with pytest.raises(InstallationError, match=r"environment\.setup.*`exit 7`"):
            prepare_image({}, config="environment: {setup: ['exit 7']}")
        after = {row["Id"] for row in client.containers(all=True) if row["Image"].startswith(images.BASES)}

    assert after <= before


@pytest.mark.slow
def test_an_installation_sees_no_secret_and_its_files_are_added(
    prepare_image: Prepare, sandboxes: DockerSandboxes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "host-secret")
    monkeypatch.setenv("UV_INDEX_OWN_PASSWORD", "host-secret")

    found = prepare_image({"a.py": ""}, config="environment: {setup: ['env > seen.txt; id -u >> seen.txt']}")

    with sandboxes.open(tmp_path / "tree", found) as box:
        seen = box.read("seen.txt").decode()
    assert "host-secret" not in seen
    assert seen.endswith("1000\n")


def test_a_version_of_python_without_an_image_is_told(prepare_image: Prepare) -> None:
    with pytest.raises(InstallationError, match=r"needs Python 3\.19.*sandbox-images/build\.sh"):
        prepare_image({}, config="environment: {python: '3.19'}")


@pytest.fixture
def base() -> str:
    """The image of Debian with Python that CI makes."""
    with contextlib.closing(dockers.opened("runc").engine.client()) as client:
        names = sorted(tag for row in client.images() for tag in row["RepoTags"] or ())
    found = next((name for name in reversed(names) if name.startswith("testforge-base:")), None)
    if found is None:
        pytest.skip("the base image of CI is not here")
    return found


@pytest.fixture
def variant(base: str, sandboxes: DockerSandboxes) -> Iterator[Callable[[str], str]]:
    """Make an image out of that one with a command: `variant("rm /usr/bin/git")`."""
    made: list[str] = []
    with contextlib.closing(sandboxes.engine.client()) as client:

        def maker(command: str) -> str:
            name = f"testforge-variant:{len(made)}-{os.getpid()}"
            recipe = f"FROM {base}\nUSER 0:0\nRUN {command}\n"
            told = client.build(fileobj=io.BytesIO(recipe.encode()), tag=name, rm=True, network_mode="none")
            assert "Successfully tagged" in b"".join(told).decode()
            made.append(name)
            return name

        yield maker
        for name in made:
            client.remove_image(name, force=True)


def test_an_image_that_cannot_be_had_is_told(prepare_image: Prepare) -> None:
    with pytest.raises(SandboxError, match=r"image"):
        prepare_image({}, config="environment: {image: 'testforge.invalid/none:1'}")


@pytest.mark.slow
def test_any_image_with_python_will_do_also_without_git(
    prepare_image: Prepare,
    sandboxes: DockerSandboxes,
    tmp_path: Path,
    variant: Callable[[str], str],
    notes: list[str],
) -> None:
    image = variant("rm -f /usr/bin/git /usr/local/bin/git && ! command -v git")

    found = prepare_image({"a.py": "X = 5\n"}, config=f"environment: {{image: '{image}'}}")

    with sandboxes.open(tmp_path / "tree", found) as box:
        assert box.run(["python", "-c", "import a, pytest; print(a.X)"], timeout_s=30).stdout == "5\n"
    assert f"of the image {image}, as `environment.image` says." in notes[0]


@pytest.mark.slow
def test_an_image_without_python_and_one_with_another_version_are_told(
    prepare_image: Prepare, variant: Callable[[str], str], base: str
) -> None:
    image = variant("rm -f /usr/bin/python3* /usr/local/bin/python3*")
    with pytest.raises((InstallationError, SandboxError), match=r"no Python.*`environment\.image`"):
        prepare_image({}, config=f"environment: {{image: '{image}'}}")
    with pytest.raises(
        InstallationError, match=r"has Python 3\.\d+, and `environment\.python`.* asks for ==3\.19"
    ):
        prepare_image({}, config=f"environment: {{image: '{base}', python: '3.19'}}")


EXTENSION = {
    "setup.py": (
        "from setuptools import setup, Extension\n"
        "setup(name='quick', packages=['quick'], ext_modules=[Extension('quick._fast', ['quick/_fast.c'])])\n"
    ),
    "quick/__init__.py": "",
    "quick/_fast.c": (
        "#include <Python.h>\n"
        'static struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "_fast", NULL, -1, NULL};\n'
        "PyMODINIT_FUNC PyInit__fast(void) { return PyModule_Create(&m); }\n"
    ),
}


@pytest.mark.slow
def test_an_extension_is_compiled_with_system_packages_that_root_installs(
    prepare_image: Prepare, sandboxes: DockerSandboxes, tmp_path: Path, notes: list[str]
) -> None:
    setup = "['apt-get update && apt-get install -y gcc libc6-dev python3-dev', 'id -u > who.txt']"

    found = prepare_image(EXTENSION, config=f"environment: {{setup: {setup}}}")

    with sandboxes.open(tmp_path / "tree", found) as box:
        done = box.run(["python", "-c", "from quick import _fast; print(_fast.__file__)"], timeout_s=30)
        assert done.stdout.startswith(f"{box.tree}/quick/_fast.")
        assert box.read("who.txt") == b"1000\n"
    assert not any("could not be built" in note for note in notes)


@pytest.mark.slow
def test_system_packages_that_do_not_exist_are_told_and_nothing_is_left(
    prepare_image: Prepare, sandboxes: DockerSandboxes
) -> None:
    with contextlib.closing(sandboxes.engine.client()) as client:
        with pytest.raises(
            InstallationError, match=r"`apt-get install testforge-nonesuch` failed: .*testforge-nonesuch"
        ):
            prepare_image({}, config="environment: {setup: ['apt-get install -y testforge-nonesuch']}")
        mine = {"label": f"{engine.OWNER}={engine.labels()[engine.OWNER]}"}
        assert client.containers(all=True, filters=mine) == []


@pytest.mark.slow
def test_an_installation_that_fills_the_disk_is_ended_while_it_runs(
    prepare_image: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTFORGE_SANDBOX_IMAGES_GB", "0.08")
    monkeypatch.setattr(room, "LOOK_S", 0.2)
    command = "head -c 200000000 /dev/zero > /environment/large; sleep 1000"

    with pytest.raises(InstallationError, match=r"took more than 0\.08 GB of disk"):
        prepare_image({}, config=f"environment: {{setup: ['{command}']}}")


@pytest.mark.slow
def test_images_beyond_the_limit_are_removed_the_oldest_use_first(
    prepare_image: Prepare, sandboxes: DockerSandboxes, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = prepare_image({"requirements.txt": "# old\n"})
    new = prepare_image({"requirements.txt": "# new\n"})

    with contextlib.closing(sandboxes.engine.client()) as client:
        ours = {old.key, new.key}
        sized = {key for key in ours if client.images(name=images.name(key))}
        monkeypatch.setattr(
            images, "_own_size", lambda _, row: int(row["RepoTags"][0].rpartition(":")[2] in ours) * 10**9
        )
        removed = images.remove_unused(client, 1.5, keep=new.key)
        left = {key for key in ours if client.images(name=images.name(key))}

    assert sized == ours
    assert old.key in removed
    assert left == {new.key}


def test_what_a_container_is_told_of_indexes_holds_no_password_and_nothing_of_the_host(
    tmp_path: Path,
) -> None:
    (tmp_path / "ca.pem").write_text("x")
    variables, certificates = reachable(
        {
            "PIP_INDEX_URL": "https://someone:secret@example.com/simple",
            "PIP_EXTRA_INDEX_URL": "https://a.example/simple file:///opt/more https://b.example/simple",
            "PIP_FIND_LINKS": "/opt/shelf",
            "UV_INDEX_X_PASSWORD": "secret",
            "SSL_CERT_FILE": str(tmp_path / "ca.pem"),
            "HTTPS_PROXY": "http://me:secret@proxy.example:3128",
            "HOME": str(tmp_path),
        }
    )

    assert "secret" not in str(variables)
    assert "/opt" not in str(variables)
    assert variables["PIP_EXTRA_INDEX_URL"] == "https://a.example/simple https://b.example/simple"
    assert certificates == tmp_path / "ca.pem"


def test_the_place_of_the_environment_is_the_one_of_the_image() -> None:
    recipe = (Path(__file__).parents[2] / "sandbox-images" / "Dockerfile").read_text()

    assert f" {image.PLACE} && chown" in recipe
    assert f"COPY uv {image.UV}" in recipe


def test_an_installation_that_hangs_is_ended_and_leaves_nothing(
    prepare_image: Prepare, sandboxes: DockerSandboxes, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = installer.Installer.shell

    def shell(self: installer.Installer, command: str) -> installer.Failure | None:
        monkeypatch.setattr(installer, "STEP_S", 2.0)
        return patient(self, command)

    monkeypatch.setattr(installer.Installer, "shell", shell)
    with contextlib.closing(sandboxes.engine.client()) as client:
        with pytest.raises(InstallationError, match=r"`sleep 600`: it did not end within 2 s"):
            prepare_image({}, config="environment: {setup: ['sleep 600']}")
        mine = engine.labels()[engine.OWNER]
        left = client.containers(all=True, filters={"label": f"{engine.OWNER}={mine}"})

    assert left == []


def test_an_installation_that_replaces_its_python_is_refused(prepare_image: Prepare) -> None:
    with pytest.raises(InstallationError, match="replaced the Python"):
        prepare_image({}, config=f"environment:\n  setup: ['{REPLACING['library']}']\n")
