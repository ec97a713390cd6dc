"""Other people's clients of batch APIs, in environments of their own."""

from dataclasses import dataclass
from pathlib import Path

from integrations.environments import Environment

_SOURCES = Path(__file__).resolve().parent


@dataclass(frozen=True)
class LlmPeer:
    """A client that runs batch jobs of providers."""

    name: str
    package: str
    environment: Environment

    @property
    def script(self) -> Path:
        """What asks the questions with it."""
        return self.environment.source / "ask.py"

    @property
    def version(self) -> str:
        """The version that its lock names."""
        return self.environment.version_of(self.package)


LLM_PEERS = (
    LlmPeer("inspect_ai", "inspect-ai", Environment(_SOURCES / "inspect_ai")),
    LlmPeer("curator", "bespokelabs-curator", Environment(_SOURCES / "curator")),
    LlmPeer("LiteLLM", "litellm", Environment(_SOURCES / "litellm")),
)
