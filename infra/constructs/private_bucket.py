"""A bucket that only the functions' roles reach: private, encrypted, over TLS."""

from collections.abc import Sequence

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.constructs.customer_keys import DataKey


class PrivateBucket(Construct):
    """Encrypted with a customer key; its objects have one prefix, which grants are limited to."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        key: DataKey,
        keeps_data: bool,
        prefix: str,
        versioned: bool,
        why_no_access_log: str,
        why_objects_are_a_wildcard: str,
        names: Sequence[str] = ("*",),
        objects_expire_after: Duration | None = None,
    ) -> None:
        """Makes the bucket.

        Args:
            scope: Where it belongs.
            construct_id: Its name there.
            key: What encrypts it.
            keeps_data: Whether it stays when its stack is deleted.
            prefix: What the names of all objects begin with.
            versioned: Whether versions before are kept.
            why_no_access_log: The reason, for whoever reviews findings.
            why_objects_are_a_wildcard: The reason, for whoever reviews findings.
            names: Patterns of names behind the prefix that grants may be limited to.
            objects_expire_after: For how long objects are kept; for good if None.
        """
        super().__init__(scope, construct_id)
        self._key = key
        self._prefix = prefix
        self._names = names
        self._why_objects_are_a_wildcard = why_objects_are_a_wildcard
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            bucket_key_enabled=True,
            encryption=s3.BucketEncryption.KMS,
            encryption_key=key.key,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                    expiration=objects_expire_after,
                )
            ],
            removal_policy=RemovalPolicy.RETAIN if keeps_data else RemovalPolicy.DESTROY,
            versioned=versioned or None,
        )
        Validations.of(self).acknowledge(
            Acknowledgment(id="AwsSolutions-S1", reason=why_no_access_log)
        )

    def acknowledge_object_wildcard(self, stack: Stack) -> None:
        """Acknowledges, for a stack whose functions use objects, that those are a wildcard.

        The finding is named after the export through which the other stack knows the bucket.
        """
        home = Stack.of(self)
        export = home.resolve(home.export_value(self.bucket.bucket_arn))["Fn::ImportValue"]
        for names in self._names:
            Validations.of(stack).acknowledge(
                Acknowledgment(
                    id=f"AwsSolutions-IAM5[Resource::{export}/{self._prefix}{names}]",
                    reason=self._why_objects_are_a_wildcard,
                )
            )

    def _grant_objects(
        self, grantee: iam.IGrantable, *, actions: list[str], names: str = "*"
    ) -> None:
        objects = self.bucket.arn_for_objects(f"{self._prefix}{names}")
        iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=[objects])

    def _grant_list(self, grantee: iam.IGrantable) -> None:
        # Without it, S3 answers 403 instead of 404 for an object that was deleted.
        iam.Grant.add_to_principal(
            grantee=grantee, actions=["s3:ListBucket"], resource_arns=[self.bucket.bucket_arn]
        )
