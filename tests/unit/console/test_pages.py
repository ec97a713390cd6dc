"""What is served as the console and the review page, and with what headers."""

import re
from os.path import normpath
from pathlib import PurePosixPath

import pytest

from functions.console import serve_pages
from functions.console.serve_pages import assets, lambda_handler


def get(path, *, method="GET", **headers):
    event = {
        "rawPath": path,
        "headers": headers,
        "requestContext": {"http": {"method": method, "path": path}},
    }
    return lambda_handler(event, None)


BOTH = pytest.mark.parametrize("page", ["console", "review"])


@BOTH
def test_a_page_names_its_parts_relative_to_itself_and_all_are_there(page):
    answer = get(f"/{page}")
    assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (
        200,
        "text/html; charset=utf-8",
    )
    assert answer["headers"]["Cache-Control"] == "no-cache"
    named = re.findall(r'(?:href|src)="([^"#][^"]*)"', answer["body"])
    assert len(named) >= 4
    for name in named:
        assert name.startswith(f"{page}/")
        part = get(f"/{name}")
        assert part["statusCode"] == 200
        assert "immutable" in part["headers"]["Cache-Control"]


def test_scripts_import_only_what_is_served():
    seen = 0
    for name, asset in assets().items():
        if name.endswith(".js"):
            assert asset.content_type.startswith("text/javascript")
            for imported in re.findall(r'\b(?:from|import) ?\(?"(\.[^"]+)"', asset.text):
                seen += 1
                assert normpath(PurePosixPath(name).parent / imported) in assets(), (name, imported)
    assert seen > 50


def test_what_pages_are_pinned_by_and_what_npm_leaves_is_not_served(monkeypatch, tmp_path):
    for name in ("package.json", "package-lock.json", "vendor/htm@3.1.1/LICENSE"):
        assert get(f"/console/v/{name}")["statusCode"] == 404
    installed = tmp_path / "node_modules" / "htm" / "index.js"
    installed.parent.mkdir(parents=True)
    installed.write_text("left behind")
    (tmp_path / "index.html").write_text("{version}")
    monkeypatch.setattr(serve_pages, "_FOLDER", tmp_path)
    assets.cache_clear()
    try:
        assert set(assets()) == {"index.html"}
    finally:
        assets.cache_clear()


@BOTH
def test_a_policy_allows_nothing_but_what_is_served_here(page):
    headers = get(f"/{page}")["headers"]
    policy = headers["Content-Security-Policy"]
    for directive in (
        *("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"),
        *("frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"),
        "require-trusted-types-for 'script'",
    ):
        assert directive in policy.split("; ")
    assert "unsafe" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_only_the_review_page_may_make_html_of_text_and_by_one_name():
    policies = [
        get(f"/{page}")["headers"]["Content-Security-Policy"] for page in ("console", "review")
    ]
    assert [policy.split("; ")[-1] for policy in policies] == [
        "trusted-types 'none'",
        "trusted-types rendered-by-the-service",
    ]


@BOTH
def test_a_page_has_no_inline_script_or_style(page):
    body = get(f"/{page}")["body"]
    assert re.findall(r"<script(?![^>]*\bsrc=)", body) == []
    assert re.findall(r"\s(?:on\w+|style)=", body) == []
    assert "<style" not in body
    assert "://" not in body


def test_our_scripts_make_no_code_and_no_html_of_text():
    for name, asset in assets().items():
        if name.endswith(".js") and not name.startswith(("vendor/", "review/")):
            assert not re.search(
                r"innerHTML|outerHTML|\beval\(|new Function|document\.write", asset.text
            ), name


@BOTH
def test_a_slash_too_many_leads_back_and_unknown_paths_are_not_found(page):
    slash = get(f"/{page}/")
    assert (slash["statusCode"], slash["headers"]["Location"]) == (308, f"../{page}")
    for path in ("x", "x/", "x/y.js", "../api.py", "v/../../api.py", "v/index.html", "v//app.js"):
        assert get(f"/{page}/{path}")["statusCode"] == 404
    assert get("/elsewhere")["statusCode"] == 404


def test_parts_of_another_version_are_not_kept():
    assert get("/review/0000/review/page.css")["headers"]["Cache-Control"] == "no-cache"


@BOTH
def test_a_page_that_did_not_change_is_not_sent_again(page):
    etag = get(f"/{page}")["headers"]["ETag"]
    again = get(f"/{page}", **{"If-None-Match": f"W/{etag}"})
    assert (again["statusCode"], again["body"]) == (304, "")


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@BOTH
def test_pages_are_only_read(page, method):
    assert get(f"/{page}", method=method)["statusCode"] == 405
    assert get(f"/{page}", method="HEAD")["statusCode"] == 200


def imported_by(name):
    found = re.findall(
        r'^(?:import|export)\b[^;(]*?from ?"(\.[^"]+)"', assets()[name].text, re.MULTILINE
    )
    return {normpath(PurePosixPath(name).parent / path) for path in found}


def test_the_console_loads_what_it_begins_with_at_once_and_no_more():
    """Browsers would otherwise learn of modules one after the other."""
    needed, new = set(), {"app.js"}
    while new:
        needed |= new
        new = {name for one in new for name in imported_by(one)} - needed
    named = re.findall(r'rel="modulepreload" href="console/\w+/([^"]+)"', get("/console")["body"])
    assert sorted(named) == sorted(needed - {"app.js"})
    assert not any("uplot" in name for name in named)
