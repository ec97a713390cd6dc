"""Parts that read, change, verify and call graders."""

from functools import cached_property

from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.projections.counters import CounterRepository
from autotune_platform.projections.statistics import GraderStatistics
from autotune_platform.storage.lanes import Lane
from autotune_platform.wiring.access import RegistryParts


class StatisticsParts(RegistryParts):
    """What graders' verdicts add up to."""

    @cached_property
    def counters(self) -> CounterRepository:
        return CounterRepository(self.registry_table)

    @cached_property
    def lane(self) -> Lane:
        return Lane()

    @cached_property
    def statistics(self) -> GraderStatistics:
        return GraderStatistics(counters=self.counters, lane=self.lane)


class GraderParts(RegistryParts):
    """Registered graders, for reading."""

    @cached_property
    def graders(self) -> GraderDirectory:
        return GraderDirectory(table=self.registry_table, secrets=self.secrets)
