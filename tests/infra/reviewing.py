"""How permissions are written down that end-to-end tests are not seen to use."""

from collections.abc import Iterator

from tests.support.permissions import Reviewed


def never(function: str, action: str, resource: str, why: str) -> Reviewed:
    """Of a permission that a service asks for itself, which MiniStack does not model."""
    return Reviewed(function=function, action=action, resource=resource, why=why)


def rare(function: str, grants: str, why: str) -> Iterator[Reviewed]:
    """Of branches that hang on timing or on a failure; lines of action, resource and keys."""
    for line in grants.strip().splitlines():
        action, resource, *keys = line.split()
        yield Reviewed(
            function=function,
            action=action,
            resource=resource,
            keys=keys[0] if keys else "",
            why=why,
            is_rare=True,
        )
