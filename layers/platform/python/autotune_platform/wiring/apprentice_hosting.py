"""Parts that look after where SageMaker hosts versions."""

from functools import cached_property

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.hosting.advancing import HostingAdvancing
from autotune_platform.apprentice.hosting.hosts import Hosts, HostSettings
from autotune_platform.apprentice.hosting.needing import TaskNeeds
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.hosting.stepping import HostingSteps
from autotune_platform.apprentice.hosting.sweeping import HostingSweeping
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.apprentice.students.files import BaseModels
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.apprentice_training import HostingSweepEnvironment
from autotune_platform.runtime.sagemaker_control import BotoControl
from autotune_platform.storage.table import Table


class HostingSweepParts:
    """What makes, scales and takes down hostings: the one holder of SageMaker's control plane."""

    def __init__(self, environment: HostingSweepEnvironment) -> None:
        self.environment = environment

    @cached_property
    def hosting_sweeping(self) -> HostingSweeping:
        table = Table(self.environment.apprentice_table, clients.dynamodb())
        tasks, repository = TaskRepository(table), HostingRepository(table)
        settings = HostSettings(
            prefix=self.environment.hosting_prefix,
            role_arn=self.environment.hosting_role_arn,
            adapter_image=self.environment.adapter_image,
        )
        return HostingSweeping(
            advancing=HostingAdvancing(
                repository=repository,
                needs=TaskNeeds(
                    tasks=tasks,
                    evidence=EvidenceRepository(table),
                    ended_in_vain=TrainingRepository(table).ended_in_vain,
                ),
                tasks=tasks,
                steps=HostingSteps(
                    repository=repository,
                    tasks=tasks,
                    prices=InstancePrices(usd=self.environment.training_prices),
                ),
                hosts=Hosts(control=BotoControl(clients.sagemaker()), settings=settings),
                weights=BaseModels(
                    bucket=self.environment.apprentice_bucket, s3=clients.s3()
                ).digest,
            )
        )
