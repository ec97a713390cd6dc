import json

import pytest

from autotune import AutotuneClient, ConfigurationError
from autotune.client.configuration import find_configuration

LOCAL = {"baseUrl": "http://localhost:1/stage", "apiKey": "key_local.aa"}


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    monkeypatch.delenv("AUTOTUNE_BASE_URL", raising=False)
    monkeypatch.delenv("AUTOTUNE_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_profile(directory, content=LOCAL):
    (directory / ".autotune").mkdir()
    text = content if isinstance(content, str) else json.dumps(content)
    (directory / ".autotune" / "local.json").write_text(text)


def found(base_url=None, api_key=None):
    configuration = find_configuration(base_url=base_url, api_key=api_key)
    return configuration.base_url, configuration.key_id, configuration.secret


def test_arguments_come_first(monkeypatch):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", "https://environment.example")
    monkeypatch.setenv("AUTOTUNE_API_KEY", "key_e.bb")
    assert found("https://a.example/", "key_a.cc") == ("https://a.example", "key_a", "cc")


def test_the_environment_comes_before_the_local_profile(monkeypatch, nowhere):
    write_profile(nowhere)
    monkeypatch.setenv("AUTOTUNE_BASE_URL", "https://environment.example")
    monkeypatch.setenv("AUTOTUNE_API_KEY", "key_e.bb")
    assert found() == ("https://environment.example", "key_e", "bb")


def test_the_nearest_profile_above_is_found(monkeypatch, nowhere):
    write_profile(nowhere)
    below = nowhere / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert found() == ("http://localhost:1/stage", "key_local", "aa")
    write_profile(nowhere / "a", {**LOCAL, "apiKey": "key_nearer.aa"})
    assert found()[1] == "key_nearer"


def test_another_key_can_be_used_on_the_local_stack(nowhere):
    write_profile(nowhere)
    assert found(api_key="key_other.dd") == ("http://localhost:1/stage", "key_other", "dd")


def test_the_local_key_never_goes_to_another_address(nowhere):
    write_profile(nowhere)
    with pytest.raises(ConfigurationError, match="no API key"):
        found(base_url="https://production.example")


@pytest.mark.parametrize("content", ["{", "[]", "\xff"])
def test_an_unreadable_profile_is_named(nowhere, content):
    write_profile(nowhere, content)
    with pytest.raises(ConfigurationError, match=r"local\.json"):
        found()


def test_what_is_missing_is_said_with_every_place_to_put_it():
    with pytest.raises(ConfigurationError, match=r"address.*AUTOTUNE_BASE_URL.*local\.json"):
        found()
    with pytest.raises(ConfigurationError, match=r"key.*AUTOTUNE_API_KEY"):
        found(base_url="https://a.example")


@pytest.mark.parametrize("key", ["nodot", ".secret", "key_1.", "key_é.aa"])
def test_a_key_of_another_form_is_refused(key):
    with pytest.raises(ConfigurationError, match=r"<key id>\.<secret>"):
        found("https://a.example", key)


@pytest.mark.parametrize("url", ["a.example", "ftp://a.example", "https://", "https://a?x=1"])
def test_an_address_of_another_form_is_refused(url):
    with pytest.raises(ConfigurationError, match="base URL"):
        found(url, "key_1.aa")


def test_the_secret_is_in_no_representation():
    assert "cafe" not in repr(find_configuration(base_url="https://a", api_key="key_1.cafe"))


def test_negative_retries_are_refused():
    with pytest.raises(ConfigurationError, match="max_retries"):
        AutotuneClient(base_url="https://a", api_key="key_1.aa", max_retries=-1)
