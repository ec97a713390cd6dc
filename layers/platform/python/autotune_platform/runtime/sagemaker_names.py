"""Names at SageMaker, which an account's stacks share: each begins with that of its stack."""

from typing import Final

MOST_NAME_CHARACTERS: Final = 63
STACK_TAG: Final = "autotune:stack"
"""The tag that says whose something at SageMaker is."""


def sagemaker_name(prefix: str, rest: str) -> str:
    """Return the name of something that a stack makes at SageMaker.

    It has letters, digits and hyphens alone.

    Args:
        prefix: the stack's name.
        rest: what makes it one that nothing else of the stack ever has.

    Raises:
        ValueError: SageMaker takes no name as long as this.
    """
    name = f"{prefix}-{rest.replace('_', '-')}"
    if len(name) > MOST_NAME_CHARACTERS:
        raise ValueError(f"{name} has more than {MOST_NAME_CHARACTERS} characters")
    return name
