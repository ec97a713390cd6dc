"""Has MiniStack know the resources of a nested stack after an update as it did before.

MiniStack hands a resource that is updated what is known of it, such as its ARN, and has that back
where nothing has changed. For resources of nested stacks it hands nothing, so that the first
reference to one fails the update.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from ministack.services import cloudformation
from ministack.services.cloudformation import provisioners

Update = Callable[..., tuple[str, dict[str, Any]]]


def install() -> None:
    """Change the MiniStack of this process."""
    # Stacks that are nested in none have their own reference to it, and hand what is known.
    provisioners._update_resource = keeping_attributes(  # noqa: SLF001 - it has no setting
        provisioners._update_resource  # noqa: SLF001
    )


def keeping_attributes(update: Update) -> Update:
    """Have an update answer with what was known of a resource, and what it adds."""

    @wraps(update)
    def update_keeping(
        kind: str,
        physical_id: str,
        before: dict[str, Any],
        after: dict[str, Any],
        stack: str,
        logical_id: str,
    ) -> tuple[str, dict[str, Any]]:
        resources = cloudformation._stacks[stack]["_resources"]  # noqa: SLF001 - nothing else tells
        known = resources[logical_id]["Attributes"]
        updated_id, added = update(kind, physical_id, before, after, stack, logical_id, known)
        # One that was replaced is another resource.
        return updated_id, {**known, **added} if updated_id == physical_id else added

    return update_keeping
