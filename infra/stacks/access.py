"""Keys, and every path that no other function serves."""

from constructs import Construct

from infra.constructs.signed_api import resource_paths
from infra.stacks.domain_stack import USES_OF_KEYS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import BY_COLLECTION_INDEX


class AccessStack(DomainStack):
    """Holds the function of keys."""

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(scope, domain="access", shared=shared, holds="keys, and unknown paths")
        keys = self.create_api("AccessApi")
        shared.data.registry.grant_read(keys.function, "BatchGetItem", keys=USES_OF_KEYS)
        shared.data.registry.grant_write(keys.function, "PutItem", "UpdateItem", keys="key_*")
        shared.data.registry.grant_query_index(keys.function, index_name=BY_COLLECTION_INDEX)
        self.grant_count_entities(keys)
        http.api.route(keys, paths=resource_paths("keys"))
        http.api.route_unknown_paths(keys)
