"""Secrets are struck out wherever they stand; ordinary text stays as it is."""

from __future__ import annotations

import pytest

from bot.models.redaction import Redactor, configured


@pytest.mark.parametrize(
    "secret",
    [
        "sk-" + "a1" * 12,
        "sk-ant-" + "b2_" * 10,
        "ghp_" + "c3" * 18,
        "ghs_" + "d4." * 12,
        "github_pat_" + "e5" * 20,
        "glpat-" + "f6" * 10,
        "xoxb-" + "12345-" * 4,
        "hf_" + "g7" * 15,
        "AKIA" + "ABCD" * 4,
        "AIza" + "h8" * 18,
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_key_is_struck_out(secret: str) -> None:
    assert Redactor().text(f"a {secret} b") == "a *** b"


def test_a_password_in_an_address_is_struck_out() -> None:
    assert Redactor().text("postgres://bob:s3cret@db/x") == "postgres://***@db/x"


@pytest.mark.parametrize(
    "text",
    ["sk-learn", "task-sk-1", "https://example.org:8080/a@b", "def test_key(): assert 'a:b@c'", "eyJ.a.b"],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor().text(text) == text


def test_secrets_that_are_given_are_struck_out_the_longest_first() -> None:
    redactor = Redactor(["correct-horse", "correct-horse-battery", "short"])
    assert redactor.text("correct-horse-battery correct-horse short") == "*** *** short"


def test_plain_data_is_struck_through_keys_included() -> None:
    redactor = Redactor(["correct-horse"])
    assert redactor.data({"correct-horse": ["a correct-horse", 1, None, {"x": ("correct-horse",)}]}) == {
        "***": ["a ***", 1, None, {"x": ["***"]}]
    }


def test_what_the_environment_calls_a_secret_is_one() -> None:
    environment = {
        "OPENAI_API_KEY": "not-by-its-looks",
        "SOME_TOKEN": "another-one-1",
        "TESTFORGE_WEBHOOK_SECRET": "hook-hook-hook",
        "TESTFORGE_PRIVATE_KEY_FILE": "/etc/testforge/key.pem",
        "DB_PASSWORD": "password",
        "MONKEY": "business-as-usual",
        "PATH": "/usr/bin:/usr/local/bin",
    }
    text = " ".join(environment.values())
    assert configured(environment).text(text) == (
        "*** *** *** /etc/testforge/key.pem password business-as-usual /usr/bin:/usr/local/bin"
    )


def test_a_token_in_an_address_of_the_environment_is_struck_out_wherever_it_stands() -> None:
    redactor = configured(
        {"OPENAI_API_BASE": "https://a-token-alone@gateway/v1", "PROXY": "http://bob:proxy-password@proxy:1"}
    )
    assert redactor.text("sent a-token-alone, proxy-password") == "sent ***, ***"


@pytest.mark.parametrize("name", ["DB_PWD", "GITLAB_PAT", "NPM_AUTH", "AZURE_SAS", "AWS_SECRET_ACCESS_KEY"])
def test_names_that_mean_a_secret_without_saying_so(name: str) -> None:
    assert configured({name: "x7-abcdef/123"}).text("it is x7-abcdef/123") == "it is ***"
