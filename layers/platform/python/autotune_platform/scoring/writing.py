"""From judgements to stored verdicts; late answers are counted and dropped."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from aws_lambda_powertools import Logger

from autotune_platform.completions.service import CompletionService
from autotune_platform.judging.judge import Asker, Judged
from autotune_platform.projections.statistics import GraderStatistics
from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.verdicts.judgements import Judgement, opinion_of, verdict_of
from autotune_platform.verdicts.models import CompletionHeader
from autotune_platform.verdicts.service import VerdictService

logger = Logger()

_CONCURRENT_WRITES = 4


@part
class VerdictWriter:
    """Writes verdicts on completions of a run.

    A grader's answer is late where the completion has a verdict by then (it was canceled, another
    run was faster, the grader was asked twice) or its deadline has passed: then it ends ``failed``
    with ``deadline_exceeded``, whatever the answer says. Late answers are counted, in the run and
    in the grader's statistics.

    The answer of a panel's member becomes its opinion; ``PanelResolver`` writes the verdict.
    """

    completions: CompletionService
    verdicts: VerdictService
    statistics: GraderStatistics
    recorder: RunRecorder
    clock: Clock = SYSTEM_CLOCK

    def apply(self, judged: Judged, known: Mapping[str, CompletionHeader] | None = None) -> None:
        """Write what judgements come to, and let go of what was kept until then.

        Args:
            known: headers of completions, so that they are not read again.
        """
        if judged.is_late:
            self.count_late(judged.asker, judged.judgements.values())
            return
        completion_ids: Collection[str] = judged.judgements.keys()
        if judged.recorded_at is not None:
            completion_ids = self.verdicts.undecided_after_crash(list(completion_ids), judged.asker)
        headers = {id_: known[id_] for id_ in completion_ids if id_ in known} if known else {}
        headers |= self.completions.headers(id_ for id_ in completion_ids if id_ not in headers)
        self.write(
            judged.asker,
            headers,
            {id_: judged.judgements[id_] for id_ in headers},
            attempts=judged.attempts,
            share_reasoning=judged.share_reasoning,
            recorded_at=judged.recorded_at,
        )
        self.verdicts.list_what_waits()
        judged.stored()

    def write(
        self,
        asker: Asker,
        headers: Mapping[str, CompletionHeader],
        judgements: Mapping[str, Judgement],
        *,
        attempts: int,
        share_reasoning: bool = False,
        recorded_at: datetime | None = None,
    ) -> None:
        """Write the verdicts or opinions that judgements come to; what is there stands.

        Args:
            headers: the completions, by id.
            attempts: passes that it took.
            recorded_at: when the judgements came, where they were recorded before anybody decides
                by them: that is held against the deadline, and a verdict that is there makes none
                of them late, for others may be deciding by the same.
        """
        share_reasoning = share_reasoning and self.verdicts.may_show_reasons(asker)
        late: list[Judgement] = []
        answered_at = recorded_at or self.clock.now()
        over = self._decided_without(asker, judgements)

        def decide_one(completion_id: str) -> None:
            completion, judgement = headers[completion_id], judgements[completion_id]
            # Only what is decided is scored again, so that an earlier generation is.
            if completion_id in over or completion.generation != asker.generation:
                late.append(judgement)
                return
            out_of_time = judgement.is_answer and completion.deadline <= answered_at
            verdict = verdict_of(
                completion,
                _out_of_time(judgement) if out_of_time else judgement,
                at=self.clock.now(),
                attempts=attempts,
                share_reasoning=share_reasoning,
            )
            if verdict.run_id is None:
                verdict = verdict.model_copy(update={"run_id": asker.run_id})
            stored = self.verdicts.add(opinion_of(verdict, asker))
            if judgement.is_answer and (out_of_time or not (stored or recorded_at)):
                late.append(judgement)

        in_parallel(decide_one, list(judgements), at_most=_CONCURRENT_WRITES)
        if share_reasoning and asker.panel_id is not None:
            # Whoever decided meanwhile, such as one who deletes the text, has not seen what was
            # just stored; and an opinion that decides nothing needs no reasons.
            self.verdicts.erase_opinions(list(self._decided_without(asker, judgements)), asker)
        self.count_late(asker, late)

    def _decided_without(
        self, asker: Asker, judgements: Mapping[str, Judgement]
    ) -> Collection[str]:
        """Return what a panel decided, or somebody canceled, without waiting for this member.

        For one grader nothing needs to be read: its verdict cannot be written twice.
        """
        if asker.panel_id is None:
            return ()
        return self.verdicts.of_run(judgements, asker).keys()

    def count_late(self, asker: Asker, answers: Iterable[Judgement]) -> None:
        """Count answers that came too late, by the version that gave them."""
        by_version = Counter(
            judgement.reported_version or asker.grader_version
            for judgement in answers
            if judgement.is_answer
        )
        for version, count in by_version.items():
            logger.info(
                "late answers dropped", run_id=asker.run_id, grader_id=asker.grader_id, count=count
            )
            self.recorder.late_answers(asker.run_id, count)
            self.statistics.note_late_answers(asker.grader_id, version, count)


def _out_of_time(judgement: Judgement) -> Judgement:
    return Judgement(reason_code="deadline_exceeded", source_request_id=judgement.source_request_id)
