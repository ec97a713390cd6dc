"""Making samples of calls that were handed over, from what the ledger has of them."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from aws_lambda_powertools import Logger

from autotune.protocol.limits import MAX_GROUP_KEY_CHARACTERS
from autotune_platform.decks.capture.redacting import redacted
from autotune_platform.decks.capture.settings import CaptureRepository, CaptureSettings
from autotune_platform.decks.conversion import FaultySampleError, instructions_of
from autotune_platform.decks.telemetry.intake import TelemetryIntake
from autotune_platform.decks.telemetry.models import Asked
from autotune_platform.ledger.passed_chats import PassedChat, PassedChats
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.errors import AutotuneError
from autotune_platform.runtime.parts import part

logger = Logger()


@part
class Capturing:
    """Takes calls in; one that comes twice is the same sample."""

    settings: CaptureRepository
    chats: PassedChats
    intake: TelemetryIntake

    def capture_all(self, bodies: Mapping[str, str]) -> set[str]:
        """Capture the calls that messages name, by their ids; return those that come again."""
        failed = set()
        for message_id, body in bodies.items():
            organization_id, _, row_id = body.partition(" ")
            try:
                self.capture(organization_id, row_id)
            except (*REFUSALS, AutotuneError):
                logger.exception("a call was not captured", llm_request_id=row_id)
                failed.add(message_id)
        return failed

    def capture(self, organization_id: str, row_id: str) -> None:
        """Make a sample of one call, or count it, if its organisation still has that done.

        Of a call whose texts were deleted meanwhile, nothing is kept.

        Raises:
            AutotuneError: a store is busy; capturing it again is safe.
        """
        settings = self.settings.get(organization_id)
        chat = self.chats.read(organization_id, row_id)
        if settings is None or chat is None:
            return
        row = chat.row
        if not settings.draws(row.id):
            return
        taken = self.intake.take(
            organization_id,
            # Not the provider's id of its answer, which some give to each alike.
            source_id=row.id,
            deck_id=row.deck_id,
            request=redacted(_without_others(settings, chat), settings.redactions),
            response=redacted(chat.response, settings.redactions),
            asked=_asked(chat, settings),
            provider=row.provider,
            model=row.served_model or row.model,
            metadata=_kept(settings, chat),
            group_key=_group(settings, chat),
            captured_at=row.created_at,
            expires_at=_expiry(settings, chat),
        )
        if taken.fault is not None:
            logger.info("a call is no sample", llm_request_id=row.id, reason=taken.fault)


def _without_others(settings: CaptureSettings, chat: PassedChat) -> dict[str, Any]:
    """Return what was asked, of whose metadata no more is stored than is kept."""
    asked = {"model": chat.row.model, **chat.request}
    given = asked.pop("metadata", None)
    if isinstance(given, Mapping):
        kept = {name: one for name, one in given.items() if name in settings.metadata_names}
        asked |= {"metadata": kept} if kept else {}
    return asked


def _asked(chat: PassedChat, settings: CaptureSettings) -> Asked:
    """Return how a call was asked, whose texts redacting may have changed."""
    try:
        prompt = instructions_of(chat.request)
    except FaultySampleError:
        prompt = None  # Taking it in says what is wrong with it.
    return Asked(prompt, lambda text: str(redacted(text, settings.redactions)))


def _kept(settings: CaptureSettings, chat: PassedChat) -> dict[str, str]:
    """Return labels and metadata of a call by the names that are kept, redacted."""
    found = _given(chat)
    return {
        name: redacted(found[name], settings.redactions)
        for name in settings.metadata_names
        if isinstance(found.get(name), str)
    }


def _given(chat: PassedChat) -> dict[str, Any]:
    given = chat.request.get("metadata")
    return {**(given if isinstance(given, Mapping) else {}), **chat.row.labels}


def _group(settings: CaptureSettings, chat: PassedChat) -> str | None:
    """Return the group key of a call; None where it goes by how its conversation began.

    Customers stay apart where redacting makes their names alike: such a value goes by a keyed hash.
    """
    value = None if settings.group_by is None else _given(chat).get(settings.group_by)
    if not isinstance(value, str) or not value.strip():
        return None
    is_plain = redacted(value, settings.redactions) == value
    is_kept = is_plain and len(value) <= MAX_GROUP_KEY_CHARACTERS
    return value if is_kept else settings.group_of(value)


def _expiry(settings: CaptureSettings, chat: PassedChat) -> datetime | None:
    """Return when a sample goes: as the settings say, and no later than the ledger's texts."""
    days = settings.retention_days
    mine = None if days is None else chat.row.created_at + timedelta(days=days)
    return min((one for one in (mine, chat.row.expires_at) if one is not None), default=None)
