"""Environments of the functions that train and host the apprentice's models."""

from autotune_platform.runtime.environment.apprentice import (
    ApprenticeTasksEnvironment,
    StudentEnvironment,
    TrainingPricesEnvironment,
)
from autotune_platform.runtime.environment.apprentice_runs import LinearEnvironment
from autotune_platform.runtime.environment.ledger import LedgerEnvironment


class TrainingApiEnvironment(ApprenticeTasksEnvironment, TrainingPricesEnvironment):
    """For the function that begins trainings, and shows them."""

    train_student_arn: str


class TrainingEnvironment(LedgerEnvironment, LinearEnvironment, StudentEnvironment):
    """For the functions that do the steps of trainings."""


class HostingEnvironment(TrainingEnvironment):
    """For the function that makes versions of what was trained.

    Attributes:
        certificates_key: id of the KMS key that signs their certificates.
    """

    certificates_key: str


class DeployEnvironment(TrainingEnvironment):
    """For the function that has models hosted, before they are judged.

    Attributes:
        hosting_prefix: what names at SageMaker begin with.
    """

    hosting_prefix: str


class TrainingJobEnvironment(TrainingEnvironment, TrainingPricesEnvironment):
    """For the function that has jobs train models.

    Attributes:
        training_prefix: what each name of a job begins with.
        training_role_arn: what jobs may.
        training_image: what they run in.
        training_code: address in S3 of the program's archive.
        training_key_arn: of the key that what jobs write is encrypted with at rest.
    """

    training_prefix: str
    training_role_arn: str
    training_image: str
    training_code: str
    training_key_arn: str


class TrainingSweepEnvironment(TrainingPricesEnvironment):
    """For the function that begins trainings, and finds lost ones and jobs of none."""

    apprentice_table: str
    apprentice_bucket: str
    budgets_table: str
    train_student_arn: str


class HostingSweepEnvironment(TrainingPricesEnvironment):
    """For the function that looks after what SageMaker hosts.

    Attributes:
        apprentice_bucket: has the weights of bases.
        hosting_prefix: what each name that it makes begins with.
        hosting_role_arn: of the role that hosts act as.
        adapter_image: of containers that serve a base with adapters.
    """

    apprentice_table: str
    apprentice_bucket: str
    hosting_prefix: str
    hosting_role_arn: str
    adapter_image: str
