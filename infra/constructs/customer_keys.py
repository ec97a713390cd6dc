"""Customer managed KMS keys: for data at rest, for secrets, and for what is signed."""

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.constructs.service_function import ServiceFunction

SECRET_KINDS = ("api-key", "grader", "webhook", "review-link", "reward-url")
# The longest that KMS offers: time to notice that a key was deleted which data still needs.
PENDING_WINDOW = Duration.days(30)


class DataKey(Construct):
    """Symmetric key, rotated each year, for tables, content and alarm messages at rest."""

    def __init__(self, scope: Construct, construct_id: str, *, keeps_data: bool) -> None:
        super().__init__(scope, construct_id)
        self.key = kms.Key(
            self,
            "Key",
            description="Autotune: tables, content and alarm messages at rest",
            enable_key_rotation=True,
            pending_window=PENDING_WINDOW,
            removal_policy=RemovalPolicy.RETAIN if keeps_data else RemovalPolicy.DESTROY,
        )
        # CloudWatch publishes alarms to an encrypted topic only with these rights:
        # https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
        self.key.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AllowAlarmsToPublish",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["kms:Decrypt", "kms:GenerateDataKey*"],
                resources=["*"],
            )
        )

    def grant_use_via(
        self, grantee: iam.IGrantable, *, service: str, writes: bool = False
    ) -> iam.Grant:
        """Lets a function use the key, but only through the service that holds the data.

        Args:
            grantee: The function or role.
            service: Service name as in its host name, such as ``dynamodb``.
            writes: Whether the function also encrypts.
        """
        actions = ["kms:Decrypt", "kms:DescribeKey"]
        if writes:
            actions += [
                "kms:Encrypt",
                "kms:GenerateDataKey",
                "kms:ReEncryptFrom",
                "kms:ReEncryptTo",
            ]
        host = f"{service}.{Stack.of(self).region}.amazonaws.com"
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=actions,
            resource_arns=[self.key.key_arn],
            conditions={"StringEquals": {"kms:ViaService": host}},
        )


class SecretsKeys(Construct):
    """HMAC keys that secrets are derived from, one for each kind; they never leave KMS.

    A function that is taken over derives the secrets of the kinds that it needs, and no others.
    Losing a key loses every secret of its kind that was ever shown, so they are kept when their
    stack is deleted. KMS does not rotate HMAC keys by itself: a derived secret rotates by its
    version number instead.

    Attributes:
        keys: The keys by the kind of their secrets, as the platform names it.
    """

    def __init__(self, scope: Construct, construct_id: str, *, keeps_data: bool) -> None:
        super().__init__(scope, construct_id)
        self.keys = {
            kind: kms.Key(
                self,
                kind.title().replace("-", ""),
                description=f"Autotune: derives secrets of the kind {kind}",
                key_spec=kms.KeySpec.HMAC_256,
                key_usage=kms.KeyUsage.GENERATE_VERIFY_MAC,
                pending_window=PENDING_WINDOW,
                removal_policy=RemovalPolicy.RETAIN if keeps_data else RemovalPolicy.DESTROY,
            )
            for kind in SECRET_KINDS
        }

    def grant_derive(self, function: ServiceFunction, kind: str) -> None:
        """Lets a function derive secrets of one kind, and tells it from which key."""
        key = self.keys[kind]
        variable = f"SECRETS_KEY_{kind.upper().replace('-', '_')}"
        function.function.add_environment(variable, key.key_id)
        iam.Grant.add_to_principal(
            grantee=function.function,
            actions=["kms:GenerateMac"],
            resource_arns=[key.key_arn],
            conditions={"StringEquals": {"kms:MacAlgorithm": "HMAC_SHA_256"}},
        )


class ProviderKeysKey(Construct):
    """Symmetric key, rotated each year, for other people's keys to providers of models.

    They cannot be derived: their owners made them. Each ciphertext opens only for the connection
    and version that its context names.
    """

    def __init__(self, scope: Construct, construct_id: str, *, keeps_data: bool) -> None:
        super().__init__(scope, construct_id)
        self.key = kms.Key(
            self,
            "Key",
            description="Autotune: keys of providers of language models",
            enable_key_rotation=True,
            pending_window=PENDING_WINDOW,
            removal_policy=RemovalPolicy.RETAIN if keeps_data else RemovalPolicy.DESTROY,
        )

    def grant_seal(self, function: ServiceFunction) -> None:
        """Lets a function encrypt providers' keys."""
        self._grant(function, "kms:Encrypt")

    def grant_open(self, function: ServiceFunction) -> None:
        """Lets a function decrypt providers' keys."""
        self._grant(function, "kms:Decrypt")

    def _grant(self, function: ServiceFunction, action: str) -> None:
        iam.Grant.add_to_principal(
            grantee=function.function,
            actions=[action],
            resource_arns=[self.key.key_arn],
        )


class CertificatesKey(Construct):
    """Key on the curve P-256 that signs certificates of trained models; it never leaves KMS.

    Whoever has a certificate checks it with the public part, for years: so the key is kept when
    its stack is deleted. KMS does not rotate asymmetric keys.
    """

    def __init__(self, scope: Construct, construct_id: str, *, keeps_data: bool) -> None:
        super().__init__(scope, construct_id)
        self.key = kms.Key(
            self,
            "Key",
            description="Autotune: signs certificates of trained models",
            key_spec=kms.KeySpec.ECC_NIST_P256,
            key_usage=kms.KeyUsage.SIGN_VERIFY,
            pending_window=PENDING_WINDOW,
            removal_policy=RemovalPolicy.RETAIN if keeps_data else RemovalPolicy.DESTROY,
        )

    def grant_sign(self, function: ServiceFunction) -> None:
        """Lets a function sign certificates, and read the key that they are checked by."""
        self.grant_read(function)
        iam.Grant.add_to_principal(
            grantee=function.function,
            actions=["kms:Sign"],
            resource_arns=[self.key.key_arn],
            conditions={"StringEquals": {"kms:SigningAlgorithm": "ECDSA_SHA_256"}},
        )

    def grant_read(self, function: ServiceFunction) -> None:
        """Lets a function read the public key, and tells it which."""
        function.function.add_environment("CERTIFICATES_KEY", self.key.key_id)
        iam.Grant.add_to_principal(
            grantee=function.function,
            actions=["kms:GetPublicKey"],
            resource_arns=[self.key.key_arn],
        )
