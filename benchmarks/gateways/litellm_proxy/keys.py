"""Keys of LiteLLM's proxy without a database: each names its budget, as ``sk-NAME-USD``.

``custom_auth`` is LiteLLM's documented way to bring keys of one's own; with
``custom_auth_run_common_checks`` it keeps their ``max_budget`` as it keeps that of a stored key.
"""

from fastapi import Request
from litellm.proxy._types import UserAPIKeyAuth


async def authenticate(request: Request, api_key: str) -> UserAPIKeyAuth:  # noqa: ARG001 - asked by name
    """Return what is known of a key."""
    budget = float(api_key.rpartition("-")[2])
    return UserAPIKeyAuth(api_key=api_key, token=api_key, max_budget=budget, spend=0.0)
