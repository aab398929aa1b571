"""`testforge doctor`: its lines, its JSON and its exit code."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest
from sqlalchemy import make_url
from typer.testing import CliRunner

from bot import settings
from bot.cli import app
from bot.commands import appchecks
from bot.jobs.credentials import Credentials
from bot.store import database, tables
from tests.github.server.world import World
from tests.store.postgres import Postgres

DOCTOR = CliRunner()


@pytest.fixture(autouse=True)
def nothing_but_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    for name in [name for name in os.environ if name.startswith("TESTFORGE_")] + ["OPENAI_API_KEY"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TESTFORGE_DATA_DIRECTORY", str(tmp_path / "data"))


def test_all_is_well_with_a_git_and_the_built_in_model() -> None:
    done = DOCTOR.invoke(app, ["doctor"])

    assert done.exit_code == 0
    states = {line.split()[1]: line.split()[0] for line in done.output.splitlines() if line[0] != " "}
    assert (states["git:"], states["docker:"], states["model:"]) == ("ok", "absent", "ok")
    assert (states["app:"], states["database:"]) == ("absent", "absent")
    assert "or set DOCKER_HOST" in done.output


def test_json_says_the_same() -> None:
    done = DOCTOR.invoke(app, ["doctor", "--json"])
    found = json.loads(done.output)

    assert (found["schema"], found["usable"], done.exit_code) == (1, True, 0)
    assert {"name", "state", "told", "fix"} == set(found["checks"][0])


def test_a_model_without_a_key_is_a_fault_that_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTFORGE_MODEL", "openai/gpt-4o")
    done = DOCTOR.invoke(app, ["doctor"])

    assert done.exit_code == 1
    assert "Set OPENAI_API_KEY in the environment." in done.output


def test_a_model_without_a_provider_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTFORGE_MODEL", "nonsense/model")
    done = DOCTOR.invoke(app, ["doctor"])

    assert done.exit_code == 1
    assert "LiteLLM knows no provider of nonsense/model" in done.output


def test_without_git_nothing_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = DOCTOR.invoke(app, ["doctor"])

    assert done.exit_code == 1
    assert "broken  git: it is not on PATH" in done.output


def test_a_variable_that_cannot_be_read_is_a_fault_with_a_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTFORGE_PORT", "high")
    done = DOCTOR.invoke(app, ["doctor", "--json"])
    found = json.loads(done.output)
    last = found["checks"][-1]

    assert (done.exit_code, found["usable"]) == (1, False)
    assert (last["name"], last["state"]) == ("settings", "broken")
    assert "TESTFORGE_PORT has a wrong value" in last["told"]
    assert last["fix"].endswith(".")


def test_a_laptop_needs_neither_app_nor_database() -> None:
    checks = _checks()

    assert (checks["app"]["state"], checks["database"]["state"]) == ("absent", "absent")
    assert not Path(os.environ["TESTFORGE_DATA_DIRECTORY"]).exists()


@pytest.mark.parametrize(
    ("variables", "name", "told"),
    [
        ({"TESTFORGE_WEBHOOK_SECRET": "hush"}, "app", "Set TESTFORGE_APP_ID to the number"),
        ({"TESTFORGE_APP_ID": "7"}, "app key", "Set TESTFORGE_PRIVATE_KEY_FILE to the file"),
        ({"TESTFORGE_APP_ID": "7", "TESTFORGE_PRIVATE_KEY": "no key"}, "app key", "not one in PEM form"),
        ({"TESTFORGE_APP_ID": "7", "TESTFORGE_PRIVATE_KEY_FILE": "/none.pem"}, "app key", "cannot be read"),
        ({"TESTFORGE_APP_ID": "7"}, "app secret", "Set TESTFORGE_WEBHOOK_SECRET to the secret"),
        ({"TESTFORGE_DATABASE_URL": "postgresql://a:hush@127.0.0.1:1/b"}, "database", "cannot be opened"),
        ({"TESTFORGE_DATABASE_URL": "sqlite:/b"}, "database", "is no URL"),
        ({"TESTFORGE_DATABASE_URL": "mysql://here/b"}, "database", "of a kind that cannot be used"),
        ({"TESTFORGE_DATABASE_URL": "sqlite:////dev/null/b"}, "database", "is not there yet"),
        ({"TESTFORGE_DATABASE_URL": f"sqlite:////{'a' * 5000}"}, "database", "is not there yet"),
        ({"TESTFORGE_DATABASE_URL": "sqlite://here/b"}, "database", "of a kind that cannot be used"),
        ({"TESTFORGE_DATABASE_URL": "postgresql://a:hush@here:port/b"}, "database", "is no URL"),
    ],
)
def test_each_part_of_the_app_that_is_wrong_has_its_fix(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], name: str, told: str
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    check = _checks()[name]

    assert check["state"] != "ok"
    assert told in f"{check['told']}. {check['fix']}"
    assert check["fix"].endswith(".")
    assert "hush" not in str(check)


def test_an_app_that_is_set_up_is_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text(World(tmp_path / "github").pem)
    monkeypatch.setenv("TESTFORGE_APP_ID", "7")
    monkeypatch.setenv("TESTFORGE_PRIVATE_KEY_FILE", str(tmp_path / "key.pem"))
    monkeypatch.setenv("TESTFORGE_WEBHOOK_SECRET", "hush")
    checks = _checks()

    assert {checks[name]["state"] for name in ("app", "app key", "app secret")} == {"ok"}


def test_what_setup_keeps_counts_too(tmp_path: Path) -> None:
    Credentials(7, "bot", "https://github.com/apps/bot", "no key", "hush").save(_data_directory())
    checks = _checks()

    assert (checks["app"]["state"], checks["app key"]["state"], checks["app secret"]["state"]) == (
        "ok",
        "broken",
        "ok",
    )


def test_a_database_is_well_once_it_has_its_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'b.sqlite'}"
    monkeypatch.setenv("TESTFORGE_DATABASE_URL", url)
    engine = database.connect(url)
    assert "has no tables yet" in _checks()["database"]["told"]
    tables.create(engine)
    assert _checks()["database"]["state"] == "ok"
    with engine.begin() as connection:
        connection.execute(tables.version.update().values(version=99))
    assert "tables of version 99" in _checks()["database"]["told"]
    engine.dispose()


@pytest.mark.slow
def test_a_postgres_is_well_once_it_has_its_tables_and_lets_them_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Postgres.started() as server:
        url = server.new_database()
        monkeypatch.setenv("TESTFORGE_DATABASE_URL", url)
        assert "has no tables yet" in _checks()["database"]["told"]
        engine = database.connect(url)
        tables.create(engine)
        assert _checks()["database"]["state"] == "ok"
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE ROLE stranger LOGIN PASSWORD 'hush'")
        stranger = make_url(url).set(username="stranger", password="hush")
        monkeypatch.setenv("TESTFORGE_DATABASE_URL", stranger.render_as_string(hide_password=False))
        check = _checks()["database"]
        engine.dispose()

    assert (check["state"], "cannot be read" in check["told"]) == ("broken", True)


def test_a_file_that_is_no_database_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "b.sqlite").write_text("This is a letter, and no database at all.\n" * 50)
    monkeypatch.setenv("TESTFORGE_DATABASE_URL", f"sqlite:///{tmp_path / 'b.sqlite'}")

    assert _checks()["database"]["state"] == "broken"


def _checks() -> dict[str, dict[str, str]]:
    """Return what is found of App and database, without trying the sandboxes each time."""
    return {check.name: dataclasses.asdict(check) for check in appchecks.checks(settings.load())}


def _data_directory() -> Path:
    directory = Path(os.environ["TESTFORGE_DATA_DIRECTORY"])
    directory.mkdir()
    return directory
