"""A runner: runs a workflow's job for an event, the shell steps of action.yml included, as GitHub's runner does."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.action.expressions import filled, holds
from tests.action.logs import annotations, outputs
from tests.github.server import GitHub

ROOT = Path(__file__).parents[2]
OURS = "testforge/testforge"
PATIENCE_S = 600
_OF_OTHERS = re.compile(r"(?:TESTFORGE|GITHUB|RUNNER|ACTIONS|GIT|PYTHON|PYTEST|VIRTUAL)_?(?!SANDBOX_NETWORK)")
"""Variables of whoever runs the tests, which a runner does not have; how containers reach the network it has too."""


@dataclass
class Outcome:
    """What a job left.

    Attributes:
        conclusion: `success`, `failure` or `skipped`.
        annotations: As `level: text`; what was printed while commands were stopped is none.
        steps: Name and exit code of each shell step that ran.
        outputs: The action's.
        artifacts: Files of each artifact, by its name.
    """

    conclusion: str = "success"
    annotations: list[str] = field(default_factory=list)
    steps: list[tuple[str, int]] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    artifacts: dict[str, dict[str, bytes]] = field(default_factory=dict)
    summary: str = ""
    log: str = ""


class Runner:
    """A machine with the action downloaded, for one job of a repository on the tests' GitHub.

    Args:
        action: Where the action lies; by default it is put there with the environment of the tests.
        path: Directories that `PATH` begins with, for tools that are to be other ones.
        variables: More of the machine's environment.
    """

    def __init__(
        self,
        github: GitHub,
        directory: Path,
        repository: str,
        *,
        action: Path | None = None,
        path: Sequence[Path] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.github = github
        self.repository = repository
        self.outcome = Outcome()
        self.workspace, self.temp, self.home = (directory / name for name in ("workspace", "temp", "home"))
        self.action = action or directory / "action"
        for place in (self.workspace, self.temp, self.home):
            place.mkdir(parents=True)
        if action is None:
            _download(self.action)
        self._path = [str(place) for place in path]
        self._variables = dict(variables or {})
        self._files = 0

    def run(
        self, workflow: str, event: str, payload: Mapping[str, Any], given: Mapping[str, str] | None = None
    ) -> Outcome:
        """Run the only job of a workflow's text for an event.

        Args:
            given: Inputs of the action besides those of the workflow.
        """
        read = yaml.safe_load(workflow)
        triggers = read.get("on", read.get(True))  # YAML 1.1 takes `on` for true
        assert event in triggers, f"the workflow does not run for {event}"
        types = (triggers[event] or {}).get("types")
        ((name, job),) = read["jobs"].items()
        contexts = self._contexts(event, payload, name, job, read)
        if (types and payload.get("action") not in types) or not holds(job.get("if"), contexts, success=True):
            self.outcome.conclusion = "skipped"
            return self.outcome
        (self.temp / "event.json").write_text(json.dumps(payload))
        for step in job["steps"]:
            if holds(step.get("if"), contexts, success=self._succeeds):
                self._use(step, contexts, given or {})
        return self.outcome

    # ---------------------------------------------------------------- what the steps see

    def _contexts(
        self,
        event: str,
        payload: Mapping[str, Any],
        job: str,
        told: Mapping[str, Any],
        read: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the contexts of a job; its token may do what the job's permissions say, and a fork's only read."""
        pull = payload.get("pull_request") or {}
        head = (pull.get("head") or {}).get("repo") or {}
        is_fork = event == "pull_request" and head.get("full_name") != self.repository
        asked = told.get("permissions", read.get("permissions")) or {}
        permissions = {name.replace("-", "_"): "read" if is_fork else level for name, level in asked.items()}
        source = self.github.world.repositories[self.repository]
        token = self.github.world.make_token(
            source.installation or 0, [self.repository], {"metadata": "read", **permissions}
        )
        number = pull.get("number")
        github = {
            "action_path": str(self.action),
            "actor": (payload.get("sender") or {}).get("login", ""),
            "api_url": self.github.url,
            "event": payload,
            "event_name": event,
            "job": job,
            "ref": f"refs/pull/{number}/merge" if number else "refs/heads/main",
            "repository": self.repository,
            "run_id": "77",
            "sha": source.store.tip("main"),
            "token": token.value,
        }
        return {
            "github": github,
            "inputs": payload.get("inputs") or {},
            "runner": {"temp": str(self.temp)},
            "steps": {},
        }

    def _environment(self, contexts: Mapping[str, Any]) -> dict[str, str]:
        """Return the variables of a step, as the runner documents them; each step has files of its own."""
        github = contexts["github"]
        self._files += 1
        files = {}
        for name in ("ENV", "OUTPUT", "PATH", "STATE", "STEP_SUMMARY"):
            file = self.temp / f"_{name.lower()}_{self._files}"
            file.touch()
            files[f"GITHUB_{name}"] = str(file)
        machine = {name: text for name, text in os.environ.items() if not _OF_OTHERS.match(name)}
        return {
            **machine,
            "CI": "true",
            "HOME": str(self.home),
            "PATH": os.pathsep.join([*self._path, os.environ["PATH"]]),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"),
            **self._variables,
            **files,
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_ACTOR": github["actor"],
            "GITHUB_API_URL": github["api_url"],
            "GITHUB_EVENT_NAME": github["event_name"],
            "GITHUB_EVENT_PATH": str(self.temp / "event.json"),
            "GITHUB_JOB": github["job"],
            "GITHUB_REF": github["ref"],
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": github["run_id"],
            "GITHUB_SERVER_URL": self.github.url,
            "GITHUB_SHA": github["sha"],
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(self.temp),
        }

    # ---------------------------------------------------------------- steps

    @property
    def _succeeds(self) -> bool:
        return self.outcome.conclusion == "success"

    def _use(self, step: Mapping[str, Any], contexts: Mapping[str, Any], given: Mapping[str, str]) -> None:
        """Run a step that uses an action."""
        name = step["uses"].partition("@")[0]
        inputs = {key: filled(text, contexts) for key, text in step.get("with", {}).items()}
        if name == "actions/checkout":
            self._check_out(contexts["github"], inputs)
        elif name == "actions/upload-artifact":
            self._upload(inputs)
        else:
            assert name == OURS, f"nothing stands in for {name}"
            self._act(contexts, {**inputs, **given})

    def _act(self, contexts: Mapping[str, Any], inputs: Mapping[str, str]) -> None:
        """Run the steps of action.yml."""
        action = yaml.safe_load((self.action / "action.yml").read_text())
        assert set(inputs) <= set(action["inputs"]), f"action.yml knows not all of {sorted(inputs)}"
        defaults = {name: filled(one.get("default", ""), contexts) for name, one in action["inputs"].items()}
        inner = {**contexts, "inputs": {**defaults, **inputs}, "steps": {}}
        for step in action["runs"]["steps"]:
            if not holds(step.get("if"), inner, success=self._succeeds):
                continue
            if "uses" in step:
                self._use(step, inner, {})
                continue
            assert step["shell"] == "bash"
            outputs = self.shell(step, inner)
            if "id" in step:
                inner["steps"][step["id"]] = {"outputs": outputs}
        self.outcome.outputs = {name: filled(one["value"], inner) for name, one in action["outputs"].items()}

    def shell(self, step: Mapping[str, Any], contexts: Mapping[str, Any]) -> dict[str, str]:
        """Run a shell step and return its outputs."""
        environment = self._environment(contexts)
        environment |= {name: filled(text, contexts) for name, text in step.get("env", {}).items()}
        script = self.temp / f"_script_{self._files}.sh"
        script.write_text(filled(step["run"], contexts))
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self.workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE_S,
            check=False,
        )
        log = done.stdout.decode("utf-8", "replace")
        self.outcome.steps.append((step["name"], done.returncode))
        self.outcome.log += log
        self.outcome.annotations += annotations(log)
        self.outcome.summary += Path(environment["GITHUB_STEP_SUMMARY"]).read_text("utf-8")
        if done.returncode:
            self.outcome.conclusion = "failure"
        return outputs(Path(environment["GITHUB_OUTPUT"]).read_text("utf-8"))

    # ---------------------------------------------------------------- other people's actions

    def _check_out(self, github: Mapping[str, Any], inputs: Mapping[str, str]) -> None:
        """Do as actions/checkout: fetch the one commit, or all branches with `fetch-depth: 0`."""
        depth = inputs.get("fetch-depth", "1")
        secret = base64.b64encode(f"x-access-token:{github['token']}".encode()).decode()
        one = f"+{github['sha']}:refs/remotes/origin/main"
        wanted = ["+refs/heads/*:refs/remotes/origin/*"] if depth == "0" else [f"--depth={depth}", one]
        url = f"{self.github.url}/{self.repository}.git"
        for command in (
            ["init", "-q", "-b", "main"],
            ["remote", "add", "origin", url],
            ["-c", f"http.extraheader=Authorization: Basic {secret}", "fetch", "-q", "origin", *wanted],
            ["checkout", "-q", "--force", "-B", "main", "refs/remotes/origin/main"],
        ):
            subprocess.run(["git", *command], cwd=self.workspace, check=True, capture_output=True)

    def _upload(self, inputs: Mapping[str, str]) -> None:
        """Do as actions/upload-artifact, which warns of a path without files."""
        place = Path(inputs["path"])
        files = [path for path in sorted(place.rglob("*")) if path.is_file()]
        if not files:
            self.outcome.annotations.append(f"warning: No files were found with the provided path: {place}.")
        self.outcome.artifacts[inputs["name"]] = {
            str(path.relative_to(place)): path.read_bytes() for path in files
        }


def _download(into: Path) -> None:
    """Put the action where a runner has it, with an environment as its first step leaves it.

    The step finds nothing left to do then. Making it from nothing is what `make setup` does before the tests.
    """
    (into / ".venv").mkdir(parents=True)
    for name in ("action.yml", "pyproject.toml", "requirements.lock", "sandbox-images", "scripts"):
        (into / name).symlink_to(ROOT / name)
    for path in Path(sys.prefix).iterdir():
        if path.name != ".set-up":
            (into / ".venv" / path.name).symlink_to(path)
    sh = shutil.which("sh") or "sh"
    stamp = "cat requirements.lock pyproject.toml | cksum >.venv/.set-up"
    subprocess.run([sh, "-c", stamp], cwd=into, check=True)
