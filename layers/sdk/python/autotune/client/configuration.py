"""Where the API is, which key signs and which version asks: arguments, environment, local file."""

import json
import os
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

from autotune.client.errors import ConfigurationError

BASE_URL_VARIABLE = "AUTOTUNE_BASE_URL"
API_KEY_VARIABLE = "AUTOTUNE_API_KEY"
LOCAL_PROFILE = Path(".autotune") / "local.json"


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A base URL without a trailing slash, and the two halves of an API key.

    Attributes:
        is_local: the address came from ``.autotune/local.json``.
    """

    base_url: str
    key_id: str
    secret: str = field(repr=False)
    is_local: bool = False


def find_configuration(*, base_url: str | None, api_key: str | None) -> Configuration:
    """Complete what was given from the environment, then from ``.autotune/local.json``.

    The file is looked for in the working directory and its parents. Its key is used with its own
    address only: a local key is never sent to another server.

    Raises:
        ConfigurationError: something is missing, or cannot be read.
    """
    address = base_url or os.environ.get(BASE_URL_VARIABLE)
    credential = api_key or os.environ.get(API_KEY_VARIABLE)
    is_local = not address
    if not (address and credential):
        profile = _local_profile()
        if not credential and address in (None, "", profile.get("baseUrl")):
            credential = profile.get("apiKey")
        address = address or profile.get("baseUrl")
    if not address:
        raise ConfigurationError(_missing("address", "base_url", BASE_URL_VARIABLE))
    if not credential:
        raise ConfigurationError(_missing("key", "api_key", API_KEY_VARIABLE))
    key_id, secret = _split_key(credential)
    return Configuration(
        base_url=_checked_url(address), key_id=key_id, secret=secret, is_local=is_local
    )


def _missing(what: str, argument: str, variable: str) -> str:
    return (
        f"no API {what}: give {argument}, set {variable}, "
        f"or run below a directory that has {LOCAL_PROFILE.as_posix()} (`make up` writes it)"
    )


def _split_key(credential: str) -> tuple[str, str]:
    key_id, _, secret = credential.strip().partition(".")
    if not (key_id and secret and credential.isascii()):
        detail = "the API key must read <key id>.<secret>, as it was shown once"
        if credential.strip().startswith("sk-"):
            detail += "; a provider's key goes into a connection: `autotune llm connect --key-env`"
        raise ConfigurationError(detail)
    return key_id, secret


def _checked_url(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"the base URL must be http(s)://host[/path], not {address!r}")
    if parts.query or parts.fragment:
        raise ConfigurationError(f"the base URL must have neither query nor fragment: {address!r}")
    return address.rstrip("/")


def _local_profile() -> dict[str, str]:
    here = Path.cwd()
    for directory in (here, *here.parents):
        path = directory / LOCAL_PROFILE
        if path.is_file():
            return _read_profile(path)
    return {}


def _read_profile(path: Path) -> dict[str, str]:
    try:
        profile = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    if not isinstance(profile, dict):
        raise ConfigurationError(f"{path} must hold a JSON object")
    return {name: value for name, value in profile.items() if isinstance(value, str)}


def installed_version() -> str:
    """Return the version of ``autotune-sdk``, or ``unknown`` where it is not installed."""
    try:
        return version("autotune-sdk")
    except PackageNotFoundError:
        return "unknown"
