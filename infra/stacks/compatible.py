"""OpenAI's batch API: one function, in front of the ledger's imports."""

from constructs import Construct

from infra.stacks.domain_stack import DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.stacks.ledger import LedgerStack
from infra.tables import BY_COLLECTION_INDEX


class CompatibleStack(DomainStack):
    """Lets programs ask that know OpenAI's batch API and can sign nothing."""

    def __init__(
        self, scope: Construct, *, shared: Shared, http: HttpStack, ledger: LedgerStack
    ) -> None:
        super().__init__(scope, domain="compatible", shared=shared, holds="OpenAI's batch API")
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
        http.api.route(
            api,
            paths=["/v1/files", "/v1/files/{proxy+}", "/v1/batches", "/v1/batches/{proxy+}"],
            keyless=True,
        )
