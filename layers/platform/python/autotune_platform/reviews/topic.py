"""The SNS topic that tells of reviews."""

from typing import TYPE_CHECKING

from autotune_platform.runtime.parts import part
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.publisher import event_body

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient


@part
class ReviewTopic:
    """Publishes events to whoever subscribed in the account that the platform runs in."""

    arn: str
    sns: "SNSClient"

    def publish(self, event: Event) -> None:
        """Send what webhooks are sent; subscribers filter by organisation and type."""
        attributes = {"organizationId": event.organization_id, "eventType": event.type}
        self.sns.publish(
            TopicArn=self.arn,
            Message=event_body(event),
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value}
                for name, value in {**attributes, "eventId": event.id}.items()
            },
        )
