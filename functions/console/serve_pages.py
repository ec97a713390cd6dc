"""The console and the review page: HTML, CSS and JavaScript as they lie in ``console/``.

They hold no data and know no secrets. What they show they ask the API for: the review page with the
token that stands in the link's fragment, the console with a session that it signs with.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[2] / "console"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INSTALLED = "node_modules"


@dataclass(frozen=True)
class _Page:
    """A page, and the one name by which it may turn text into HTML, if there is one."""

    file: str
    trusted_types: str


# Rendered texts reach the review page by one named policy; the console never makes HTML of text.
_PAGES = {
    "/console": _Page("index.html", "'none'"),
    "/review": _Page("review/index.html", "rendered-by-the-service"),
}
# Nothing is run, styled or fetched but what comes from here.
_POLICY = [
    *("default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'"),
    *("connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"),
    "require-trusted-types-for 'script'",
]
_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Asset:
    """A file of the pages."""

    text: str
    content_type: str
    etag: str


@cache
def assets() -> Mapping[str, Asset]:
    """Return what pages are made of, by its path below ``console/``."""
    found = {
        file.relative_to(_FOLDER).as_posix(): file.read_text()
        for file in _FOLDER.rglob("*")
        if file.suffix in _TYPES and _INSTALLED not in file.relative_to(_FOLDER).parts
    }
    # Pages name their parts by what all hold, so that browsers keep them until one changes.
    version = _digest("".join(f"{name}\0{found[name]}\0" for name in sorted(found)))
    return {
        name: Asset(
            text=text.replace("{version}", version) if name.endswith(".html") else text,
            content_type=_TYPES[Path(name).suffix],
            etag=version,
        )
        for name, text in found.items()
    }


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answer ``GET /console`` and ``/review``, and for parts ``/<either>/<version>/<file>``."""
    path: str = event["rawPath"]
    first, _, below = path.removeprefix("/").partition("/")
    page = _PAGES.get(f"/{first}")
    if page is None:
        return _answer(404, "There is no such page.", {}, trusted_types="'none'")
    if event["requestContext"]["http"]["method"] not in {"GET", "HEAD"}:
        allowed = {"Allow": "GET, HEAD"}
        return _answer(405, "This page is only read.", allowed, trusted_types=page.trusted_types)
    if path == f"/{first}/":
        # Relative addresses in the page count from the path without the slash.
        location = {"Location": f"../{first}"}
        return _answer(308, "", location, trusted_types=page.trusted_types)
    version, _, name = below.partition("/")
    asset = assets().get(name if version else page.file)
    if asset is None or (version and name.endswith(".html")):
        return _answer(404, "There is no such page.", {}, trusted_types=page.trusted_types)
    headers = {"Content-Type": asset.content_type, "ETag": f'"{asset.etag}"'}
    headers["Cache-Control"] = _FOR_EVER if version == asset.etag else "no-cache"
    sent = {key.lower(): value for key, value in event.get("headers", {}).items()}
    if headers["ETag"] in sent.get("if-none-match", ""):
        return _answer(304, "", headers, trusted_types=page.trusted_types)
    return _answer(200, asset.text, headers, trusted_types=page.trusted_types)


def _answer(
    status: int, body: str, headers: Mapping[str, str], *, trusted_types: str
) -> dict[str, Any]:
    policy = "; ".join([*_POLICY, f"trusted-types {trusted_types}"])
    plain = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-cache"}
    return {
        "statusCode": status,
        "headers": {"Content-Security-Policy": policy, **_HEADERS, **plain, **headers},
        "body": body,
        "isBase64Encoded": False,
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
