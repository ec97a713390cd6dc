"""Environments of the functions of decks and their samples."""

from autotune_platform.runtime.environment.base import Environment


class DeckEnvironment(Environment):
    """For functions that look after decks."""

    decks_table: str


class IngestUrlEnvironment(DeckEnvironment):
    """For the function that makes ingest URLs, which hang below ``api_url``."""

    api_url: str


class SampleEnvironment(DeckEnvironment):
    """For functions that read or write samples of decks."""

    content_bucket: str


class CaptureEnvironment(SampleEnvironment):
    """For the function that makes samples of chat completions."""

    ledger_table: str
    ledger_bucket: str
