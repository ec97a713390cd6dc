"""Parts that make samples of chat completions, from what the ledger has of them."""

from functools import cached_property

from autotune_platform.decks.capture.capturing import Capturing
from autotune_platform.decks.capture.settings import CaptureRepository
from autotune_platform.ledger.passed_chats import PassedChats
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.decks import CaptureEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.telemetry import TelemetryParts


class CaptureParts(TelemetryParts):
    """What captures calls that were handed over."""

    environment: CaptureEnvironment

    @cached_property
    def capturing(self) -> Capturing:
        ledger = Table(self.environment.ledger_table, clients.dynamodb())
        return Capturing(
            settings=CaptureRepository(self.decks_table),
            chats=PassedChats(
                rows=RowRepository(ledger),
                texts=RowTexts(
                    table=ledger, bucket=self.environment.ledger_bucket, s3=clients.s3()
                ),
            ),
            intake=self.telemetry_intake,
        )
