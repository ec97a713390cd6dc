"""The console: pages that operators and trainers open in a browser."""

from constructs import Construct

from infra.stacks.domain_stack import API_TIMEOUT, DomainStack, Shared
from infra.stacks.http import HttpStack


class ConsoleStack(DomainStack):
    """Serves files: whoever opens a page proves to the API who they are."""

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(scope, domain="console", shared=shared, holds="its pages")
        pages = self.create(
            "Pages",
            module="serve_pages",
            description="Serves the console, which holds no data",
            timeout=API_TIMEOUT,
            reads_environment=False,
        )
        http.api.route(pages, paths=["/console", "/console/{proxy+}"], keyless=True)
