"""What an ``apprentice.yaml`` says: tasks, and with whose keys their paid models are asked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autotune.client.apprentice_files.faults import ApprenticeFileFault, Path, dotted
from autotune.client.apprentice_files.yaml_text import YamlText
from autotune.protocol.apprentice_models import RemoteModel
from autotune.protocol.apprentice_tasks import PutApprenticeTaskRequest
from autotune.protocol.ids import derived_id
from autotune.protocol.llm_connections import LlmProvider

LEDGERS_NAMES: Mapping[str, LlmProvider] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "google": "gemini",
}
"""Providers as the file names them, and as connections do."""


@dataclass(frozen=True)
class KeySource:
    """Where the key of a paid model is, or of a server of a small one.

    Attributes:
        provider: as the file names it.
        connection: the id of the connection that has the key; None where a variable has it.
        api_key_env: the environment variable that has the key.
        base_url: where a server of a small model listens, whose backend is the provider here; None
            of a paid model.
    """

    provider: str
    connection: str | None = None
    api_key_env: str | None = None
    base_url: str | None = None

    @property
    def ledgers_provider(self) -> LlmProvider:
        """The provider as connections name it."""
        return LEDGERS_NAMES[self.provider] if self.base_url is None else "simulated"

    @property
    def connection_name(self) -> str:
        """What the connection is called that has the key of the variable."""
        return f"apprentice {self.provider} {self.api_key_env}"

    @property
    def placeholder(self) -> str:
        """What stands in a configuration until the connection of the variable is known."""
        if self.connection is not None:
            return self.connection
        at = () if self.base_url is None else (self.base_url,)
        return derived_id("llc", self.provider, str(self.api_key_env), *at)


@dataclass(frozen=True)
class AskedModel:
    """A paid model of a task, or the server of its small one.

    Attributes:
        path: where the file says it.
    """

    path: Path
    source: KeySource


@dataclass(frozen=True)
class FileTask:
    """A task that a file has.

    Attributes:
        configuration: all of it, with placeholders in place of connections that are not known.
        asked: its paid models, the primary one first.
        local: the server of its small model, where that demands a key.
    """

    name: str
    configuration: PutApprenticeTaskRequest
    asked: Sequence[AskedModel]
    local: AskedModel | None = None

    def with_connections(self, ids: Mapping[KeySource, str]) -> PutApprenticeTaskRequest:
        """Return the configuration with the connections that have the keys.

        Raises:
            ValidationError: two models of one name are asked through one connection.
        """
        models = self.configuration.remote
        asked = [models.primary, *models.additional]
        primary, *additional = (
            _at(model, ids.get(one.source, one.source.placeholder))
            for model, one in zip(asked, self.asked, strict=True)
        )
        given = {"primary": primary, "additional": additional}
        if "additional" not in models.model_fields_set:
            del given["additional"]
        remote = type(models).model_validate(given)
        local = self.configuration.local
        if self.local is not None:
            source = self.local.source
            found = {"connection_id": ids.get(source, source.placeholder)}
            local = local.model_copy(update=found)
        return self.configuration.model_copy(update={"remote": remote, "local": local})


@dataclass(frozen=True)
class ApprenticeFile:
    """All that a file says.

    Attributes:
        source: its name.
        tasks: by name, in the order of the file.
        text: what it says as YAML, with lines.
        origins: by task, where its sections stand that it has from the top.
    """

    source: str
    tasks: Mapping[str, FileTask]
    text: YamlText
    origins: Mapping[str, Mapping[str, Path]]

    def asked(self) -> Iterator[AskedModel]:
        """Yield the paid models of all tasks, and servers of small ones that demand a key."""
        for task in self.tasks.values():
            yield from task.asked
            if task.local is not None:
                yield task.local

    def fault(self, path: Path, expected: str) -> ApprenticeFileFault:
        """Return a fault of what stands at a path of the file."""
        return ApprenticeFileFault(self.text.line_of(path), dotted(path), expected)

    def path_of(self, task: str, path: Path) -> Path:
        """Return where the file says a value of a task: within it, or at the top."""
        return place_of(self.origins[task], task, path)


def place_of(origins: Mapping[str, Path], task: str, path: Path) -> Path:
    """Return where the file says a value of a task, of which sections may stand at the top."""
    if path and isinstance(path[0], str) and path[0] in origins:
        return (*origins[path[0]], *path[1:])
    return ("tasks", task, *path)


def _at(model: RemoteModel, connection_id: str) -> RemoteModel:
    return model.model_copy(update={"connection_id": connection_id})
