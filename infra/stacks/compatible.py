"""OpenAI's API: batches in front of the ledger's imports, and chat completions that wait."""

from constructs import Construct

from infra.stacks.apprentice import ApprenticeStack
from infra.stacks.decks import CAPTURE_SETTINGS, DecksStack
from infra.stacks.domain_stack import MONEY, REQUESTS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.stacks.ledger import CONNECTIONS, LedgerStack
from infra.tables import BY_COLLECTION_INDEX

COSTS = "cost#*"
TRACED_COSTS = "traced#*"
CALL_CLAIMS = "call#*"


class CompatibleStack(DomainStack):
    """Lets programs ask that know OpenAI's API and can sign nothing."""

    def __init__(
        self,
        scope: Construct,
        *,
        shared: Shared,
        http: HttpStack,
        ledger: LedgerStack,
        decks: DecksStack,
        apprentice: ApprenticeStack,
    ) -> None:
        super().__init__(scope, domain="compatible", shared=shared, holds="OpenAI's API")
        data = shared.data
        # The openai package signs nothing: the function checks the token that it sends as its key.
        api = self.create_keyless_api("OpenAiApi", environment=ledger.import_environment)
        data.registry.grant_read(api.function, "GetItem")
        data.registry.grant_write(api.function, "DeleteItem", "PutItem", keys="llf_*")
        data.registry.grant_write(api.function, "PutItem", "UpdateItem", keys="lob_*")
        data.registry.grant_write(api.function, "PutItem", keys="openai-batch#*")
        data.registry.grant_query_index(api.function, index_name=BY_COLLECTION_INDEX)
        self.grant_count_requests(api)
        data.ledger.grant_read(api.function, "BatchGetItem", "GetItem")
        # Whoever has a token may ask and cancel: imports, their rows, and how many there are.
        data.ledger.grant_write(api.function, "PutItem", "UpdateItem", keys="lim_*")
        data.ledger.grant_write(api.function, "UpdateItem", keys="llm_*")
        data.ledger.grant_write(api.function, "UpdateItem", keys="open#*")
        data.ledger_texts.grant_read(api.function)
        data.exports.grant_read_write(api.function)
        ledger.imports.state_machine.grant_start_execution(api.function)
        self._add_chats(http, ledger, decks, apprentice)
        http.api.route(
            api,
            paths=["/v1/files", "/v1/files/{proxy+}", "/v1/batches", "/v1/batches/{proxy+}"],
            keyless=True,
        )

    def _add_chats(
        self, http: HttpStack, ledger: LedgerStack, decks: DecksStack, apprentice: ApprenticeStack
    ) -> None:
        """Routes chat completions, each of which holds a function until its provider answers."""
        data = self.shared.data
        functions = self.shared.config.chat_functions
        chats = self.create_keyless_api(
            "ChatApi",
            module="chat_api",
            environment={
                **ledger.call_environment,
                **decks.deck_environment,
                **apprentice.answering.start_environment,
                "CAPTURE_QUEUE_URL": decks.captures.queue.queue_url,
                **({} if functions is None else {"CHAT_FUNCTIONS": str(functions)}),
            },
            most_at_once=functions,
        )
        ledger.callers.append(chats)
        self.grant_count_requests(chats)
        self.grant_share_waiting(chats)
        data.registry.grant_read(chats.function, "GetItem")
        data.ledger.grant_read(chats.function, "GetItem")
        # What is sent again with its idempotency key is answered from the texts of its row.
        data.ledger.grant_read(chats.function, "BatchGetItem", keys=REQUESTS)
        # Rows of its own, what they cost, by which keys, and that a budget had no room for one.
        data.ledger.grant_write(chats.function, "PutItem", "UpdateItem", keys=REQUESTS)
        for keys in (COSTS, TRACED_COSTS, MONEY, CALL_CLAIMS):
            data.ledger.grant_write(chats.function, "UpdateItem", keys=keys)
        data.ledger_texts.grant_read_write(chats.function)
        data.budgets.grant_read(chats.function, "GetItem")
        data.budgets.grant_write(chats.function, "UpdateItem", keys=MONEY)
        data.budgets.grant_write(chats.function, "PutItem", "UpdateItem", keys=CONNECTIONS)
        data.provider_keys.grant_open(chats)
        data.decks.grant_read(chats.function, "GetItem", keys=CAPTURE_SETTINGS)
        decks.captures.grant_send(chats)
        # Who has the token of a task has runs of it.
        apprentice.answering.grant_start(chats)
        self.alarms.watch_log(
            chats,
            name="CallsNotHandedOver",
            message="a call was not handed over to capture",  # as ``decks.capture`` words it
            description="Chat completions were answered, and not handed over to capture",
        )
        http.api.route(chats, paths=["/v1/chat/completions", "/v1/models"], keyless=True)
