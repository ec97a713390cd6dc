"""Webhooks' secrets: derived like all others, in the form that Standard Webhooks gives them."""

import base64
from datetime import datetime, timedelta

from autotune_platform.access.secrets import DerivedSecrets
from autotune_platform.webhooks.models import Webhook

ROTATION = timedelta(hours=24)
"""How long the secret before signs, too."""


class WebhookSecrets:
    """Derives what webhooks are signed with."""

    def __init__(self, secrets: DerivedSecrets) -> None:
        self._secrets = secrets

    def current(self, webhook: Webhook) -> str:
        """Return the newest secret: ``whsec_`` and 32 bytes in base64."""
        return self._secret(webhook, webhook.secret_version)

    def valid(self, webhook: Webhook, now: datetime) -> tuple[str, ...]:
        """Return the secrets that sign now, the newest first."""
        if webhook.previous_secret_until is None or webhook.previous_secret_until <= now:
            return (self.current(webhook),)
        return (self.current(webhook), self._secret(webhook, webhook.secret_version - 1))

    def _secret(self, webhook: Webhook, version: int) -> str:
        derived = self._secrets.derive("webhook", webhook.id, version)
        return "whsec_" + base64.b64encode(bytes.fromhex(derived)).decode()
