"""The environment of functions that publish and count verdicts."""

from autotune_platform.runtime.environment.audit import AuditEnvironment
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.runtime.environment.webhooks import WebhookEnvironment


class ProjectionEnvironment(ContentEnvironment, WebhookEnvironment, AuditEnvironment):
    """For functions that publish and count verdicts, and enter them in the audit log."""
