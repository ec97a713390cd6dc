"""Parts that look after examples of the apprentice."""

from functools import cached_property

from autotune_platform.apprentice.examples.service import Examples
from autotune_platform.apprentice.examples.splits import SplitRepository
from autotune_platform.apprentice.examples.texts import ExampleContents
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.ledger.row_answers import RowAnswers
from autotune_platform.runtime.environment.apprentice_runs import ApprenticeExampleEnvironment
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.apprentice import ApprenticeParts
from autotune_platform.wiring.ledger import LedgerParts


class ApprenticeExampleParts(ApiParts, LedgerParts, ApprenticeParts):
    """What lists, imports and deletes examples."""

    environment: ApprenticeExampleEnvironment

    @cached_property
    def splits(self) -> SplitRepository:
        return SplitRepository(self.apprentice_table)

    @cached_property
    def example_contents(self) -> ExampleContents:
        return ExampleContents(
            examples=self.examples,
            runs=RunRepository(self.apprentice_table),
            answers=RowAnswers(rows=self.llm_rows, texts=self.row_texts),
        )

    @cached_property
    def examples_of_tasks(self) -> Examples:
        return Examples(
            tasks=self.apprentice_tasks,
            repository=self.examples,
            splits=self.splits,
            contents=self.example_contents,
        )
