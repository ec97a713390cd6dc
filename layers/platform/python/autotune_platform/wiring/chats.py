"""Parts of OpenAI's chat completions, which are passed through to providers."""

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.decks.capture.handing_over import CaptureHandover
from autotune_platform.decks.capture.settings import CaptureRepository
from autotune_platform.ledger.call_claims import CallClaimRepository
from autotune_platform.ledger.compatible.chat_places import ChatPlaces
from autotune_platform.ledger.compatible.chats import CompatibleChats
from autotune_platform.ledger.compatible.chats_again import ChatsAgain
from autotune_platform.ledger.token_proofs import TokenProofs
from autotune_platform.ledger.token_repository import TokenRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.compatible import ChatEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.model_calls import ModelCallParts

if TYPE_CHECKING:
    from autotune_platform.apprentice.chats.service import TaskChats


class ChatApiParts(ApiParts, ModelCallParts):
    """What passes chat completions through with the keys of connections, or has tasks answer."""

    environment: ChatEnvironment

    @cached_property
    def llm_tokens(self) -> TokenProofs:
        return TokenProofs(repository=TokenRepository(self.registry_table))

    @cached_property
    def capture_handover(self) -> CaptureHandover:
        # At the end of a request, which a store that is down must not hold up for long.
        decks = Table(self.environment.decks_table, clients.brief_dynamodb())
        return CaptureHandover(
            repository=CaptureRepository(decks),
            sqs=clients.brief_sqs(),
            queue_url=self.environment.capture_queue_url,
        )

    @cached_property
    def chat_places(self) -> ChatPlaces:
        slots = Slots(budgets=BudgetRepository(self.budgets_table))
        return ChatPlaces(
            waiting=WaitingShares(slots=slots, of="chats"),
            functions=self.environment.chat_functions,
        )

    @cached_property
    def task_chat_places(self) -> ChatPlaces:
        # A chat of a connection ends with its function, of which so many are reserved. The worker
        # that a task's chat calls may go on for minutes after it.
        most, places = self.environment.chat_functions, self.chat_places
        waiting = WaitingShares(slots=places.waiting.slots, of="chats", most_of_all=most)
        return ChatPlaces(waiting=waiting, functions=most)

    @cached_property
    def task_chats(self) -> "TaskChats":
        # Chats of connections need nothing of this; validation by schemas is slow to import.
        from autotune_platform.apprentice.chats.service import TaskChats  # noqa: PLC0415
        from autotune_platform.wiring.apprentice_runs import (  # noqa: PLC0415
            RunStartParts,
        )

        runs = RunStartParts(self.environment)
        return TaskChats(
            tasks=runs.task_repository,
            standings=runs.standings,
            starting=runs.run_starting,
            answers=runs.run_answers,
            places=self.task_chat_places,
        )

    @cached_property
    def compatible_chats(self) -> CompatibleChats:
        return CompatibleChats(
            calls=self.ledger_calls,
            connections=self.connection_repository,
            again=ChatsAgain(
                claims=CallClaimRepository(self.ledger_table),
                rows=self.llm_rows,
                texts=self.row_texts,
            ),
            places=self.chat_places,
            listener=self.capture_handover,
        )
