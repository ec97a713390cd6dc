"""The API that every domain adds its routes to."""

from constructs import Construct

from infra.constructs.signed_api import SignedApi
from infra.stacks.domain_stack import DomainStack, Shared


class HttpStack(DomainStack):
    """Holds the API; routes are in the stacks of their functions, and the stage comes after them.

    Attributes:
        api: What routes are added to.
        url_environment: For functions that name the address of the API.
    """

    def __init__(self, scope: Construct, *, shared: Shared) -> None:
        super().__init__(scope, domain="http", shared=shared, holds="the API")
        config = shared.config
        self.api = SignedApi(
            self,
            "Api",
            name=shared.service_name,
            origin=config.api_origin,
        )
        self.url_environment = {"API_URL": self.api.url}
