import webbrowser

import pytest

PAGE = "https://api.test/console#code=ses_"


@pytest.fixture
def opened(monkeypatch):
    """The addresses that a browser was opened with."""
    addresses = []
    monkeypatch.setattr(webbrowser, "open", lambda url: addresses.append(url) or True)
    return addresses


def test_the_console_is_opened_in_a_session_of_its_own(run, opened):
    ran = run("console", "--minutes", "60", "--name", "night shift")
    assert [url.startswith(PAGE) for url in opened] == [True]
    assert "#code=" not in ran.stdout + ran.stderr
    (session,) = run("sessions", "list", "--json").json_lines
    assert (session["name"], session["status"]) == ("night shift", "pending")
    assert session["id"] in ran.stderr
    assert session["id"] in opened[0]
    assert "revoked" in run("sessions", "revoke", session["id"]).stdout
    assert "revoked" in run("sessions", "list").stdout


def test_the_address_is_printed_instead_or_where_there_is_no_browser(run, opened, monkeypatch):
    assert run("console", "--print").stdout.startswith(PAGE)
    made = run("console", "--json").json_lines[0]
    assert made["url"].startswith(PAGE)
    assert opened == []
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    ran = run("console")
    assert ran.stdout.startswith(PAGE)
    assert "no browser" in ran.stderr


@pytest.mark.parametrize("minutes", ["4", "721"])
def test_a_session_lasts_no_longer_than_twelve_hours(run, opened, minutes):
    assert run("console", "--minutes", minutes).exit_code == 2
    assert opened == []
