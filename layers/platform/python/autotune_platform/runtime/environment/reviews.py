"""Environments of the functions of reviews."""

from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.runtime.environment.webhooks import WebhookEnvironment


class ReviewEnvironment(ContentEnvironment):
    """For functions that show reviews, and make links to them."""

    api_url: str


class ChangesEnvironment(ReviewEnvironment, WebhookEnvironment):
    """For the function that publishes reviews and deletes texts that expired."""

    review_topic_arn: str
