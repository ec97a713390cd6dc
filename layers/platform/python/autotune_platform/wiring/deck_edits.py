"""Parts that change rubrics, and measure what that changes.

numpy is in a layer of the functions that compute, and is imported by their first request.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.decks.fixing.advancing import ProposalAdvancing
from autotune_platform.decks.fixing.asking import EditAsking
from autotune_platform.decks.fixing.deciding import EditDeciding
from autotune_platform.decks.fixing.estimating import ProposalEstimating
from autotune_platform.decks.fixing.guarding import ProposalGuard
from autotune_platform.decks.fixing.proposals import ProposalRepository
from autotune_platform.decks.fixing.proposing import EditProposing
from autotune_platform.decks.fixing.reading import ProposalReading
from autotune_platform.decks.fixing.repository import EditRepository
from autotune_platform.decks.fixing.showing import EditShowing
from autotune_platform.decks.fixing.writing import EditWriting
from autotune_platform.runtime.environment.deck_runs import DeckRunApiEnvironment
from autotune_platform.wiring.deck_labels import LabelParts
from autotune_platform.wiring.deck_runs import DeckRunApiParts, DeckRunParts

if TYPE_CHECKING:
    from autotune_platform.decks.fixing.measuring import EditMeasuring
    from autotune_platform.decks.fixing.replaying import EditReplaying
    from autotune_platform.decks.fixing.service import EditService
    from autotune_platform.decks.fixing.settling import EditSettling


class DeckEditWorkParts(DeckRunParts, LabelParts):
    """What goes on with edits: with those that a model is asked for, and with measuring."""

    @cached_property
    def edit_repository(self) -> EditRepository:
        return EditRepository(self.decks_table)

    @cached_property
    def edit_writing(self) -> EditWriting:
        return EditWriting(
            graders=self.labelled_graders,
            edits=self.edit_repository,
            labels=self.labels,
            samples=self.sample_repository,
            examples=self.example_eraser,
        )

    @cached_property
    def edit_showing(self) -> EditShowing:
        return EditShowing(
            labels=self.labels,
            results=self.judge_results,
            pool=self.sample_pool,
            samples=self.sample_repository,
        )

    @cached_property
    def edit_asking(self) -> EditAsking:
        return EditAsking(
            graders=self.deck_grader_repository, showing=self.edit_showing, orders=self.row_orders
        )

    @cached_property
    def proposal_advancing(self) -> ProposalAdvancing:
        proposals = ProposalRepository(self.decks_table)
        guard = ProposalGuard(proposals=proposals)
        reading = ProposalReading(
            asking=self.edit_asking,
            writing=self.edit_writing,
            orders=self.row_orders,
            guard=guard,
        )
        return ProposalAdvancing(
            graders=self.deck_grader_repository,
            proposals=proposals,
            reading=reading,
            guard=guard,
            asking=self.edit_asking,
            orders=self.row_orders,
        )

    @cached_property
    def edit_deciding(self) -> EditDeciding:
        return EditDeciding(
            graders=self.labelled_graders,
            grader_repository=self.deck_grader_repository,
            edits=self.edit_repository,
        )

    @cached_property
    def edit_measuring(self) -> "EditMeasuring":
        from autotune_platform.decks.fixing.measuring import EditMeasuring  # noqa: PLC0415

        return EditMeasuring(truths=self.prompt_truths, results=self.judge_results)

    @cached_property
    def edit_settling(self) -> "EditSettling":
        from autotune_platform.decks.fixing.settling import EditSettling  # noqa: PLC0415

        return EditSettling(
            edits=self.edit_repository,
            run_repository=self.deck_run_repository,
            measuring=self.edit_measuring,
            deciding=self.edit_deciding,
        )


class DeckEditParts(DeckRunApiParts, DeckEditWorkParts):
    """What serves edits."""

    environment: DeckRunApiEnvironment

    @cached_property
    def edit_proposing(self) -> EditProposing:
        return EditProposing(
            graders=self.labelled_graders,
            proposals=ProposalRepository(self.decks_table),
            showing=self.edit_showing,
            estimating=ProposalEstimating(asking=self.edit_asking),
            advancing=self.proposal_advancing,
            executions=self.deck_runs.executions,
        )

    @cached_property
    def edit_replaying(self) -> "EditReplaying":
        from autotune_platform.decks.fixing.planning import ReplayPlanning  # noqa: PLC0415
        from autotune_platform.decks.fixing.replaying import EditReplaying  # noqa: PLC0415

        return EditReplaying(
            graders=self.labelled_graders,
            grader_repository=self.deck_grader_repository,
            edits=self.edit_repository,
            shared=self.shared_looks,
            planning=ReplayPlanning(
                graders=self.labelled_graders,
                writing=self.edit_writing,
                samples=self.sample_repository,
                measuring=self.edit_measuring,
            ),
            runs=self.deck_runs,
            run_repository=self.deck_run_repository,
            settling=self.edit_settling,
        )

    @cached_property
    def edits(self) -> "EditService":
        from autotune_platform.decks.fixing.service import EditService  # noqa: PLC0415

        return EditService(
            graders=self.labelled_graders,
            edits=self.edit_repository,
            settling=self.edit_settling,
            deciding=self.edit_deciding,
            held_out=self.held_out,
        )
