"""Paid models as a file names them, by provider and key, in the words of the protocol."""

import re
from collections.abc import Callable
from typing import Any

from autotune.client.apprentice_files.faults import Path, dotted
from autotune.client.apprentice_files.models import LEDGERS_NAMES, KeySource
from autotune.protocol.ids import is_id

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_OWN = ("provider", "connection", "api_key_env")
_OWN_OF_LOCAL = ("connection", "api_key_env")

Fault = Callable[[Path, str], None]
"""Keeps a fault of a path."""


def read_remote(remote: Any, path: Path, fault: Fault) -> tuple[Any, list[tuple[Path, KeySource]]]:
    """Return a section ``remote`` with connections in place of providers, and its models.

    Args:
        path: where the file has it.
        fault: takes what is wrong with provider and key; the rest is left to the protocol.
    """
    sources: list[tuple[Path, KeySource]] = []
    if not isinstance(remote, dict):
        return remote, sources

    def one(model: Any, where: Path) -> Any:
        read, source = _read_model(model, where, fault)
        sources.append((where, source))
        return read

    read = dict(remote)
    if "primary" in remote:
        read["primary"] = one(remote["primary"], (*path, "primary"))
    if isinstance(remote.get("additional"), list):
        place = (*path, "additional")
        read["additional"] = [
            one(model, (*place, number)) for number, model in enumerate(remote["additional"])
        ]
    return read, sources


def read_local(local: Any, path: Path, fault: Fault) -> tuple[Any, KeySource | None]:
    """Return a section ``local`` with the connection whose key its server demands, and that key.

    Args:
        path: where the file has it.
        fault: takes what is wrong with the key; the rest is left to the protocol.
    """
    if not isinstance(local, dict):
        return local, None
    read = {name: value for name, value in local.items() if name not in _OWN_OF_LOCAL}
    if "connection_id" in read:
        fault((*path, "connection_id"), "is called connection here")
    connection, variable = local.get("connection"), local.get("api_key_env")
    if connection is None and variable is None:
        return read, None
    if connection is not None and variable is not None:
        fault(path, "expected either connection or api_key_env, not both")
    elif _is_named(connection, variable, path, fault) and isinstance(local.get("url"), str):
        source = KeySource(
            str(local.get("backend")),
            connection=connection,
            api_key_env=variable,
            base_url=local["url"],
        )
        return {**read, "connection_id": source.placeholder}, source
    return read, None


def _is_named(connection: Any, variable: Any, path: Path, fault: Fault) -> bool:
    """Return whether what has the key is named as it has to be; keep the fault if it is not."""
    if connection is not None and not (isinstance(connection, str) and is_id("llc", connection)):
        expected = "expected an id llc_…, as `autotune llm connections` shows it"
        fault((*path, "connection"), expected)
        return False
    if variable is not None and not (
        isinstance(variable, str) and _VARIABLE.fullmatch(variable) is not None
    ):
        # A key that was given by mistake is not repeated.
        expected = (
            "expected the name of an environment variable in capitals, such as OPENAI_API_KEY; "
            "the key itself never stands in this file"
        )
        fault((*path, "api_key_env"), expected)
        return False
    return True


def _read_model(model: Any, path: Path, fault: Fault) -> tuple[Any, KeySource]:
    unknown = KeySource("openai", api_key_env=dotted(path))
    if not isinstance(model, dict):
        return model, unknown
    read = {name: value for name, value in model.items() if name not in _OWN}
    source = _source(model, path, fault)
    if "connection_id" in read:
        fault((*path, "connection_id"), "is called connection here")
    read["connection_id"] = (source or unknown).placeholder
    return read, source or unknown


def _source(model: dict[str, Any], path: Path, fault: Fault) -> KeySource | None:
    provider = model.get("provider")
    names = ", ".join(LEDGERS_NAMES)
    is_known = isinstance(provider, str) and provider in LEDGERS_NAMES
    if not is_known:
        where = (*path, "provider") if "provider" in model else path
        fault(where, f"expected provider, one of {names}")
    connection, variable = model.get("connection"), model.get("api_key_env")
    if (connection is None) == (variable is None):
        expected = "expected either connection or api_key_env"
        fault(path, f"{expected}, not both" if connection is not None else expected)
        return None
    if not _is_named(connection, variable, path, fault):
        return None
    if not is_known:
        return None
    return KeySource(str(provider), connection=connection, api_key_env=variable)
