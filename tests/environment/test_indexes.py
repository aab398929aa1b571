"""What an installation is told about package indexes."""

from __future__ import annotations

from pathlib import Path

from bot.environment.indexes import configured


def test_only_index_settings_certificates_and_proxies_are_passed() -> None:
    found = configured(
        {
            "HOME": "/nonexistent",
            "GITHUB_TOKEN": "secret",
            "UV_INDEX_MINE_PASSWORD": "needed",
            "UV_CACHE_DIR": "/elsewhere",
            "UV_PYTHON": "3.6",
            "SSL_CERT_FILE": "/etc/x.pem",
            "https_proxy": "http://proxy:1",
            "PIPELINE": "x",
        }
    ).variables

    for name in ("UV_INDEX_MINE_PASSWORD", "SSL_CERT_FILE", "https_proxy"):
        assert name in found
    for name in ("GITHUB_TOKEN", "HOME", "UV_CACHE_DIR", "UV_PYTHON", "PIPELINE"):
        assert name not in found


def test_what_is_said_to_pip_is_said_to_uv(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()

    found = configured(
        {
            "HOME": "/nonexistent",
            "PIP_INDEX_URL": "https://mirror/simple",
            "PIP_EXTRA_INDEX_URL": "https://a/simple\nhttps://b/simple",
            "PIP_FIND_LINKS": f"{tmp_path}/wheels https://c/",
        }
    )

    assert found.variables["UV_DEFAULT_INDEX"] == "https://mirror/simple"
    assert found.variables["UV_INDEX"] == "https://a/simple https://b/simple"
    assert found.variables["UV_FIND_LINKS"] == f"{tmp_path}/wheels,https://c/"
    assert tmp_path / "wheels" in found.paths


def test_pips_configuration_file_is_read_and_the_environment_wins(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text(
        f"[global]\nindex-url = https://file/simple\nextra-index-url =\n    file://{tmp_path}\n[install]\nno-compile = yes\n"
    )
    environ = {"HOME": "/nonexistent", "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}

    found = configured(environ)

    assert found.variables["UV_DEFAULT_INDEX"] == "https://file/simple"
    assert tmp_path in found.paths
    assert (
        configured({**environ, "PIP_INDEX_URL": "https://env/simple"}).variables["UV_DEFAULT_INDEX"]
        == "https://env/simple"
    )
    assert (
        configured({**environ, "UV_DEFAULT_INDEX": "https://uv/simple"}).variables["UV_DEFAULT_INDEX"]
        == "https://uv/simple"
    )


def test_a_home_or_a_root_is_never_shown_whole() -> None:
    shown = configured({"HOME": "/nonexistent", "PIP_FIND_LINKS": f"/ /etc {Path.home()}"}).paths

    assert not {Path("/"), Path("/etc"), Path.home()} & set(shown)
