"""Connections that have the keys of an ``apprentice.yaml``, made from environment variables."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from autotune.client import AutotuneClient
from autotune.client.apprentice_files.faults import ApprenticeFileFault
from autotune.client.apprentice_files.models import ApprenticeFile, AskedModel, KeySource
from autotune.protocol.limits import MAX_LLM_KEY_CHARACTERS
from autotune.protocol.llm_connections import LlmConnection

_KEY = re.compile(r"[!-~]+")
_SHOWN_CHARACTERS = 4


@dataclass(frozen=True, kw_only=True)
class KeyPlan:
    """What becomes of the connection that has the key of a variable.

    Attributes:
        connection: it, where there is one; the name says which variable it is of.
        key: what the variable holds; None where the connection has it already.
    """

    source: KeySource
    connection: LlmConnection | None
    key: str | None = field(repr=False)

    @property
    def change(self) -> str:
        """One of ``new``, ``key changed`` and ``unchanged``."""
        if self.connection is None:
            return "new"
        return "unchanged" if self.key is None else "key changed"

    def carry_out(self, client: AutotuneClient) -> str:
        """Make the connection or give it the key, where that is needed; return its id."""
        connections = client.llm.connections
        if self.connection is None:
            made = connections.create(
                name=self.source.connection_name,
                provider=self.source.ledgers_provider,
                api_key=self.key,
                base_url=self.source.base_url,
            )
            return made.id
        if self.key is not None:
            connections.update(self.connection.id, api_key=self.key)
        return self.connection.id


def plan_keys(
    file: ApprenticeFile, connections: Iterable[LlmConnection]
) -> tuple[list[KeyPlan], list[ApprenticeFileFault]]:
    """Return what becomes of the connections of variables, and what of the file cannot be.

    Args:
        connections: all of the organisation, oldest first, revoked ones included.
    """
    kept = {one.id: one for one in connections if one.status != "revoked"}
    plans: dict[KeySource, KeyPlan] = {}
    faults = []
    for asked in file.asked():
        source = asked.source
        if source.connection is not None:
            expected = _problem_of(source, kept.get(source.connection))
            if expected is not None:
                faults.append(file.fault((*asked.path, "connection"), expected))
            continue
        key = os.environ.get(str(source.api_key_env), "").strip()
        if _KEY.fullmatch(key) is None or len(key) > MAX_LLM_KEY_CHARACTERS:
            faults.append(_no_key(file, asked))
        elif source not in plans:
            plans[source] = _plan(source, key, kept)
    return list(plans.values()), faults


def _plan(source: KeySource, key: str, kept: Mapping[str, LlmConnection]) -> KeyPlan:
    found = next(
        (
            one
            for one in kept.values()
            if (one.name, one.provider) == (source.connection_name, source.ledgers_provider)
            and _is_at(one, source)
        ),
        None,
    )
    # Of a key that is too short nothing is shown: it is set each time.
    is_known = found is not None and found.key_ends_with == key[-_SHOWN_CHARACTERS:]
    return KeyPlan(source=source, connection=found, key=None if is_known else key)


def _is_at(connection: LlmConnection, source: KeySource) -> bool:
    """Return whether a connection's key may go where a file has it sent; of paid models it may."""
    return source.base_url is None or connection.base_url.rstrip("/") == source.base_url.rstrip("/")


def _problem_of(source: KeySource, connection: LlmConnection | None) -> str | None:
    if connection is None:
        return f"no connection {source.connection} in use: `autotune llm connections` shows them"
    if connection.provider != source.ledgers_provider:
        said = "backend" if source.base_url is not None else "provider"
        return (
            f"is a connection to {connection.provider}, and {said} is {source.provider}, which "
            f"needs one to {source.ledgers_provider}"
        )
    return None


def _no_key(file: ApprenticeFile, asked: AskedModel) -> ApprenticeFileFault:
    expected = (
        f"the environment variable {asked.source.api_key_env} holds no key: expected 1 to "
        f"{MAX_LLM_KEY_CHARACTERS} printable ASCII characters without spaces"
    )
    return file.fault((*asked.path, "api_key_env"), expected)
