"""Jobs of SageMaker that train small models: their role, and the function that looks after them."""

import re
from collections.abc import Mapping

from aws_cdk import Acknowledgment, Aws, Duration, Validations
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.apprentice_bucket import BASES, JOBS, TRAIN_ROWS
from infra.constructs.service_function import ServiceFunction
from infra.constructs.training_code import TrainingCode
from infra.sagemaker_names import arn_of, finding_of, job_names
from infra.stacks.domain_stack import DomainStack

SAGEMAKER = "sagemaker.amazonaws.com"
LOOK_TIMEOUT = Duration.minutes(5)
_IMAGE = re.compile(
    r"([0-9]{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/([a-z0-9._/-]+)[:@].+"
)


class ApprenticeJobs(Construct):
    """What jobs may, and what whoever creates them needs.

    Attributes:
        prices_environment: For functions that know what training costs.
        environment: For the function that creates jobs.
    """

    def __init__(self, stack: DomainStack) -> None:
        """Makes it in the stack of the apprentice.

        Args:
            stack: That stack.
        """
        super().__init__(stack, "Jobs")
        config, files = stack.shared.config, stack.shared.data.apprentice_files
        self._files = files
        self._names = job_names(stack.shared.service_name)
        self._code = TrainingCode(self, "Code")
        self._role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(SAGEMAKER),
            description="Autotune: jobs that train small models",
        )
        # Of a task's data only what is learned from: no job can read what judges its model.
        for names in (TRAIN_ROWS, JOBS, BASES):
            files.grant_read(self._role, names=names)
        files.grant_write(self._role, names=JOBS)
        self._grant_code()
        image = config.image("training-image")
        self._grant_image(image)
        self.prices_environment = config.prices_environment
        self.environment: Mapping[str, str] = {
            **self.prices_environment,
            "TRAINING_PREFIX": stack.shared.service_name,
            "TRAINING_ROLE_ARN": self._role.role_arn,
            "TRAINING_IMAGE": image,
            "TRAINING_CODE": self._code.s3_object_url,
            "TRAINING_KEY_ARN": stack.shared.data.data_key.key.key_arn,
        }

    def grant_create(self, function: ServiceFunction) -> None:
        """Lets a function create jobs, and look after them."""
        self._grant_jobs(function, "CreateTrainingJob", "AddTags")
        self.grant_look(function)
        iam.Grant.add_to_principal(
            grantee=function.function,
            actions=["iam:PassRole"],
            resource_arns=[self._role.role_arn],
            conditions={"StringEquals": {"iam:PassedToService": SAGEMAKER}},
        )
        self._files.grant_read(function.function, names=BASES)
        self._files.grant_write(function.function, names=JOBS)

    def grant_look(self, function: ServiceFunction) -> None:
        """Lets a function see what became of jobs, and stop them."""
        self._grant_jobs(function, "DescribeTrainingJob")
        self.grant_stop(function)

    def grant_stop(self, function: ServiceFunction) -> None:
        """Lets a function stop jobs."""
        self._grant_jobs(function, "StopTrainingJob")

    def _grant_jobs(self, function: ServiceFunction, *operations: str) -> None:
        iam.Grant.add_to_principal(
            grantee=function.function,
            actions=[f"sagemaker:{operation}" for operation in operations],
            resource_arns=[arn_of(self._names)],
        )
        Validations.of(function).acknowledge(
            Acknowledgment(
                id=finding_of(self._names),
                reason=(
                    "Jobs are named by ids of trainings that are not known at deployment; the "
                    "wildcard is limited to those of this stack."
                ),
            )
        )

    def _grant_code(self) -> None:
        bucket = self._code.bucket
        for action, resource in (
            ("s3:GetObject", bucket.arn_for_objects(self._code.s3_object_key)),
            ("s3:ListBucket", bucket.bucket_arn),
        ):
            iam.Grant.add_to_principal(
                grantee=self._role, actions=[action], resource_arns=[resource]
            )

    def _grant_image(self, image: str) -> None:
        found = _IMAGE.fullmatch(image)
        if found is None:
            raise ValueError(f"training-image is {image}, expected one of ECR")
        account, region, name = found.groups()
        repository = f"arn:{Aws.PARTITION}:ecr:{region}:{account}:repository/{name}"
        operations = ("BatchCheckLayerAvailability", "BatchGetImage", "GetDownloadUrlForLayer")
        self._role.add_to_policy(
            iam.PolicyStatement(
                actions=[f"ecr:{operation}" for operation in operations], resources=[repository]
            )
        )
        self._role.add_to_policy(
            iam.PolicyStatement(actions=["ecr:GetAuthorizationToken"], resources=["*"])
        )
        Validations.of(self._role).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason=(
                    "ecr:GetAuthorizationToken, which pulling an image begins with, does not "
                    "support resource-level permissions."
                ),
            )
        )
