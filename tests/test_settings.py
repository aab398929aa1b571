"""The operator's settings and the cache directory."""

from __future__ import annotations

import os

import pytest

from bot import settings
from bot.errors import UsageError


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in [name for name in os.environ if name.startswith("TESTFORGE_")]:
        monkeypatch.delenv(name)


def test_without_variables_the_defaults_hold():
    found = settings.load()
    assert (found.model, found.sandbox, found.github_url) == (None, "auto", "https://api.github.com")


def test_variables_are_read(monkeypatch):
    monkeypatch.setenv("TESTFORGE_MODEL", "openai/gpt-4o")
    monkeypatch.setenv("TESTFORGE_SANDBOX", "process")
    assert (settings.load().model, settings.load().sandbox) == ("openai/gpt-4o", "process")


def test_an_empty_variable_counts_as_not_set(monkeypatch):
    monkeypatch.setenv("TESTFORGE_SANDBOX", "")
    assert settings.load().sandbox == "auto"


def test_a_wrong_value_is_told_with_the_variable(monkeypatch):
    monkeypatch.setenv("TESTFORGE_SANDBOX", "vm")
    with pytest.raises(UsageError, match="TESTFORGE_SANDBOX has a wrong value: input should be 'auto'"):
        settings.load()


def test_secrets_do_not_show(monkeypatch):
    monkeypatch.setenv("TESTFORGE_WEBHOOK_SECRET", "hunter2")
    found = settings.load()
    assert "hunter2" not in repr(found)
    assert found.webhook_secret is not None
    assert found.webhook_secret.get_secret_value() == "hunter2"


def test_the_cache_lies_where_the_specification_says(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert settings.cache_directory() == tmp_path / "cache" / "testforge"
    assert (tmp_path / "cache" / "testforge").is_dir()


@pytest.mark.parametrize("configured", ["", "relative"])
def test_the_cache_lies_in_the_home_otherwise(monkeypatch, tmp_path, configured):
    monkeypatch.setenv("XDG_CACHE_HOME", configured)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings.cache_directory() == tmp_path / ".cache" / "testforge"


def test_a_cache_that_cannot_be_made_falls_back_to_the_temporary_directory(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(settings.tempfile, "tempdir", str(tmp_path / "tmp"))
    assert settings.cache_directory() == tmp_path / "tmp" / f"testforge-{os.getuid()}"


def test_a_directory_planted_by_another_user_is_not_used(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(settings.tempfile, "tempdir", str(tmp_path))
    me = os.getuid()
    planted = tmp_path / f"testforge-{me + 1}"
    planted.mkdir()
    monkeypatch.setattr(settings.os, "getuid", lambda: me + 1)  # so that what I have made is somebody else's
    assert settings.cache_directory() != planted
